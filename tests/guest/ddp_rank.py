#!/usr/bin/env python3
"""One rank of a DDP job on gloo that records itself; rank SLEEPER sleeps in every forward pass. Waits for stdin to close.

    ddp_rank.py RANK WORLD SLEEPER RENDEZVOUS-FILE SEGMENT-FOLDER
"""
import sys
import time

import ringward_guest as rg
import ringward_guest.pytorch
import torch
import torch.distributed as dist

SLEEP_S, STEPS = 0.15, 12


def main():
    rank, world, sleeper = map(int, sys.argv[1:4])
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{sys.argv[4]}", rank=rank, world_size=world)
    torch.manual_seed(0)
    # DDP's first bucket takes 1 MiB, so the net must be larger for there to be several.
    widths = [64, 512, 512, 64]
    net = torch.nn.Sequential(*(torch.nn.Linear(a, b) for a, b in zip(widths, widths[1:])))
    model = torch.nn.parallel.DistributedDataParallel(net, bucket_cap_mb=0.05)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    recorder = rg.Recorder("ddp", rank, world, folder=sys.argv[5])
    ringward_guest.pytorch.attach(model, recorder)
    for number in range(STEPS):
        with recorder.step(number):
            recorder.phase(rg.DATA)
            x = torch.randn(4, 64)
            recorder.phase(rg.FORWARD)
            if rank == sleeper:
                time.sleep(SLEEP_S)
            loss = (model(x) - x).square().mean()
            recorder.metric(rg.LOCAL_LOSS, loss.item())
            recorder.phase(rg.BACKWARD)
            optimizer.zero_grad()
            loss.backward()
            recorder.phase(rg.OPTIMIZER)
            optimizer.step()
    total = sum(p.double().sum() for p in model.parameters()).item()
    print(recorder.path, repr(total), flush=True)
    sys.stdin.read()
    recorder.close()


if __name__ == "__main__":
    main()
