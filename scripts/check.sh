#!/usr/bin/env bash
# `make check`: the release build, every test that needs no server, and the formatting.
#
#   scripts/check.sh [--all-must-run]      (the option goes to run_tests.sh)
#
# Needs no root, no network and nothing outside this directory once scripts/setup.sh has run.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/build.sh release
if command -v clang-format-14 >/dev/null; then
  scripts/format.sh --check
else
  echo "check: formatting not checked, clang-format-14 is not installed"
fi
scripts/run_tests.sh release "$@"
