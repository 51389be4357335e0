#!/usr/bin/env python3
"""libringward_mpi.so as an MPI program meets it: what it stands between, and what it needs.

    preload_test.py LIBRARY
"""
import re
import subprocess
import sys
import unittest

LIBRARY = ""
COLLECTIVES = ("Allgather Allgatherv Allreduce Alltoall Alltoallv Alltoallw Barrier Bcast Exscan Gather Gatherv Reduce Reduce_scatter "
               "Reduce_scatter_block Scan Scatter Scatterv").split()
OTHERS = ("Finalize Init Init_thread Probe Recv Send Sendrecv Ssend Test Testall Testany Testsome Wait Waitall Waitany "
          "Waitsome").split()


def lines_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


class PreloadTest(unittest.TestCase):
    def test_shows_the_calls_it_records_and_nothing_else(self):
        shown = {line.split()[-1] for line in lines_of("nm", "-D", "--defined-only", LIBRARY)}
        nonblocking = ["I" + name[0].lower() + name[1:] for name in COLLECTIVES]
        self.assertEqual(shown, {"MPI_" + name for name in COLLECTIVES + nonblocking + OTHERS})

    def test_needs_libc_and_mpi(self):
        needed = re.findall(r"\(NEEDED\).*\[(.*?)\.so", "\n".join(lines_of("readelf", "-d", LIBRARY)))
        self.assertEqual(sorted(needed), ["libc", "libmpi"])


if __name__ == "__main__":
    LIBRARY = sys.argv.pop(1)
    unittest.main()
