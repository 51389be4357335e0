#!/usr/bin/env bash
# clang-tidy over every C++ source of the project, with the compile commands of the dev preset.
#
#   scripts/tidy.sh [PATH-REGEX]      (default: all of src, apps, tests and bench)
set -euo pipefail
cd "$(dirname "$0")/.."
tool=run-clang-tidy-14
if ! command -v "$tool" >/dev/null; then
  echo "tidy: $tool is missing; scripts/setup.sh --with-lint installs it" >&2
  exit 3
fi
mkdir -p build/dev
cmake --preset dev >build/dev/configure.log 2>&1 || {
  cat build/dev/configure.log >&2
  exit 1
}
started=$SECONDS
log=build/dev/tidy.log
if ! "$tool" -quiet -p build/dev -j "$(nproc)" -extra-arg=-Wno-unknown-warning-option \
  "${1:-$PWD/(src|apps|tests|bench)/}" >"$log" 2>&1; then
  grep -E '(warning|error|note):' "$log" | sort -u >&2
  echo "tidy: failed, the whole output is in $log" >&2
  exit 1
fi
echo "tidy: clean in $((SECONDS - started)) s"
