#!/usr/bin/env python3
"""Rows per second of `ringward train` on 2 ranks against twice those of 1 rank.

    bench/scaling.py [RINGWARD] [--runs 7] [--engine mpi] [--ranks 2] [--batch 256] [--steps 2000] [--check]

Trains 100-128-64-128-100 (Adam, one noise level, 2 folds: two nets side by side) on random rows, exactly --batch rows a step on
each rank, with the ranks' cores to themselves. Runs of 1 rank and of --ranks alternate; the efficiency of a round is the
ratio of their rows per second over --ranks, and the figure is the median over rounds. Rows per second are those of
the training loop (`train --json`), without reading and calibrating.

The ranks run twice: with the batch cut evenly, and with `--balance`, which gives a slower core fewer rows. Cores of a shared
machine differ by up to a fifth for seconds at a time; an even cut then measures the machine, not the trainer, so the
balanced figure is the one that is judged.

Beside it, as many trainings of 1 rank at the same time, which wait for nobody: what the cores give when all are
busy. The spread of 1 rank alone tells how steady the machine is.
--check exits 1 where the balanced figure is below 90 %.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = 0.9
STEPS_PER_EPOCH = 40  # of --ranks ranks; 1 rank takes --ranks times as many, and no batch is cut short


def start(options, table, ranks, name, *flags):
    """A training of `ranks` ranks, under way."""
    engine = options.engine if ranks > 1 else "local"
    command = [options.ringward, "train", "--data", table, "--out", f"{table}.{name}", "--noise", "0.2", "--folds", "2",
               "--no-neighbours", "--batch", options.batch, "--steps", options.steps, "-np", ranks, "--engine", engine,
               "--json", "--quiet", *flags]
    return subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def rows_per_second(trainings):
    """Rows a second over all ranks of all `trainings`, which run at the same time."""
    total = 0.0
    for training in trainings:
        out, err = training.communicate()
        if training.returncode != 0:
            sys.exit(f"{' '.join(training.args)}: {err}")
        total += json.loads(out)["rows_per_second"]
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ringward", nargs="?", default=ROOT / "build/release/bin/ringward")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--engine", default="mpi", choices=["mpi", "gloo", "local"])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.ranks > len(os.sched_getaffinity(0)):
        sys.exit(f"{options.ranks} ranks need as many cores")
    figures = {"even": [], "balanced": [], "at once": []}
    with tempfile.TemporaryDirectory(prefix="ringward-scaling-") as folder:
        table = os.path.join(folder, "rows.npy")
        rows = STEPS_PER_EPOCH * options.ranks * options.batch
        numpy.save(table, numpy.random.default_rng(0).standard_normal((rows, 100), dtype=numpy.float32))
        for run in range(options.runs):
            one = rows_per_second([start(options, table, 1, "one")])
            figures["even"].append(rows_per_second([start(options, table, options.ranks, "even")]) / one / options.ranks)
            figures["balanced"].append(
                rows_per_second([start(options, table, options.ranks, "balanced", "--balance")]) / one / options.ranks)
            figures["at once"].append(
                rows_per_second([start(options, table, 1, f"alone{rank}") for rank in range(options.ranks)]) / one / options.ranks)
            print(f"run {run + 1}: 1 rank {one:,.0f} rows/s; of {options.ranks}x: "
                  + ", ".join(f"{name} {100 * values[-1]:.1f} %" for name, values in figures.items()), flush=True)
    holds = statistics.median(figures["balanced"]) >= TARGET
    print(f"{options.ranks} ranks ({options.engine}), batch {options.batch} a rank, of {options.ranks}x: "
          + ", ".join(f"{name} {100 * statistics.median(values):.1f} % ({100 * min(values):.1f} to {100 * max(values):.1f})"
                      for name, values in figures.items())
          + f"; balanced {100 * TARGET:.0f} % wanted: {'holds' if holds else 'DOES NOT HOLD'}")
    sys.exit(options.check and not holds)


if __name__ == "__main__":
    main()
