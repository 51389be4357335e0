#!/usr/bin/env python3
"""The helpers for Keras and Horovod, against stand-ins that call and are called as those document it.

    frameworks_test.py PYTHON-FOLDER LIBRARY READER
"""
import json
import os
import subprocess
import sys
import tempfile
import time
import types
import unittest

FOLDER, LIBRARY, READER = sys.argv[1:4]
os.environ["RINGWARD_GUEST_LIBRARY"] = LIBRARY
sys.path.insert(0, FOLDER)
sys.dont_write_bytecode = True
import ringward_guest as rg  # found only now
import ringward_guest.horovod
import ringward_guest.keras

MS = 1e6
SLOW_FLAG = 1


def read(path):
    return json.loads(subprocess.run([READER, path], capture_output=True, text=True, check=True).stdout)


class FrameworkTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ringward-guest-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def recorder(self, rank=0, world=2):
        recorder = rg.Recorder("job", rank, world, folder=self.folder)
        self.addCleanup(recorder.close)
        return recorder


class PlayedKeras(types.ModuleType):
    """Keras as far as a callback sees it: the calls of fit() in their order."""

    class Callback:
        """keras.callbacks.Callback"""

        def __init__(self):
            self.base_was_made = True

        def on_predict_begin(self, logs=None):
            pass

    def __init__(self):
        super().__init__("keras")
        self.callbacks = types.SimpleNamespace(Callback=self.Callback)

    @staticmethod
    def fit(callback, losses, epochs, validate=False, seconds=0.0):
        """`losses` of the batches of every epoch; Keras shows their mean so far."""
        callback.on_train_begin()
        for epoch in range(epochs):
            callback.on_epoch_begin(epoch)
            for batch, _ in enumerate(losses):
                time.sleep(seconds)  # reading data
                callback.on_train_batch_begin(batch)
                time.sleep(seconds)
                callback.on_train_batch_end(batch, {"loss": sum(losses[:batch + 1]) / (batch + 1)})
            if validate:
                callback.on_test_begin()
                callback.on_test_end()
        callback.on_train_end()


class KerasTest(FrameworkTest):
    def setUp(self):
        super().setUp()
        self.keras = PlayedKeras()
        real = sys.modules.pop("keras", None)
        sys.modules["keras"] = self.keras
        self.addCleanup(lambda: sys.modules.update(keras=real) if real else sys.modules.pop("keras"))

    def test_it_is_a_callback(self):
        callback = rg.keras.Callback(self.recorder())
        self.assertIsInstance(callback, PlayedKeras.Callback)
        self.assertTrue(callback.base_was_made)

    def test_every_batch_is_a_step_with_its_own_loss(self):
        recorder = self.recorder()
        callback = rg.keras.Callback(recorder, compile_batches=2)
        self.keras.fit(callback, [4.0, 2.0, 3.0], epochs=2, seconds=0.02)
        self.keras.fit(callback, [1.0], epochs=1)
        seen = read(recorder.path)
        self.assertEqual([s["step"] for s in seen["steps"]], list(range(7)))
        self.assertEqual([s["flags"] & SLOW_FLAG for s in seen["steps"]], [1, 1, 0, 0, 0, 0, 1])
        losses = [m["last"] for m in seen["metrics"] if m["name"] == "local_loss"]
        self.assertEqual(len(losses), 7)
        for loss, wanted in zip(losses, [4.0, 2.0, 3.0, 4.0, 2.0, 3.0, 1.0]):
            self.assertAlmostEqual(loss, wanted)
        for step in seen["steps"][:6]:
            self.assertGreater(step["phase_ns"][rg.DATA], 15 * MS)
            self.assertGreater(step["phase_ns"][rg.BACKWARD], 15 * MS)
        self.assertEqual((seen["state"]["phase"], seen["state"]["slow"]), (rg.CHECKPOINT, 0))
        self.assertEqual(seen["state"]["dropped_misuse"], 0)

    def test_evaluation_is_expected_to_be_slow(self):
        recorder = self.recorder()
        states = []
        callback = rg.keras.Callback(recorder)
        after = callback.on_test_begin
        callback.on_test_begin = lambda logs=None: (after(logs), states.append(read(recorder.path)["state"]))
        self.keras.fit(callback, [1.0, 1.0], epochs=2, validate=True, seconds=0.005)  # short steps share a record
        self.assertEqual([(s["phase"], s["slow"]) for s in states], [(rg.EVALUATE, rg.SLOW_EVALUATE)] * 2)
        self.assertEqual(len(read(recorder.path)["steps"]), 4)

    def test_a_loss_that_is_not_shown_is_not_recorded(self):
        recorder = self.recorder()
        callback = rg.keras.Callback(recorder)
        callback.on_train_begin()
        callback.on_train_batch_begin(0)
        callback.on_train_batch_end(0)
        seen = read(recorder.path)
        self.assertEqual((len(seen["steps"]), seen["metrics"]), (1, []))


def played_horovod(rank, size):
    """horovod.torch as far as the helper meets it."""
    hvd = types.ModuleType("horovod.torch")

    class DistributedOptimizer:
        """step() waits in synchronize(), as Horovod's does."""

        def __init__(self):
            self.steps = 0

        def synchronize(self):
            time.sleep(0.03)

        def step(self):
            self.synchronize()
            self.steps += 1
            return "stepped"

    def allreduce(tensor, average=None, name=None):
        return hvd.synchronize(hvd.allreduce_async(tensor))

    hvd.rank, hvd.size = lambda: rank, lambda: size
    hvd.allreduce_async = lambda tensor: 7
    hvd.synchronize = lambda handle: time.sleep(0.03) or handle
    hvd.allreduce = allreduce
    hvd.DistributedOptimizer = DistributedOptimizer
    return hvd


class Tensor:
    """As large as 10 floats."""

    @staticmethod
    def numel():
        return 10

    @staticmethod
    def element_size():
        return 4


class HorovodTest(FrameworkTest):
    def test_rank_and_size_are_horovods(self):
        with rg.horovod.recorder(played_horovod(3, 5), "job", folder=self.folder) as recorder:
            info = read(recorder.path)["info"]
            self.assertEqual((info["rank"], info["world"], info["job"]), (3, 5, "job"))

    def test_waiting_is_recorded_once_a_call(self):
        hvd = played_horovod(0, 2)
        optimizer = hvd.DistributedOptimizer()
        recorder = self.recorder()
        rg.horovod.attach(hvd, recorder, optimizer)
        with recorder.step(0):
            recorder.phase(rg.OPTIMIZER)
            self.assertEqual(optimizer.step(), "stepped")
            self.assertEqual(hvd.allreduce(Tensor(), name="loss"), 7)
        seen = read(recorder.path)
        self.assertEqual(sum(c["count"] for c in seen["collectives"]), 2)  # not the synchronize() inside
        self.assertEqual({c["operation"] for c in seen["collectives"]}, {"allreduce"})
        self.assertEqual(sum(c["bytes"] for c in seen["collectives"]), 40)
        self.assertGreater(seen["steps"][0]["wait_ns"][rg.OPTIMIZER], 55 * MS)
        self.assertEqual(optimizer.steps, 1)

    def test_who_waits_is_seen_to(self):
        hvd = played_horovod(0, 2)
        recorder = self.recorder()
        states = []
        hvd.synchronize = lambda handle: states.append(read(recorder.path)["state"])
        rg.horovod.attach(hvd, recorder)
        hvd.synchronize(1)
        self.assertTrue(states[0]["inside_collective"])
        self.assertFalse(read(recorder.path)["state"]["inside_collective"])

    def test_a_failure_is_passed_on(self):
        hvd = played_horovod(0, 2)

        def fail(tensor):
            raise RuntimeError("Horovod has been shut down")

        hvd.allreduce = fail
        recorder = self.recorder()
        rg.horovod.attach(hvd, recorder)
        with recorder.step(0), self.assertRaisesRegex(RuntimeError, "shut down"):
            hvd.allreduce(Tensor())
        self.assertFalse(read(recorder.path)["state"]["inside_collective"])

    def test_taken_back_all_is_as_before(self):
        hvd = played_horovod(0, 2)
        optimizer = hvd.DistributedOptimizer()
        before, own = dict(vars(hvd)), dict(vars(optimizer))
        detach = rg.horovod.attach(hvd, self.recorder(), optimizer)
        self.assertNotEqual(dict(vars(hvd)), before)
        detach()
        self.assertEqual((dict(vars(hvd)), dict(vars(optimizer))), (before, own))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
