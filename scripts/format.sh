#!/usr/bin/env bash
# clang-format over every C++ file of the project.
#
#   scripts/format.sh --in-place | --check
#
# Version 14 (Debian 12's) decides: other versions format differently.
set -euo pipefail
cd "$(dirname "$0")/.."
tool=clang-format-14
if ! command -v "$tool" >/dev/null; then
  echo "format: $tool is missing; scripts/setup.sh --with-lint installs it" >&2
  exit 3
fi
mapfile -d '' files < <(find src apps tests bench examples -type f \( -name '*.h' -o -name '*.cc' \) -print0 2>/dev/null | sort -z)
case ${1:-} in
  --in-place) "$tool" -i "${files[@]}" ;;
  --check) "$tool" --dry-run --Werror "${files[@]}" ;;
  *)
    echo "usage: scripts/format.sh --in-place | --check" >&2
    exit 2
    ;;
esac
echo "format: ${#files[@]} files are formatted"
