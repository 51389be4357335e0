#!/bin/sh
# The promised false-alarm rate, with one split; bench/false_alarm_rate.py takes ten.
exec bench/false_alarm_rate.py "$1" "$2" --splits 1 --allow-noise
