"""Horovod: rank and size from it, and the time that a rank waits for its reductions.

    import horovod.torch as hvd
    hvd.init()
    with ringward_guest.horovod.recorder(hvd, "my-job") as recorder:
        ringward_guest.horovod.attach(hvd, recorder, optimizer)     # hvd.DistributedOptimizer(…)
        for number, batch in enumerate(loader):
            with recorder.step(number):
                …

`hvd` is the module that the program uses: horovod.torch, horovod.tensorflow, horovod.keras, … An optimizer of PyTorch reduces while backward
goes on and waits in synchronize(), which step() calls: that wait is recorded. So are the calls that block, by whichever name the program
calls them on `hvd` (hvd.allreduce(…), not a name that was imported from it).

Where Horovod runs on MPI (hvd.mpi_enabled()), libringward_mpi.so sees its collectives without any of this; but then only those of its background
thread, so a rank that waits in synchronize() looks as one that computes. Use one of the two.
"""
import functools

from .recorder import Recorder

# Documented calls that return when all ranks have taken part. `synchronize` waits for one of the asynchronous ones.
BLOCKING = ("allreduce", "allreduce_", "grouped_allreduce", "grouped_allreduce_", "allgather", "grouped_allgather", "broadcast",
            "broadcast_", "alltoall", "reducescatter", "grouped_reducescatter", "barrier", "join", "broadcast_parameters",
            "broadcast_optimizer_state", "broadcast_object", "allgather_object", "broadcast_variables", "synchronize")


def recorder(hvd, job, folder=None):
    """A Recorder of this rank; hvd.init() comes before."""
    return Recorder(job, hvd.rank(), hvd.size(), folder=folder)


class _Waits:
    """Time inside the outermost of the calls, each of which may call others of them."""

    def __init__(self, to):
        self._recorder, self._depth, self._operations = to, 0, {}

    def around(self, function, name, nbytes=None):
        """The function, its time recorded as a collective that blocks."""

        @functools.wraps(function)
        def recorded(*arguments, **named):
            if self._depth > 0:
                return function(*arguments, **named)
            self._depth = 1
            try:
                with self._recorder.collective(name, nbytes(arguments) if nbytes else 0):
                    return function(*arguments, **named)
            finally:
                self._depth = 0

        return recorded


def _bytes_of(arguments):
    """Of the first argument, where it is a tensor of PyTorch; 0 of others."""
    tensor = arguments[0] if arguments else None
    try:
        return tensor.numel() * tensor.element_size()
    except (AttributeError, TypeError):
        return 0


def attach(hvd, to, optimizer=None):
    """From now on records the blocking calls of `hvd` and, of a DistributedOptimizer, synchronize(). Returns a function that takes
    it all back."""
    waits, before = _Waits(to), []
    for owner, names in ((hvd, BLOCKING), (optimizer, ("synchronize",))):
        for name in names if owner is not None else ():
            function = getattr(owner, name, None)
            if not callable(function):
                continue
            own = name in vars(owner)
            before.append((owner, name, function if own else None))
            operation = "allreduce" if owner is optimizer or name == "synchronize" else name.rstrip("_")
            setattr(owner, name, waits.around(function, operation, _bytes_of if owner is hvd else None))

    def detach():
        for owner, name, function in reversed(before):
            if function is None:
                delattr(owner, name)
            else:
                setattr(owner, name, function)
        before.clear()

    return detach
