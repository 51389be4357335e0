#!/usr/bin/env python3
"""A C or C++ program records; another process reads it while it lives, and after it was killed.

    c_program_test.py PROGRAM READER
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, READER = sys.argv[1:3]
BACKWARD, COMMUNICATE, CHECKPOINT = 3, 4, 6


def read(path):
    return json.loads(subprocess.run([READER, path], capture_output=True, text=True, check=True).stdout)


class CProgramTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ringward-guest-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def start(self):
        program = subprocess.Popen([PROGRAM, self.folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(program.stdout.close)
        return program, program.stdout.readline().strip()

    def files(self):
        return sorted(pathlib.Path(self.folder).iterdir())

    def test_a_reader_sees_what_was_recorded(self):
        program, line = self.start()
        self.assertRegex(line, r"^abi 1, on, 5\d records, 0 dropped, .*ringward\.a_job_in_C\.1\.\d+\.\d+$")
        seen = read(self.files()[0])
        program.communicate("\n", timeout=60)
        self.assertEqual(seen["info"], {"job": "a job in C", "rank": 1, "world": 2, "pid": program.pid})
        self.assertEqual((seen["overwritten"], seen["malformed"]), (0, 0))
        state = seen["state"]
        self.assertEqual((state["phase"], state["step"], state["in_step"]), (COMMUNICATE, 9, False))
        self.assertEqual((state["inside_collective"], state["operation"], state["collective_number"]),
                         (True, "allreduce", 10))
        self.assertEqual([s["step"] for s in seen["steps"]], list(range(10)))
        for step in seen["steps"]:
            self.assertEqual(sum(step["phase_ns"]), step["total_ns"])
            self.assertEqual(step["wait_ns"][BACKWARD], 1000)
        losses = [m for m in seen["metrics"] if m["name"] == "local_loss"]
        self.assertEqual([m["last"] for m in losses], [0.5] * 7 + [None] + [0.5] * 2)  # JSON has no NaN
        self.assertEqual({m["name"] for m in seen["metrics"]}, {"local_loss", "samples", "queue_length"})
        self.assertEqual(sum(c["count"] for c in seen["collectives"]), 10)

    def test_closing_leaves_nothing(self):
        program, _ = self.start()
        program.communicate("\n", timeout=60)
        self.assertEqual((program.returncode, self.files()), (0, []))

    def test_killed_it_can_still_be_read(self):
        program, _ = self.start()
        program.kill()
        program.communicate()
        seen = read(self.files()[0])
        self.assertEqual(len(seen["steps"]), 10)
        self.assertFalse(seen["state"]["closed"])

    def test_without_a_folder_it_runs_all_the_same(self):
        self.folder = os.path.join(self.folder, "missing")
        program, line = self.start()
        program.communicate("\n", timeout=60)
        self.assertEqual(program.returncode, 0)
        self.assertRegex(line, "^abi 1, off: .*missing or not writable, 0 records, 0 dropped,$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
