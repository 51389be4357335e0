"""What the quality benchmarks share: splitting a labelled set, running ringward, AUROC, the verdict line.

Sets are .npz files with rows `X` and labels `y` (0 normal, 1 anomaly). numpy is all that is needed.
"""
import csv
import os
import pathlib
import subprocess
import sys

import numpy as np

ROWS_MAX = 50_000  # larger sets are sub-sampled


class Ringward:
    """The program under test; every run's output is shown only when it fails."""

    def __init__(self, binary):
        self.binary = os.path.abspath(binary)

    def run(self, *arguments):
        done = subprocess.run([self.binary, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{self.binary} {' '.join(map(str, arguments))}: exit {done.returncode}\n{done.stderr}")
        return done.stdout

    def scores(self, model, data, out, *arguments):
        """Scores `data` and returns the rows of the scores file as dictionaries."""
        self.run("score", "--model", model, "--data", data, "--out", out, *arguments)
        with open(out, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))


def load(path, seed):
    """Rows and 0/1 labels of a set, at most ROWS_MAX of them."""
    data = np.load(path, allow_pickle=False)
    x, y = np.nan_to_num(data["X"].astype(np.float64)), data["y"].astype(int).ravel()
    if len(y) > ROWS_MAX:
        chosen = np.random.RandomState(seed).choice(len(y), ROWS_MAX, replace=False)
        x, y = x[chosen], y[chosen]
    return x, y


def half_of_normals(path, seed):
    """(training rows, the other normal rows): a random half of the normals each."""
    x, y = load(path, seed)
    normals = np.random.RandomState(1000 + seed).permutation(np.where(y == 0)[0])
    middle = round(0.5 * len(normals))
    return x[normals[:middle]], x[normals[middle:]]


def auroc(labels, scores):
    """Area under the ROC curve; ties count half. `labels` are 0/1, a higher score means an anomaly."""
    labels, scores = np.asarray(labels, bool), np.asarray(scores, float)
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - 0.5 * (counts - 1))[inverse]  # average ranks of ties, from 1
    positives, negatives = labels.sum(), (~labels).sum()
    return float((ranks[labels].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def sets_in(folder, only=None):
    """Paths of the .npz sets in `folder`, or of those named in the comma list `only`."""
    paths = sorted(pathlib.Path(folder).glob("*.npz"))
    chosen = [p for p in paths if only is None or p.stem in only.split(",")]
    if not chosen:
        sys.exit(f"{folder}: no such .npz sets")
    return chosen


def verdict(what, holds):
    """Prints the closing line and ends with exit 0 or 1."""
    print(f"{what}: {'holds' if holds else 'DOES NOT HOLD'}")
    sys.exit(0 if holds else 1)
