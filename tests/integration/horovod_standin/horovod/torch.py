"""Stands for horovod.torch in a test, over torch.distributed: the functions that the tutorial calls, as Horovod documents them."""
import torch.distributed


def init():
    """Ranks meet as torch's do."""
    torch.distributed.init_process_group("gloo")


def shutdown():
    torch.distributed.destroy_process_group()


def rank():
    return torch.distributed.get_rank()


def size():
    return torch.distributed.get_world_size()


def DistributedOptimizer(optimizer, named_parameters=None):
    """The optimizer, of a class of its own kind whose step() first waits for the reductions that backward began."""

    class Distributed(type(optimizer)):
        """Each parameter's gradient is reduced as soon as it is there."""

        def __init__(self):
            self.__dict__.update(optimizer.__dict__)
            self.handles = {}
            for _, parameter in named_parameters:
                parameter.register_hook(lambda gradient, of=parameter: self.reduce(of, gradient))

        def reduce(self, parameter, gradient):
            reduced = gradient.clone()
            self.handles[parameter] = (torch.distributed.all_reduce(reduced, async_op=True), reduced)

        def synchronize(self):
            for parameter, (handle, reduced) in self.handles.items():
                handle.wait()
                parameter.grad.copy_(reduced / size())
            self.handles.clear()

        def step(self, closure=None):
            self.synchronize()
            return super().step(closure)

    return Distributed()
