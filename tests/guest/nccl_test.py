#!/usr/bin/env python3
"""libnccl-profiler-ringward.so beside a program that plays NCCL: what it records of the ranks.

    nccl_test.py LIBRARY JOB READER
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import unittest
import uuid

LIBRARY, JOB, READER = sys.argv[1:4]
RANKS, STEPS, BUCKETS, HANGS_AT = 4, 300, 3, 20
WINDOW = 256  # collectives until the pattern of the steps is known
SLOW = 1


def read(path):
    return json.loads(subprocess.run([READER, path], capture_output=True, text=True, check=True).stdout)


class NcclTest(unittest.TestCase):
    def play(self, case, ranks=RANKS, **environment):
        """The job, once it has said that it is ready, and what its ranks have recorded, by rank."""
        name = "nccl-" + uuid.uuid4().hex[:8]
        program = subprocess.Popen([JOB, LIBRARY, str(ranks), case], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                   env={**os.environ, "RINGWARD_JOB": name, **environment})
        self.addCleanup(self.end, program, name)
        self.assertEqual(program.stdout.readline(), "ready\n")
        self.segments = lambda: sorted(pathlib.Path("/dev/shm").glob(f"ringward.{name}.*"))
        return {seen["info"]["rank"]: seen for seen in map(read, self.segments())}

    @staticmethod
    def end(program, name):
        program.communicate(timeout=60)
        for left in pathlib.Path("/dev/shm").glob(f"ringward.{name}.*"):
            left.unlink()

    def test_collectives_have_the_same_numbers_on_all_ranks(self):
        for ranks in (2, 4):
            with self.subTest(ranks=ranks):
                seen = self.play("train", ranks)
                self.assertEqual(sorted(seen), list(range(ranks)))
                for rank in seen.values():
                    self.assertEqual(rank["info"]["world"], ranks)
                    self.assertEqual((rank["state"]["dropped_busy"], rank["state"]["dropped_misuse"]), (0, 0))
                    self.assertFalse(rank["state"]["inside_collective"])
                    self.assertEqual(rank["state"]["collective_number"], STEPS * BUCKETS)
                    calls = rank["collectives"]
                    self.assertEqual({c["operation"] for c in calls}, {"allreduce", "allgather"})
                    self.assertTrue({4000, 2000, 4} <= {c["bytes"] // c["count"] for c in calls}, calls[-5:])

    def test_the_slow_rank_is_the_one_that_does_not_wait(self):
        seen = self.play("train")
        share = {}
        for rank, record in seen.items():
            late = [s for s in record["steps"] if s["step"] > WINDOW]  # one step a pattern by now
            self.assertGreater(sum(s["steps"] for s in late), 100)
            waited, all_ns = (sum(sum(s[field]) for s in late) for field in ("wait_ns", "phase_ns"))
            share[rank] = waited / all_ns
        others = min(value for rank, value in share.items() if rank != SLOW)
        self.assertLess(share[SLOW], others - 0.2, share)

    def test_who_stays_away_is_told_from_those_inside(self):
        self.play("hang")
        end = time.monotonic() + 30
        while True:
            states = {seen["info"]["rank"]: seen["state"] for seen in map(read, self.segments())}
            inside = {rank for rank, state in states.items() if state["inside_collective"]}
            if inside == {0, 1, 3} or time.monotonic() > end:
                break
        self.assertEqual(inside, {0, 1, 3})
        self.assertEqual({states[rank]["collective_number"] for rank in inside}, {(HANGS_AT + 1) * BUCKETS})  # all enqueued
        self.assertEqual(states[2]["collective_number"], HANGS_AT * BUCKETS)

    def test_without_kernels_enqueueing_is_all_there_is(self):
        for rank in self.play("silent").values():
            self.assertFalse(rank["state"]["inside_collective"], rank["state"])
            self.assertEqual(rank["state"]["collective_number"], STEPS * BUCKETS)

    def test_off(self):
        self.assertEqual(self.play("off", RINGWARD_NCCL="0"), {})

    def test_a_job_of_more_ranks_than_the_communicator_is_not_its(self):
        self.assertEqual(self.play("off", WORLD_SIZE="8"), {})

    def test_needs_libc_and_shows_one_symbol(self):
        def run(*command):
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout
        self.assertEqual(re.findall(r"\(NEEDED\).*\[(.*?)\.so", run("readelf", "-d", LIBRARY)), ["libc"])
        self.assertEqual([line.split()[-1] for line in run("nm", "-D", "--defined-only", LIBRARY).splitlines()],
                         ["ncclProfiler_v4"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
