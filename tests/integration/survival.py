#!/usr/bin/env python3
"""Keeps a watcher busy and hurts it in turns, and sees that it goes on, says what it lost, and leaks nothing.

    survival.py build/release/bin/ringward PYTHON-FOLDER LIBRARY [--minutes M] [--rate 1000] [--browsers 200]

An aggregator that records on a small disk of its own, two agents, a job of 64 ranks on both, and one that loses a rank over and
over; 1,000 scrapes a second, 200 browsers, clients of the stream that never read. Meanwhile, in turns: an agent and the aggregator
are killed, the disk is full, the clock jumps back an hour, sources send garbage, strangers ask. At the end a rank becomes slow, and
must be named. Wants a mount namespace of its own (root, or user namespaces).
"""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid

import survival_plagues as plagues
from survival_job import RestlessJob, WideJob
from survival_measure import LoadReport, News, Sampler, check_growth
from watch_jobs import free_port, wait_for

TOKEN = "a-token-of-this-test-only"
WORLD, SLOW = 64, 37
HOSTS = ("node-a", "node-b")
TURN_S = 25  # at least
RATE_SHARE = 0.75  # of the scrapes that are asked for; the machine may have other work
LEARN_S = 15  # what is usual must be known before anything can be unusual
DISK_BYTES = 256 << 20
FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"
HERE = pathlib.Path(__file__).parent


class Stage:
    """All that plays: jobs, agents, the aggregator, those who ask."""

    def __init__(self, arguments, folder):
        self.ringward, self.folder = arguments.ringward, folder
        self.port, self.token = free_port(), TOKEN
        self.clock_file, self.disk = folder / "clock", folder / "disk"
        self.clock_file.write_text("+0\n")
        (folder / "token").write_text(TOKEN + "\n")
        for name in (*HOSTS, "nobody"):
            (folder / "memory" / name).mkdir()
        self.sampler = Sampler()
        self.lives = 0  # of the aggregator
        self.records, self.down, self.said = [], [], {}
        self.told = []  # News of each of them
        tag = uuid.uuid4().hex[:6]
        self.wide = WideJob(f"job-{tag}", WORLD, SLOW, [self.segments(host) for host in HOSTS])
        self.restless = RestlessJob(f"restless-{tag}", self.segments(HOSTS[0]))
        self.agents, self.loads = {}, []
        self.begin_aggregator()
        for host in HOSTS:
            self.begin_agent(host)

    def segments(self, host):
        return self.folder / "memory" / host

    def start(self, name, *options, environment=None):
        with open(self.folder / f"{name}.log", "a", encoding="utf-8") as err, \
                open(self.folder / f"{name}.out", "a", encoding="utf-8") as out:
            process = subprocess.Popen([self.ringward, "watch", "--token-file", self.folder / "token", *map(str, options)],
                                       stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment)
        self.sampler.follow(name, process.pid)
        return process

    def begin_aggregator(self):
        self.lives += 1
        self.records.append(self.disk / f"run{self.lives}.rwrec")
        began = time.monotonic()
        self.aggregator = self.start(
            f"aggregator-{self.lives}", "--agents", "--listen", f"127.0.0.1:{self.port}", "--json", "--record", self.records[-1],
            "--segments", self.segments("nobody"),
            environment=dict(os.environ, LD_PRELOAD=FAKETIME, FAKETIME_TIMESTAMP_FILE=str(self.clock_file), FAKETIME_NO_CACHE="1",
                             FAKETIME_DONT_FAKE_MONOTONIC="1", NO_FAKE_STAT="1"))
        self.news = News(self.folder / f"aggregator-{self.lives}.out")
        self.told.append(self.news)
        wait_for("the aggregator", 30, lambda: self.news.find(type="listening"))
        return began

    def kill_aggregator(self):
        began = time.monotonic()
        self.aggregator.kill()
        self.aggregator.wait()
        return began

    def begin_agent(self, host):
        self.agents[host] = self.start(f"agent-{host}", "--agent-of", f"http://127.0.0.1:{self.port}", "--host-name", host,
                                       "--segments", self.segments(host))

    def kill_agent(self, host):
        self.agents[host].kill()
        self.agents[host].wait()

    def begin_load(self, kind, *words):
        out = self.folder / f"{kind}.load"
        with open(out, "w", encoding="utf-8") as file:
            process = subprocess.Popen([sys.executable, HERE / "survival_load.py", kind, str(self.port), TOKEN, *map(str, words)],
                                       stdin=subprocess.DEVNULL, stdout=file)
        self.loads.append((kind, process, out))

    def end_load(self):
        """{kind: LoadReport}"""
        reports = {}
        for kind, process, out in self.loads:
            process.terminate()
            process.wait(timeout=30)
            reports[kind] = LoadReport(out, self.down)
        self.loads = []
        return reports

    def log(self):
        return (self.folder / f"aggregator-{self.lives}.log").read_text()

    def wait_for(self, limit, **fields):
        """The first news with these fields that was not waited for before."""
        try:
            return wait_for(f"news {fields}", limit, lambda: self.news.take(**fields))
        except AssertionError as error:
            raise AssertionError(f"{error}; log {self.log()[-3000:]}; news {self.news.all[-8:]}") from None

    def destroy(self):
        self.sampler.stop()
        for process in (self.aggregator, *self.agents.values(), *(load[1] for load in self.loads)):
            if process.poll() is None:
                process.kill()
                process.wait()
        self.wide.stop()
        self.restless.stop()


def see_all(stage):
    """All ranks are seen, and what is usual is known."""
    for job, ranks in ((stage.wide.name, WORLD), (stage.restless.name, RestlessJob.WORLD)):
        wait_for(f"all ranks of {job}", 60, lambda job=job, ranks=ranks: stage.news.find(type="job", job=job, ranks=ranks))
    time.sleep(LEARN_S)


def plant_slow_rank(stage):
    stage.wide.slower.value = 2.5
    found = stage.wait_for(60, type="incident", news="found", cause="slow-rank", job=stage.wide.name)
    assert found["culprit_ranks"] == [SLOW] and f"rank {SLOW} on {HOSTS[1]}" in found["summary"], found
    return found["summary"]


def accused(stage):
    """Who is blamed, by any of the aggregators."""
    return [n for news in stage.told for _, n in news.find(type="incident", job=stage.wide.name) if n["culprit_ranks"]]


def take_turns(stage, end, names):
    """One plague after another until the time is up, each once at least."""
    turns = 0
    while turns == 0 or time.monotonic() < end:
        begun = time.monotonic()
        for name in names:
            said = getattr(plagues, name)(stage)
            stage.said[name] = [stage.said.get(name, [0])[0] + 1, said]
            print(f"{time.strftime('%H:%M:%S')} {name}: {said}", flush=True)
            if turns and time.monotonic() >= end:
                break
        turns += 1
        time.sleep(max(0, min(begun + TURN_S, end) - time.monotonic()))  # what comes again sooner is told as one


def play(arguments, stage):
    """Plagues with restarts for a third of the time; then the aggregator that is measured lives to the end."""
    seconds = 60 * arguments.minutes
    see_all(stage)
    stage.begin_load("scrapers", 20, arguments.rate)
    stage.begin_load("browsers", arguments.browsers, stage.wide.name)
    stage.begin_load("sluggards", 3)
    begin = time.monotonic()
    usual = ["strangers_ask", "an_agent_dies", "sources_send_garbage", "the_clock_jumps", "a_rank_comes_back"]
    take_turns(stage, begin + seconds / 3, [*usual, "the_disk_is_full", "the_aggregator_dies"])
    see_all(stage)
    take_turns(stage, begin + seconds, usual)
    stage.said["the_disk_is_full"].append(plagues.the_disk_is_full(stage))
    return plant_slow_rank(stage)


def check_records(stage):
    """Each recording is whole as far as it goes."""
    told = []
    for record in stage.records:
        done = subprocess.run([stage.ringward, "replay", "--json", record], capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1), (record, done.returncode, done.stderr)
        told.append(f"{record.stat().st_size >> 10} KiB")
    return ", ".join(told)


def run(arguments, folder):
    for name, size in (("memory", 128 << 20), ("disk", DISK_BYTES)):
        (folder / name).mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder / name], check=True)
    stage = Stage(arguments, folder)
    try:
        named = play(arguments, stage)
        reports = stage.end_load()
        time.sleep(3)
        growth = stage.sampler.reports()
        stage.aggregator.send_signal(signal.SIGTERM)
        stage.aggregator.wait(timeout=30)
        print(f"named: {named}\nrecordings: {check_records(stage)}")
        for report in (*reports.values(), *growth):
            print(report)
        problems = [f"accused: {n['summary']}" for n in accused(stage) if n["culprit_ranks"] != [SLOW]]
        problems += [p for r in reports.values() for p in r.problems()] + check_growth(growth, stage.lives)
        scraped = reports["scrapers"].rate
        if scraped < RATE_SHARE * arguments.rate:
            problems.append(f"{scraped:.0f} scrapes/s, not {arguments.rate}")
        return problems
    except AssertionError as error:
        return [str(error)]
    finally:
        if os.environ.get("SURVIVAL_KEEP"):
            shutil.copytree(folder, os.environ["SURVIVAL_KEEP"], dirs_exist_ok=True, ignore=shutil.ignore_patterns("memory"))
        stage.destroy()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ringward")
    parser.add_argument("python")
    parser.add_argument("library")
    parser.add_argument("--minutes", type=float, default=0.5)
    parser.add_argument("--rate", type=float, default=1000, help="scrapes a second")
    parser.add_argument("--browsers", type=int, default=200)
    arguments = parser.parse_args()
    if os.environ.get("SURVIVAL_MOUNTS") != "own":
        root = [] if os.geteuid() == 0 else ["--map-root-user"]
        os.environ["SURVIVAL_MOUNTS"] = "own"
        os.execvp("unshare", ["unshare", *root, "--mount", sys.executable, *sys.argv])
    arguments.ringward = pathlib.Path(arguments.ringward).resolve()
    sys.path.insert(0, arguments.python)
    sys.dont_write_bytecode = True
    os.environ["RINGWARD_GUEST_LIBRARY"] = str(pathlib.Path(arguments.library).resolve())
    with tempfile.TemporaryDirectory(prefix="survival-") as folder, contextlib.ExitStack() as stack:
        folder = pathlib.Path(folder)
        for name in ("memory", "disk"):
            stack.callback(subprocess.run, ["umount", "--lazy", folder / name], check=False)
        problems = run(arguments, folder)
    for problem in problems:
        print(f"FAIL {problem}")
    print("does not hold" if problems else "holds")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
