#!/usr/bin/env python3
"""Programs under `ringward run` and `ringward train --watch`, with the watcher that they start themselves.

    run_jobs.py RINGWARD MPI_PROGRAM [--only NAME]

The jobs share the machine with whatever else runs on it: what is asserted is who is named, never how fast a job is.
"""
import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import time

from watch_jobs import run_tests

FOUND = re.compile(r"job \S+: found: (\S+): rank (\d+);")
MPI_RANKS = 4


def run(program, *words, cwd=None, timeout=120):
    return subprocess.run([program, *map(str, words)], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=timeout, check=False)


def replayed(program, recording):
    done = run(program, "replay", "--json", recording)
    assert done.returncode in (0, 1), done.stderr
    return {(i["cause"], tuple(i["culprit_ranks"])) for i in json.loads(done.stdout)["incidents"]}


def a_slow_mpi_rank_is_named(options, folder):
    """An MPI program that records nothing, one rank of which becomes slower."""
    recording = folder / "slow.rwrec"
    done = run(options.ringward, "run", "-np", MPI_RANKS, "--record", recording, "--", options.mpi_program, 1600, "slow", 2, 800, 20)
    assert done.returncode == 0 and done.stdout == "[0] sum 4\n", (done.returncode, done.stdout, done.stderr)
    assert ("slow-rank", "2") in FOUND.findall(done.stderr), done.stderr
    assert ("slow-rank", (2,)) in replayed(options.ringward, recording)


def a_frozen_mpi_rank_is_named(options, folder):
    """It stops itself; the watcher names it, then `--frozen-for` ends the job."""
    done = run(options.ringward, "run", "-np", MPI_RANKS, "--frozen-for", "9s", "--json", "--", options.mpi_program, 100000, "freeze",
               1, 500)
    assert done.returncode == 3, (done.returncode, done.stderr)
    assert ("rank-frozen", "1") in FOUND.findall(done.stderr), done.stderr
    said = json.loads(done.stdout)
    assert (said["exit_code"], said["culprit"]) == (3, 1), said


def a_program_has_its_own_status(options, folder):
    """Processes told what they are by their environment; the first to fail gives its status."""
    script = 'echo "rank $RANK of $WORLD_SIZE at $MASTER_ADDR:$MASTER_PORT"; [ "$RANK" != 1 ] || exit 7; sleep 60'
    done = run(options.ringward, "run", "-np", 2, "--no-watch", "--", "sh", "-c", script)
    lines = sorted(done.stdout.splitlines())
    assert done.returncode == 7, (done.returncode, done.stderr)
    assert [re.sub(r"\d+$", "PORT", line) for line in lines] == [f"[{r}] rank {r} of 2 at 127.0.0.1:PORT" for r in (0, 1)], lines
    assert "rank 1" in done.stderr and "status 7" in done.stderr, done.stderr


def an_interrupt_ends_all(options, folder):
    """SIGINT to `run` ends ranks and watcher, and the recording is whole."""
    recording = folder / "interrupted.rwrec"
    job = subprocess.Popen([options.ringward, "run", "-np", "2", "--record", recording, "--", options.mpi_program, "100000"],
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(5)
    job.send_signal(signal.SIGINT)
    _, err = job.communicate(timeout=30)
    assert job.returncode == 130 and "killed" not in err, (job.returncode, err)
    replayed(options.ringward, recording)
    left = [name for name in os.listdir("/dev/shm") if name.startswith("ringward-job-") and str(job.pid) in name]
    assert not left, left


def training_is_watched(options, folder):
    """`train --watch --record`: the recording replays, and the model is there."""
    table, recording = folder / "table.csv", folder / "train.rwrec"
    run(options.ringward, "simulate", "table", "--rows", 4000, "--anomalies", 0, "--out", table, "--quiet")
    done = run(options.ringward, "train", "--data", table, "--drop", "timestamp", "-np", 2, "--steps", 3000, "--out", folder / "model",
               "--record", recording, "--watch")
    assert done.returncode == 0, done.stderr
    assert re.search(r"watching job \w{16}: 2 of 2 ranks", done.stderr), done.stderr
    assert re.search(r"job \w{16} ended after step 2999", done.stderr), done.stderr
    replayed(options.ringward, recording)
    again = run(options.ringward, "train", "--data", table, "--out", folder / "other", "--record", recording)
    assert again.returncode == 2 and "exists" in again.stderr and not (folder / "other").exists(), again.stderr


TESTS = (a_slow_mpi_rank_is_named, a_frozen_mpi_rank_is_named, a_program_has_its_own_status, an_interrupt_ends_all,
         training_is_watched)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ringward")
    parser.add_argument("mpi_program")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    run_tests(TESTS, options.only, lambda test, folder: test(options, folder))


if __name__ == "__main__":
    main()
