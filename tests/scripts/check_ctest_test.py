#!/usr/bin/env python3
"""check_ctest.py names every test that did not run and fails on it where all must run."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_ctest.py"
RUN = '<testcase name="a" status="run"/>'
SKIPPED = '<testcase name="b" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/></testcase>'
DISABLED = '<testcase name="c" status="disabled"><skipped message="Disabled"/></testcase>'

# cases, arguments -> exit code, a text of the output
TABLE = [
    (RUN, ["--all-must-run"], 0, ""),
    (RUN + SKIPPED, [], 0, "did not run: b (SKIP_REGULAR_EXPRESSION_MATCHED)"),
    (RUN + SKIPPED, ["--all-must-run"], 1, "1 of 2 tests did not run"),
    (RUN + DISABLED, ["--all-must-run"], 1, "did not run: c (Disabled)"),
    ("", ["--all-must-run"], 1, "0 of 0 tests"),
    ("<broken", [], 2, "check_ctest:"),
]


class CheckCtestTest(unittest.TestCase):
    def test_table(self):
        for cases, arguments, code, text in TABLE:
            with self.subTest(cases=cases, arguments=arguments), tempfile.NamedTemporaryFile("w") as junit:
                junit.write(f"<testsuite>{cases}</testsuite>")
                junit.flush()
                done = subprocess.run([sys.executable, TOOL, *arguments, junit.name], capture_output=True,
                                      text=True, check=False)
                self.assertEqual(done.returncode, code)
                self.assertIn(text, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
