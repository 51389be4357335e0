#!/usr/bin/env python3
"""The layering check accepts a clean tree and rejects every kind of planted violation."""
import unittest

import planted

CLEAN = {
    "src/base/CMakeLists.txt": "ringward_module(base SOURCES a.cc LIBS fmt/ TESTS a_test.cc)",
    "src/base/a.h": "#include <vector>\n#include <sys/mman.h>\n",
    "src/base/a.cc": '#include "base/a.h"\n#include <fmt/core.h>\n',
    "src/base/a_test.cc": "#include <gtest/gtest.h>\n",
    "src/comm/CMakeLists.txt": "ringward_module(comm DEPS base)",
    "src/comm/c.h": '#include "base/a.h"\n',
    "src/comm/mpi/CMakeLists.txt": "ringward_module(comm_mpi SOURCES m.cc DEPS base comm LIBS mpi.h)",
    "src/comm/mpi/m.cc": '#include <mpi.h>\n\n#include "base/a.h"\n#include "comm/c.h"\n',
    "src/comm/gloo/CMakeLists.txt": "ringward_module(comm_gloo DEPS base comm LIBS gloo/)",
    "src/comm/gloo/g.h": '#include "comm/c.h"\n',
    "src/detect/CMakeLists.txt": "ringward_module(detect DEPS base)",
    "src/detect/d.h": '#include "base/a.h"\n',
}

# What is planted, the file and its text, and what the check must say about it.
VIOLATIONS = [
    ("a module that DEPS does not name", "src/detect/bad.h", '#include "comm/c.h"\n',
     "src/detect/bad.h:1: detect may not include comm (comm/c.h)"),
    ("the layer above", "src/base/bad.h", '\n#include "comm/c.h"\n',
     "src/base/bad.h:2: base may not include comm (comm/c.h)"),
    ("a sibling leaf", "src/comm/mpi/bad.h", '#include "comm/gloo/g.h"\n',
     "src/comm/mpi/bad.h:1: comm_mpi may not include comm_gloo (comm/gloo/g.h)"),
    ("a leaf from its parent", "src/comm/bad.h", '#include "comm/gloo/g.h"\n',
     "src/comm/bad.h:1: comm may not include comm_gloo (comm/gloo/g.h)"),
    ("a third-party header that LIBS does not name", "src/comm/bad.h", "#include <mpi.h>\n",
     "src/comm/bad.h:1: comm may not include <mpi.h>"),
    ("another leaf's library", "src/comm/gloo/bad.cc", "  #  include <mpi.h>\n",
     "src/comm/gloo/bad.cc:1: comm_gloo may not include <mpi.h>"),
    ("the test framework in product code", "src/base/bad.cc", "#include <gtest/gtest.h>\n",
     "src/base/bad.cc:1: base may not include <gtest/gtest.h>"),
    ("a file outside every module", "src/stray/bad.cc", "int stray;\n",
     "src/stray/bad.cc: belongs to no module"),
    ("an include of something outside every module", "src/base/bad.h", '#include "apps/cli.h"\n',
     "src/base/bad.h:1: apps/cli.h belongs to no module"),
    ("a module whose name is not its folder's", "src/heal/CMakeLists.txt", "ringward_module(healing DEPS base)",
     "src/heal/CMakeLists.txt: module healing should be named heal"),
]


class CheckLayersTest(unittest.TestCase):
    def test_accepts_a_clean_tree(self):
        status, output = planted.run("check_layers.py", CLEAN, "src")
        self.assertEqual((status, output), (0, "5 modules keep to their layers\n"))

    def test_rejects_planted_violations(self):
        for what, name, text, complaint in VIOLATIONS:
            with self.subTest(what):
                status, output = planted.run("check_layers.py", {**CLEAN, name: text}, "src")
                self.assertEqual((status, output), (1, complaint + "\n"))


if __name__ == "__main__":
    unittest.main()
