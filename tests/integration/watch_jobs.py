#!/usr/bin/env python3
"""Watches real `ringward train` jobs of four ranks, some of which are hurt, and sees who is named.

    watch_jobs.py build/release/bin/ringward --engine mpi [--only NAME]

The jobs share the machine with whatever else runs on it, so what is asserted is who is named and when at the latest, never
how fast a job is.
"""
import argparse
import calendar
import json
import os
import pathlib
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

from job_process import environment_of

RANKS = 4
INTERVAL = 1.0
NAMED_WITHIN = 5.0 + INTERVAL + 2.0  # the last for a machine that is busy with other tests
SEGMENT = re.compile(r"ringward\.([0-9a-f]{16})\.(\d+)\.(\d+)\.\d+")


def wait_for(what, limit, condition):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.02)
    raise AssertionError(f"{what}: not within {limit} s")


def free_port():
    """A port of loopback that nobody has just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run_tests(tests, only, run):
    """Runs functions by name in a folder each: `run(test, folder)` returns what to say, or nothing. Ends the program."""
    failed = 0
    for test in tests:
        if only not in test.__name__:
            continue
        with tempfile.TemporaryDirectory(prefix="watch-test-") as folder:
            try:
                print(f"ok   {test.__name__}: {run(test, pathlib.Path(folder)) or 'holds'}", flush=True)
            except (AssertionError, subprocess.TimeoutExpired) as error:
                failed += 1
                print(f"FAIL {test.__name__}: {error}", flush=True)
    sys.exit(bool(failed))


def check_replay(program, record, found_any):
    """The recording, replayed, finds what was found; the document of it."""
    done = subprocess.run([program, "replay", "--json", record], capture_output=True, text=True, check=False)
    assert done.returncode == found_any, (done.returncode, done.stderr)
    keys = ("id", "kind", "detector", "step", "since_step", "p_value", "effect", "over", "evidence")
    document = json.loads(done.stdout)
    replayed = [{k: f[k] for k in keys} for f in document["findings"]]
    with sqlite3.connect(f"file:{record}?mode=ro", uri=True) as recorded:
        rows = recorded.execute(f"SELECT {', '.join(keys)} FROM finding_rows ORDER BY key").fetchall()
    live = [dict(zip(keys, row)) for row in rows]
    for f in replayed + live:
        f["over"] = bool(f["over"])
        f.pop("kind")  # a number in one, a name in the other
    assert replayed == live, f"replayed {replayed}\nlive {live}"
    return document


class Watched:
    """A job that trains until it is told to end, and a watcher beside it."""

    def __init__(self, program, engine, folder, options=()):
        self.record = folder / "run.rwrec"
        self.program = program
        table = folder / "table.csv"
        subprocess.run([program, "simulate", "table", "--rows", "20000", "--anomalies", "0", "--out", table, "--quiet"],
                       check=True, stdout=subprocess.DEVNULL)
        self.job = subprocess.Popen(
            [program, "train", "--data", table, "--drop", "timestamp", "-np", str(RANKS), "--engine", engine, "--epochs",
             "100000", "--out", folder / "model", "--quiet"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)
        self.pids = wait_for("the ranks", 60, self.find_ranks)
        self.news = open(folder / "news.jsonl", "w+", encoding="utf-8")
        self.watcher = subprocess.Popen([program, "watch", "--job", self.name, "--json", "--record", self.record, *options],
                                        stdin=subprocess.DEVNULL, stdout=self.news, stderr=subprocess.PIPE, text=True)
        wait_for("word of the job", 60, lambda: [n for n in self.lines() if n["type"] == "job"])
        # What is usual must be known before anything can be unusual.
        time.sleep(8)

    def find_ranks(self):
        """Pids of the job's ranks by rank, once there are all."""
        assert self.job.poll() is None, self.job.stderr.read()
        found = {}
        for match in filter(None, map(SEGMENT.fullmatch, os.listdir("/dev/shm"))):
            parent = environment_of(match[3]).get("RINGWARD_JOB_ID")
            if parent == match[1] and self.is_mine(int(match[3])):
                found[int(match[2])] = int(match[3])
                self.name = match[1]
        return found if len(found) == RANKS else None

    def is_mine(self, pid):
        while pid > 1:
            if pid == self.job.pid:
                return True
            try:
                pid = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                return False
        return False

    def lines(self):
        return [json.loads(line) for line in pathlib.Path(self.news.name).read_text().splitlines()]

    def incidents(self, cause=None, news="found"):
        return [n for n in self.lines()
                if n["type"] == "incident" and n["news"] == news and cause in (None, n["cause"])]

    def end(self):
        """Watcher first: that all ranks end at once would be an incident."""
        for process, code in ((self.watcher, 130), (self.job, 130)):
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=60)
            assert process.returncode == code, (process.returncode, err)
        check_replay(self.program, self.record, bool(self.incidents()))

    def destroy(self):
        for process in (self.watcher, self.job):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                process.communicate(timeout=60)


def busy_seconds():
    """Processor time that all programs of the machine have used."""
    user, nice, system = map(int, pathlib.Path("/proc/stat").read_text().split()[1:4])
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")


def seconds_of(pids):
    fields = (pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids)
    return sum(int(f[11]) + int(f[12]) for f in fields) / os.sysconf("SC_CLK_TCK")


def beside_slowness(incidents):
    """A rank is slow indeed while its core serves other programs, other ranks, or, unseen from here, another machine's
    guests: on a shared machine that is right to say, and not what these jobs test."""
    slowness = ("compute", "resource-contention", "data-io")
    return [i for i in incidents if i["category"] not in slowness or i["cause"] == "rank-frozen"]


def a_healthy_job_is_no_news(watched):
    pids = watched.pids.values()
    before = busy_seconds() - seconds_of(pids)
    time.sleep(20)
    others = (busy_seconds() - seconds_of(pids) - before) / 20
    found = beside_slowness(watched.incidents())
    assert not found, found
    return f"no incident, beside other work on {others:.2f} cores"


def a_frozen_rank_is_named(watched):
    rank = 2
    os.kill(watched.pids[rank], signal.SIGSTOP)
    stopped = time.time()
    try:
        time.sleep(8)
    finally:
        os.kill(watched.pids[rank], signal.SIGCONT)
    found = wait_for("a frozen rank", 5, lambda: watched.incidents("rank-frozen"))
    assert [f["culprit_ranks"] for f in found] == [[rank]], found
    at = time.strptime(found[0]["at"][:19], "%Y-%m-%dT%H:%M:%S")
    took = calendar.timegm(at) + float(found[0]["at"][19:-1]) - stopped
    assert took <= NAMED_WITHIN, f"named after {took:.1f} s"
    wait_for("its end", 10, lambda: watched.incidents("rank-frozen", "over"))
    others = [i for i in beside_slowness(watched.incidents()) if i["culprit_ranks"] not in ([], [rank])]
    assert not others, others
    return f"named after {took:.1f} s"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ringward")
    parser.add_argument("--engine", default="mpi")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()

    def run(test, folder):
        watched = Watched(arguments.ringward, arguments.engine, folder)
        try:
            said = test(watched)
            watched.end()
            return f"{arguments.engine}: {said}"
        finally:
            watched.destroy()

    run_tests((a_healthy_job_is_no_news, a_frozen_rank_is_named), arguments.only, run)


if __name__ == "__main__":
    main()
