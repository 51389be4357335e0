#!/usr/bin/env python3
"""Hurts jobs of real processes at random times and sees how they end.

    kill_ranks.py build/release/bin/ringward [--engines mpi,gloo] [--count 3] [--seed S] [--only NAME]

Each round kills (SIGKILL) or freezes (SIGSTOP) one rank and asserts: the job ends within 10 s of it, the rank is
named, and no process, port, shared-memory file or folder is left. Then come the cases that are not left to chance:
freezes in each phase of a job, the launcher, mpirun and a shim killed, Ctrl-C, and jobs that must NOT be ended.
"""
import argparse
import os
import pathlib
import random
import re
import signal
import sys
import tempfile
import time

from job_process import JobProcess

LIMIT = 10.0  # seconds from the blow to the end of the job
STEPS = ["selftest", "--steps", "1000000", "--sleep-ms", "2"]
NAMES = {signal.SIGKILL: "SIGKILL", signal.SIGSTOP: "SIGSTOP"}


class Test:
    def __init__(self, bin_dir, engine):
        self.bin = bin_dir
        self.engine = engine

    def job(self, ranks, arguments, **options):
        self.tmp = tempfile.TemporaryDirectory(prefix="kill-ranks-")
        self.current = JobProcess(self.bin, self.tmp.name, ranks, self.engine, arguments, **options)
        return self.current

    def close(self):
        self.current.process.communicate()
        self.tmp.cleanup()

    def expect_named(self, job, rank, pid, words):
        """The job ends in time and the first line names the rank."""
        _, err, took = job.finish(LIMIT)
        named = re.search(r"^ringward: (rank \d+ \(pid \d+\)|.*)(.*)$", err, re.M)
        assert named, f"nobody is named: {err}"
        assert named[1] == f"rank {rank} (pid {pid})", f"rank {rank} (pid {pid}) was hurt, but: {err}"
        assert any(word in named[2] for word in words), f"not {words}: {err}"
        assert job.process.returncode == 3, job.process.returncode
        job.assert_nothing_left()
        return f"{took:.1f} s: {named[0]}"

    def hurt(self, job, rank, how, delay):
        """Waits for the rank, then `delay`, then strikes."""
        pid = job.wait_for("ringward-rank", rank=rank)
        time.sleep(delay)
        job.remember_sockets()
        os.kill(pid, how)
        words = ["was killed by SIGKILL"] if how == signal.SIGKILL else ["frozen", "stopped", "heartbeat"]
        return self.expect_named(job, rank, pid, words)

    # Each test returns a line for the log, or raises AssertionError.

    def random_blow(self, rng):
        ranks = rng.randint(2, 4)
        rank = rng.randrange(ranks)
        how = rng.choice([signal.SIGKILL, signal.SIGSTOP])
        delay = rng.choice([0.0, rng.uniform(0, 0.3), rng.uniform(0, 2.0)])
        job = self.job(ranks, STEPS)
        return f"{NAMES[how]} rank {rank} of {ranks} after {delay:.3f} s: " + self.hurt(job, rank, how, delay)

    def frozen_before_joining(self, rng):
        rank = rng.randrange(3)
        stop_first = ["/bin/sh", "-c", f'test $RINGWARD_RANK != {rank} || kill -STOP $$; exec "$0" "$@"']
        job = self.job(3, STEPS, prelude=stop_first)
        pid = job.wait_for("sh", rank=rank)
        return self.expect_named(job, rank, pid, ["is frozen while starting", "stopped"])

    def frozen_while_starting(self, rng):
        rank = rng.randrange(2)
        return self.hurt(self.job(2, STEPS), rank, signal.SIGSTOP, 0.0)

    def frozen_while_rank_0_reads_data(self, rng):
        rank = rng.randrange(3)
        job = self.job(3, ["selftest", "--load-ms", "60000"])
        return self.hurt(job, rank, signal.SIGSTOP, 1.5)

    def killed_while_rank_0_reads_data(self, rng):
        rank = rng.randrange(3)
        job = self.job(3, ["selftest", "--load-ms", "60000"])
        return self.hurt(job, rank, signal.SIGKILL, 1.5)

    def frozen_between_collectives(self, rng):
        rank = rng.randrange(2)
        job = self.job(2, ["selftest", "--steps", "1000", "--sleep-ms", "1500"])
        return self.hurt(job, rank, signal.SIGSTOP, 2.0)

    def frozen_inside_collectives(self, rng):
        rank = rng.randrange(2)
        job = self.job(2, ["selftest", "--steps", "1000000", "--elements", "4000000"])
        return self.hurt(job, rank, signal.SIGSTOP, 2.0)

    def frozen_before_the_final_barrier(self, rng):
        rank = rng.randrange(2)
        # The one step sleeps long enough to be struck in; what is left is its sum and the barrier.
        job = self.job(2, ["selftest", "--steps", "1", "--sleep-ms", "2500", "--elements", "1"])
        return self.hurt(job, rank, signal.SIGSTOP, 1.5)

    def two_ranks_frozen(self, rng):
        del rng
        job = self.job(3, STEPS)
        pids = [job.wait_for("ringward-rank", rank=rank) for rank in (0, 2)]
        time.sleep(1)
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        _, err, took = job.finish(LIMIT)
        assert job.process.returncode == 3, err
        assert re.search(r"ranks 0, 2 (are frozen|are stopped)|ringward: rank [02] ", err), err
        job.assert_nothing_left()
        return f"{took:.1f} s"

    def a_rank_fails_by_itself(self, rng):
        rank = rng.randrange(3)
        job = self.job(3, ["selftest", "--fail-rank", str(rank), "--fail-step", "7"])
        _, err, took = job.finish(60)
        assert re.search(rf"^ringward: rank {rank} \(pid \d+\) failed: selftest: told to fail at step 7", err, re.M), err
        assert job.process.returncode == 3, job.process.returncode
        job.assert_nothing_left()
        return f"{took:.1f} s"

    def a_rank_has_no_memory(self, rng):
        """It says so itself, in one line."""
        del rng
        limited = ["/bin/sh", "-c", 'ulimit -v 1000000; exec "$0" "$@"']
        job = self.job(2, ["selftest", "--elements", "1000000000"], prelude=limited)
        _, err, took = job.finish(60)
        assert re.search(r"\nringward: rank [01] \(pid \d+\) failed: out of memory; ended the other rank\n$", err), err
        assert err.count("\n") == 2 and job.process.returncode == 3, err
        job.assert_nothing_left()
        return f"{took:.1f} s"

    def slow_is_not_guilty(self, rng):
        """Rank 0 reads data for longer than the timeout of collectives: nobody is ended."""
        del rng
        job = self.job(2, ["selftest", "--load-ms", "4000", "--steps", "10"], collective_timeout_ms=1500)
        out, err, took = job.finish(60)
        assert job.process.returncode == 0 and "every sum right" in out, err
        job.assert_nothing_left()
        return f"{took:.1f} s"

    def briefly_stopped_is_forgiven(self, rng):
        rank = rng.randrange(2)
        job = self.job(2, ["selftest", "--steps", "40", "--sleep-ms", "50"])
        pid = job.wait_for("ringward-rank", rank=rank)
        time.sleep(0.5)
        os.kill(pid, signal.SIGSTOP)
        time.sleep(1.5)
        os.kill(pid, signal.SIGCONT)
        out, err, took = job.finish(120)
        assert job.process.returncode == 0 and "every sum right" in out, err
        job.assert_nothing_left()
        return f"{took:.1f} s"

    def launcher_killed(self, rng):
        delay = rng.uniform(0, 1.5)
        job = self.job(3, STEPS)
        job.wait_for("ringward-keeper", "janitor")
        time.sleep(delay)
        job.remember_sockets()
        job.process.kill()
        job.process.communicate(timeout=LIMIT)
        job.assert_nothing_left()
        return f"after {delay:.3f} s"

    def launcher_killed_with_a_frozen_rank(self, rng):
        del rng
        job = self.job(2, STEPS)
        os.kill(job.wait_for("ringward-rank", rank=1), signal.SIGSTOP)
        job.remember_sockets()
        job.process.kill()
        job.process.communicate(timeout=LIMIT)
        job.assert_nothing_left()
        return ""

    def janitor_killed(self, rng):
        """The launcher does not need it to end well."""
        del rng
        job = self.job(2, ["selftest", "--steps", "100", "--sleep-ms", "5"])
        os.kill(job.wait_for("ringward-keeper", "janitor"), signal.SIGKILL)
        out, err, _ = job.finish(60)
        assert job.process.returncode == 0 and "every sum right" in out, err
        job.assert_nothing_left()
        return ""

    def shim_killed(self, rng):
        """The rank dies with its parent and is named, though nobody knows how it ended."""
        rank = rng.randrange(2)
        job = self.job(2, STEPS)
        pid = job.wait_for("ringward-rank", rank=rank)
        time.sleep(1)
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
            shim = int(stat.read().rpartition(")")[2].split()[1])
        os.kill(shim, signal.SIGKILL)
        return self.expect_named(job, rank, pid, ["died", "is gone"])

    def mpirun_killed(self, rng):
        if self.engine != "mpi":
            return "not with this engine"
        lines = []
        for how, words in ((signal.SIGKILL, "was killed by SIGKILL"), (signal.SIGTERM, "exited with status"),
                           (signal.SIGHUP, "exited with status")):
            job = self.job(2, STEPS)
            pid = job.wait_for("mpirun", "--allow-run-as-root" if os.geteuid() == 0 else "-np")
            job.wait_for("ringward-rank", rank=1)
            time.sleep(rng.uniform(0.5, 1.5))
            job.remember_sockets()
            os.kill(pid, how)
            _, err, took = job.finish(LIMIT)
            assert f"ringward: mpirun {words}" in err, f"{how}: {err}"
            job.assert_nothing_left()
            lines.append(f"{took:.1f} s")
            self.tmp.cleanup()
        return ", ".join(lines)

    def interrupted(self, rng):
        how = rng.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
        job = self.job(2, STEPS)
        job.wait_for("ringward-rank", rank=1)
        time.sleep(rng.uniform(0, 1))
        job.remember_sockets()
        job.process.send_signal(how)
        _, err, took = job.finish(LIMIT)
        assert job.process.returncode == 130, err
        assert f"interrupted by {how.name}" in err, err
        job.assert_nothing_left()
        return f"{how.name}, {took:.1f} s"

    def half_written_output(self, rng):
        """Whoever is killed, what the ranks were writing goes; what another process writes stays."""
        del rng
        write_half = ["/bin/sh", "-c", 'mkdir -p "$HALF.m.tmp-$$-0/deep"; exec "$0" "$@"']
        for victim, how in (("rank", signal.SIGKILL), ("launcher", signal.SIGKILL), ("launcher", signal.SIGTERM)):
            with tempfile.TemporaryDirectory(prefix="kill-ranks-out-") as out:
                other = pathlib.Path(out, ".m.tmp-1-0")
                other.mkdir()
                os.environ["HALF"] = f"{out}/"
                job = self.job(2, STEPS, flags=["--temporaries", f"{out}/.m.tmp-"], prelude=write_half)
                pids = [job.wait_for("ringward-rank", rank=rank) for rank in (0, 1)]
                halves = [pathlib.Path(out, f".m.tmp-{pid}-0") for pid in pids]
                assert all(half.exists() for half in halves), list(pathlib.Path(out).iterdir())
                os.kill(pids[0] if victim == "rank" else job.process.pid, how)
                job.finish(LIMIT)
                job.assert_nothing_left()
                assert list(pathlib.Path(out).iterdir()) == [other], f"{victim}, {how}: {list(pathlib.Path(out).iterdir())}"
                self.tmp.cleanup()
        return ""


PHASES = [name for name in vars(Test) if not name.startswith("_") and name not in
          ("job", "close", "expect_named", "hurt", "random_blow")]
# Enough for every change; the others take part in the acceptance run.
QUICK = ["frozen_before_joining", "a_rank_fails_by_itself", "a_rank_has_no_memory", "launcher_killed", "interrupted",
         "half_written_output"]


def run(test, name, rng, label):
    begin = time.monotonic()
    try:
        text = getattr(test, name)(rng)
        print(f"ok    {test.engine} {label} ({time.monotonic() - begin:.1f} s in all) {text}", flush=True)
        return True
    except AssertionError as error:
        print(f"WRONG {test.engine} {label}: {error}", flush=True)
        test.current.destroy()
        return False
    finally:
        test.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=pathlib.Path, help="ringward, beside ringward-rank and launch_driver")
    parser.add_argument("--engines", default="mpi,gloo")
    parser.add_argument("--count", "--kills", type=int, default=3, help="random blows per engine")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--only", choices=["random_blow", *PHASES], help="this case alone, --count times")
    parser.add_argument("--quick", action="store_true", help="few of the cases that are not left to chance")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    bad = total = 0
    for engine in options.engines.split(","):
        rng = random.Random(f"{options.seed} {engine}")
        test = Test(options.binary.parent, engine)
        cases = [(options.only or "random_blow", i) for i in range(options.count)]
        if not options.only:
            cases += [(name, 0) for name in (QUICK if options.quick else PHASES)]
        for name, i in cases:
            total += 1
            bad += not run(test, name, rng, f"{name} {i}")
    print(f"{total - bad} of {total} ended as they should")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
