#!/usr/bin/env bash
# Recorded runs with known truth, replayed from their per-rank CSV files alone: who was slow, hung or broken, and nobody
# in the healthy ones.
#
#   tests/shared/replay.sh BINARY DATA      (the cases stand beside DATA)
set -uo pipefail
binary=$1 cases=$2/../cases status=0
for runs in 'horovod/healthy*' 'horovod/straggler*' 'horovod/slow*' 'horovod/stall_nocache' 'horovod/nan' 'step_times/*'; do
  echo "replay: $runs"
  /usr/bin/python3 "$cases/score.py" "$binary" "$cases" --subcommand replay --csv-only --only "$runs" || status=1
done
exit "$status"
