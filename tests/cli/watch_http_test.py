#!/usr/bin/env python3
"""`ringward watch --listen`, without a job: where it says that it listens, TLS, the token, and how it ends.

    watch_http_test.py RINGWARD
"""
import contextlib
import http.client
import json
import pathlib
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

PROGRAM = ""
TOKEN = "a-token-of-enough-letters"
NO_JOB = "watch-http-test-of-no-job"
PATIENCE_S = 60


class Answer:
    def __init__(self, response):
        self.status, self.headers, self.body = response.status, response.headers, response.read().decode()


@contextlib.contextmanager
def watching(*options, folder=None):
    """A watcher that listens, of no job whatever else runs here: its process and its address."""
    process = subprocess.Popen([PROGRAM, "watch", "--json", "--job", NO_JOB, "--listen", "127.0.0.1:0", *options], cwd=folder,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        if not line:
            raise AssertionError(process.communicate(timeout=PATIENCE_S)[1])
        yield process, json.loads(line)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_S)


def ask(url, path, context=None, headers=None, post=None):
    where = urllib.parse.urlsplit(url)
    kind = http.client.HTTPSConnection if where.scheme == "https" else http.client.HTTPConnection
    arguments = {"context": context} if context else {}
    with contextlib.closing(kind(where.hostname, where.port, timeout=PATIENCE_S, **arguments)) as connection:
        kind = {} if post is None else {"Content-Type": "application/toml"}
        connection.request("GET" if post is None else "POST", path, body=post, headers={**kind, **(headers or {})})
        return Answer(connection.getresponse())


class WatchHttpTest(unittest.TestCase):
    def test_says_where_it_listens_and_ends_when_told(self):
        with watching() as (process, line):
            self.assertEqual(sorted(line), ["at", "type", "url"])
            self.assertEqual(line["type"], "listening")
            self.assertRegex(line["url"], r"^http://127\.0\.0\.1:\d+/$")
            self.assertEqual(ask(line["url"], "/healthz").body, "ok\n")
            self.assertEqual(json.loads(ask(line["url"], "/api/v1/jobs").body)["jobs"], [])
            self.assertIn("ringward_looks_total", ask(line["url"], "/metrics").body)
            self.assertEqual(ask(line["url"], "/").status, 200)
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=PATIENCE_S)
            self.assertEqual(process.returncode, 130)
            self.assertIn(f"listening on {line['url']}", err)

    def test_a_port_that_is_taken_is_one_line(self):
        with watching() as (_, line):
            port = urllib.parse.urlsplit(line["url"]).port
            done = subprocess.run([PROGRAM, "watch", "--once", "--listen", f"127.0.0.1:{port}"], capture_output=True, text=True,
                                  timeout=PATIENCE_S, check=False)
            self.assertEqual((done.returncode, done.stdout), (3, ""))
            self.assertEqual(done.stderr, f"ringward watch: --listen 127.0.0.1:{port}: Address already in use\n")

    def test_tls_and_a_token(self):
        with tempfile.TemporaryDirectory(prefix="ringward-tls-") as name:
            folder = pathlib.Path(name)
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
                            "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"], cwd=folder,
                           check=True, capture_output=True)
            (folder / "token").write_text(TOKEN + "\n")
            context = ssl.create_default_context(cafile=folder / "cert.pem")
            mine = {"Authorization": f"Bearer {TOKEN}"}
            with watching("--token-file", "token", "--tls-cert", "cert.pem", "--tls-key", "key.pem",
                          folder=folder) as (_, line):
                url = line["url"]
                self.assertRegex(url, "^https://")
                self.assertEqual(ask(url, "/metrics", context).status, 401)
                self.assertEqual(ask(url, "/metrics", context, {"Authorization": "Bearer " + TOKEN[:-1]}).status, 401)
                self.assertEqual(ask(url, "/metrics", context, mine).status, 200)
                self.assertEqual(ask(url, "/healthz", context).status, 200)
                self.stream(url, context, mine)
                with self.assertRaises(OSError):  # plain HTTP to a port that speaks TLS
                    ask(url.replace("https", "http"), "/healthz")
                self.assertEqual(ask(url, "/healthz", context).status, 200)

    def rules_become(self, url, headers, text):
        end = time.monotonic() + PATIENCE_S
        while text not in ask(url, "/api/v1/rules", headers=headers).body:
            self.assertLess(time.monotonic(), end, text)
            time.sleep(0.02)

    def test_rules_change_by_signal_and_over_http(self):
        with tempfile.TemporaryDirectory(prefix="ringward-rules-") as name:
            folder = pathlib.Path(name)
            (folder / "token").write_text(TOKEN + "\n")
            (folder / "rules.toml").write_text("worth = 0.25\n")
            mine = {"Authorization": f"Bearer {TOKEN}"}
            with watching("--token-file", "token", "--rules", "rules.toml", folder=folder) as (process, line):
                url = line["url"]
                self.assertEqual(ask(url, "/api/v1/rules").status, 401)
                self.rules_become(url, mine, "worth = 0.25\n")
                (folder / "rules.toml").write_text("worth = 0.125\nwrong = 1\n")
                process.send_signal(signal.SIGHUP)
                said = process.stderr.readline()
                while "rules stay as they were" not in said:
                    self.assertTrue(said)
                    said = process.stderr.readline()
                self.assertIn("rules.toml:2:1: unknown key wrong", said)
                self.rules_become(url, mine, "worth = 0.25\n")
                (folder / "rules.toml").write_text("worth = 0.125\n")
                process.send_signal(signal.SIGHUP)
                self.rules_become(url, mine, "worth = 0.125\n")
                hot = '[[threshold]]\nname = "too-hot"\nmetric = "temperature_celsius"\nabove = 90\n'
                self.assertEqual(ask(url, "/api/v1/rules", headers=mine, post=hot).status, 202)
                self.rules_become(url, mine, "too-hot")
                wrong = ask(url, "/api/v1/rules", headers=mine, post="worth = 7\n")
                self.assertEqual(wrong.status, 400)
                self.assertIn("rules:1:9: worth: expected a number", json.loads(wrong.body)["error"])
                self.assertEqual(ask(url, "/api/v1/rules", post=hot).status, 401)
        with watching() as (process, line):
            self.assertEqual(ask(line["url"], "/api/v1/rules", post="worth = 0.5\n").status, 403)
            process.send_signal(signal.SIGHUP)  # without a file of rules it ends the watcher, as before
            self.assertEqual(process.wait(timeout=PATIENCE_S), 130)

    def stream(self, url, context, headers):
        where = urllib.parse.urlsplit(url)
        with contextlib.closing(http.client.HTTPSConnection(where.hostname, where.port, timeout=PATIENCE_S,
                                                            context=context)) as connection:
            connection.request("GET", "/api/v1/stream", headers=headers)
            response = connection.getresponse()
            self.assertEqual(response.headers["Content-Type"], "text/event-stream")
            self.assertEqual(response.readline(), b"retry: 2000\n")
            response.readline()
            self.assertEqual(response.readline(), b"event: status\n")
            self.assertEqual(json.loads(response.readline().partition(b": ")[2])["jobs"], [])


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
