#!/usr/bin/env bash
# clang-tidy over every C++ source of the project, as the release preset compiles them.
#
#   scripts/tidy.sh [--quick] [--jobs N] [PATH-REGEX]      (only sources whose path matches, and their neighbours)
#
# --quick leaves out clang-analyzer. What was clean before and has not changed is not looked at again (tools/tidy.py).
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v clang-tidy-14 >/dev/null; then
  echo "tidy: clang-tidy-14 is missing; scripts/setup.sh --with-lint installs it" >&2
  exit 3
fi
mkdir -p build/release
cmake --preset release >build/release/configure.log 2>&1 || {
  cat build/release/configure.log >&2
  exit 1
}
exec python3 tools/tidy.py build/release "$@"
