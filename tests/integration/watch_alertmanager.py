#!/usr/bin/env python3
"""A frozen rank becomes a firing alert in a real Alertmanager, and a resolved one when it moves again; a webhook hears the same.

    watch_alertmanager.py RINGWARD MPI_PROGRAM PRELOAD
"""
import http.server
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading

from job_process import environment_of
from watch_jobs import free_port, wait_for

JOB = f"alerts-{os.getpid()}"
CONFIG = """
route: {{receiver: test, group_by: [alertname, cause], group_wait: 1s, group_interval: 1s}}
receivers: [{{name: test, webhook_configs: [{{url: "http://127.0.0.1:{port}/alertmanager", send_resolved: true}}]}}]
"""


class Ears:
    """A web server on loopback that keeps what is posted to it, by path."""

    def __init__(self):
        heard = self.heard = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                heard.append((self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def of(self, path, status):
        """Alerts of frozen ranks that came by a path with a status."""
        return [alert for where, body in list(self.heard) if where == path for alert in body["alerts"]
                if alert["status"] == status and "rank-frozen" in json.dumps(alert)]


def stopped_rank():
    """Pid of the job's rank that has stopped itself."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            state = pathlib.Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state == "T" and environment_of(name).get("RINGWARD_JOB") == JOB:
            return int(name)
    return None


def main():
    ringward, program = sys.argv[1:3]
    ears = Ears()
    running = []
    with tempfile.TemporaryDirectory(prefix="watch-alerts-") as folder:
        (pathlib.Path(folder) / "config.yml").write_text(CONFIG.format(port=ears.port))
        url = f"http://127.0.0.1:{free_port()}"

        def start(*words, **more):
            process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, **more)
            running.append(process)
            return process

        try:
            start("prometheus-alertmanager", f"--config.file={folder}/config.yml", f"--storage.path={folder}/data",
                  f"--web.listen-address={url[7:]}", "--cluster.listen-address=")
            receivers = ["--alertmanager", url, "--webhook", f"http://127.0.0.1:{ears.port}/webhook"]
            wait_for("Alertmanager", 60, lambda: subprocess.run([ringward, "watch", "--test-alert", *receivers], check=False,
                                                                 capture_output=True).returncode == 0)
            start(ringward, "watch", "--job", JOB, *receivers)
            start(ringward, "run", "-np", 4, "--no-watch", "--", program, 1000000, "freeze", 1, 500,
                  env={**os.environ, "RINGWARD_JOB": JOB, "LD_PRELOAD": sys.argv[3]})
            frozen = wait_for("a rank that stops", 60, stopped_rank)
            wait_for("a webhook", 20, lambda: ears.of("/webhook", "firing"))
            firing = wait_for("Alertmanager's word", 20, lambda: ears.of("/alertmanager", "firing"))[0]
            assert firing["labels"]["job"] == JOB and firing["labels"]["severity"] == "critical", firing
            assert firing["annotations"]["ranks"] == "1", firing
            os.kill(frozen, signal.SIGCONT)
            wait_for("Alertmanager's last word", 30, lambda: ears.of("/alertmanager", "resolved"))
            wait_for("the webhook's last word", 10, lambda: ears.of("/webhook", "resolved"))
            print(f"fired and resolved: {firing['annotations']['summary']}")
        finally:
            for process in reversed(running):
                process.send_signal(signal.SIGTERM)
                process.wait(timeout=30)


if __name__ == "__main__":
    main()
