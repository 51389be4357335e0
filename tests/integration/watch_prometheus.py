#!/usr/bin/env python3
"""A real Prometheus scrapes a watcher beside a real `ringward train` job.

    watch_prometheus.py build/release/bin/ringward

Checked: promtool has nothing to say against /metrics, Prometheus's queries give the job's step and its ranks, the API and
the stream tell the same as the lines on standard output. A rank is stopped: the rule of jobs that stand still fires, and every query of the
dashboards finds something.
"""
import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

from watch_jobs import RANKS, Watched, free_port, wait_for

MONITORING = pathlib.Path(__file__).resolve().parents[2] / "monitoring"
CONFIG = """
global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}}
rule_files: ["{rules}"]
scrape_configs:
  - job_name: ringward
    honor_labels: true
    static_configs: [{{targets: ["{target}"]}}]
"""


def fetch(url):
    with urllib.request.urlopen(url, timeout=20) as answer:
        return answer.read().decode()


class Prometheus:
    def __init__(self, folder, target):
        (folder / "prometheus.yml").write_text(CONFIG.format(target=target, rules=MONITORING / "ringward.rules.yml"))
        self.address = f"127.0.0.1:{free_port()}"
        self.log = open(folder / "prometheus.log", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/tsdb",
             f"--web.listen-address={self.address}"], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def query(self, expression):
        """[(labels, value)]; none while it is starting."""
        try:
            text = fetch(f"http://{self.address}/api/v1/query?" + urllib.parse.urlencode({"query": expression}))
        except OSError:
            assert self.process.poll() is None, pathlib.Path(self.log.name).read_text()
            return []
        return [(r["metric"], float(r["value"][1])) for r in json.loads(text)["data"]["result"]]

    def one(self, expression):
        found = self.query(expression)
        return found[0][1] if found else None

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=60)
        self.log.close()


def check_lint(url):
    page = fetch(url + "metrics")
    done = subprocess.run(["promtool", "check", "metrics"], input=page, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    return page.count("\n")


def check_prometheus(prometheus, watched):
    job = f'{{job="{watched.name}"}}'
    first = wait_for("a scrape with the job's step", 60, lambda: prometheus.one(f"ringward_job_step{job}"))
    later = wait_for("a later step", 30, lambda: (prometheus.one(f"ringward_job_step{job}") or 0) > first
                     and prometheus.one(f"ringward_job_step{job}"))
    assert prometheus.one("up") == 1
    assert prometheus.one("count(ringward_rank_self_seconds)") == RANKS
    assert prometheus.one('ringward_ranks{state=~"living|silent"} > 0') == RANKS
    assert prometheus.one("time() - ringward_last_judgement_timestamp_seconds") < 10
    rate = wait_for("a rate of steps", 30, lambda: prometheus.one(f"rate(ringward_job_steps_total{job}[10s])"))
    assert rate > 0
    return f"step {first:.0f}, later {later:.0f}, {rate:.0f} steps a second"


def check_api(url, watched):
    page = url + "api/v1/jobs/" + urllib.parse.quote(watched.name, safe="")
    told = [line for line in watched.lines() if line["type"] == "job"][0]
    job = json.loads(fetch(page))
    for field in ("job", "world", "ranks", "hosts"):
        assert job[field] == told[field], (field, job[field], told[field])
    assert job["living"] == RANKS and job["step"] > 0, job
    assert all(isinstance(loss, float) for loss in job["by_rank"]["local_loss"]), job["by_rank"]
    heat = json.loads(fetch(page + "/heat?metric=wait&steps=8"))
    assert (heat["ranks"], heat["columns"], len(heat["data"])) == (RANKS, 8, 44), heat
    shown = {i["id"]: i["cause"] for i in json.loads(fetch(page + "/incidents"))["incidents"]}
    assert all(shown[i["id"]] for i in watched.incidents()), (shown, watched.incidents())


def check_stream(url, watched):
    with urllib.request.urlopen(url + "api/v1/stream", timeout=20) as stream:
        for line in stream:
            if line.startswith(b"data: ") and b'"jobs"' in line:
                names = [job["job"] for job in json.loads(line[6:])["jobs"]]
                assert names == [watched.name], names
                return


def queries():
    """{(dashboard, panel): expression}, with what Grafana puts in place of its variables where all is chosen."""
    found = {}
    for path in sorted((MONITORING / "grafana").glob("*.json")):
        for panel in json.loads(path.read_text(encoding="utf-8"))["panels"]:
            for target in panel.get("targets", []):
                expression = target["expr"].replace("$__rate_interval", "10s")
                found[path.stem, panel["title"], panel["id"]] = expression.replace("$job", ".+").replace("$instance", ".+")
    return found


def check_dashboards(prometheus, watched):
    """A rank is stopped, so that there is an incident to show."""
    wanted = queries()
    assert len(wanted) > 30, wanted
    stands = f'ALERTS{{alertname="RingwardJobStands", alertstate="firing", job="{watched.name}", severity="critical"}}'
    os.kill(watched.pids[2], signal.SIGSTOP)
    try:
        wait_for("the alert of a job that stands still", 30, lambda: prometheus.query(stands))
        for (dashboard, panel, _), expression in wanted.items():
            if "ringward_gpu_" not in expression:  # machines without have none to show
                wait_for(f"{dashboard}, {panel}: {expression}", 20, lambda expr=expression: prometheus.query(expr))
    finally:
        os.kill(watched.pids[2], signal.SIGCONT)
    wait_for("its end", 30, lambda: not prometheus.query(stands))
    return f"{len(wanted)} queries of the dashboards"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ringward")
    parser.add_argument("--engine", default="mpi")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="watch-prometheus-") as name:
        folder = pathlib.Path(name)
        watched = Watched(arguments.ringward, arguments.engine, folder, ["--listen", "127.0.0.1:0"])
        prometheus = None
        try:
            url = [line["url"] for line in watched.lines() if line["type"] == "listening"][0]
            prometheus = Prometheus(folder, urllib.parse.urlsplit(url).netloc)
            lines = check_lint(url)
            said = check_prometheus(prometheus, watched)
            check_api(url, watched)
            check_stream(url, watched)
            said += ", " + check_dashboards(prometheus, watched)
            begin = time.monotonic()
            watched.end()
            print(f"ok: {said}; {lines} lines of metrics; ended in {time.monotonic() - begin:.1f} s")
        finally:
            if prometheus:
                prometheus.stop()
            watched.destroy()


if __name__ == "__main__":
    sys.exit(main())
