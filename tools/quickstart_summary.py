#!/usr/bin/env python3
"""The closing lines of `make quickstart`: three explained alarms, and what was found of each kind of fault.

    quickstart_summary.py FOLDER

Reads FOLDER/today.csv (the truth: columns `kind`, `faulty_sensor`), FOLDER/scores.csv (`score --explain 3`) and
FOLDER/evaluation.json (`evaluate --json`).
"""
import csv
import json
import pathlib
import re
import sys

REASON_PERCENT_MIN = 2  # what carries less of a score explains nothing


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def explain_three(rows):
    """The strongest alarm of three different kinds of fault."""
    strongest = {}
    for row in sorted((r for r in rows if r["anomaly"] == "1" and r["kind"] != "normal"),
                      key=lambda r: -float(r["score"])):
        strongest.setdefault(row["kind"], row)
    for kind, row in list(strongest.items())[:3]:
        print(f"{row['timestamp']}  score {float(row['score']):.0f}, p {float(row['p_value']):.0e}  "
              f"(planted: {kind} of {row['faulty_sensor']})")
        for key in ("reason_1", "reason_2", "reason_3"):
            share = re.search(r"(\d+) %$", row[key])
            if key == "reason_1" or (share and int(share[1]) >= REASON_PERCENT_MIN):
                print(f"    {row[key]}")


def found(evaluation):
    print(f"{'planted fault':<20}{'rows':>6}{'alarms':>8}{'AUROC':>8}")
    for kind in evaluation["kinds"]:
        print(f"{kind['kind']:<20}{kind['rows']:>6}{kind['found']:>8}{kind['auroc']:>8.3f}")
    auroc, rate = evaluation["auroc"], evaluation["false_alarm_rate"]
    print(f"\n{'AUROC':<20}{auroc['value']:>8.3f}   ({auroc['low']:.3f} to {auroc['high']:.3f}; random: 0.5)")
    print(f"{'false-alarm rate':<20}{100 * rate['value']:>6.2f} %   ({100 * rate['low']:.2f} to "
          f"{100 * rate['high']:.2f} %; asked for: {100 * evaluation['false_alarm_rate_requested']:g} %)")


def main():
    folder = pathlib.Path(sys.argv[1])
    truth, scores = read(folder / "today.csv"), read(folder / "scores.csv")
    if len(truth) != len(scores):
        sys.exit(f"{folder}: {len(scores)} scores for {len(truth)} rows")
    explain_three([{**t, **s} for t, s in zip(truth, scores)])
    print()
    found(json.loads((folder / "evaluation.json").read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
