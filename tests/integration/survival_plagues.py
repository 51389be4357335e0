"""The plagues of survival.py: each hurts the watcher, waits until it has said so, and returns what it said."""
import contextlib
import json
import os
import random
import socket
import subprocess
import time
import urllib.error
import urllib.request

from job_process import read_bytes, socket_inodes
from watch_jobs import wait_for

PATHS = ("/metrics", "/api/v1/jobs", "/api/v1/stream", "/api/v1/agents", "/api/v1/rules", "/api/v1/agent", "/api/v1/jobs/x/heat",
         "/api/v1/jobs/x", "/api/v1/jobs/x/incidents")
HOUR = 3600
AGENT = "application/vnd.ringward.agent"


def ask(stage, path, body=None, token=None, kind=AGENT):
    """(status, body)"""
    headers = {"Content-Type": kind}
    if token:
        headers["Authorization"] = "Bearer " + token
    request = urllib.request.Request(f"http://127.0.0.1:{stage.port}{path}", data=body, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read()


def metric(stage, series):
    """Its value; 0 where it is not shown."""
    status, page = ask(stage, "/metrics", token=stage.token)
    assert status == 200, status
    for line in page.decode().splitlines():
        if line.startswith(series + " "):
            return float(line.rsplit(" ", 1)[1])
    return 0.0


def wait_for_metric(stage, series, least):
    seen = []

    def reached():
        seen.append(metric(stage, series))
        return seen[-1] >= least

    try:
        wait_for(series, 20, reached)
    except AssertionError as error:
        jobs = ask(stage, "/api/v1/jobs", token=stage.token)[1].decode()
        raise AssertionError(f"{error}: {seen[:1]} to {seen[-1:]}, not {least}, in {len(seen)} looks; {jobs}") from None
    return seen[-1]


def agents(stage):
    return json.loads(ask(stage, "/api/v1/agents", token=stage.token)[1])["agents"]


def _listens_on(pid):
    """Addresses as /proc writes them: "0100007F:23E4" is a port of 127.0.0.1."""
    mine = socket_inodes(pid)
    lines = (read_bytes("/proc/net/tcp") + read_bytes("/proc/net/tcp6")).decode().splitlines()
    return [f[1] for f in map(str.split, lines) if len(f) > 9 and f[3] == "0A" and f[9] in mine]


def strangers_ask(stage):
    assert _listens_on(stage.aggregator.pid) == [f"0100007F:{stage.port:04X}"], _listens_on(stage.aggregator.pid)
    assert not any(_listens_on(agent.pid) for agent in stage.agents.values())
    bare = subprocess.run([stage.ringward, "watch", "--listen", "0.0.0.0:0"], capture_output=True, text=True, check=False, timeout=20)
    assert bare.returncode == 2 and "0.0.0.0" in bare.stderr, (bare.returncode, bare.stderr)
    for path in PATHS:
        for token in (None, "not-the-token-of-this-test"):
            status, _ = ask(stage, path, token=token)
            assert status == 401, (path, token, status)
            status, _ = ask(stage, path, b"x", token=token)
            assert status in (401, 405), (path, token, status)
    for path in ("/", "/healthz"):
        assert ask(stage, path)[0] == 200, path
    return f"401 on {len(PATHS)} paths; it listens on 127.0.0.1 alone"


def an_agent_dies(stage):
    host = "node-b"
    stage.kill_agent(host)
    found = stage.wait_for(20, type="incident", news="found", cause="blind", job=stage.wide.name)
    assert found["culprit_hosts"] == [host], found
    wait_for("an agent that is silent", 10, lambda: {a["host"]: a["heard"] for a in agents(stage)} == {"node-a": True, host: False})
    stage.begin_agent(host)
    stage.wait_for(20, type="incident", news="over", cause="blind", job=stage.wide.name)
    return found["summary"]


def the_aggregator_dies(stage):
    began = stage.kill_aggregator()
    time.sleep(2)
    stage.begin_aggregator()
    stage.wait_for(30, type="job", job=stage.wide.name, ranks=stage.wide.world)
    stage.down.append((began, time.monotonic()))
    wait_for("both agents, nothing missing", 10, lambda: [(a["heard"], a["missing"]) for a in agents(stage)] == [(True, 0)] * 2)
    return f"all ranks seen again {time.monotonic() - began:.1f} s after it was killed; missing of agents: 0"


def _garbage_over_http(stage, chance):
    """How many answers of 400 it must have made."""
    refused = 0
    for size in (0, 1, 17, 5000, 200_000):
        status, _ = ask(stage, "/api/v1/agent", chance.randbytes(size), token=stage.token)
        assert status in (400, 426), (size, status)  # 426: what may pass for a message of another protocol
        refused += status == 400
    for size in (1, 100, 20_000):
        with socket.create_connection(("127.0.0.1", stage.port), timeout=10) as raw:
            raw.sendall(chance.randbytes(size) + b"\r\n\r\n")
            try:
                raw.shutdown(socket.SHUT_WR)
                raw.recv(4096)
            except OSError:
                pass  # hung up: as well
    return refused


def _garbage_in_memory(stage, chance):
    """Segments that are none, and one that was a rank's and is torn; all of processes that live."""
    folder = stage.segments("node-a")
    real = sorted(folder.glob("ringward.*"))[0]
    whole = real.read_bytes()
    head, pid, start = real.name.split(".")[1], *real.name.split(".")[-2:]
    made = []
    for at, data in enumerate((b"", chance.randbytes(100), chance.randbytes(len(whole)), whole[:5000],
                               whole[:4096] + chance.randbytes(len(whole) - 4096))):
        path = folder / f"ringward.{head}.{900 + at}.{pid}.{start}"
        path.write_bytes(data)
        made.append(path)
    return made


def sources_send_garbage(stage):
    chance = random.Random(time.monotonic_ns())
    series = 'ringward_http_answers_total{code="400"}'
    before = metric(stage, series)
    refused = _garbage_over_http(stage, chance)
    log = stage.folder / "agent-node-a.log"
    told = log.read_text().count("not watched: ")
    made = _garbage_in_memory(stage, chance)
    try:
        wait_for("word of garbage", 20, lambda: log.read_text().count("not watched: ") >= told + len(made))
    finally:
        for path in made:
            path.unlink(missing_ok=True)
    counted = wait_for_metric(stage, series, before + refused) - before
    return f"{counted:.0f} refused with 400 and counted; in the agent's log: {log.read_text().splitlines()[-1][-120:]}"


def _set_clock(stage, seconds):
    new = stage.clock_file.with_suffix(".new")
    new.write_text(f"{seconds:+d}\n")
    os.replace(new, stage.clock_file)


def the_clock_jumps(stage):
    steps = metric(stage, "ringward_clock_steps_total")
    _set_clock(stage, -HOUR)
    back = stage.wait_for(20, type="clock")
    assert abs(back["seconds"] + HOUR) < 10, back
    time.sleep(3)
    assert metric(stage, "ringward_ranks{job=\"%s\",state=\"living\"}" % stage.wide.name) == stage.wide.world
    _set_clock(stage, 0)
    forth = stage.wait_for(20, type="clock")
    assert abs(forth["seconds"] - HOUR) < 10, forth
    wait_for_metric(stage, "ringward_clock_steps_total", steps + 2)
    return back["text"]


def a_rank_comes_back(stage):
    last = stage.restless.WORLD - 1
    stage.restless.kill_last()
    found = stage.wait_for(20, type="incident", cause="killed", job=stage.restless.name, over=True)
    assert found["culprit_ranks"] == [last], found
    stage.restless.start_last()

    def lives():
        job = json.loads(ask(stage, f"/api/v1/jobs/{stage.restless.name}", token=stage.token)[1])
        return job["by_rank"]["state"][last] == "living"

    wait_for("the rank that came back", 20, lives)
    return found["summary"]


def the_disk_is_full(stage):
    filler = stage.disk / "filler"
    with open(filler, "wb", buffering=0) as file, contextlib.suppress(OSError):  # until it is full
        while True:
            file.write(b"\0" * 65536)
    try:
        told = stage.wait_for(60, type="recording", job=stage.wide.name)
        wait_for_metric(stage, "ringward_recording_events_lost_total", 1)
    finally:
        filler.unlink()
    return told["text"]
