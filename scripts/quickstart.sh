#!/usr/bin/env bash
# `make quickstart`: from nothing to explained alarms, on a made-up sensor table.
# Everything it makes is in quickstart/; running it again starts afresh.
set -euo pipefail
cd "$(dirname "$0")/.."
ringward=build/release/bin/ringward
folder=quickstart
started=$SECONDS

# step TITLE ARGUMENT…: says what is done, shows the command as one would type it, and runs it.
step() {
  printf '\n\033[1m%s\033[0m\n$ ringward' "$1"
  shift
  printf ' %s' "$@"
  printf '\n'
  "$ringward" "$@"
}

rm -rf "$folder"
mkdir "$folder"

step "1. A plant's sensors: a healthy month to learn from, and a week with planted faults" \
  simulate table --rows 20000 --anomalies none --seed 1 --out "$folder/healthy.csv"
step "" simulate table --rows 6000 --seed 2 --out "$folder/today.csv"
step "2. Train on 2 processes, with one false alarm in a hundred rows allowed" \
  train --data "$folder/healthy.csv" --label kind --normal normal --id time -np 2 --false-alarm-rate 0.01 \
  --out "$folder/model"
step "3. Score the week, with the three features behind each score" \
  score --model "$folder/model" --data "$folder/today.csv" --id time --explain 3 --out "$folder/scores.csv"
step "4. How good is that? Against the planted truth, and against random scores" \
  evaluate --model "$folder/model" --data "$folder/today.csv" --label kind --normal normal --out "$folder/evaluation"
"$ringward" evaluate --model "$folder/model" --data "$folder/today.csv" --label kind --normal normal --json \
  >"$folder/evaluation.json" 2>/dev/null

printf '\n\033[1m5. What was found\033[0m\n'
python3 tools/quickstart_summary.py "$folder"
printf '\nReports: %s and %s (open them in a browser)\n' "$folder/model/report.html" "$folder/evaluation/report.html"
printf 'Done in %d s. Next: docs/tutorial-your-own-csv.md\n' $((SECONDS - started))
