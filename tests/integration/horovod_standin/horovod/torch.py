"""Stands for horovod.torch in a test, over torch.distributed: the functions that the tutorial calls, as Horovod documents them.
With HOROVOD_TIMELINE rank 0 writes when which rank came to each reduction, as Horovod does without its response cache."""
import os
import time

import torch.distributed

timeline = None


def init():
    """Ranks meet as torch's do."""
    global timeline
    torch.distributed.init_process_group("gloo")
    path = os.environ.get("HOROVOD_TIMELINE")
    timeline = Timeline(path if rank() == 0 else os.devnull) if path else None


def shutdown():
    torch.distributed.destroy_process_group()


def rank():
    return torch.distributed.get_rank()


def size():
    return torch.distributed.get_world_size()


class Timeline:
    def __init__(self, path):
        self.file, self.names, self.began = open(path, "w", encoding="utf-8"), {}, time.monotonic()  # one clock for all ranks here
        self.file.write("[\n")

    def mark(self, phase, name, at, tensor):
        named = f'"name": "{name}", ' if name else ""
        self.file.write(f'{{"ph": "{phase}", {named}"ts": {int(1e6 * max(at - self.began, 0))}, "pid": {tensor}}},')

    def tell(self, came):
        """`came`: {name: when this rank began its reduction}, all of which have ended."""
        ended = time.monotonic()
        mine = torch.tensor(list(came.values()), dtype=torch.float64)
        all_came = [torch.empty_like(mine) for _ in range(size())]
        torch.distributed.all_gather(all_came, mine)
        marks = []
        for place, name in enumerate(came):
            if name not in self.names:
                self.names[name] = len(self.names) + 1
                self.file.write(f'{{"name": "process_name", "ph": "M", "pid": {self.names[name]}, "args": {{"name": "{name}"}}}},\n')
            ticks = sorted((float(each[place]), of) for of, each in enumerate(all_came))
            first, last = ticks[0][0], ticks[-1][0]
            mine = [("B", "NEGOTIATE_ALLREDUCE", first), *(("X", str(of), at) for at, of in ticks), ("E", "", last),
                    ("B", "ALLREDUCE", last), ("E", "", ended)]
            marks += [(at, self.names[name], order, phase, text) for order, (phase, text, at) in enumerate(mine)]
        for at, tensor, _, phase, text in sorted(marks):
            self.mark(phase, text, at, tensor)
        self.file.flush()


def DistributedOptimizer(optimizer, named_parameters=None):
    """The optimizer, of a class of its own kind whose step() first waits for the reductions that backward began."""

    class Distributed(type(optimizer)):
        """Each parameter's gradient is reduced as soon as it is there."""

        def __init__(self):
            self.__dict__.update(optimizer.__dict__)
            self.handles, self.came = {}, {}
            for name, parameter in named_parameters:
                parameter.register_hook(lambda gradient, of=parameter, called=name: self.reduce(of, gradient, called))

        def reduce(self, parameter, gradient, name):
            self.came[f"allreduce.{name}"] = time.monotonic()
            reduced = gradient.clone()
            self.handles[parameter] = (torch.distributed.all_reduce(reduced, async_op=True), reduced)

        def synchronize(self):
            for parameter, (handle, reduced) in self.handles.items():
                handle.wait()
                parameter.grad.copy_(reduced / size())
            self.handles.clear()
            if timeline and self.came:
                timeline.tell(dict(sorted(self.came.items())))
            self.came.clear()

        def step(self, closure=None):
            self.synchronize()
            return super().step(closure)

    return Distributed()
