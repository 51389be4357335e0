"""A Keras callback: steps, losses, evaluation and checkpoints of model.fit().

    with rg.Recorder("my-job", rank, world) as recorder:
        model.fit(x, y, callbacks=[ringward_guest.keras.Callback(recorder)])

Works with Keras 2 and 3 on any backend, TensorFlow's `tf.keras` too; whichever is imported already, else `keras`. A step lasts from the
beginning of a batch to its end; what passes between two batches is reading data, and is counted to the step that follows. Keras
gives its loss as the mean of the epoch so far: the batch's own is worked out of two of them. Where Keras trains several batches in one call
(steps_per_execution) they are one step. One callback serves all fit() of a program: its steps go on.

What is waited for other ranks is hidden inside the batch. It is told by what reduces: ringward_guest.horovod, or libringward_mpi.so in an MPI job (which
then records by itself, and this callback is not needed).
"""
import sys

from . import BACKWARD, CHECKPOINT, DATA, EVALUATE, LOCAL_LOSS, SLOW_COMPILE, SLOW_EVALUATE


def _keras():
    """The Keras that the program uses."""
    for name in ("keras", "tf_keras", "tensorflow.keras"):
        if name in sys.modules:
            return sys.modules[name]
    import keras
    return keras


class Hooks:
    """What the callback does, without a Keras to inherit from: its methods are those that Keras calls.

    compile_batches  the first batches compile; their slowness is expected
    """

    def __init__(self, recorder, compile_batches=1):
        self._recorder = recorder
        self._compile_batches = compile_batches
        self._compiling = False
        self._step = 0  # counted over all epochs: Keras counts batches from 0 in each
        self._in_step = False
        self._seen, self._sum = 0, 0.0

    def _begin(self):
        """The next step, in phase data until its batch is there."""
        if not self._in_step:
            self._recorder.begin_step(self._step)
        self._in_step = True
        self._recorder.phase(DATA)

    def on_train_begin(self, logs=None):
        if self._compile_batches > 0:
            self._compiling = True
            self._recorder.begin_slow(SLOW_COMPILE)
        self._begin()

    def on_train_end(self, logs=None):
        if self._compiling:
            self._recorder.end_slow()
            self._compiling = False
        # The step that has begun waits for the next fit(). What a program does until then may take long, and is no hang.
        self._recorder.phase(CHECKPOINT)

    def on_epoch_begin(self, epoch, logs=None):
        self._seen, self._sum = 0, 0.0

    def on_train_batch_begin(self, batch, logs=None):
        self._recorder.phase(BACKWARD)

    def on_train_batch_end(self, batch, logs=None):
        self._record_loss(batch, logs)
        self._recorder.end_step()
        self._in_step = False
        self._step += 1
        if self._compiling and self._step >= self._compile_batches:
            self._recorder.end_slow()
            self._compiling = False
        self._begin()

    def _record_loss(self, batch, logs):
        """Of this batch: `loss` is the mean of all since the epoch began."""
        mean = (logs or {}).get("loss")
        if mean is None:
            return
        seen, total = batch + 1, float(mean) * (batch + 1)
        if seen > self._seen:
            self._recorder.metric(LOCAL_LOSS, (total - self._sum) / (seen - self._seen))
        self._seen, self._sum = seen, total

    def on_test_begin(self, logs=None):
        self._recorder.phase(EVALUATE)
        if not self._compiling:
            self._recorder.begin_slow(SLOW_EVALUATE)

    def on_test_end(self, logs=None):
        if not self._compiling:
            self._recorder.end_slow()
        self._recorder.phase(DATA)


def Callback(recorder, **options):
    """A keras.callbacks.Callback that records; the options are those of Hooks."""
    base = _keras().callbacks.Callback

    class RingwardCallback(Hooks, base):
        """Hooks, as Keras wants its callbacks."""

        def __init__(self):
            base.__init__(self)
            Hooks.__init__(self, recorder, **options)

    return RingwardCallback()
