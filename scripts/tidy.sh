#!/usr/bin/env bash
# clang-tidy over every C++ source of the project, with the compile commands of the dev preset.
#
#   scripts/tidy.sh [--quick] [PATH-REGEX]      (only sources whose path matches)
#
# --quick leaves out clang-analyzer and the tests: a quarter of the time, for CI.
# Tests go without clang-analyzer (on gtest's macros it takes three quarters of the time and finds nothing) and
# may fill vectors without reserving.
set -euo pipefail
cd "$(dirname "$0")/.."
tool=run-clang-tidy-14
if ! command -v "$tool" >/dev/null; then
  echo "tidy: $tool is missing; scripts/setup.sh --with-lint installs it" >&2
  exit 3
fi
quick=false
if [[ ${1:-} == --quick ]]; then
  quick=true
  shift
fi
mkdir -p build/dev
cmake --preset dev >build/dev/configure.log 2>&1 || {
  cat build/dev/configure.log >&2
  exit 1
}
started=$SECONDS
log=build/dev/tidy.log
: >"$log"

# tidy PATH-REGEX [OPTION…]: clang does not know all warnings that the compile commands name for gcc.
tidy() {
  local regex=$1
  shift
  "$tool" -quiet -p build/dev -j "$(nproc)" -extra-arg=-Wno-unknown-warning-option "$@" "$regex" >>"$log" 2>&1
}

status=0
sources="^$PWD/(src|apps|bench|tests)/.*${1:-}.*(?<!_test)\.cc\$"
if $quick; then
  tidy "$sources" -checks='-clang-analyzer-*' || status=1
else
  tidy "$sources" || status=1
  tidy "^$PWD/(src|apps|bench|tests)/.*${1:-}.*_test\.cc\$" -checks='-clang-analyzer-*,-performance-inefficient-vector-operation' || status=1
fi
if ((status != 0)); then
  sed 's/\x1b\[[0-9;]*m//g' "$log" | grep -E '(warning|error): ' | sed "s|$PWD/||" | sort -u >&2
  echo "tidy: failed, the whole output is in $log" >&2
  exit 1
fi
files=$(grep -cE '^[^ ]*clang-tidy-14 ' "$log") || {
  echo "tidy: no source matches" >&2
  exit 2
}
echo "tidy: $files files clean in $((SECONDS - started)) s"
