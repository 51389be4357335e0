#!/usr/bin/env python3
"""tools/tidy.py on a small tree, with a program that notes what it is asked to look at."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

TIDY = pathlib.Path(__file__).resolve().parent.parent.parent / "tools" / "tidy.py"
PROGRAM = """#!/bin/sh
case "$1" in --version) cat version; exit 0;; esac
for last; do :; done
basename "$last" >> looked
if grep -q BAD "$last"; then echo "$last:1:1: error: bad"; exit 1; fi
"""

# title, what changes beforehand (file and text, or nothing), what is looked at, exit code
ROUNDS = [
    ("at first all", None, ["a.cc", "unity_0_cxx.cxx"], 0),
    ("nothing has changed", None, [], 0),
    ("a header of one", ("src/m/x.h", "// new\n"), ["a.cc"], 0),
    ("a source of a unit", ("src/n/c.cc", "// new\n"), ["unity_0_cxx.cxx"], 0),
    ("another version", ("version", "2\n"), ["a.cc", "unity_0_cxx.cxx"], 0),
    ("the rules", (".clang-tidy", "Checks: x\n"), ["a.cc", "unity_0_cxx.cxx"], 0),
    ("something bad", ("src/m/a.cc", "BAD\n"), ["a.cc"], 1),
    ("which stays bad", None, ["a.cc"], 1),
    ("and is good again", ("src/m/a.cc", '#include "m/x.h"\n'), [], 0),
]


def main():
    failed = 0
    with tempfile.TemporaryDirectory(prefix="ringward-tidy-") as folder:
        root = pathlib.Path(folder).resolve()
        unity = root / "build" / "Unity" / "unity_0_cxx.cxx"
        files = {".clang-tidy": "", "version": "1\n", "tidy": PROGRAM, "src/m/x.h": "", "src/m/a.cc": '#include "m/x.h"\n',
                 "src/n/b.cc": "", "src/n/c.cc": "", "build/Unity/unity_0_cxx.cxx": f'#include "{root}/src/n/b.cc"\n#include "{root}/src/n/c.cc"\n',
                 "build/CMakeCache.txt": f"CMAKE_HOME_DIRECTORY:INTERNAL={root}\n",
                 "build/compile_commands.json": json.dumps([{"directory": str(root), "file": str(file), "command": f"c++ {file}"}
                                                            for file in (root / "src/m/a.cc", unity, root / "other.cc")])}
        for name, text in {**files, "other.cc": ""}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        os.chmod(root / "tidy", 0o755)
        for title, change, wanted, code in ROUNDS:
            if change:
                (root / change[0]).write_text(change[1])
            (root / "looked").unlink(missing_ok=True)
            done = subprocess.run([sys.executable, TIDY, "--cache", root / "cache", "--program", root / "tidy", "build"], cwd=root,
                                  capture_output=True, text=True, check=False)
            looked = sorted((root / "looked").read_text().split()) if (root / "looked").exists() else []
            good = looked == wanted and done.returncode == code and (code == 0) == ("error: bad" not in done.stderr)
            failed += not good
            print(f"{'ok' if good else 'FAILED'}: {title}" + ("" if good else f": {looked}, {done.returncode}: {done.stderr}"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
