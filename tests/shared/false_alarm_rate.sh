#!/bin/sh
# The promised false-alarm rate, with two splits; bench/false_alarm_rate.py takes ten.
exec bench/false_alarm_rate.py "$1" "$2" --splits 2 --allow-noise
