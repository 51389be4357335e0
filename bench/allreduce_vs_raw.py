#!/usr/bin/env python3
"""`ringward bench allreduce` on 2 ranks against the promise: 2 KiB within 1.5x of raw MPI_Allreduce, 64 MiB within 1.1x.

    bench/allreduce_vs_raw.py [RINGWARD] [--runs 5] [--check]

A ratio is the median over runs of the program's own ratio, which compares neighbouring blocks of one run. --check exits 1
where a ratio is above its target or an element was wrong.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGETS = {2 << 10: 1.5, 64 << 20: 1.1}  # bytes -> most that ours may take, in units of raw


def run(ringward, size):
    command = [str(ringward), "bench", "allreduce", "-np", "2", "--engine", "mpi", "-b", str(size), "-e", str(size), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.strip()}")
    report = json.loads(done.stdout)
    return report["results"][0], report["wrong"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ringward", nargs="?", default=ROOT / "build/release/bin/ringward")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    holds = True
    for size, target in TARGETS.items():
        lines = [run(options.ringward, size) for _ in range(options.runs)]
        ratios = [line["ratio"] for line, _ in lines]
        wrong = sum(count for _, count in lines)
        fits = statistics.median(ratios) <= target and wrong == 0
        holds = holds and fits
        print(f"{size:>9} bytes: {statistics.median(line['us_median'] for line, _ in lines):10.1f} us, "
              f"{statistics.median(ratios):.3f}x raw ({min(ratios):.3f} to {max(ratios):.3f}; {target} wanted), "
              f"{wrong} wrong: {'holds' if fits else 'DOES NOT HOLD'}")
    sys.exit(options.check and not holds)


if __name__ == "__main__":
    main()
