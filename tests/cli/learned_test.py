#!/usr/bin/env python3
"""A learned detector end to end: recordings of healthy jobs, a model of them, and what it finds in other recordings.

    learned_test.py RINGWARD
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
PATIENCE_S = 280
PLAN = """[job]
world = 16
steps = 900
seed = {seed}
[[fault]]
kind = "odd-rows"
onset = 400
length = 300
severity = 0.35
ranks = [5]
"""


def call(folder, *args):
    return subprocess.run([PROGRAM, *args], cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


class LearnedTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="ringward-learned-")
        cls.folder = pathlib.Path(cls.place.name)
        job = ["simulate", "job", "--world", "16", "--steps", "1200"]
        cls.do(*job, "--seed", "1", "--out", "healthy.rwrec")
        cls.do(*job, "--seed", "2", "--out", "other.rwrec")
        cls.do(*job, "--seed", "3", "--faults", "slow-rank", "--out", "slow.rwrec")
        (cls.folder / "plan.toml").write_text(PLAN.format(seed=4))
        cls.do("simulate", "job", "--plan", "plan.toml", "--out", "odd.rwrec")
        cls.small = ["--steps", "300", "--hidden", "24,8", "--folds", "2", "--noise", "0.2", "--quiet"]
        cls.do("train", "--data", "healthy.rwrec", "--out", "model", *cls.small)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    @classmethod
    def do(cls, *args):
        done = call(cls.folder, *args)
        assert done.returncode == 0, f"{args}: {done.stderr}"
        return done

    def told(self, *args):
        done = call(self.folder, "replay", "--json", *args)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return json.loads(done.stdout)

    def test_finds_what_no_rule_tells(self):
        self.assertEqual(self.told("odd.rwrec")["incidents"], [])
        told = self.told("--model", "model", "odd.rwrec")
        self.assertEqual([(i["cause"], i["culprit_ranks"]) for i in told["incidents"]], [("unusual", [5])])
        incident = told["incidents"][0]
        self.assertTrue(400 <= incident["found_step"] <= 440, incident["found_step"])
        self.assertIn("loss_vs_others", incident["summary"])
        self.assertEqual(told, self.told("--model", "model", "odd.rwrec"))

    def test_a_healthy_job_stays_healthy_and_a_name_comes_first(self):
        self.assertEqual(self.told("--model", "model", "other.rwrec")["incidents"], [])
        plain, learned = self.told("slow.rwrec"), self.told("--model", "model", "slow.rwrec")
        self.assertEqual([i["cause"] for i in plain["incidents"]], [i["cause"] for i in learned["incidents"]])

    def test_the_model_says_what_it_is_of(self):
        self.assertEqual(json.loads(self.do("model", "info", "--json", "model").stdout)["features"], "telemetry-1")

    def test_leaves_out_incidents(self):
        done = call(self.folder, "train", "--data", "slow.rwrec", "--out", "of-slow", *self.small[:-1])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"slow\.rwrec: \d+ steps of incidents are left out")

    def test_refuses_what_does_not_fit(self):
        (self.folder / "rows.csv").write_text("a,b\n" + "".join(f"{i % 7},{i % 11}\n" for i in range(200)))
        self.do("train", "--data", "rows.csv", "--out", "table-model", "--steps", "10", "--quiet")
        for args, line in [
            (["replay", "--model", "table-model", "odd.rwrec"], "table-model: is a model of a table, not of jobs' numbers"),
            (["watch", "--once", "--model", "table-model"], "table-model: is a model of a table, not of jobs' numbers"),
            (["replay", "--model", "none", "odd.rwrec"], "none: is not a model folder"),
            (["train", "--data", "healthy.rwrec", "--label", "x", "--out", "m", "--quiet"], "healthy.rwrec: --label, --id, --time and --window"),
            (["train", "--data", "healthy.rwrec", "rows.csv", "--out", "m", "--quiet"], "healthy.rwrec: tables and recordings together"),
        ]:
            done = call(self.folder, *args)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), (args, done.stderr))
            self.assertIn(line, done.stderr)


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
