#!/bin/sh
# A planted shift must be the first reason.
exec bench/explain.py "$1" "$2"
