#!/usr/bin/env python3
"""The documents' check accepts pages that hang together and rejects each way of drifting apart."""
import unittest

import planted

TABLE = "<!-- begin modules -->\n| `base` | words |\n{}<!-- end modules -->\n"
CLEAN = {"README.md": "[docs](docs/README.md) [web](https://example.org/x)\n", "ARCHITECTURE.md": TABLE.format(""),
         "docs/README.md": "[page](page.md#part) [back](../README.md)\n", "docs/page.md": "text\n",
         "src/base/CMakeLists.txt": "ringward_module(base)\n"}

DRIFTS = [
    ("docs/page.md", "[gone](gone.md)\n", "docs/page.md:1: leads nowhere: docs/gone.md"),
    ("docs/lost.md", "text\n", "docs/lost.md: no link leads here"),
    ("src/new/CMakeLists.txt", "ringward_module(new)\n", "ARCHITECTURE.md: module src/new is missing in the table"),
    ("ARCHITECTURE.md", TABLE.format("| `old/leaf` | gone |\n"), "ARCHITECTURE.md: there is no module src/old/leaf"),
]


class CheckDocsTest(unittest.TestCase):
    def test_accepts_pages_that_hang_together(self):
        self.assertEqual(planted.run("check_docs.py", CLEAN), (0, "4 pages hang together\n"))

    def test_rejects_drift(self):
        for name, text, complaint in DRIFTS:
            with self.subTest(complaint):
                self.assertEqual(planted.run("check_docs.py", {**CLEAN, name: text}), (1, complaint + "\n"))


if __name__ == "__main__":
    unittest.main()
