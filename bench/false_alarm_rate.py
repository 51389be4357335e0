#!/usr/bin/python3
"""Does the threshold keep the false-alarm rate that was asked for?

    bench/false_alarm_rate.py RINGWARD DATA [--rate 0.01] [--splits 10] [--only SET,SET] [--allow-noise]

DATA/tabular/*.npz are labelled sets. A split trains on a random half of a set's normal rows and scores the
other half: every alarm there is a false one. Printed for each set: alarms / rows / rate, mean of the splits.
Only sets with at least 500 calibration rows count (a calibration by folds uses every training row).
Holds when the median over sets is within 0.85 to 1.15 and the worst is at most 1.4. With --allow-noise a set may lie
above 1.4 by two standard errors of its mean (few splits of a small set hold few alarms: 3 x 7.5 in 750 rows).
"""
import argparse
import pathlib
import tempfile

import numpy as np
import protocol

CALIBRATION_ROWS_MIN = 500
MEDIAN_RANGE, WORST_MAX = (0.85, 1.15), 1.4


def ratio_of_split(ringward, path, seed, rate):
    """Realised / requested false-alarm rate of one split."""
    train, held_out = protocol.half_of_normals(path, seed)
    with tempfile.TemporaryDirectory(prefix="ringward-bench-") as folder:
        np.savez(f"{folder}/train.npz", X=train)
        np.savez(f"{folder}/test.npz", X=held_out)
        ringward.run("train", "--data", f"{folder}/train.npz", "--out", f"{folder}/model", "--seed", seed,
                     "--false-alarm-rate", rate)
        rows = ringward.scores(f"{folder}/model", f"{folder}/test.npz", f"{folder}/scores.csv")
    assert len(rows) == len(held_out), "one score a row"
    return np.mean([int(row["anomaly"]) for row in rows]) / rate


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ringward")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--rate", type=float, default=0.01)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--only")
    parser.add_argument("--allow-noise", action="store_true")
    options = parser.parse_args()
    ringward = protocol.Ringward(options.ringward)
    means, excesses = [], []
    for path in protocol.sets_in(options.data / "tabular", options.only):
        rows = len(protocol.half_of_normals(path, 0)[0])
        if rows < CALIBRATION_ROWS_MIN:
            print(f"{path.stem:<18} left out: {rows} calibration rows")
            continue
        ratios = [ratio_of_split(ringward, path, seed, options.rate) for seed in range(options.splits)]
        means.append(np.mean(ratios))
        # Both the alarms and the calibration scores above the threshold are counts with a Poisson error.
        noise = 2 * np.sqrt(2 / (options.rate * rows * options.splits)) if options.allow_noise else 0.0
        excesses.append(means[-1] - WORST_MAX - noise)
        print(f"{path.stem:<18} {rows:>6} rows  realised / requested {means[-1]:.3f} "
              f"(splits {min(ratios):.2f} to {max(ratios):.2f})", flush=True)
    median, worst = np.median(means), max(means)
    protocol.verdict(f"false alarms at {options.rate:g}: median {median:.3f}, worst {worst:.3f} over {len(means)} sets",
                     MEDIAN_RANGE[0] <= median <= MEDIAN_RANGE[1] and max(excesses) <= 0)


if __name__ == "__main__":
    main()
