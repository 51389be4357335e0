#!/usr/bin/env bash
# Configures a preset of CMakePresets.json and builds targets of it, printing what matters:
#
#   scripts/build.sh PRESET [TARGET…]      (default target: all)
#
# The configure step's output goes to build/PRESET/configure.log and is shown only when it fails.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:?usage: scripts/build.sh PRESET [TARGET…]}
shift
(($# > 0)) || set -- all
started=$SECONDS
log=build/$preset/configure.log
mkdir -p "build/$preset"
if ! cmake --preset "$preset" >"$log" 2>&1; then
  cat "$log" >&2
  echo "build: configuring preset $preset failed; are the packages there? (scripts/setup.sh --check)" >&2
  exit 1
fi
build=(cmake --build "build/$preset" --target "$@" -- -j "$(nproc)")
if [[ -t 1 ]]; then
  "${build[@]}" # a terminal shows ninja's one moving line
else
  echo "build: $preset ($*) begins; from nothing it takes minutes" # which are silent where no terminal shows them
  "${build[@]}" --quiet | { grep -vx 'ninja: no work to do.' || true; }
fi
echo "build: $preset ($*) done in $((SECONDS - started)) s"
