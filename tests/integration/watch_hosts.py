#!/usr/bin/env python3
"""Watches a made-up job of four ranks on two "hosts" of this machine: two agents under names of their own, each with the
folder that half of the ranks record into, and one aggregator, over TLS and with a token.

    watch_hosts.py build/release/bin/ringward PYTHON-FOLDER LIBRARY [--only NAME]

Ranks sleep where others compute, so that a busy machine changes little: what is asserted is who is named, never how slow it is.
"""
import argparse
import json
import multiprocessing
import os
import signal
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid

from watch_jobs import free_port, run_tests, wait_for

HOSTS = ("node-a", "node-b")
WORLD = 4
WORK = 0.030  # seconds a step
TOKEN = "a-token-of-this-test-only"
SLOW = 3


def rank_main(rank, job, folder, barrier, slower):
    import ringward_guest as rg
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with rg.Recorder(job, rank, WORLD, folder=str(folder)) as recorder:
        number = 0
        while True:
            with recorder.step(number):
                recorder.phase(rg.FORWARD)
                time.sleep(WORK * (slower.value if rank == SLOW else 1))
                recorder.phase(rg.COMMUNICATE)
                with recorder.collective("allreduce", 64):
                    barrier.wait()
            number += 1


class Cluster:
    def __init__(self, ringward, folder):
        self.ringward = ringward
        self.folder = folder
        self.job = "hosts-" + uuid.uuid4().hex[:8]
        self.port = free_port()
        self.slower = multiprocessing.Value("d", 1.0)
        self.secrets()
        barrier = multiprocessing.Barrier(WORLD)
        for host in HOSTS:
            (folder / host).mkdir()
        (folder / "nobody").mkdir()
        self.ranks = [multiprocessing.Process(target=rank_main, daemon=True,
                                              args=(r, self.job, folder / HOSTS[r // 2], barrier, self.slower))
                      for r in range(WORLD)]
        for rank in self.ranks:
            rank.start()
        self.aggregator = None
        self.agents = {}
        self.logs = 0
        self.begin_aggregator()
        for host in HOSTS:
            self.begin_agent(host)
        wait_for("word of the job", 60, lambda: [n for n in self.news() if n["type"] == "job" and n["ranks"] == WORLD])
        time.sleep(12)  # what is usual must be known before anything can be unusual

    def secrets(self):
        (self.folder / "token").write_text(TOKEN + "\n")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-days", "2", "-subj", "/CN=aggregator", "-addext", "subjectAltName=IP:127.0.0.1",
                        "-keyout", self.folder / "key.pem", "-out", self.folder / "cert.pem"],
                       check=True, capture_output=True)

    def start(self, *options):
        self.logs += 1
        with open(self.folder / f"log{self.logs}", "w", encoding="utf-8") as err, \
                open(self.folder / f"out{self.logs}", "w", encoding="utf-8") as out:
            return subprocess.Popen([self.ringward, "watch", "--token-file", self.folder / "token", *map(str, options)],
                                    stdin=subprocess.DEVNULL, stdout=out, stderr=err)

    def begin_aggregator(self):
        self.aggregator = self.start("--agents", "--listen", f"127.0.0.1:{self.port}", "--json",
                                     "--tls-cert", self.folder / "cert.pem", "--tls-key", self.folder / "key.pem",
                                     "--segments", self.folder / "nobody")
        self.out = self.folder / f"out{self.logs}"
        wait_for("the aggregator", 30, lambda: [n for n in self.news() if n["type"] == "listening"])

    def begin_agent(self, host):
        self.agents[host] = self.start("--agent-of", f"https://127.0.0.1:{self.port}", "--host-name", host,
                                       "--agent-ca", self.folder / "cert.pem", "--segments", self.folder / host)

    def end(self, process, how):
        process.send_signal(how)
        process.wait(timeout=30)

    def news(self):
        return [json.loads(line) for line in self.out.read_text().splitlines() if line.endswith("}")]

    def incidents(self, news, cause):
        return [n for n in self.news() if n["type"] == "incident" and n["news"] == news and n["cause"] == cause]

    def wait_for(self, news, cause, limit=40):
        try:
            return wait_for(f"{news} {cause}", limit, lambda: self.incidents(news, cause))[0]
        except AssertionError as error:
            logs = [self.folder / f"log{at + 1}" for at in range(self.logs)]
            raise AssertionError(f"{error}; news {self.news()}; logs {[log.read_text() for log in logs]}") from None

    def ask(self, path, body=None, kind="application/vnd.ringward.agent"):
        """(status, document)"""
        context = ssl.create_default_context(cafile=self.folder / "cert.pem")
        request = urllib.request.Request(f"https://127.0.0.1:{self.port}{path}", data=body,
                                         headers={"Authorization": "Bearer " + TOKEN, "Content-Type": kind})
        try:
            with urllib.request.urlopen(request, context=context, timeout=10) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refusal:
            return refusal.code, json.load(refusal)

    def accused(self):
        return [n for n in self.news() if n["type"] == "incident" and n["culprit_ranks"]]

    def destroy(self):
        for process in (self.aggregator, *self.agents.values()):
            if process and process.poll() is None:
                process.kill()
                process.wait()
        for rank in self.ranks:
            rank.kill()
            rank.join()


def a_slow_rank_is_named_with_its_host(cluster):
    job = [n for n in cluster.news() if n["type"] == "job"][-1]
    assert sorted(job["hosts"]) == list(HOSTS), job
    cluster.slower.value = 2.5
    found = cluster.wait_for("found", "slow-rank")
    assert found["culprit_ranks"] == [SLOW] and "rank 3 on node-b" in found["summary"], found
    return found["summary"]


def an_agent_that_is_killed_leaves_us_blind_until_it_is_back(cluster):
    cluster.end(cluster.agents["node-b"], signal.SIGKILL)
    began = time.monotonic()
    found = cluster.wait_for("found", "blind", 15)
    took = time.monotonic() - began
    assert "blind to ranks 2-3 on node-b" in found["summary"], found
    assert found["culprit_hosts"] == ["node-b"] and found["victim_ranks"] == [2, 3], found
    time.sleep(8)
    agents = {a["host"]: a["heard"] for a in cluster.ask("/api/v1/agents")[1]["agents"]}
    assert agents == {"node-a": True, "node-b": False}, agents
    cluster.begin_agent("node-b")
    cluster.wait_for("over", "blind", 20)
    time.sleep(5)
    assert not cluster.accused(), cluster.accused()
    return f"{found['summary']} (after {took:.1f} s)"


def an_aggregator_that_is_killed_goes_on_when_it_is_back(cluster):
    cluster.end(cluster.aggregator, signal.SIGKILL)
    time.sleep(5)
    cluster.begin_aggregator()
    wait_for("word of the job", 20, lambda: [n for n in cluster.news() if n["type"] == "job" and n["ranks"] == WORLD])
    time.sleep(15)
    assert not cluster.accused(), cluster.accused()
    cluster.slower.value = 2.5
    found = cluster.wait_for("found", "slow-rank")
    assert found["culprit_ranks"] == [SLOW], found
    agents = cluster.ask("/api/v1/agents")[1]["agents"]
    assert [a["missing"] for a in agents] == [0, 0], agents
    return found["summary"]


def a_host_that_dies_is_told_from_an_agent_that_dies(cluster):
    cluster.end(cluster.agents["node-b"], signal.SIGKILL)
    for rank in (2, 3):
        os.kill(cluster.ranks[rank].pid, signal.SIGSTOP)
    try:
        found = cluster.wait_for("changed", "host-lost", 20)
    finally:
        for rank in (2, 3):
            os.kill(cluster.ranks[rank].pid, signal.SIGCONT)
    assert found["culprit_ranks"] == [2, 3] and found["culprit_hosts"] == ["node-b"], found
    return found["summary"]


def garbage_and_strangers_change_nothing(cluster):
    assert cluster.ask("/api/v1/agent", b"garbage")[0] == 400
    assert cluster.ask("/api/v1/agent", b"\xff" * 5000)[0] == 400
    assert cluster.ask("/api/v1/agent", b"{}", "application/json")[0] == 415
    second = cluster.start("--agent-of", f"https://127.0.0.1:{cluster.port}", "--host-name", "node-a",
                           "--agent-ca", cluster.folder / "cert.pem", "--segments", cluster.folder / "node-b")
    log = cluster.folder / f"log{cluster.logs}"
    wait_for("a refusal", 20, lambda: "another agent says to be host node-a" in log.read_text())
    time.sleep(5)
    assert not cluster.accused() and not cluster.incidents("found", "blind"), cluster.news()
    cluster.end(second, signal.SIGTERM)
    return log.read_text().splitlines()[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ringward")
    parser.add_argument("python")
    parser.add_argument("library")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    sys.path.insert(0, arguments.python)
    sys.dont_write_bytecode = True
    os.environ["RINGWARD_GUEST_LIBRARY"] = arguments.library

    def run(test, folder):
        cluster = Cluster(arguments.ringward, folder)
        try:
            return test(cluster)
        finally:
            cluster.destroy()

    run_tests((a_slow_rank_is_named_with_its_host, an_agent_that_is_killed_leaves_us_blind_until_it_is_back,
               an_aggregator_that_is_killed_goes_on_when_it_is_back, a_host_that_dies_is_told_from_an_agent_that_dies,
               garbage_and_strangers_change_nothing), arguments.only, run)


if __name__ == "__main__":
    main()
