#!/bin/sh
# NSL-KDD with one seed; bench/nslkdd.py takes three.
exec bench/nslkdd.py "$1" "$2" --seeds 1
