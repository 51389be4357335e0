#!/usr/bin/env python3
"""Hurts a real PyTorch DDP job of four ranks in one way after another, and sees what a watcher beside it says.

    real_faults.py RINGWARD PYTHON-FOLDER LIBRARY [--healthy-seconds 60] [--only NAME]

Run by a Python that has torch, as root (network namespaces, a memory cgroup). The ranks share the machine with whatever else runs
on it: what is asserted is who is named and as what, and that nobody else is.
"""
import argparse
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import uuid

from watch_jobs import beside_slowness, check_replay, free_port, run_tests, wait_for

RANKS = 4
USUAL_S = 20  # what is usual must be known before anything can be unusual
WITHIN_S = 40
HERE = pathlib.Path(__file__).parent


class Place:
    """Where a rank runs: what comes before its command, and the address under which it finds rank 0."""

    def __init__(self, prelude=(), address="127.0.0.1", interface="lo"):
        self.prelude, self.address, self.interface = prelude, address, interface


class Job:
    """The ranks and the watcher beside them."""

    def __init__(self, ringward, folder, places):
        self.ringward, self.folder = ringward, folder
        self.name = "faults-" + uuid.uuid4().hex[:8]
        self.fault_file, self.news, self.record = folder / "faults", folder / "news.jsonl", folder / "run.rwrec"
        port = str(free_port())
        self.ranks = [self.start_rank(rank, place, port) for rank, place in enumerate(places)]
        with open(self.news, "w", encoding="utf-8") as out:
            self.watcher = subprocess.Popen([ringward, "watch", "--job", self.name, "--json", "--record", self.record],
                                            stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, text=True)

    def start_rank(self, rank, place, port):
        environment = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(RANKS), MASTER_ADDR=place.address, MASTER_PORT=port,
                           GLOO_SOCKET_IFNAME=place.interface)
        log = open(self.folder / f"rank{rank}.log", "w", encoding="utf-8")
        with log:
            return subprocess.Popen([*place.prelude, sys.executable, HERE / "ddp_job.py", self.name, self.fault_file],
                                    env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def lines(self):
        return [json.loads(line) for line in self.news.read_text().splitlines()]

    def incidents(self, since=0):
        return [n for n in self.lines()[since:] if n["type"] == "incident"]

    def settle(self, seconds=USUAL_S):
        """Until all is usual; how many lines of news there are then."""
        def begun():
            for rank, process in enumerate(self.ranks):
                assert process.poll() is None, (self.folder / f"rank{rank}.log").read_text()
            return any(n["type"] == "job" for n in self.lines())
        wait_for("word of the job", 60, begun)
        time.sleep(seconds)
        return len(self.lines())

    def expect(self, since, cause, culprits, limit=WITHIN_S):
        """The first word that names it so; by then nobody else is blamed."""
        def named():
            return [i for i in self.incidents(since) if i["cause"] == cause and i["culprit_ranks"] == culprits]
        try:
            found = wait_for(f"{cause} {culprits}", limit, named)[0]
        except AssertionError as error:
            raise AssertionError(f"{error}: {[i['summary'] for i in self.incidents()]}") from None
        others = [i["summary"] for i in beside_slowness(self.incidents(since)) if i["culprit_ranks"] not in ([], culprits)]
        assert not others, others
        return found["summary"]

    def end(self):
        self.watcher.send_signal(signal.SIGTERM)
        _, err = self.watcher.communicate(timeout=60)
        assert self.watcher.returncode == 130, err
        check_replay(self.ringward, self.record, bool(self.incidents()))

    def destroy(self):
        for process in (self.watcher, *self.ranks):
            if process.poll() is None:
                process.kill()
            process.communicate()


def plant(kind, rank, cause, culprits):
    """A test that tells the rank to do wrong."""
    def test(job, _):
        since = job.settle()
        job.fault_file.write_text(f"{kind} {rank}\n")
        return job.expect(since, cause, culprits)
    test.__name__ = kind.replace("-", "_")
    return test


def frozen(job, _):
    since = job.settle()
    job.ranks[2].send_signal(signal.SIGSTOP)
    try:
        return job.expect(since, "rank-frozen", [2], 10)
    finally:
        job.ranks[2].send_signal(signal.SIGCONT)


def healthy(job, options):
    since = job.settle()
    time.sleep(options.healthy_seconds)
    named = [i["summary"] for i in job.incidents(since) if i["culprit_ranks"]]
    assert not named, named
    return f"nobody named in {options.healthy_seconds} s"


TESTS = (healthy, plant("sleep", 2, "slow-rank", [2]), plant("slow-input", 1, "slow-input", [1]), plant("nan", 3, "non-finite", [3]),
         plant("scaled-data", 1, "rank-apart", [1]), frozen)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ringward")
    parser.add_argument("python")
    parser.add_argument("library")
    parser.add_argument("--healthy-seconds", type=float, default=60)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    os.environ.update(PYTHONPATH=options.python, PYTHONDONTWRITEBYTECODE="1", RINGWARD_GUEST_LIBRARY=options.library)

    def run(test, folder):
        with contextlib.ExitStack() as stack:
            places = [Place()] * RANKS
            job = Job(options.ringward, folder, places)
            stack.callback(job.destroy)
            said = test(job, options)
            job.end()
            return said

    run_tests(TESTS, options.only, run)


if __name__ == "__main__":
    main()
