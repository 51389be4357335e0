#!/usr/bin/python3
"""Does --explain name the feature that was tampered with?

    bench/explain.py RINGWARD DATA [--sets 6_cardio,30_satellite] [--seed 0]

Trains on a random half of a set's normal rows. In each other normal row one feature, drawn at random among
those that vary in training, is shifted by 6 of its standard deviations, up or down. Counted: rows whose first
reason names that feature. Holds when that is at least 90 % on every set.
"""
import argparse
import pathlib
import re
import tempfile

import numpy as np
import protocol

SHIFT_SD, SHARE_MIN = 6.0, 0.90


def plant(train, rows, seed):
    """(rows with one shifted feature each, the index of that feature)."""
    rng = np.random.RandomState(2000 + seed)
    spread = train.std(axis=0)
    feature = rng.choice(np.flatnonzero(spread > 0), len(rows))
    sign = rng.choice([-1.0, 1.0], len(rows))
    shifted = rows.copy()
    shifted[np.arange(len(rows)), feature] += sign * SHIFT_SD * spread[feature]
    return shifted, feature


def column_of(reason):
    """The column, numbered from 1, that a reason begins with."""
    return int(re.match(r"\D*(\d+)", reason).group(1))


def share_named_first(ringward, path, seed):
    train, rows = protocol.half_of_normals(path, seed)
    shifted, feature = plant(train, rows, seed)
    with tempfile.TemporaryDirectory(prefix="ringward-bench-") as folder:
        np.savez(f"{folder}/train.npz", X=train)
        np.savez(f"{folder}/test.npz", X=shifted)
        ringward.run("train", "--data", f"{folder}/train.npz", "--out", f"{folder}/model", "--seed", seed)
        scored = ringward.scores(f"{folder}/model", f"{folder}/test.npz", f"{folder}/scores.csv", "--explain", 1)
    return np.mean([column_of(row["reason_1"]) == f + 1 for row, f in zip(scored, feature, strict=True)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ringward")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--sets", default="6_cardio,30_satellite")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    ringward = protocol.Ringward(options.ringward)
    shares = []
    for path in protocol.sets_in(options.data / "tabular", options.sets):
        shares.append(share_named_first(ringward, path, options.seed))
        print(f"{path.stem:<18} shifted feature named first in {100 * shares[-1]:.1f} % of rows", flush=True)
    protocol.verdict(f"explain: worst set {100 * min(shares):.1f} % (at least {100 * SHARE_MIN:.0f} % wanted)",
                     min(shares) >= SHARE_MIN)


if __name__ == "__main__":
    main()
