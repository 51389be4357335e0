"""What survival.py measures: processes once a second, news, and what those who ask saw."""
import json
import os
import pathlib
import threading
import time

# Of a process that lives long enough to tell growth from filling up: least squares over the second half of its life.
KIB_A_MINUTE = 64
LONG_S = 1200
DESCRIPTORS_MORE = 4
ANON_MOST_KIB = 200 << 10


def numbers_of(pid):
    """(KiB of memory of its own, descriptors, threads), or None where it is gone."""
    try:
        status = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())
        return int(status["RssAnon"].split()[0]), len(os.listdir(f"/proc/{pid}/fd")), int(status["Threads"])
    except (OSError, KeyError):
        return None


def slope(points):
    """Of (x, y), by least squares."""
    count = len(points)
    mean_x, mean_y = (sum(p[at] for p in points) / count for at in (0, 1))
    below = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / below if below else 0.0


class Life:
    """One process as it was seen: [(seconds, KiB, descriptors, threads)]."""

    def __init__(self, name, pid):
        self.name, self.pid, self.seen = name, pid, []

    @property
    def seconds(self):
        return self.seen[-1][0] - self.seen[0][0] if self.seen else 0.0

    def column(self, at):
        return [each[at] for each in self.seen]

    def kib_a_minute(self):
        late = [(t / 60, kib) for t, kib, _, _ in self.seen if t >= self.seen[0][0] + self.seconds / 2]
        return slope(late)

    def __str__(self):
        kib, files, threads = (self.column(at) for at in (1, 2, 3))
        return (f"{self.name}: {self.seconds:.0f} s, memory {kib[0]} to {kib[-1]} KiB (most {max(kib)}, second half "
                f"{self.kib_a_minute():+.1f} KiB a minute), descriptors {files[0]} to {files[-1]} (most {max(files)}), threads "
                f"{min(threads)} to {max(threads)}")


class Sampler:
    """Looks at all processes once a second, on a thread of its own."""

    def __init__(self):
        self.lives, self.lock, self.ended = [], threading.Lock(), threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def follow(self, name, pid):
        with self.lock:
            self.lives.append(Life(name, pid))

    def _run(self):
        while not self.ended.wait(1):
            with self.lock:
                lives = list(self.lives)
            for life in lives:
                if numbers := numbers_of(life.pid):
                    life.seen.append((time.monotonic(), *numbers))

    def stop(self):
        self.ended.set()
        self.thread.join()

    def reports(self):
        """Those seen for some seconds."""
        return [life for life in self.lives if life.seconds >= 5]


def check_growth(lives, last):
    """What is not flat; `last` numbers the aggregator that lived to the end."""
    problems = []
    for life in lives:
        if max(life.column(1)) > ANON_MOST_KIB:
            problems.append(f"{life.name} took {max(life.column(1))} KiB")
        if len(set(life.column(3)[3:])) > 1:
            problems.append(f"{life.name} has now more, now fewer threads: {set(life.column(3))}")
        if life.seconds >= LONG_S and life.kib_a_minute() > KIB_A_MINUTE:
            problems.append(f"{life.name} grows by {life.kib_a_minute():.1f} KiB a minute, more than {KIB_A_MINUTE}")
        asked = life.name.startswith("aggregator") and life.name != f"aggregator-{last}"  # its clients were still there
        if not asked and life.seen[-1][2] > life.seen[0][2] + DESCRIPTORS_MORE:
            problems.append(f"{life.name} has {life.seen[-1][2]} descriptors at the end, {life.seen[0][2]} at first")
    return problems


class News:
    """What an aggregator tells, read as it comes."""

    def __init__(self, path):
        self.path, self.read, self.all, self.taken = path, 0, [], set()

    def _look(self):
        with open(self.path, "rb") as file:
            file.seek(self.read)
            text = file.read()
        text = text[:text.rfind(b"\n") + 1]
        self.read += len(text)
        self.all += [json.loads(line) for line in text.splitlines()]

    def find(self, **fields):
        """[(place, news)] with these fields."""
        self._look()
        return [(at, n) for at, n in enumerate(self.all) if all(n.get(k) == v for k, v in fields.items())]

    def take(self, **fields):
        """The first that was not taken before, or None."""
        for at, news in self.find(**fields):
            if at not in self.taken:
                self.taken.add(at)
                return news
        return None


class LoadReport:
    """What survival_load.py saw; `down` = [(from, to)] when nobody could have answered."""

    def __init__(self, path, down):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        self.name, self.last, self.seconds, self.down = path.stem, lines[-1], lines[:-1], down
        self.counts = {}
        for line in lines:
            for key, value in line.items():
                if key.startswith(("status_", "failed_", "stream", "event_", "sluggards", "wrong")):
                    self.counts[key] = self.counts.get(key, 0) + value
        up = [line for line in self.seconds[1:] if not self._was_down(line["at"])]
        self.rate = sum(line.get("status_200", 0) for line in up) / max(1, len(up))

    def _was_down(self, at):
        return any(begin - 1 <= at <= end + 3 for begin, end in self.down)

    def __str__(self):
        more = {k: v for k, v in self.last.items() if k.endswith("_ms") or k == "cpu_seconds"}
        return f"{self.name}: {self.rate:.0f} answers a second; {self.counts}; {more}"

    def problems(self):
        wrong = [f"{self.name}: {why}" for why in self.last["bad"]]
        for line in self.seconds:
            failed = {k: v for k, v in line.items() if k.startswith(("failed_", "stream_")) or (
                k.startswith("status_") and k != "status_200")}
            if failed and not self._was_down(line["at"]):
                wrong.append(f"{self.name} at {line['at']:.0f}: {failed}")
        return wrong[:5]
