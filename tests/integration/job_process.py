"""A job under test: starts it, finds its processes, and sees whether anything of it is left."""
import os
import pathlib
import signal
import subprocess
import time
import uuid

TAG = "KILL_RANKS_TEST"


def read_bytes(path):
    try:
        return pathlib.Path(path).read_bytes()
    except OSError:
        return b""


def environment_of(pid):
    pairs = (entry.partition(b"=") for entry in read_bytes(f"/proc/{pid}/environ").split(b"\0"))
    return {name.decode(errors="replace"): value.decode(errors="replace") for name, _, value in pairs}


def command_of(pid):
    return [word.decode(errors="replace") for word in read_bytes(f"/proc/{pid}/cmdline").split(b"\0")[:-1]]


def socket_inodes(pid):
    found = set()
    try:
        names = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return found
    for name in names:
        try:
            target = os.readlink(f"/proc/{pid}/fd/{name}")
        except OSError:
            continue
        if target.startswith("socket:["):
            found.add(target[8:-1])
    return found


def listening_inodes():
    """Inodes of the sockets that listen on any TCP port."""
    lines = (read_bytes("/proc/net/tcp") + read_bytes("/proc/net/tcp6")).decode().splitlines()
    fields = (line.split() for line in lines)
    return {f[9] for f in fields if len(f) > 9 and f[3] == "0A"}


class JobProcess:
    """`launch_driver` with a job of `ringward-rank`, tagged so that all its processes are found.

    flags: more of launch_driver's; prelude: a program and arguments that end up executing the rest, in every rank."""

    def __init__(self, bin_dir, tmp, ranks, engine, job, collective_timeout_ms=5000, start_timeout_ms=60000, flags=(),
                 prelude=()):
        self.tag = uuid.uuid4().hex
        self.tmp = pathlib.Path(tmp)
        self.job_dirs = set()
        self.sockets = set()
        environment = dict(os.environ, **{TAG: self.tag, "TMPDIR": str(tmp)})
        self.process = subprocess.Popen(
            [f"{bin_dir}/launch_driver", "--np", str(ranks), "--engine", engine,
             "--collective-timeout-ms", str(collective_timeout_ms), "--start-timeout-ms", str(start_timeout_ms),
             *flags, *prelude, f"{bin_dir}/ringward-rank", *job],
            env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True)

    def processes(self):
        """Every living process with the tag: {pid: environment}."""
        found = {}
        for name in os.listdir("/proc"):
            if name.isdigit():
                environment = environment_of(name)
                if environment.get(TAG) == self.tag:
                    found[int(name)] = environment
                    if "RINGWARD_JOB_DIR" in environment:
                        self.job_dirs.add(environment["RINGWARD_JOB_DIR"])
        return found

    def find(self, program, argument=None, rank=None):
        """The pid of the process of this job that runs `program` (a file name), or None."""
        for pid, environment in self.processes().items():
            command = command_of(pid)
            if not command or pathlib.Path(command[0]).name != program:
                continue
            if argument is not None and argument not in command[1:2]:
                continue
            if rank is None or environment.get("RINGWARD_RANK") == str(rank):
                return pid
        return None

    def wait_for(self, program, argument=None, rank=None, limit=60):
        end = time.monotonic() + limit
        while time.monotonic() < end:
            pid = self.find(program, argument, rank)
            if pid is not None:
                return pid
            if self.process.poll() is not None:
                break
            time.sleep(0.002)
        raise AssertionError(f"no {program} of rank {rank} came; the job says: {self.finish(5)[1]}")

    def remember_sockets(self):
        for pid in self.processes():
            self.sockets |= socket_inodes(pid)

    def finish(self, limit):
        """(stdout, stderr, seconds it took); AssertionError if the launcher does not end in time."""
        begin = time.monotonic()
        try:
            out, err = self.process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            state = {pid: command_of(pid) for pid in self.processes()}
            self.destroy()
            raise AssertionError(f"the job still runs after {limit} s: {state}") from None
        return out, err, time.monotonic() - begin

    def leftovers(self):
        left = [f"process {pid} {' '.join(command_of(pid))}" for pid in self.processes()]
        left += [f"port of socket {inode}" for inode in self.sockets & listening_inodes()]
        left += [f"folder {path}" for path in self.job_dirs if os.path.exists(path)]
        left += [f"temporary file {path}" for path in self.tmp.iterdir()]
        job_ids = {path.rpartition("-")[2] for path in self.job_dirs}
        left += [f"shared memory {name}" for name in os.listdir("/dev/shm")
                 if any(job in name for job in job_ids)]
        return left

    def assert_nothing_left(self, limit=10):
        end = time.monotonic() + limit
        while left := self.leftovers():
            assert time.monotonic() < end, "left over: " + "; ".join(left)
            time.sleep(0.02)

    def destroy(self):
        """After a failed test: nothing of the job may disturb the next. The janitor does it, if it can."""
        self.process.kill()
        end = time.monotonic() + 10
        while self.processes() and time.monotonic() < end:
            time.sleep(0.05)
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
