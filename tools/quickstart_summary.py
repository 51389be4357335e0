#!/usr/bin/env python3
"""The closing lines of `make quickstart`: three explained alarms, and what was found of each kind of fault.

    quickstart_summary.py FOLDER

Reads FOLDER/today.csv (column `kind`), FOLDER/scores.csv (row, score, p_value, anomaly, reason_1, …) and
FOLDER/evaluation.json (`evaluate --json`).
"""
import csv
import json
import pathlib
import sys

RATE_ASKED = 0.01


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
        print(f"row {row['row']} ({kind}): score {float(row['score']):.3g}, p {float(row['p_value']):.2g}")
        for key in ("reason_1", "reason_2", "reason_3"):
            if row.get(key):
                print(f"    {row[key]}")


def found_by_kind(rows):
    kinds = sorted({r["kind"] for r in rows} - {"normal"})
    print(f"\n{'planted':<22}{'rows':>6}{'found':>8}")
    for kind in kinds:
        alarms = [int(r["anomaly"]) for r in rows if r["kind"] == kind]
        print(f"{kind:<22}{len(alarms):>6}{100 * sum(alarms) / len(alarms):>7.0f} %")


def main():
    folder = pathlib.Path(sys.argv[1])
    truth, scores = read(folder / "today.csv"), read(folder / "scores.csv")
    if len(truth) != len(scores):
        sys.exit(f"{folder}: {len(scores)} scores for {len(truth)} rows")
    rows = [{**t, **s} for t, s in zip(truth, scores)]
    explain_three(rows)
    found_by_kind(rows)
    normal = [int(r["anomaly"]) for r in rows if r["kind"] == "normal"]
    evaluation = json.loads((folder / "evaluation.json").read_text(encoding="utf-8"))
    print(f"\n{'AUROC':<22}{evaluation['auroc']:>14.3f}")
    print(f"{'false alarms':<22}{100 * sum(normal) / len(normal):>12.2f} %  ({100 * RATE_ASKED:g} % asked)")


if __name__ == "__main__":
    main()
