"""Records what a training process does, for a watcher beside it: ctypes over libringward_guest.so, nothing compiled.

    import ringward_guest as rg

    with rg.Recorder("my-job", rank, world) as recorder:
        for number, batch in enumerate(loader):
            with recorder.step(number):
                recorder.phase(rg.FORWARD)          # before the phase: a rank that hangs shows where
                loss = model(batch)
                recorder.metric(rg.LOCAL_LOSS, float(loss))

Where the library or the shared memory cannot be had the recorder is off: `recorder.status` says why, and every call does
nothing. Nothing here raises because of the recorder. A child of os.fork() has a recorder that is off.

The library is $RINGWARD_GUEST_LIBRARY where that is set; else the one that was installed with this module, else where the system keeps
libraries. For PyTorch's DistributedDataParallel: ringward_guest.pytorch; for Keras: ringward_guest.keras; for Horovod: ringward_guest.horovod.
"""
from ._library import load
from .recorder import Recorder

OTHER, DATA, FORWARD, BACKWARD, COMMUNICATE, OPTIMIZER, CHECKPOINT, EVALUATE = range(8)
LOCAL_LOSS, LOCAL_GRADIENT_NORM, SAMPLES, LEARNING_RATE = range(4)
SLOW_COMPILE, SLOW_EVALUATE, SLOW_CHECKPOINT, SLOW_OTHER = range(1, 5)

__all__ = ["Recorder", "load", "OTHER", "DATA", "FORWARD", "BACKWARD", "COMMUNICATE", "OPTIMIZER", "CHECKPOINT",
           "EVALUATE", "LOCAL_LOSS", "LOCAL_GRADIENT_NORM", "SAMPLES", "LEARNING_RATE", "SLOW_COMPILE", "SLOW_EVALUATE",
           "SLOW_CHECKPOINT", "SLOW_OTHER"]
