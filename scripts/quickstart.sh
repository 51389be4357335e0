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

columns=(--label kind --normal normal --drop label,faulty_sensor --id timestamp)

step "1. A pumping station's sensors: ten healthy weeks to learn from, three with planted faults" \
  simulate table --rows 20000 --anomalies 0 --seed 1 --out "$folder/healthy.csv"
step "" simulate table --rows 6000 --anomalies 0.05 --seed 2 --out "$folder/today.csv"
step "2. Train on 2 processes; one false alarm in a hundred rows is allowed" \
  train --data "$folder/healthy.csv" "${columns[@]}" -np 2 --false-alarm-rate 0.01 --out "$folder/model"
step "3. Score, with the three sensors behind each score" \
  score --model "$folder/model" --data "$folder/today.csv" --id timestamp --explain 3 --out "$folder/scores.csv"
step "4. How good is that? Against the planted truth, and beside what random scores would get" \
  evaluate --model "$folder/model" --data "$folder/today.csv" --label kind --normal normal --out "$folder/evaluation"
"$ringward" evaluate --model "$folder/model" --data "$folder/today.csv" --label kind --normal normal \
  --out "$folder/evaluation" --json >"$folder/evaluation.json" 2>/dev/null

printf '\n\033[1m5. What was found\033[0m\n'
python3 tools/quickstart_summary.py "$folder"
printf '\nReports: %s and %s (open them in a browser)\n' "$folder/model/report.html" "$folder/evaluation/report.html"
printf 'Done in %d s. Next: docs/tutorial-your-own-csv.md\n' $((SECONDS - started))
