#!/usr/bin/env python3
"""Watches a made-up job of three ranks, each of which works for a fixed processor time in every step, and sees whether the
watcher tells a rank that lost its core to a neighbour from one that has become slow itself, and from one whose GPU is held back (a
library plays NVIDIA's; then it hangs).

    watch_host.py build/release/bin/ringward PYTHON-FOLDER LIBRARY FAKE-NVML [--only NAME]

The ranks share the machine with whatever else runs on it: what is asserted is what a slow rank is called, never how slow it is.
"""
import argparse
import json
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import time
import uuid

from watch_jobs import check_replay, run_tests

RANK = 1  # alone on the last core; the others share the first
WORK = (0.010, 0.030, 0.010)  # processor seconds a step
NEIGHBOURS = 3


def rank_main(rank, job, barrier, slower):
    import ringward_guest as rg
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[-1] if rank == RANK else cores[0]})
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with rg.Recorder(job, rank, len(WORK)) as recorder:
        number = 0
        while True:
            with recorder.step(number):
                recorder.phase(rg.FORWARD)
                until = time.thread_time() + WORK[rank] * (slower.value if rank == RANK else 1)
                while time.thread_time() < until:
                    pass
                recorder.phase(rg.COMMUNICATE)
                barrier.wait()
            number += 1


class Watched:
    def __init__(self, ringward, nvml, folder):
        self.ringward = ringward
        self.job = "host-" + uuid.uuid4().hex[:8]
        self.slower = multiprocessing.Value("d", 1.0)
        barrier = multiprocessing.Barrier(len(WORK))
        self.ranks = [multiprocessing.Process(target=rank_main, args=(rank, self.job, barrier, self.slower), daemon=True)
                      for rank in range(len(WORK))]
        self.neighbours = []
        self.news = folder / "news.jsonl"
        self.record = folder / "run.rwrec"
        for rank in self.ranks:
            rank.start()
        self.gpus = folder / "gpus"
        self.tell_gpus("")
        environment = {**os.environ, "LD_LIBRARY_PATH": str(nvml.parent), "RINGWARD_FAKE_NVML": str(self.gpus)}
        with open(self.news, "w", encoding="utf-8") as out:
            self.watcher = subprocess.Popen([ringward, "watch", "--job", self.job, "--json", "--record", self.record], env=environment,
                                            stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, text=True)
        time.sleep(15)  # what is usual must be known before anything can be unusual

    def tell_gpus(self, more):
        """What the driver answers from now on: each rank computes on the GPU of its number, and `more`."""
        lines = [f"gpus {len(self.ranks)}"]
        for gpu, rank in enumerate(self.ranks):
            lines += [f"{gpu}.pid {rank.pid}", f"{gpu}.celsius 60", f"{gpu}.sm_megahertz 1980"]
            lines += [f"{gpu}.{name} 0" for name in ("throttle", "ecc") if f"{gpu}.{name}" not in more]
        new = self.gpus.with_suffix(".new")
        new.write_text("\n".join([*lines, more, ""]))
        new.rename(self.gpus)

    def crowd(self):
        """Programs that want the core of RANK all the time."""
        core = str(sorted(os.sched_getaffinity(0))[-1])
        for _ in range(NEIGHBOURS):
            self.neighbours.append(subprocess.Popen(["taskset", "-c", core, sys.executable, "-c", "while True: pass"]))

    def incidents(self):
        lines = map(json.loads, self.news.read_text().splitlines())
        return [n for n in lines if n["type"] == "incident"]

    def wait_for(self, cause, limit=40):
        """The latest word on the first incident of that cause."""
        end = time.monotonic() + limit
        while time.monotonic() < end:
            if found := [i for i in self.incidents() if i["cause"] == cause]:
                return found[0]
            time.sleep(0.1)
        raise AssertionError(f"no {cause} within {limit} s: {[i['summary'] for i in self.incidents()]}")

    def end(self):
        """Ends watching; the causes that a replay of the recording finds, which are those that were found."""
        self.watcher.send_signal(signal.SIGTERM)
        _, err = self.watcher.communicate(timeout=60)
        assert self.watcher.returncode == 130, err
        self.said = err
        return {i["cause"] for i in check_replay(self.ringward, self.record, True)["incidents"]}

    def destroy(self):
        for process in self.neighbours:
            process.kill()
            process.wait()
        if self.watcher.poll() is None:
            self.watcher.kill()
            self.watcher.communicate()
        for rank in self.ranks:
            rank.kill()
            rank.join()


def a_busy_neighbour_is_told(watched):
    before = len(watched.incidents())
    watched.crowd()
    found = watched.wait_for("busy-neighbour")
    assert found["category"] == "resource-contention" and found["culprit_ranks"] == [], found
    assert found["culprit_hosts"] == [os.uname().nodename] and found["victim_ranks"] == [RANK], found
    blamed = [i for i in watched.incidents()[before:] if RANK in i["culprit_ranks"]]
    assert not blamed, blamed
    assert "busy-neighbour" in watched.end()
    return found["summary"]


def a_slow_rank_stays_one(watched):
    watched.slower.value = 2.0
    found = watched.wait_for("slow-rank")
    assert found["culprit_ranks"] == [RANK], found
    assert "slow-rank" in watched.end()
    return found["summary"]


def a_gpu_that_is_held_back_is_the_cause(watched):
    held_back = f"{RANK}.throttle 64\n{RANK}.celsius 93\n"
    watched.tell_gpus(held_back)
    watched.slower.value = 2.0
    found = watched.wait_for("gpu-throttled")
    assert found["culprit_ranks"] == [RANK] and found["category"] == "hardware", found
    assert f"its GPU {RANK} was held back" in found["summary"] and "too hot" in found["summary"], found
    watched.tell_gpus(held_back + "2.ecc 3\n")
    broken = watched.wait_for("gpu-ecc")
    assert broken["culprit_ranks"] == [2] and broken["category"] == "hardware", broken
    watched.tell_gpus("hang 1\n")
    time.sleep(8)  # the driver has five seconds to answer
    assert {"gpu-throttled", "gpu-ecc"} <= watched.end()
    assert watched.said.count("the GPU driver does not answer") == 1, watched.said
    return found["summary"] + "; " + broken["summary"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ringward")
    parser.add_argument("python")
    parser.add_argument("library")
    parser.add_argument("nvml", type=pathlib.Path)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    if len(os.sched_getaffinity(0)) < 2:
        sys.exit("needs two cores: on one, a neighbour is everybody's")
    sys.path.insert(0, arguments.python)
    sys.dont_write_bytecode = True
    os.environ["RINGWARD_GUEST_LIBRARY"] = arguments.library

    def run(test, folder):
        watched = Watched(arguments.ringward, arguments.nvml, folder)
        try:
            return test(watched)
        finally:
            watched.destroy()

    run_tests((a_busy_neighbour_is_told, a_slow_rank_stays_one, a_gpu_that_is_held_back_is_the_cause), arguments.only, run)


if __name__ == "__main__":
    main()
