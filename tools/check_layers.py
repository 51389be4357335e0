#!/usr/bin/env python3
"""Fails when a folder of src/ includes what its ringward_module() call does not name.

    check_layers.py SRC

A folder is a module when its CMakeLists.txt calls ringward_module(); src/comm/gloo is module comm_gloo.
DEPS names the modules it may include, LIBS the third-party headers (a name, or a prefix ending in '/').
The standard library, POSIX and Linux headers are free. A source file outside every module fails.
Tests (*_test.cc, *_contract.h, *_test_support.h) may include gtest and gmock as well.
"""
import pathlib
import re
import sys

# C++ standard headers have neither a dot nor a slash; these are C's, POSIX's and Linux's.
SYSTEM = re.compile(r"^([a-z_0-9]+|(sys|linux|netinet|arpa|net|asm)/[a-z_0-9]+\.h|"
                    r"(fcntl|unistd|dirent|dlfcn|errno|glob|poll|pthread|sched|signal|spawn|stdint|stddef|string|"
                    r"termios|time|immintrin|cpuid|ifaddrs|netdb|getopt|pwd)\.h)$")
TEST_LIBS = ("gtest/", "gmock/")


def modules(src):
    """Maps each module's folder to (name, allowed modules, allowed third-party headers)."""
    found = {}
    for lists in src.rglob("CMakeLists.txt"):
        call = re.search(r"ringward_module\((\w+)(.*?)\)", lists.read_text(), re.S)
        if not call:
            continue
        words, key = {}, None
        for word in re.sub(r"#.*", "", call.group(2)).split():
            if word.isupper() and word.replace("_", "").isalpha() and word in {
                    "SOURCES", "DEPS", "LIBS", "LINK", "TESTS", "TEST_LABELS"}:
                key = word
            else:
                words.setdefault(key, []).append(word)
        folder = lists.parent.relative_to(src)
        found[folder] = (call.group(1), {call.group(1), *words.get("DEPS", [])}, words.get("LIBS", []))
    return found


def violations(src):
    deps_of = modules(src)

    def module_of(path):  # the nearest enclosing module folder, or None
        return next((p for p in path.parents if p in deps_of), None)

    for folder, (name, _, _) in deps_of.items():
        if name != "_".join(folder.parts):
            yield f"{src / folder}/CMakeLists.txt: module {name} should be named {'_'.join(folder.parts)}"
    for path in sorted(p for p in src.rglob("*") if p.suffix in (".h", ".cc", ".cu")):
        home = module_of(path.relative_to(src))
        if home is None:
            yield f"{path}: belongs to no module"
            continue
        name, allowed, libs = deps_of[home]
        is_test = path.name.endswith("_test.cc") or path.name.endswith(("_contract.h", "_test_support.h"))
        libs = [*libs, *(TEST_LIBS if is_test else ())]
        for number, line in enumerate(path.read_text().splitlines(), 1):
            include = re.match(r'\s*#\s*include\s+([<"])([^>"]+)', line)
            if not include:
                continue
            bracket, target = include.groups()
            if bracket == '"':
                other = module_of(pathlib.Path(target))
                if other is None:
                    yield f"{path}:{number}: {target} belongs to no module"
                elif deps_of[other][0] not in allowed:
                    yield f"{path}:{number}: {name} may not include {deps_of[other][0]} ({target})"
            elif not SYSTEM.match(target) and not any(
                    target == lib or (lib.endswith("/") and target.startswith(lib)) for lib in libs):
                yield f"{path}:{number}: {name} may not include <{target}>"


def main():
    src = pathlib.Path(sys.argv[1])
    bad = list(violations(src))
    print("\n".join(bad) or f"{len(modules(src))} modules keep to their layers")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
