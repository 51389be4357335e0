#!/usr/bin/env python3
"""What libringward_guest.so asks of the process it is loaded into, and what it shows there.

    library_test.py LIBRARY HEADER
"""
import ctypes
import os
import re
import subprocess
import sys
import unittest

LIBRARY, HEADER = sys.argv[1:3]


def lines(*command):
    return subprocess.run([*command, LIBRARY], capture_output=True, text=True, check=True).stdout.splitlines()


class LibraryTest(unittest.TestCase):
    def test_needs_libc_and_nothing_else(self):
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", "\n".join(lines("readelf", "-d")))
        self.assertLessEqual(set(needed), {"libc.so.6", "libpthread.so.0"})

    def test_shows_exactly_what_its_header_declares(self):
        with open(HEADER, encoding="utf-8") as header:
            declared = set(re.findall(r"^RW_GUEST_API .*?\b(rw_guest_\w+)\(", header.read(), re.M))
        shown = {line.split()[-1] for line in lines("nm", "-D", "--defined-only")}
        self.assertEqual(shown, declared)

    def test_is_bound_when_loaded(self):
        self.assertRegex("\n".join(lines("readelf", "-d")), "BIND_NOW|NOW")

    def test_starts_no_thread_and_opens_nothing_when_loaded(self):
        before = set(os.listdir("/proc/self/fd"))
        library = ctypes.CDLL(LIBRARY)
        self.assertEqual(library.rw_guest_abi_version(), 1)
        self.assertEqual(len(os.listdir("/proc/self/task")), 1)
        self.assertEqual(set(os.listdir("/proc/self/fd")), before)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
