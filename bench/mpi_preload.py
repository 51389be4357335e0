#!/usr/bin/env python3
"""What libringward_mpi.so adds to one MPI call: at most 150 ns (median).

    bench/mpi_preload.py [BUILD-FOLDER] [--runs 7] [--check]

Runs mpi_calls (bench/mpi_calls.c, built where it is missing) on one rank, in turn with and without the library; the figure is the
difference of the medians of a run and its neighbour, median over runs. --check exits 1 where it is above the target.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET_NS = 150


def ns_a_call(program, library):
    environment = {**os.environ, "RINGWARD_JOB": f"mpi-calls-{os.getpid()}"}
    if library:
        environment["LD_PRELOAD"] = str(library)
    done = subprocess.run([program], capture_output=True, text=True, check=False, timeout=120, env=environment)
    if done.returncode != 0:
        sys.exit(f"{program}: exit {done.returncode}: {done.stderr.strip()}")
    return float(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    program, library = options.build / "bin/mpi_calls", options.build / "lib/libringward_mpi.so"
    subprocess.run(["cmake", "--build", options.build, "--target", "mpi_calls", "ringward_mpi_preload"], check=True,
                   stdout=subprocess.DEVNULL)
    plain, recorded = zip(*((ns_a_call(program, None), ns_a_call(program, library)) for _ in range(options.runs)))
    added = [b - a for a, b in zip(plain, recorded)]
    holds = statistics.median(added) <= TARGET_NS
    print(f"MPI_Allreduce of 8 bytes on one rank: {statistics.median(plain):.0f} ns, recorded {statistics.median(recorded):.0f} ns")
    print(f"added {statistics.median(added):.0f} ns a call ({min(added):.0f} to {max(added):.0f}; {TARGET_NS} wanted): "
          f"{'holds' if holds else 'DOES NOT HOLD'}")
    sys.exit(options.check and not holds)


if __name__ == "__main__":
    main()
