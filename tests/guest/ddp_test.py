#!/usr/bin/env python3
"""PyTorch DDP on gloo, one rank asleep in each step: the records name the sleeper, not its victims.

    ddp_test.py PYTHON-FOLDER LIBRARY READER

Run by a Python that has torch.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import unittest

FOLDER, LIBRARY, READER = sys.argv[1:4]
FORWARD, BACKWARD = 2, 3
MS = 1e6


def run_job(world, sleeper):
    """What each rank's recorder held at the end, and its sum of parameters."""
    with tempfile.TemporaryDirectory(prefix="ringward-ddp-") as folder:
        segments = pathlib.Path(folder, "segments")
        segments.mkdir()
        script = pathlib.Path(__file__).with_name("ddp_rank.py")
        env = {**os.environ, "PYTHONPATH": FOLDER, "RINGWARD_GUEST_LIBRARY": LIBRARY, "PYTHONDONTWRITEBYTECODE": "1",
               "GLOO_SOCKET_IFNAME": "lo"}
        ranks = [subprocess.Popen([sys.executable, str(script), str(rank), str(world), str(sleeper), f"{folder}/meet",
                                   str(segments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
                 for rank in range(world)]
        try:
            lines = [rank.stdout.readline().split() for rank in ranks]
            held = [json.loads(subprocess.run([READER, path], capture_output=True, text=True, check=True).stdout)
                    for path, _ in lines]
            for rank in ranks:
                rank.communicate(timeout=60)
        finally:
            for rank in ranks:
                rank.kill()
                rank.wait()
        return held, [total for _, total in lines], sorted(segments.iterdir())


def median_ms(held, what, phase):
    return statistics.median(step[what][phase] / MS for step in held["steps"][2:])


class DdpTest(unittest.TestCase):
    def check(self, world, sleeper):
        held, totals, left = run_job(world, sleeper)
        self.assertEqual(left, [])
        self.assertEqual(len(set(totals)), 1, "the hook must reduce as DDP does")
        waits, own = [], []
        for rank, one in enumerate(held):
            self.assertEqual((one["malformed"], one["state"]["dropped_busy"], one["state"]["dropped_misuse"]), (0, 0, 0))
            self.assertGreater(sum(c["count"] for c in one["collectives"]), 20, "several buckets a step")
            waits.append(median_ms(one, "wait_ns", BACKWARD))
            own.append(median_ms(one, "phase_ns", FORWARD) + median_ms(one, "phase_ns", BACKWARD) - waits[-1])
            print(f"rank {rank} of {world}: wait in backward {waits[-1]:.1f} ms, self time {own[-1]:.1f} ms", file=sys.stderr)
        # The sleep is 150 ms. However busy the machine is otherwise, the sleeper waits least and works longest.
        self.assertGreater(own[sleeper], 140)
        self.assertEqual(max(range(world), key=own.__getitem__), sleeper)
        self.assertEqual(min(range(world), key=waits.__getitem__), sleeper)

    def test_two_ranks(self):
        self.check(2, 0)

    def test_four_ranks(self):
        self.check(4, 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
