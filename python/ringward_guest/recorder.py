"""One rank's recorder."""
import contextlib
import ctypes

from ._library import Counters, Options, load

OVERLAPPED = 1
_ON = 1


def _nothing(*_):
    return None


class Recorder:
    """Records steps, phases, metrics and collectives of one rank until close() or the end of its `with`.

    job     any text that is not empty, equal on all ranks
    rank    0 <= rank < world
    folder  where the shared memory lies; None = /dev/shm

    Threads: as in ringward_guest.h; steps and phases from one thread at a time.
    """

    def __init__(self, job, rank, world, folder=None):
        self._metrics, self._operations, self._collectives = {}, {}, 0
        self._handle = None
        self._library, self._why = load()
        if self._library is not None:
            options = Options(ctypes.sizeof(Options), folder.encode() if folder else None)
            self._handle = self._library.rw_guest_open(job.encode(), rank, world, ctypes.byref(options))
        # Looked up once: these are called in every step.
        self._phase, self._metric = self._function("phase"), self._function("metric")
        self._enter, self._exit = self._function("collective_enter"), self._function("collective_exit")

    def _function(self, name):
        return _nothing if self._handle is None else getattr(self._library, "rw_guest_" + name)

    def close(self):
        """Ends the recording; calls after it do nothing."""
        handle, self._handle = self._handle, None
        self._phase = self._metric = self._enter = self._exit = _nothing
        self._why = "off: closed"
        if handle is not None:
            self._library.rw_guest_close(handle)

    def __del__(self):
        self.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def on(self):
        """True where it records."""
        return self._handle is not None and self._library.rw_guest_status(self._handle) == _ON

    @property
    def status(self):
        """"on", or why not."""
        if self._handle is None:
            return self._why
        return self._library.rw_guest_status_text(self._library.rw_guest_status(self._handle)).decode()

    @property
    def path(self):
        """The file of shared memory; "" where it is off."""
        return "" if self._handle is None else self._library.rw_guest_path(self._handle).decode()

    @property
    def counters(self):
        """{"records": …, "dropped_busy": …, "dropped_misuse": …}"""
        counters = Counters(ctypes.sizeof(Counters))
        if self._handle is not None:
            self._library.rw_guest_count(self._handle, ctypes.byref(counters))
        return {name: getattr(counters, name) for name in ("records", "dropped_busy", "dropped_misuse")}

    def begin_step(self, number):
        """`number` grows by one; equal on all ranks for the same step."""
        self._function("step_begin")(self._handle, number)

    def end_step(self):
        """Ends the step under way."""
        self._function("step_end")(self._handle)

    @contextlib.contextmanager
    def step(self, number):
        """A step for the length of a `with`."""
        self.begin_step(number)
        try:
            yield self
        finally:
            self.end_step()

    def phase(self, phase):
        """Call BEFORE the phase; it lasts until the next one or the end of the step."""
        self._phase(self._handle, phase)

    def begin_slow(self, reason):
        """Announces slowness (SLOW_COMPILE, …), until end_slow()."""
        self._function("slow_begin")(self._handle, reason)

    def end_slow(self):
        """It is over."""
        self._function("slow_end")(self._handle)

    @contextlib.contextmanager
    def slow(self, reason):
        """Announces slowness for the length of a `with`."""
        self.begin_slow(reason)
        try:
            yield self
        finally:
            self.end_slow()

    def metric(self, metric, value):
        """`metric` is LOCAL_LOSS, LOCAL_GRADIENT_NORM, SAMPLES, LEARNING_RATE, or a name of at most 47 characters."""
        if isinstance(metric, str):
            metric = self._id(self._metrics, "metric_id", metric)
        self._metric(self._handle, metric, value)

    def _id(self, known, function, name):
        if name not in known:
            number = self._function(function)(self._handle, name.encode())
            known[name] = -1 if number is None else number
        return known[name]

    def enter_collective(self, operation, nbytes, overlapped=False, number=None):
        """Tells of a collective before it is entered; returns its number, for exit_collective(). Without `number` they are
        counted from 0: right where all ranks tell of the same ones in the same order."""
        if number is None:
            number = self._collectives
            self._collectives += 1
        operation = self._id(self._operations, "operation_id", operation)
        self._enter(self._handle, operation, number, nbytes, OVERLAPPED if overlapped else 0)
        return number

    def exit_collective(self, number, ok=True):
        """The collective is over."""
        self._exit(self._handle, number, int(ok))

    @contextlib.contextmanager
    def collective(self, operation, nbytes):
        """A collective that blocks, for the length of a `with`."""
        number = self.enter_collective(operation, nbytes)
        ok = False
        try:
            yield self
            ok = True
        finally:
            self.exit_collective(number, ok)

    def wait(self, phase, ns):
        """Reports waiting for other ranks, within `phase`, that no collective shows; nanoseconds."""
        self._function("wait")(self._handle, phase, max(0, int(ns)))
