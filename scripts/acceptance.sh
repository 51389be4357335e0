#!/usr/bin/env bash
# `make acceptance`: measures every promise of docs/status.md, long runs included, and writes the figures
# with their commands into docs/performance.md. Wants idle cores; takes about three hours.
#
#   scripts/acceptance.sh [NAME…]      (default: all; names are those of the markers in docs/performance.md)
#
# RINGWARD_DATA (default ../shared/data) holds the public data sets; without it their lines are left out,
# said so, and the run does not count as passed.
set -uo pipefail
cd "$(dirname "$0")/.."
data=${RINGWARD_DATA:-../shared/data}
logs=build/acceptance
binary=build/release/bin/ringward
wanted=("$@")
results=()
failed=0

chosen() {
  ((${#wanted[@]} == 0)) && return 0
  local name
  for name in "${wanted[@]}"; do [[ $name == "$1" ]] && return 0; done
  return 1
}

# item NAME LINES COMMAND…: runs the command and writes its last LINES lines into docs/performance.md.
item() {
  local name=$1 lines=$2 started=$SECONDS outcome=holds
  shift 2
  chosen "$name" || return 0
  printf '\n=== %s: %s\n' "$name" "$*"
  "$@" </dev/null 2>&1 | tee "$logs/$name.log"
  ((PIPESTATUS[0] == 0)) || outcome="DOES NOT HOLD"
  [[ $outcome == holds ]] || failed=1
  results+=("$(printf '%-18s %6d s  %s' "$name" $((SECONDS - started)) "$outcome")")
  {
    printf '`%s`: %s (%s, %s, %d cores)\n\n```\n' "$*" "$outcome" "$(date -u +%F)" "$machine" "$(nproc)"
    tail -n "$lines" "$logs/$name.log"
    printf '```\n'
  } | python3 tools/fill_markers.py docs/performance.md "$name"
}

# data_item is an item that needs the public data sets.
data_item() {
  if [[ -d $data ]]; then
    item "$@"
  elif chosen "$1"; then
    results+=("$(printf '%-18s %8s  NOT RUN: no data sets in %s' "$1" - "$data")")
    failed=1
  fi
}

# What a newcomer does: clone, quickstart, check.
clean_clone() {
  local folder status=0
  folder=$(mktemp -d)
  git clone -q . "$folder/ringward" && make -C "$folder/ringward" --no-print-directory quickstart check || status=1
  rm -rf "$folder"
  return "$status"
}

sanitizer() {
  scripts/build.sh "$1" && scripts/run_tests.sh "$1" --all-must-run
}

machine=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
mkdir -p "$logs"
scripts/build.sh release all bench_watch_http bench_hosts || exit 1

item clean_clone 40 clean_clone
data_item tabular 13 tests/shared/tabular_bar.sh "$binary" "$data"
data_item nslkdd 4 bench/nslkdd.py "$binary" "$data"
data_item false_alarm_rate 20 bench/false_alarm_rate.py "$binary" "$data"
data_item explain 3 bench/explain.py "$binary" "$data"
item train_vs_pytorch 40 /usr/bin/python3 bench/train_vs_pytorch.py "$binary" --check
item scaling 9 /usr/bin/python3 bench/scaling.py "$binary" --check
item allreduce 2 bench/allreduce_vs_raw.py "$binary" --check
item detection 40 bench/detection/run.py "$binary" --check
item mpi_preload 2 bench/mpi_preload.py build/release --check
item telemetry 3 bench/telemetry.py "$binary" --check
item http_pages 8 build/release/bin/bench_watch_http
item hosts 5 build/release/bin/bench_hosts
item survival 25 python3 tests/integration/survival.py "$binary" python build/release/lib/libringward_guest.so --minutes 60
item kill_ranks 30 tests/integration/kill_ranks.py "$binary" --engines mpi,gloo --count 20
item real_faults 30 /usr/bin/python3 tests/integration/real_faults.py "$binary" python build/release/lib/libringward_guest.so \
  --healthy-seconds 600
item asan 8 sanitizer asan
item tsan 40 sanitizer tsan
item fuzz 6 scripts/fuzz.sh 600

printf '\nitem                 time     outcome\n'
printf '%s\n' "${results[@]}"
exit "$failed"
