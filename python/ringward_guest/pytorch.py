"""PyTorch's DistributedDataParallel: who waits for whom in backward.

    model = DistributedDataParallel(net)
    ringward_guest.pytorch.attach(model, recorder)

DDP reduces gradients in buckets while backward goes on, so waiting for other ranks is hidden inside backward: a victim's backward is long,
and so is the culprit's. The hook stamps each bucket when it is ready and when it is reduced. From the moment the last one is ready
this rank has nothing left to compute: what passes until all are reduced is waiting, and is reported as such within BACKWARD. The
loop itself tells steps and phases (recorder.step(), recorder.phase()).
"""
import time


class BucketHook:
    """A communication hook around another one (by default DDP's own all-reduce).

    inner(state, bucket) -> Future, as torch.nn.parallel.DistributedDataParallel.register_comm_hook() wants it.
    """

    def __init__(self, recorder, inner, state=None):
        self._recorder, self._inner, self._state = recorder, inner, state
        self._under_way = 0
        self._last_ready_ns = None

    def hook(self, _, bucket):
        """What DDP calls for each bucket; it takes the future for the bucket's mean."""
        buffer = bucket.buffer()
        number = self._recorder.enter_collective("allreduce", buffer.numel() * buffer.element_size(), overlapped=True)
        self._under_way += 1
        if bucket.is_last():
            self._last_ready_ns = time.monotonic_ns()
        future = self._inner(self._state, bucket)
        return future.then(lambda done: self._reduced(number, done))

    def _reduced(self, number, done):
        """Called on the thread that completes the bucket, before DDP goes on."""
        self._recorder.exit_collective(number)
        self._under_way -= 1
        if self._last_ready_ns is not None and self._under_way == 0:
            from . import BACKWARD
            self._recorder.wait(BACKWARD, time.monotonic_ns() - self._last_ready_ns)
            self._last_ready_ns = None
        return done.value()


def attach(model, recorder, process_group=None):
    """Registers a BucketHook on a DistributedDataParallel that has no communication hook yet. Keeps DDP's results: the hook inside
    is the mean over `process_group` (None = the default group)."""
    from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
    model.register_comm_hook(None, BucketHook(recorder, allreduce_hook, process_group).hook)
