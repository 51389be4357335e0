#!/usr/bin/env bash
# Runs a test preset of CMakePresets.json (dev, release, asan, tsan, integration) and shows ctest's closing lines;
# failed tests are shown whole.
#
#   scripts/run_tests.sh PRESET [--all-must-run] [CTEST ARGUMENT…]
#
# --all-must-run  a skipped or disabled test fails the run (what CI wants)
# The whole output stays in build/PRESET/PRESET-tests.log, a JUnit file beside it. Preset `integration` holds the tests
# over real programs and servers, on the release build; the other presets leave those out.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:?usage: scripts/run_tests.sh PRESET [--all-must-run] [CTEST ARGUMENT…]}
shift
strict=()
if [[ ${1:-} == --all-must-run ]]; then
  strict=("$1")
  shift
fi
folder=build/$preset
[[ $preset == integration ]] && folder=build/release
log=$folder/$preset-tests.log
junit=$folder/$preset-tests.junit.xml
rm -f "$junit"

# The thread sanitizer cannot see into libraries built without it: say what it does not cover.
if [[ $preset == tsan ]]; then
  echo "tests: left out under tsan (label 'uninstrumented': they run uninstrumented mpi or gloo code):"
  ctest --test-dir "$folder" -N -L uninstrumented | grep -E '^ *Test +#|^Total' || true
  echo "tests: left out under tsan (modules that share nothing between threads): $(tr ';' ' ' <"$folder/left_out_modules.txt")"
fi

echo "tests: running preset $preset"
status=0
ctest --preset "$preset" -j "$(nproc)" --output-on-failure --no-tests=error \
  --output-junit "$PWD/$junit" "$@" >"$log" 2>&1 </dev/null || status=$?
if ((status != 0)); then
  grep -vE '^ *(Start +[0-9]+:|[0-9]+/[0-9]+ Test +#[0-9]+: .* Passed )' "$log" || true
else
  sed -n '/^[0-9]*% tests passed/,$p' "$log"
fi
python3 tools/check_ctest.py "${strict[@]}" "$junit" || status=1
exit "$status"
