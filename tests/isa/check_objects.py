#!/usr/bin/env python3
"""Fails when an object of wide kernels holds code that other objects may share.

    check_objects.py OBJECT...

Only objects named kernels_avx2 or kernels_avx512 are read. A weak symbol (an inline function, a template)
outside their own namespace could be kept by the linker for the whole program, which then would not run on a
processor without that instruction set.
"""
import re
import subprocess
import sys


def shared_symbols(path, namespace):
    """Weak symbols that the object defines outside ringward::learn::NAMESPACE."""
    listing = subprocess.run(["nm", "--demangle", "--defined-only", path], check=True, capture_output=True, text=True)
    for line in listing.stdout.splitlines():
        kind, name = re.match(r"[0-9a-f]* *(\S) (.*)", line).groups()
        if kind in "WVu" and f"ringward::learn::{namespace}::" not in name:
            yield name


def main():
    checked = 0
    bad = []
    for path in sys.argv[1:]:
        match = re.search(r"kernels_(avx2|avx512)\.", path)
        if match:
            checked += 1
            bad += [f"{path}: {name}" for name in shared_symbols(path, match.group(1))]
    print("\n".join(bad) or f"{checked} objects share nothing")
    sys.exit(bool(bad) or checked != 2)


if __name__ == "__main__":
    main()
