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
WITHIN_S, LEAK_WITHIN_S = 40, 90
REST_S = 15
LEAKY, LEAK_LIMIT = 2, 4 << 30  # a rank, and bytes
HERE = pathlib.Path(__file__).parent


class Place:
    """Where a rank runs: what comes before its command, the address under which it finds rank 0, and the name of its host where it
    is not to be this one's."""

    def __init__(self, prelude=(), address="127.0.0.1", interface="lo", host=None):
        self.prelude, self.address, self.interface, self.host = prelude, address, interface, host


def quietly(*words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, words))}: {done.stderr.strip()}"


class Network:
    """Two network namespaces with a cable between them, half of the ranks in each."""

    def __init__(self, stack):
        tag = uuid.uuid4().hex[:6]
        self.names = [f"rw-{tag}-{side}" for side in "ab"]
        self.ends = [f"rw{tag}{side}" for side in "ab"]
        for name in self.names:
            quietly("ip", "netns", "add", name)
            stack.callback(quietly, "ip", "netns", "del", name)
        quietly("ip", "link", "add", self.ends[0], "netns", self.names[0], "type", "veth", "peer", "name", self.ends[1], "netns",
                self.names[1])
        for number, (name, end) in enumerate(zip(self.names, self.ends), 1):
            quietly("ip", "-n", name, "address", "add", f"10.203.0.{number}/24", "dev", end)
            for link in ("lo", end):
                quietly("ip", "-n", name, "link", "set", link, "up")

    def places(self):
        return [Place(("ip", "netns", "exec", self.names[side]), "10.203.0.1", self.ends[side], f"node-{'ab'[side]}")
                for side in (2 * rank // RANKS for rank in range(RANKS))]

    def cut(self):
        quietly("ip", "-n", self.names[0], "link", "set", self.ends[0], "down")

    def limit(self, rate):
        """Bytes pass no faster than that; None: as fast as they can."""
        shape = ("tbf", "rate", rate, "burst", "64kb", "latency", "200ms")
        for name, end in zip(self.names, self.ends):
            quietly("tc", "-n", name, "qdisc", *(("add", "dev", end, "root", *shape) if rate else ("del", "dev", end, "root")))


def memory_group(stack, limit):
    """A new memory control group with that limit, in bytes: the file that a process enters it by. Version 1 and 2."""
    root = pathlib.Path("/sys/fs/cgroup")
    old = (root / "memory").is_dir()
    group = (root / "memory" if old else root) / f"rw-{uuid.uuid4().hex[:6]}"
    group.mkdir()
    stack.callback(group.rmdir)
    (group / ("memory.limit_in_bytes" if old else "memory.max")).write_text(str(limit))
    return group / "cgroup.procs"


class Job:
    """The ranks and the watcher beside them."""

    def __init__(self, ringward, folder, places):
        self.ringward, self.folder = ringward, folder
        self.name = "faults-" + uuid.uuid4().hex[:8]
        self.fault_file, self.news, self.record = folder / "faults", folder / "news.jsonl", folder / "run.rwrec"
        hosts = sorted({place.host for place in places if place.host})
        for host in hosts:
            (folder / host).mkdir()
        port = str(free_port())
        self.ranks = [self.start_rank(rank, place, port) for rank, place in enumerate(places)]
        self.watcher, self.agents = self.start_watcher(hosts)

    def start_watcher(self, hosts):
        """The watcher, and an agent of it for each host where they have names."""
        words = [self.ringward, "watch", "--job", self.name, "--json", "--record", self.record]
        address = f"127.0.0.1:{free_port()}"
        if hosts:
            (self.folder / "nobody").mkdir()
            words += ["--agents", "--listen", address, "--segments", self.folder / "nobody"]
        with open(self.news, "w", encoding="utf-8") as out:
            watcher = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, text=True)
        agents = [subprocess.Popen([self.ringward, "watch", "--agent-of", f"http://{address}", "--host-name", host, "--segments",
                                    self.folder / host], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                  for host in hosts]
        return watcher, agents

    def start_rank(self, rank, place, port):
        environment = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(RANKS), MASTER_ADDR=place.address, MASTER_PORT=port,
                           GLOO_SOCKET_IFNAME=place.interface, OPENBLAS_NUM_THREADS="1")
        if place.host:
            environment["SEGMENTS"] = str(self.folder / place.host)
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

    def recover(self):
        """Until nothing is open, and has not been for a while: what follows at once is one incident with what was before."""
        def over():
            latest = {i["id"]: i for i in self.incidents()}
            return all(i["news"] == "over" for i in latest.values())
        wait_for("the end of all incidents", LEAK_WITHIN_S, over)
        time.sleep(REST_S)
        return len(self.lines())

    def end(self):
        self.watcher.send_signal(signal.SIGTERM)
        _, err = self.watcher.communicate(timeout=60)
        assert self.watcher.returncode == 130, err
        check_replay(self.ringward, self.record, bool(self.incidents()))

    def destroy(self):
        for process in (self.watcher, *self.agents, *self.ranks):
            if process.poll() is None:
                process.kill()
            process.communicate()


def stop(job, rank):
    job.ranks[rank].send_signal(signal.SIGSTOP)


def go_on(job, rank):
    job.ranks[rank].send_signal(signal.SIGCONT)


def plant(kind):
    """What makes a rank do wrong, and right again."""
    return lambda job, rank: job.fault_file.write_text(f"{kind} {rank}\n"), lambda job, rank: job.fault_file.write_text("")


# What is done to which rank, how it is mended, and what the watcher must say. A NaN stays in the weights: last.
LOCAL_FAULTS = (
    (*plant("sleep"), 2, "slow-rank"),
    (*plant("slow-input"), 1, "slow-input"),
    (*plant("leak"), LEAKY, "memory-leak"),
    (stop, go_on, 1, "rank-frozen"),
    (*plant("scaled-data"), 1, "rank-apart"),
    (*plant("nan"), 3, "non-finite"),
)


def on_one_host(job, options):
    """A while in which all is well, then one fault after another."""
    since = job.settle()
    time.sleep(options.healthy_seconds)
    named = [i["summary"] for i in job.incidents(since) if i["culprit_ranks"]]
    assert not named, named
    print(f"     nobody named in {options.healthy_seconds:.0f} s", flush=True)
    for hurt, mend, rank, cause in LOCAL_FAULTS:
        since = len(job.lines())
        hurt(job, rank)
        try:
            said = job.expect(since, cause, [rank], LEAK_WITHIN_S if cause == "memory-leak" else WITHIN_S)
        finally:
            mend(job, rank)
        print(f"     {said}", flush=True)
        if cause != "non-finite":
            job.recover()
    return f"{len(LOCAL_FAULTS)} faults named"


def between_two_hosts(job, _):
    """The network between them slows down, and is cut: all ranks wait, and none of them is at fault."""
    since = job.settle()
    job.network.limit("40mbit")
    print(f"     {job.expect(since, 'slow-network', [])}", flush=True)
    job.network.limit(None)
    since = job.recover()
    job.network.cut()
    return job.expect(since, "network-stalled", [])


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
            network = Network(stack) if test is between_two_hosts else None
            if network:
                places = network.places()
            else:
                places = [Place()] * RANKS
                entry = memory_group(stack, LEAK_LIMIT)
                places[LEAKY] = Place(("sh", "-c", f'echo $$ > {entry} && exec "$@"', "sh"))
            job = Job(options.ringward, folder, places)
            job.network = network
            stack.callback(job.destroy)
            said = test(job, options)
            job.end()
            return said

    run_tests((on_one_host, between_two_hosts), options.only, run)


if __name__ == "__main__":
    main()
