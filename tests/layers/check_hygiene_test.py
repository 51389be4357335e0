#!/usr/bin/env python3
"""The hygiene check accepts ordinary text and rejects each kind of planted slip."""
import unittest

import planted

CLEAN = {"docs/a.md": "Run `make`; see /etc/os-release, /dev/shm and ../shared/data.\n",
         "src/a.cc": "// TO" "DO(#12): a known gap with its issue\nint workspace;  // x = a/work/b\n"
                     "int y;  // NO" "LINT(bugprone-x): why\nint z;  // NO" "LINT: why\n// NO" "LINTEND(a)\n"}

# Strings are cut in two so that this file itself stays clean.
SLIPS = [
    ("/wo" "rk/main/build", "docs/bad.md:1: a path of one machine: /wo" "rk/m"),
    ("cd /ho" "me/someone", "docs/bad.md:1: a path of one machine: /ho" "me/s"),
    ("https://registry.npm" "js.org/x", "a package registry or mirror host"),
    ("http://deb.deb" "ian.org/debian", "a package registry or mirror host"),
    ("someone@exam" "ple.com", "an e-mail address"),
    ("// TO" "DO: later", "an open end without an issue number"),
    ("// FIX" "ME(later)", "an open end without an issue number"),
    ("int x;  // NO" "LINT", "a lint silencer without a reason"),
    ("int x;  // NO" "LINT(bugprone-x)", "a lint silencer without a reason"),
    ("<" * 7 + " HEAD", "a conflict marker"),
]


class CheckHygieneTest(unittest.TestCase):
    def test_accepts_ordinary_text(self):
        self.assertEqual(planted.run("check_hygiene.py", CLEAN)[0], 0)

    def test_rejects_planted_slips(self):
        for text, complaint in SLIPS:
            with self.subTest(text):
                status, output = planted.run("check_hygiene.py", {**CLEAN, "docs/bad.md": text + "\n"})
                self.assertEqual(status, 1)
                self.assertIn(complaint, output)
                self.assertEqual(output.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
