"""Made-up jobs for survival.py: many ranks in one process, and one rank that dies and comes back."""
import multiprocessing
import random
import signal
import time

WORK = 0.080  # seconds a step; asleep, so that 64 ranks cost no core


def _step(recorders, number, barrier, extra, random_order):
    """One step of the ranks of a process; `extra` = {index: seconds more}."""
    import ringward_guest as rg
    order = random_order.sample(recorders, len(recorders))
    late = [recorders[at] for at, more in extra.items() if more > 0]
    for recorder in order:
        recorder.begin_step(number)
        recorder.phase(rg.FORWARD)
        recorder.metric(rg.LOCAL_LOSS, 1.0 + random_order.gauss(0.0, 0.02))
    time.sleep(WORK)
    entered = [(each, _enter(each)) for each in order if each not in late]
    if late:
        time.sleep(max(extra.values()))
        entered += [(each, _enter(each)) for each in late]
    barrier.wait()
    for recorder, collective in entered:
        recorder.exit_collective(collective)
        recorder.end_step()


def _enter(recorder):
    import ringward_guest as rg
    recorder.phase(rg.COMMUNICATE)
    return recorder.enter_collective("allreduce", 1 << 20)


def _ranks(job, world, mine, folder, barrier, slow, slower):
    import ringward_guest as rg
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    recorders = [rg.Recorder(job, rank, world, folder=str(folder)) for rank in mine]
    assert all(recorder.on for recorder in recorders), recorders[0].status
    chance = random.Random(mine[0])
    number = 0
    while True:
        extra = {mine.index(slow): WORK * (slower.value - 1)} if slow in mine else {}
        _step(recorders, number, barrier, extra, chance)
        number += 1


class WideJob:
    """`world` ranks, shared out evenly over the folders; `slower` is the factor by which rank `slow` needs longer."""

    def __init__(self, name, world, slow, folders):
        self.name, self.world, self.slow = name, world, slow
        self.slower = multiprocessing.Value("d", 1.0)
        barrier = multiprocessing.Barrier(len(folders))
        each = world // len(folders)
        self.processes = [
            multiprocessing.Process(target=_ranks, daemon=True, args=(
                name, world, list(range(at * each, (at + 1) * each)), folder, barrier, slow, self.slower))
            for at, folder in enumerate(folders)]
        for process in self.processes:
            process.start()

    def stop(self):
        for process in self.processes:
            process.kill()
            process.join()


def _lone(job, world, rank, folder, first_step):
    import ringward_guest as rg
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    number = first_step
    with rg.Recorder(job, rank, world, folder=str(folder)) as recorder:
        while True:
            with recorder.step(number):
                recorder.phase(rg.FORWARD)
                time.sleep(WORK)
            number += 1


class RestlessJob:
    """Three ranks that do not wait for one another, the last of which is killed and started anew, over and over."""
    WORLD = 3

    def __init__(self, name, folder):
        self.name, self.folder = name, folder
        self.begun = time.monotonic()
        self.processes = [self._start(rank) for rank in range(self.WORLD)]

    def _start(self, rank):
        first = int((time.monotonic() - self.begun) / WORK)
        process = multiprocessing.Process(target=_lone, daemon=True, args=(self.name, self.WORLD, rank, self.folder, first))
        process.start()
        return process

    def kill_last(self):
        self.processes[-1].kill()
        self.processes[-1].join()

    def start_last(self):
        self.processes[-1] = self._start(self.WORLD - 1)

    def stop(self):
        for process in self.processes:
            process.kill()
            process.join()
