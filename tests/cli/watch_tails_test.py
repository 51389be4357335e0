#!/usr/bin/env python3
"""`ringward watch` and `ringward replay` over a timeline and logs that a job without a recorder writes.

    watch_tails_test.py RINGWARD
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

WORLD = 4


class Timeline:
    """What Horovod writes: two tensors a step, each rank's tick, no closing bracket until the end."""

    def __init__(self, path, seed, ticks=True):
        self.file, self.random, self.ticks, self.now = open(path, "w", encoding="utf-8"), random.Random(seed), ticks, 0.0
        start = '{"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros":1795974213281476}},\n'
        self.file.write("[\n" + start)

    def mark(self, phase, pid, name=""):
        named = f'"name": "{name}", ' if name else ""
        self.file.write(f'{{"ph": "{phase}", {named}"ts": {int(self.now)}, "pid": {pid}}},')

    def negotiate(self, came, ticks, all_come=True):
        """Ranks come to both tensors at their times; ends where the last has."""
        order = sorted(came, key=came.get)
        for place, rank in enumerate(order):
            self.now = max(self.now, came[rank])
            for pid in (1, 2):
                if place == 0:
                    self.mark("B", pid, "NEGOTIATE_ALLREDUCE")
                if ticks:
                    self.mark("X", pid, str(rank))
                if all_come and place == len(order) - 1:
                    self.mark("E", pid)

    def step(self, slow=None, extra=0.0):
        """20 ms of work, a little noise, 2 ms of transfer; `slow` works longer by `extra` ms."""
        came = {rank: self.now + 1000 * (self.random.gauss(20, 0.7) + (extra if rank == slow else 0)) for rank in range(WORLD)}
        self.negotiate(came, self.ticks or self.now == 0.0)
        for pid in (1, 2):
            self.mark("B", pid, "ALLREDUCE")
        self.now += 2000
        for pid in (1, 2):
            self.mark("E", pid)
        self.file.flush()

    def stall(self, missing):
        self.negotiate({rank: self.now + 20000 + rank for rank in range(WORLD) if rank != missing}, True, all_come=False)
        self.file.flush()


def watch(ringward, *arguments):
    return subprocess.Popen([ringward, "watch", "--json", "--once", "--idle", "3s", "--interval", "200ms", *map(str, arguments)],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def told(process):
    out, err = process.communicate(timeout=60)
    assert process.returncode in (0, 1), (process.returncode, err)
    news = [json.loads(line) for line in out.splitlines()]
    return [(each["cause"], each["culprit_ranks"]) for each in news if each["type"] == "incident" and each["news"] == "found"], err


def replay(ringward, *arguments):
    done = subprocess.run([ringward, "replay", "--json", *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, 1), (done.returncode, done.stderr)
    document = json.loads(done.stdout)
    sure = [each for each in document["incidents"] if each["confidence"] >= 0.5]
    return [(each["cause"], each["culprit_ranks"]) for each in sure], document, done.stderr


def grow(timeline, steps, pieces=8, **how):
    for _ in range(pieces):
        for _ in range(steps // pieces):
            timeline.step(**how)
        time.sleep(0.15)


def slow_rank(ringward, folder):
    path = folder / "t.json"
    process = watch(ringward, "--timeline", path)  # it does not exist yet
    timeline = Timeline(path, 1)
    grow(timeline, 200)
    grow(timeline, 200, slow=2, extra=15)
    found, err = told(process)
    assert found == [("slow-rank", [2])], (found, err)
    timeline.file.write("]")
    timeline.file.close()
    assert replay(ringward, "--timeline", path)[0] == [("slow-rank", [2])]


def healthy(ringward, folder):
    path = folder / "t.json"
    timeline = Timeline(path, 2)
    process = watch(ringward, "--timeline", path)
    grow(timeline, 600)
    found, err = told(process)
    assert found == [] and "ticks" not in err, (found, err)


def no_ticks(ringward, folder):
    path = folder / "t.json"
    timeline = Timeline(path, 3, ticks=False)
    process = watch(ringward, "--timeline", path)
    grow(timeline, 200)
    grow(timeline, 200, slow=2, extra=15)
    found, err = told(process)
    assert found == [], found
    assert err.count("holds no per-rank ticks") == 1 and "HOROVOD_CACHE_CAPACITY=0" in err, err


def hang(ringward, folder):
    path = folder / "t.json"
    timeline = Timeline(path, 4)
    process = watch(ringward, "--timeline", path, "--idle", "12s")
    grow(timeline, 200)
    timeline.stall(missing=1)
    found, err = told(process)
    assert found == [("rank-frozen", [1])], (found, err)


def begun_anew(ringward, folder):
    """An elastic job writes its timeline from the beginning again."""
    path = folder / "t.json"
    timeline = Timeline(path, 5)
    process = watch(ringward, "--timeline", path)
    grow(timeline, 200)
    timeline = Timeline(path, 6)
    grow(timeline, 400)
    grow(timeline, 200, slow=3, extra=15)
    found, err = told(process)
    assert found == [("slow-rank", [3])], (found, err)


def log_beside(ringward, folder):
    """The log says who, where the timeline does not; what was recorded says the same again."""
    timeline, log = Timeline(folder / "t.json", 7, ticks=False), folder / "job.log"
    process = watch(ringward, "--timeline", folder / "t.json", "--log", log, "--record", folder / "run.rwrec", "--job", "tails-test")
    grow(timeline, 100)
    with open(log, "w", encoding="utf-8") as out:
        out.write("[1,0]<stdout>:step 100\n[1,2]<stderr>:Traceback (most recent call last):\n[1,2]<stderr>:  File \"t.py\", line 7\n")
        out.flush()
        time.sleep(0.3)
        out.write("[1,2]<stderr>:ValueError: no such column\n[1,0]<stderr>:Read error: Connection reset by peer\n")
    found, err = told(process)
    assert found == [("rank-failed", [2])], (found, err)
    for arguments in (["--timeline", folder / "t.json", "--log", log], ["--log", log], [folder / "run.rwrec"]):
        again, document, _ = replay(ringward, *arguments)
        assert again == found, (arguments, again)
        first = document["incidents"][0]["evidence"][0]
        assert (first["file"], first["line"], first["text"]) == (str(log), 4, "ValueError: no such column"), first


def files_each(ringward, folder):
    """A file for each rank, found by a pattern once they are there."""
    process = watch(ringward, "--log", folder / "rank-*.log")
    for rank in range(3):
        text = "Segmentation fault (core dumped)\n" if rank == 1 else "step 1\n"
        (folder / f"rank-{rank}.log").write_text(text, encoding="utf-8")
    found, err = told(process)
    assert found == [("rank-failed", [1])], (found, err)


def no_ranks(ringward, folder):
    (folder / "job.log").write_text("no tags here\n", encoding="utf-8")
    process = watch(ringward, "--log", folder / "job.log")
    found, err = told(process)
    assert found == [] and "tell of no rank" in err, (found, err)
    done = subprocess.run([ringward, "replay", "--log", str(folder / "job.log")], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "tells of no rank" in done.stderr, done


CASES = [slow_rank, healthy, no_ticks, hang, begun_anew, log_beside, files_each, no_ranks]


def main():
    ringward = str(pathlib.Path(sys.argv[1]).resolve())
    failed = False
    for case in CASES:
        with tempfile.TemporaryDirectory(prefix="tails-") as name:
            try:
                case(ringward, pathlib.Path(name))
                print(f"ok   {case.__name__}", flush=True)
            except AssertionError as error:
                failed = True
                print(f"FAIL {case.__name__}: {error}", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
