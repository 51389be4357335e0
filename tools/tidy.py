#!/usr/bin/env python3
"""clang-tidy over the sources of a build folder, which passes over what it has found clean before.

    tidy.py [--quick] [--jobs N] [--cache FOLDER] [--program CLANG-TIDY] BUILD [PATH-REGEX]

BUILD was configured with a preset that compiles up to eight files of a module as one (release): reading the standard library takes most
of the time, and is done once for all of them. A unit is clean as long as the program's version, .clang-tidy, the options, its files and
every file of the project that they include stay as they are: that is its key, and an empty file of that name in the cache folder says so.
PATH-REGEX takes the units that hold a source whose path matches. Exit code 1: something was found; 2: no unit matches.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
FOLDERS = ("src", "apps", "bench", "tests")
# Units include sources. Tests go without clang-analyzer (on gtest's macros it takes three quarters of the time and finds nothing) and may
# fill vectors without reserving.
ALWAYS = ["-bugprone-suspicious-include"]
OF_TESTS = ["-clang-analyzer-*", "-performance-inefficient-vector-operation"]
OF_QUICK = ["-clang-analyzer-*"]


class Tree:
    """The project's files as includes name them."""

    def __init__(self, root):
        self.root = root
        self.texts = {}

    def text(self, path):
        if path not in self.texts:
            self.texts[path] = path.read_bytes().decode(errors="replace")
        return self.texts[path]

    def reached(self, start):
        """`start` and all of the project's files that it includes, directly or not."""
        found, todo = set(), [start]
        while todo:
            path = todo.pop()
            if path in found:
                continue
            found.add(path)
            for name in INCLUDE.findall(self.text(path)):
                places = [path.parent / name, self.root / "src" / name, self.root / "apps" / name, self.root / name]
                todo += [place.resolve() for place in places if place.is_file()][:1]
        return sorted(found)


class Unit:
    def __init__(self, tree, entry, options):
        self.file = pathlib.Path(entry["directory"], entry["file"]).resolve()
        sources = [self.file]
        if "Unity" in self.file.parts:
            sources = [pathlib.Path(name) for name in INCLUDE.findall(tree.text(self.file))]
        self.names = [str(s.relative_to(tree.root)) for s in sources if s.is_relative_to(tree.root)]
        self.ours = bool(self.names) and all(n.startswith(tuple(f + "/" for f in FOLDERS)) for n in self.names)
        self.test = all(n.startswith("tests/") or n.endswith("_test.cc") for n in self.names)
        checks = ALWAYS + (OF_QUICK if options.quick else []) + (OF_TESTS if self.test else [])
        self.arguments = [options.program, "--quiet", "-p", options.build, "--extra-arg=-Wno-unknown-warning-option",
                          f"--header-filter=^{re.escape(str(tree.root))}/({'|'.join(FOLDERS)})/", "--checks=" + ",".join(checks)]
        self.entry = entry

    def key(self, tree, version):
        command = self.entry.get("command") or " ".join(self.entry["arguments"])
        digest = hashlib.sha256()
        for part in [version, (tree.root / ".clang-tidy").read_text(), " ".join(self.arguments[1:]), command]:
            digest.update(part.replace(str(tree.root), "ROOT").encode() + b"\0")
        for path in tree.reached(self.file):
            name = path.relative_to(tree.root) if path.is_relative_to(tree.root) else path
            digest.update(f"{name}\0{tree.text(path).replace(str(tree.root), 'ROOT')}\0".encode())
        return digest.hexdigest()

    def check(self):
        done = subprocess.run([*self.arguments, str(self.file)], capture_output=True, text=True, check=False)
        said = done.stdout + re.sub(r"(?m)^\d+ warnings? .*\n?|^Suppressed .*\n?|^Use -header-filter.*\n?", "", done.stderr)
        return done.returncode == 0, re.sub(r"\x1b\[[0-9;]*m", "", said)


def units_of(tree, options):
    entries = json.loads(pathlib.Path(options.build, "compile_commands.json").read_text())
    units = [Unit(tree, entry, options) for entry in entries]
    return [u for u in units if u.ours and any(re.search(options.regex, name) for name in u.names)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="without clang-analyzer")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--cache", type=pathlib.Path,
                        default=pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "ringward-tidy")
    parser.add_argument("--program", default="clang-tidy-14")
    parser.add_argument("build")
    parser.add_argument("regex", nargs="?", default="")
    options = parser.parse_args()
    started = time.monotonic()
    root = pathlib.Path(__file__).resolve().parent.parent
    for line in pathlib.Path(options.build, "CMakeCache.txt").read_text().splitlines():
        if line.startswith("CMAKE_HOME_DIRECTORY:"):
            root = pathlib.Path(line.partition("=")[2]).resolve()
    tree = Tree(root)
    version = subprocess.run([options.program, "--version"], capture_output=True, text=True, check=True).stdout
    units = units_of(tree, options)
    if not units:
        print("tidy: no source matches", file=sys.stderr)
        return 2
    options.cache.mkdir(parents=True, exist_ok=True)
    stamps = {unit: options.cache / unit.key(tree, version) for unit in units}
    todo = [unit for unit in units if not stamps[unit].exists()]
    found = set()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for unit, (clean, said) in zip(todo, pool.map(Unit.check, todo)):
            if clean:
                stamps[unit].touch()
            elif said not in found:
                found.add(said)
                print(said.replace(str(root) + "/", ""), file=sys.stderr, flush=True)
    sources = sum(len(unit.names) for unit in units)
    took = f"{time.monotonic() - started:.0f} s"
    if found:
        print(f"tidy: failed after {took}", file=sys.stderr)
        return 1
    print(f"tidy: {sources} files clean, {len(todo)} of {len(units)} units looked at anew, {took}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
