#!/usr/bin/env bash
# Builds the fuzzers of tests/fuzz with clang 19 and runs each for a while, starting from its corpus.
#
#   scripts/fuzz.sh [SECONDS-EACH]      (default 20)
#
# A crash fails the run; its input stays in build/fuzz/crashes/NAME/ (then add it to the corpus).
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-20}
scripts/build.sh fuzz fuzzers
status=0
count=0
for fuzzer in build/fuzz/bin/fuzz_*; do
  [[ -x $fuzzer ]] || continue
  name=$(basename "$fuzzer")
  found=build/fuzz/found/$name crashes=build/fuzz/crashes/$name
  mkdir -p "$found" "$crashes"
  log=build/fuzz/$name.log
  if "$fuzzer" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$crashes/" "$found" "tests/fuzz/corpus/${name#fuzz_}" >"$log" 2>&1 </dev/null; then
    echo "fuzz: $name: $(awk '/number_of_executed_units/ { print $2 }' "$log") inputs in $seconds s, no failure"
  else
    status=1
    tail -n 40 "$log" >&2
    echo "fuzz: $name FAILED, input in $crashes/" >&2
  fi
  count=$((count + 1))
done
echo "fuzz: $count fuzzers ran"
exit "$status"
