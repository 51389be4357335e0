#!/usr/bin/env python3
"""`ringward top` on documents that a made-up watcher gives it.

    top_test.py RINGWARD
"""
import http.server
import json
import re
import subprocess
import sys
import threading
import unittest

PROGRAM = ""
RANKS = {"state": ["living", "silent", "living"], "phase": ["forward", "data", None], "step": [8, 7, 8],
         "in_collective": [False, False, True], "self_seconds": [0.002, 0.5, 0.001], "wait_seconds": [0.1, 0.0, 0.2],
         "local_loss": [1.5, None, "NaN"], "memory_bytes": []}
JOB = {"job": "a/b", "world": 3, "living": 3, "silent": 1, "blind": 0, "step": 8, "step_seconds": 0.25, "ended": False,
       "incidents": [{"summary": "rank-frozen: rank 1", "remedy": "look at it"}], "by_rank": RANKS}
STRANGE = [{}, {"jobs": 3}, {"jobs": [None, 3, {"job": 4}, {}]}, {"jobs": [{"job": "x"}]}]
STRANGE_JOB = [{"incidents": 3, "by_rank": 4}, {"by_rank": {"state": [1, None], "self_seconds": "x", "step": {}}, "incidents": [1, {}]}]


class Watcher:
    """Answers GETs from a table of paths; anything else is 404. With a token, 401 without it."""

    def __init__(self, pages, token=None):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                allowed = token is None or self.headers.get("Authorization") == f"Bearer {token}"
                body = pages.get(self.path) if allowed else {"error": "a token is needed"}
                self.send_response(200 if allowed and body is not None else 404 if allowed else 401)
                self.end_headers()
                self.wfile.write(body if isinstance(body, bytes) else json.dumps(body).encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def top(*words):
    return subprocess.run([PROGRAM, "top", *words], capture_output=True, text=True, timeout=60, check=False)


def ranks_of(text):
    return [int(m) for m in re.findall(r"^ +(\d+)  (?:living|silent)", text, re.M)]


class TopTest(unittest.TestCase):
    PAGES = {"/api/v1/jobs": {"jobs": [{"job": "a/b"}]}, "/api/v1/jobs/a%2Fb": JOB}

    def test_shows_jobs_incidents_and_ranks(self):
        with Watcher(self.PAGES) as watcher:
            done = top(watcher.url + "/")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("a/b  in trouble  3 of 3 ranks live, 1 silent, 0 unseen  step 8  250 ms a step\n", done.stdout)
            self.assertIn("  ! rank-frozen: rank 1\n    what now: look at it\n", done.stdout)
            self.assertRegex(done.stdout, r"(?m)^ +1  silent  data +7 +500 +- +0 +- +-$")
            for order, ranks in (("self", [1, 0, 2]), ("wait", [2, 0, 1]), ("loss", [2, 0, 1]), ("rank", [0, 1, 2])):
                self.assertEqual(ranks_of(top(watcher.url, "--sort", order).stdout), ranks, order)
            self.assertIn("… and 2 more ranks", top(watcher.url, "--ranks", "1").stdout)
            self.assertEqual(json.loads(top(watcher.url, "--json").stdout)["jobs"], [JOB])

    def test_a_healthy_job_is_fine(self):
        with Watcher({**self.PAGES, "/api/v1/jobs/a%2Fb": {**JOB, "incidents": []}}) as watcher:
            done = top(watcher.url, "--job", "a/b")
            self.assertEqual((done.returncode, "healthy" in done.stdout), (0, True))

    def test_nothing_that_answers_breaks_it(self):
        for jobs in STRANGE:
            for job in STRANGE_JOB:
                with self.subTest(jobs=jobs, job=job), Watcher({"/api/v1/jobs": jobs, "/api/v1/jobs/x": job}) as watcher:
                    self.assertIn(top(watcher.url).returncode, (0, 1))
        for body in (b"", b"[1]", b"{", b"\xff" * 100):
            with self.subTest(body=body), Watcher({"/api/v1/jobs": body}) as watcher:
                done = top(watcher.url)
                self.assertEqual((done.returncode, done.stderr.count("\n")), (3, 1), done.stderr)

    def test_says_who_refuses(self):
        with Watcher(self.PAGES, token="secret") as watcher:
            done = top(watcher.url)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(done.stderr, f"ringward top: {watcher.url}/api/v1/jobs: answered 401: a token is needed\n")
            token = subprocess.run([PROGRAM, "top", watcher.url, "--token-file", "/dev/stdin"], input="secret\n", capture_output=True,
                                   text=True, timeout=60, check=False)
            self.assertEqual(token.returncode, 1, token.stderr)
            gone = watcher.url
        done = top(gone)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (3, 1), done.stderr)
        self.assertEqual(top("localhost:9188").returncode, 2)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
