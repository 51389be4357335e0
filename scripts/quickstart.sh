#!/usr/bin/env bash
# `make quickstart`: from nothing to explained alarms, on a made-up sensor table.
# Everything it makes is in quickstart/; running it again starts afresh.
set -euo pipefail
cd "$(dirname "$0")/.."
ringward=build/release/bin/ringward
folder=quickstart
started=$SECONDS
bold='' plain=''
[[ -t 1 ]] && bold=$'\033[1m' plain=$'\033[0m'

title() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }

# run ARGUMENT…: shows the command as one would type it, and runs it.
run() {
  printf '$ ringward %s\n' "$*" >&2
  "$ringward" "$@"
}

rm -rf "$folder"
mkdir "$folder"

columns=(--label kind --normal normal --drop label faulty_sensor --id timestamp)

title "1. A pumping station's sensors: ten healthy weeks to learn from, three with planted faults"
run simulate table --rows 20000 --anomalies 0 --seed 1 --out "$folder/healthy.csv"
run simulate table --rows 6000 --anomalies 0.05 --seed 2 --out "$folder/today.csv"

title "2. Train on 2 processes; one false alarm in a hundred rows is allowed"
run train --data "$folder/healthy.csv" "${columns[@]}" -np 2 --false-alarm-rate 0.01 --out "$folder/model"

title "3. Score the three weeks, with the sensors behind each score"
run score --model "$folder/model" --data "$folder/today.csv" --id timestamp --explain 3 --out "$folder/scores.csv"

title "4. How good is that? Measured against the planted truth"
run evaluate --model "$folder/model" --data "$folder/today.csv" --label kind --normal normal \
  --out "$folder/evaluation" --json >"$folder/evaluation.json"

title "5. Three alarms with their reasons, and what was found of each kind of fault"
python3 tools/quickstart_summary.py "$folder"
printf '\nReports: %s and %s (open them in a browser)\n' "$folder/model/report.html" "$folder/evaluation/report.html"
printf 'Done in %d s. Next: docs/tutorial-your-own-csv.md\n' $((SECONDS - started))
