#!/usr/bin/env python3
"""The Python module, without any framework.

    python_test.py PYTHON-FOLDER LIBRARY READER
"""
import ast
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

FOLDER, LIBRARY, READER = sys.argv[1:4]
os.environ["RINGWARD_GUEST_LIBRARY"] = LIBRARY
sys.path.insert(0, FOLDER)
sys.dont_write_bytecode = True
import ringward_guest as rg  # found only now


def read(path):
    return json.loads(subprocess.run([READER, path], capture_output=True, text=True, check=True).stdout)


class PythonTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ringward-guest-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def recorder(self, **more):
        recorder = rg.Recorder("job", 0, 2, folder=self.folder, **more)
        self.addCleanup(recorder.close)
        return recorder

    def test_what_is_recorded_is_read(self):
        recorder = self.recorder()
        self.assertTrue(recorder.on, recorder.status)
        for number in range(3):
            with recorder.step(number):
                recorder.phase(rg.DATA)
                recorder.metric(rg.LOCAL_LOSS, 0.25)
                recorder.metric("mine", number)
                recorder.phase(rg.COMMUNICATE)
                with recorder.collective("allreduce", 64):
                    pass
        with recorder.slow(rg.SLOW_EVALUATE):
            recorder.phase(rg.EVALUATE)
            self.assertEqual(read(recorder.path)["state"]["slow"], rg.SLOW_EVALUATE)
        recorder.close()
        self.assertEqual((recorder.on, recorder.status, recorder.path), (False, "off: closed", ""))
        self.assertEqual(os.listdir(self.folder), [])

    def test_waits_and_collectives(self):
        recorder = self.recorder()
        with recorder.step(0):
            recorder.phase(rg.BACKWARD)
            number = recorder.enter_collective("bucket", 8, overlapped=True)
            self.assertTrue(read(recorder.path)["state"]["inside_collective"])
            recorder.exit_collective(number)
            recorder.wait(rg.BACKWARD, 1234.5)
            recorder.wait(rg.BACKWARD, -5)
        seen = read(recorder.path)
        self.assertEqual(seen["steps"][0]["wait_ns"][rg.BACKWARD], 1234)
        self.assertEqual(seen["collectives"][0]["operation"], "bucket")
        self.assertEqual(recorder.counters, {"records": 2, "dropped_busy": 0, "dropped_misuse": 0})

    def test_a_failed_collective_says_so(self):
        recorder = self.recorder()
        with self.assertRaises(ZeroDivisionError):
            with recorder.collective("allreduce", 8):
                raise ZeroDivisionError
        self.assertEqual(read(recorder.path)["collectives"][0]["flags"], 1)

    def test_off_it_does_nothing(self):
        for folder, library in ((os.path.join(self.folder, "missing"), LIBRARY), (self.folder, "/nowhere/lib.so")):
            os.environ["RINGWARD_GUEST_LIBRARY"] = library
            self.addCleanup(os.environ.__setitem__, "RINGWARD_GUEST_LIBRARY", LIBRARY)
            with rg.Recorder("job", 0, 1, folder=folder) as recorder:
                self.assertFalse(recorder.on)
                self.assertGreater(len(recorder.status), 5)
                with recorder.step(1), recorder.slow(rg.SLOW_OTHER), recorder.collective("x", 1):
                    recorder.phase(rg.DATA)
                    recorder.metric("mine", 1)
                    recorder.wait(rg.DATA, 1)
                self.assertEqual(recorder.counters["records"], 0)

    def test_a_fork_is_off(self):
        recorder = self.recorder()
        child = os.fork()
        if child == 0:
            recorder.metric(rg.LOCAL_LOSS, 1)
            os._exit(0 if not recorder.on and "forked" in recorder.status else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(read(recorder.path)["metrics"], [])

    def test_runs_on_python_3_8(self):
        for path in pathlib.Path(FOLDER).rglob("*.py"):
            ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
