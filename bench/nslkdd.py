#!/usr/bin/python3
"""NSL-KDD: trained on the normal connections of the 20 % file, judged on KDDTest+.

    bench/nslkdd.py RINGWARD DATA [--seeds 3]

DATA/nslkdd holds KDDTrain+_20Percent.txt.gz and KDDTest+.txt.gz as published: no header, 41 features (columns
2 to 4 are categorical), column 42 the attack's name or `normal`, column 43 a difficulty that no detector may see.
Holds when the mean AUROC over the seeds is at least 0.94.
"""
import argparse
import csv
import gzip
import pathlib
import tempfile

import numpy as np
import protocol

AUROC_MIN = 0.94
LABEL, DIFFICULTY, NORMAL = 42, 43, "normal"


def auroc_of_seed(ringward, folder, seed):
    test = folder / "KDDTest+.txt.gz"
    with gzip.open(test, "rt", newline="") as file:
        labels = [row[LABEL - 1] != NORMAL for row in csv.reader(file)]
    with tempfile.TemporaryDirectory(prefix="ringward-bench-") as work:
        ringward.run("train", "--data", folder / "KDDTrain+_20Percent.txt.gz", "--label", LABEL, "--normal", NORMAL,
                     "--drop", DIFFICULTY, "--out", f"{work}/model", "--seed", seed)
        rows = ringward.scores(f"{work}/model", test, f"{work}/scores.csv")
    assert len(rows) == len(labels), "one score a row"
    return protocol.auroc(labels, [float(row["score"]) for row in rows])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ringward")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    ringward = protocol.Ringward(options.ringward)
    figures = []
    for seed in range(options.seeds):
        figures.append(auroc_of_seed(ringward, options.data / "nslkdd", seed))
        print(f"seed {seed}: AUROC {figures[-1]:.4f}", flush=True)
    mean = np.mean(figures)
    protocol.verdict(f"NSL-KDD: AUROC {mean:.4f} (mean of {len(figures)} seeds, at least {AUROC_MIN} wanted)",
                     mean >= AUROC_MIN)


if __name__ == "__main__":
    main()
