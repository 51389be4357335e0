#!/usr/bin/env bash
# Builds the fuzzers of tests/fuzz (preset asan, clang 19) and runs each for a while, starting from its corpus.
#
#   scripts/fuzz.sh [SECONDS-EACH]      (default 20)
#
# A crash fails the run; its input stays in build/asan/fuzz/crashes/NAME/ (then add it to the corpus).
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-20}
scripts/build.sh asan fuzzers

# fuzz_one FUZZER: runs it and says in one line what came of it.
fuzz_one() {
  local fuzzer=$1 name
  name=$(basename "$fuzzer")
  local found=build/asan/fuzz/found/$name crashes=build/asan/fuzz/crashes/$name log=build/asan/fuzz/$name.log
  mkdir -p "$found" "$crashes"
  if "$fuzzer" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$crashes/" "$found" "tests/fuzz/corpus/${name#fuzz_}" >"$log" 2>&1 </dev/null; then
    echo "fuzz: $name: $(awk '/number_of_executed_units/ { print $2 }' "$log") inputs in $seconds s, no failure"
  else
    tail -n 40 "$log" >&2
    echo "fuzz: $name FAILED, input in $crashes/" >&2
    return 1
  fi
}

fuzzers=()
for fuzzer in build/asan/bin/fuzz_*; do
  [[ -x $fuzzer ]] && fuzzers+=("$fuzzer")
done
# One fuzzer a core; a failed one does not stop the others.
export -f fuzz_one
export seconds
status=0
printf '%s\0' "${fuzzers[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c 'fuzz_one "$0"' || status=1
echo "fuzz: ${#fuzzers[@]} fuzzers ran"
exit "$status"
