#!/usr/bin/env python3
"""A rank of a PyTorch DDP job on gloo that records itself and, once it is told to, does something wrong.

    ddp_job.py JOB FAULT-FILE

RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT are in the environment, as for any DDP program; SEGMENTS, where it is, names the folder
to record into. The fault file holds lines of a kind
of fault and the rank that has it; it may appear and change while the job runs. The job ends with its parent or by a signal.
"""
import math
import os
import pathlib
import signal
import sys
import time

import ringward_guest as rg
import ringward_guest.pytorch
import torch
import torch.distributed as dist

INPUT_S, SLEEP_S, LEAK_BYTES, SCALE = 0.01, 0.06, 1 << 20, 30.0


class Faults:
    """What this rank does wrong just now."""

    def __init__(self, path, rank):
        self.path, self.rank, self.stamp, self.kinds = pathlib.Path(path), rank, None, frozenset()

    def now(self):
        try:
            stamp = self.path.stat().st_mtime_ns
        except FileNotFoundError:
            return self.kinds
        if stamp != self.stamp:
            self.stamp = stamp
            lines = (line.split() for line in self.path.read_text().splitlines())
            self.kinds = frozenset(kind for kind, rank in lines if int(rank) == self.rank)
        return self.kinds


def batch(faults, generator):
    time.sleep(INPUT_S + SLEEP_S * ("slow-input" in faults))
    x = torch.randn(16, 64, generator=generator)
    if "scaled-data" in faults:
        x = x * SCALE
    if "nan" in faults:
        x[0, 0] = math.nan
    return x


def train(model, recorder, faults, generator):
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    leaked = []
    number = 0
    while True:
        with recorder.step(number):
            wrong = faults.now()
            recorder.phase(rg.DATA)
            x = batch(wrong, generator)
            recorder.phase(rg.FORWARD)
            if "sleep" in wrong:
                time.sleep(SLEEP_S)
            if "leak" in wrong:
                leaked.append(bytearray(os.urandom(4096)) * (LEAK_BYTES // 4096))
            loss = (model(x) - x).square().mean()
            recorder.metric(rg.LOCAL_LOSS, loss.item())
            recorder.phase(rg.BACKWARD)
            optimizer.zero_grad()
            loss.backward()
            recorder.phase(rg.OPTIMIZER)
            optimizer.step()
        number += 1


def main():
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    widths = [64, 256, 256, 64]
    net = torch.nn.Sequential(*(layer for a, b in zip(widths, widths[1:]) for layer in (torch.nn.Linear(a, b), torch.nn.Tanh())))
    model = torch.nn.parallel.DistributedDataParallel(net, bucket_cap_mb=0.05)
    with rg.Recorder(sys.argv[1], rank, world, folder=os.environ.get("SEGMENTS")) as recorder:
        ringward_guest.pytorch.attach(model, recorder)
        train(model, recorder, Faults(sys.argv[2], rank), torch.Generator().manual_seed(1 + rank))


if __name__ == "__main__":
    main()
