#!/usr/bin/env python3
"""`ringward replay` on files of ranks that are made here, `simulate job` and `bench detection`.

    replay_test.py RINGWARD

What is said of a folder is a table (TOLD), what is refused another (REFUSED): add a row for a new kind.
"""
import datetime
import gzip
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

RANKS, STEPS, ONSET = 8, 400, 200
INCIDENT_FIELDS = {"category", "cause", "summary", "culprit_ranks", "culprit_hosts", "victim_ranks", "confidence",
                   "evidence", "remedy", "action", "started_at", "severity"}


def steps_of(trouble=None, steps=STEPS, ranks=RANKS, seed=1):
    """Rows of all ranks: [step][rank] of a dict. `trouble` changes a row before its step is put together."""
    chance = random.Random(seed)
    now, job = 1_767_571_200.0, []
    for step in range(steps):
        rows = [{"data_seconds": 0.05 * chance.lognormvariate(0, 0.04), "compute_seconds": 0.7 * chance.lognormvariate(0, 0.02),
                 "loss": 2.0 / (1 + step / 500) * chance.lognormvariate(0, 0.03)} for _ in range(ranks)]
        for rank, row in enumerate(rows):
            if trouble and step >= ONSET:
                trouble(step, rank, row)
        length = max(row["data_seconds"] + row["compute_seconds"] for row in rows) + 0.2 * chance.lognormvariate(0, 0.03)
        now += length
        for row in rows:
            row["step"], row["timestamp"], row["step_seconds"] = step, now, length
            row["sync_seconds"] = length - row["data_seconds"] - row["compute_seconds"]
        job.append(rows)
    return job


def csv_of(rows, columns):
    lines = [",".join(columns)]
    lines += [",".join(f"{row[name]:.9g}" if name != "timestamp" else f"{row[name]:.6f}" for name in columns) for row in rows]
    return "\n".join(lines) + "\n"


COLUMNS = ["step", "timestamp", "step_seconds", "data_seconds", "compute_seconds", "sync_seconds", "loss"]


def per_rank(job, columns=None):
    return {f"run/rank{rank}.csv": csv_of([rows[rank] for rows in job], columns or COLUMNS) for rank in range(len(job[0]))}


def one_file(job):
    rows = [{**row, "rank": rank} for rows in job for rank, row in enumerate(rows)]
    return {"run/steps.csv": csv_of(rows, ["rank", *COLUMNS])}


def slow(rank, factor, name="compute_seconds"):
    def trouble(_, at, row):
        row[name] *= factor if at == rank else 1.0
    return trouble


def everywhere(factor, name):
    def trouble(_, __, row):
        row[name] *= factor
    return trouble


def poisoned(step, rank, row):
    if rank == 2 or step > ONSET:
        row["loss"] = float("nan")


# title, files, the causes and whom they name
TOLD = [
    ("a healthy job", per_rank(steps_of()), []),
    ("a slow rank", per_rank(steps_of(slow(5, 1.5))), [("slow-rank", [5])]),
    ("a slow rank in one file", one_file(steps_of(slow(5, 1.5))), [("slow-rank", [5])]),
    ("a slow rank, with steps and waits alone",
     per_rank(steps_of(slow(5, 1.5)), ["step", "timestamp", "step_seconds", "sync_seconds"]), [("slow-rank", [5])]),
    ("a slow rank without timestamps", per_rank(steps_of(slow(5, 1.5)), ["step", "step_seconds", "sync_seconds"]),
     [("slow-rank", [5])]),
    ("a slow rank without steps", per_rank(steps_of(slow(5, 1.5)), ["step_seconds", "sync_seconds"]), [("slow-rank", [5])]),
    ("a slow rank with milliseconds since 1970 and semicolons",
     {name: re.sub(r"(?m)^(\d+),([0-9.]+)", lambda at: f"{at[1]},{float(at[2]) * 1000:.0f}", text).replace(",", ";")
      for name, text in per_rank(steps_of(slow(5, 1.5))).items()}, [("slow-rank", [5])]),
    ("slow input", per_rank(steps_of(slow(3, 8.0, "data_seconds"))), [("slow-input", [3])]),
    ("slow input everywhere", per_rank(steps_of(everywhere(8.0, "data_seconds"))), [("slow-input", [])]),
    ("a NaN that spreads", per_rank(steps_of(poisoned)), [("non-finite", [2])]),
    ("losses alone", per_rank(steps_of(poisoned), ["step", "loss"]), [("non-finite", [2])]),
    ("a torn last line and noise between",
     {name: text.replace("\n7,", "\n7;x\n7,") + "4" for name, text in per_rank(steps_of(slow(5, 1.5))).items()},
     [("slow-rank", [5])]),
    ("a handful of steps", per_rank(steps_of(steps=5)), []),
    ("one rank", per_rank(steps_of(ranks=1)), []),
]

# title, command line, files, the one line on standard error
REFUSED = [
    ("no such folder", ["replay", "nothing"], {}, r"nothing.*[Nn]o such file.*"),
    ("an empty folder", ["replay", "run"], {"run/notes.txt": "x"}, r"run: holds no \.csv file and no recording"),
    ("a pattern without a match", ["replay", "*.csv"], {}, r".*\*\.csv.*"),
    ("a table of something else", ["replay", "run"], {"run/rank0.csv": "a,b\n1,2\n"}, r"run/rank0\.csv: no file holds steps.*"),
    ("an empty table", ["replay", "rank0.csv"], {"rank0.csv": ""}, r"rank0\.csv: no file holds steps.*"),
    ("a header alone", ["replay", "rank0.csv"], {"rank0.csv": "step,loss\n"}, r"rank0\.csv: no file holds steps.*"),
    ("process numbers for ranks", ["replay", "s.csv"], {"s.csv": "process,step_s\n31337,1\n31338,1\n"},
     r"s\.csv:3: rank 31338 in a job of which 2 ranks report: ranks count from 0"),
    ("a file of nobody", ["replay", "steps.csv"], {"steps.csv": "step,loss\n1,2\n"}, r"steps\.csv: no file holds steps.*"),
    ("a decimal comma", ["replay", "s.csv"], {"s.csv": "rank;step;step_s\n0;0;0,5\n1;0;0,5\n"},
     r's\.csv:2: column "step_s": "0,5" has a decimal comma, where a point is expected \(no line could be read\)'),
    ("bytes that are no gzip", ["replay", "rank0.csv.gz"], {"rank0.csv.gz": "hello"}, r"rank0\.csv\.gz.*"),
    ("no files", ["replay"], {}, r"missing PATH.*"),
    ("two runs at once", ["replay", "--timeline", "t.json", "run"], {"t.json": "[]"}, r"run: --timeline and --log tell of a run of their own.*"),
    ("a timeline that is not there", ["replay", "--timeline", "t.json"], {}, r".*t\.json.*"),
    ("a timeline of nobody", ["replay", "--timeline", "t.json"], {"t.json": "[\n"}, r"t\.json: tells of no rank.*"),
    ("a timeline with scores", ["replay", "--timeline", "t.json", "--against", "r.toml"], {"t.json": "[", "r.toml": ""}, r"--against: compares.*"),
    ("a worth of two steps", ["replay", "--worth", "2", "run"], {}, r"--worth: got '2', .*"),
    ("no budget", ["replay", "--false-alarms-per-day", "0", "run"], {}, r"--false-alarms-per-day: got '0', .*"),
    ("a fault that nobody knows", ["bench", "detection", "--kinds", "slow-rnak"], {}, r"--kinds: got 'slow-rnak', .*slow-rank.*"),
    ("stages that do not divide", ["simulate", "job", "--out", "x.rwrec", "--stages", "3", "--world", "8", "--steps", "10"], {},
     r".*stages must divide world"),
]


class Folder:
    """A folder of its own with these files, removed in the end, and the program."""

    def __init__(self, program, files):
        self.program, self.files = program, files

    def __enter__(self):
        self.place = tempfile.TemporaryDirectory(prefix="ringward-replay-")
        self.path = pathlib.Path(self.place.name)
        for name, text in self.files.items():
            (self.path / name).parent.mkdir(exist_ok=True)
            (self.path / name).write_text(text)
        return self

    def __exit__(self, *_):
        self.place.cleanup()

    def call(self, *args, stdin=""):
        env = {"PATH": os.environ["PATH"], "HOME": self.place.name, "LC_ALL": "C.UTF-8"}
        env.update({k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")})
        return subprocess.run([self.program, *args], cwd=self.path, env=env, input=stdin, capture_output=True, text=True,
                              timeout=240, check=False)


def causes_are_told(program):
    """Each folder's incidents have the right cause and the right culprits, in the document and by the exit code"""
    for title, files, wanted in TOLD:
        with Folder(program, files) as folder:
            done = folder.call("replay", "--json", "run")
            yield f"{title}: exit code {done.returncode}: {done.stderr}", done.returncode == (1 if wanted else 0)
            told = json.loads(done.stdout)
            sure = [(i["cause"], i["culprit_ranks"]) for i in told["incidents"] if i["confidence"] >= 0.5]
            yield f"{title}: {sure}", sure == wanted
            yield f"{title}: healthy", told["healthy"] == (not wanted)


def documents_have_their_fields(program):
    """replay --json has the fields that scripts depend on, evidence leads to a line, and text says the same"""
    with Folder(program, per_rank(steps_of(slow(5, 1.5)))) as folder:
        told = json.loads(folder.call("replay", "--json", "run").stdout)
        incident = told["incidents"][0]
        yield "fields", INCIDENT_FIELDS <= set(incident)
        yield "category and action", (incident["category"], incident["action"]) == ("compute", "exclude-host")
        yield "victims", incident["victim_ranks"] == [r for r in range(RANKS) if r != 5]
        yield f"began at {incident['since_step']}", abs(incident["since_step"] - ONSET) <= 3
        yield f"found at {incident['found_step']}", ONSET <= incident["found_step"] <= ONSET + 25
        evidence = incident["evidence"][0]
        line = (folder.path / evidence["file"]).read_text().splitlines()[evidence["line"] - 1]
        yield f"evidence is {line}", evidence["file"] == "run/rank5.csv" and line.startswith(f"{incident['since_step']},")
        began = datetime.datetime.fromisoformat(incident["started_at"].replace("Z", "+00:00")).timestamp()
        yield f"began at {incident['started_at']}", abs(began - steps_of()[ONSET][0]["timestamp"]) < 10
        yield "inputs", [(i["format"], i["lines_used"], i["lines_malformed"]) for i in told["inputs"]] == [("step-csv", STEPS, 0)] * RANKS
        yield "findings", [f["kind"] for f in told["findings"]][:1] == ["rank-slow"]
        text = folder.call("replay", "run")
        yield "text", text.returncode == 1 and incident["summary"] in text.stdout and "what now: " in text.stdout
    with Folder(program, per_rank(steps_of())) as folder:
        done = folder.call("replay", "run")
        yield f"healthy: {done.stdout}", (done.returncode, done.stdout, done.stderr) == (0, "healthy: nothing stands out\n", "")


def files_come_in_any_form(program):
    """Globs, gzip, standard input and files one by one give the same document as the folder"""
    job = steps_of(slow(5, 1.5))
    with Folder(program, {**per_rank(job), **{"all.csv": one_file(job)["run/steps.csv"]}}) as folder:
        def incidents(*args, stdin=""):
            done = folder.call("replay", "--json", *args, stdin=stdin)
            try:
                told = json.loads(done.stdout)["incidents"]
            except ValueError:
                return done.stderr
            return [{k: v for k, v in incident.items() if k != "evidence"} for incident in told]

        whole = incidents("run")
        yield "twice the same", folder.call("replay", "--json", "run").stdout == folder.call("replay", "--json", "run").stdout
        yield "glob", incidents("run/*.csv") == whole
        yield "one by one, the last first", incidents(*[f"run/rank{r}.csv" for r in reversed(range(RANKS))]) == whole
        yield "one file", incidents("all.csv") == whole
        piped = incidents("-", stdin=(folder.path / "all.csv").read_text())
        yield f"standard input: {piped}", piped == whole
        for path in (folder.path / "run").glob("*.csv"):
            path.with_suffix(".csv.gz").write_bytes(gzip.compress(path.read_bytes()))
            path.unlink()
        yield "gzip", incidents("run") == whole


def a_simulated_job_is_replayed(program):
    """simulate job writes a recording in which replay finds what was planted, and never writes over one"""
    with Folder(program, {}) as folder:
        args = ["simulate", "job", "--world", "16", "--steps", "400", "--faults", "nan", "--seed", "3", "--out", "run.rwrec"]
        made = folder.call(*args, "--json")
        yield f"simulate: {made.stderr}", made.returncode == 0
        planted = json.loads(made.stdout)["faults"][0]
        done = folder.call("replay", "--json", "run.rwrec")
        told = json.loads(done.stdout)
        yield f"exit code {done.returncode}", done.returncode == 1
        first = told["incidents"][0]
        yield f"told {first['summary']}", first["cause"] == "non-finite" and first["culprit_ranks"] == planted["ranks"]
        yield "the step", first["found_step"] == planted["onset"]
        yield "the plan", "nan" in (folder.path / "run.rwrec.plan.toml").read_text()
        yield "again", folder.call("replay", "--json", "run.rwrec").stdout == done.stdout
        yield "not over a recording", folder.call(*args).returncode == 2


def rules_are_scored(program):
    """replay of recordings with their truth beside them scores the rules, and compares two sets of them"""
    with Folder(program, {"blind.toml": "worth = 1.0\n", "wrong.toml": "worht = 1.0\n"}) as folder:
        for name, fault in (("a", "nan"), ("b", "slow-rank")):
            folder.call("simulate", "job", "--world", "16", "--steps", "800", "--faults", fault, "--seed", "3", "--out", f"{name}.rwrec")
        told = json.loads(folder.call("replay", "--json", ".", "--against", "blind.toml").stdout)
        score, blind = told["score"], told["score_against"]
        yield f"figures {score}", [score[k] for k in ("runs", "faults", "recall", "f1", "false_incidents")] == [2, 2, 1.0, 1.0, 0]
        yield "kinds", set(score["kinds"]) == {"nan", "slow-rank"} and score["days"] > 0
        yield f"blind {blind}", blind["recall"] == 0.5 and blind["kinds"]["slow-rank"]["recall"] == 0.0
        yield "runs", [run["file"] for run in told["runs"]] == ["./a.rwrec", "./b.rwrec"] and not told["healthy"]
        text = folder.call("replay", "a.rwrec", "b.rwrec", "--against", "blind.toml").stdout
        yield f"text {text}", re.search(r"^found: slow-rank +100\.0 % +0\.0 %$", text, re.M) is not None
        one = json.loads(folder.call("replay", "--json", "b.rwrec").stdout)
        yield "one", one["score"]["faults"] == 1 and one["incidents"] and "runs" not in one
        wrong = folder.call("replay", "a.rwrec", "--against", "wrong.toml")
        yield f"wrong rules {wrong.stderr}", wrong.returncode == 2 and wrong.stderr.startswith("ringward replay: wrong.toml:1")
        (folder.path / "a.rwrec.plan.toml").write_text("[[fault]]\nkind = 'nothing'\n")
        bad = folder.call("replay", "a.rwrec")
        yield f"a damaged truth {bad.stderr}", bad.returncode == 2 and "a.rwrec.plan.toml:" in bad.stderr


def detection_is_scored(program):
    """bench detection --json has a figure for every kind, and finds what is easy to find"""
    with Folder(program, {}) as folder:
        args = ["bench", "detection", "--world", "16", "--runs", "6", "--steps", "400", "--severity", "1", "--seed", "1", "--kinds",
                "slow-rank,kill,nan"]
        done = folder.call(*args, "--json")
        yield f"exit code {done.returncode}: {done.stderr}", done.returncode == 0
        told = json.loads(done.stdout)
        fields = ("recall", "right_culprit", "right_kind", "precision")
        yield f"figures {told}", all(told[name] == 1.0 for name in fields)
        yield "kinds", {k: v["faults"] for k, v in told["kinds"].items()} == {"slow-rank": 2, "kill": 2, "nan": 2}
        yield "delay", told["kinds"]["nan"]["median_delay_steps"] == 0
        yield "cost", told["nanoseconds_per_sample"] > 0
        text = folder.call(*args, "--list")
        yield "text", text.returncode == 0 and "precision 1.000, recall 1.000, F1 1.000; 0 false incidents" in text.stdout
        healthy = json.loads(folder.call("bench", "detection", "--world", "8", "--runs", "0", "--healthy-days", "0.01", "--json").stdout)
        yield f"healthy {healthy}", healthy["healthy_alarms"] == 0 and healthy["faults"] == 0


def bad_input_is_refused(program):
    """Bad input ends with 2 and one line, and nothing is written"""
    for title, arguments, files, pattern in REFUSED:
        with Folder(program, files) as folder:
            done = folder.call(*arguments)
            yield f"{title}: exit code {done.returncode}", done.returncode == 2
            said = re.fullmatch(r"ringward [a-z ]+: (" + pattern + ")\n", done.stderr)
            yield f"{title}: said {done.stderr!r}", said is not None
            there = {str(p.relative_to(folder.path)) for p in folder.path.rglob("*") if p.is_file()}
            yield f"{title}: wrote {there}", done.stdout == "" and there == set(files)


CHECKS = [causes_are_told, documents_have_their_fields, files_come_in_any_form, a_simulated_job_is_replayed, rules_are_scored, detection_is_scored,
          bad_input_is_refused]


def main():
    program, failed = os.path.abspath(sys.argv[1]), 0
    for check in CHECKS:
        problems = [what for what, holds in check(program) if not holds]
        failed += bool(problems)
        print(f"{'FAILED' if problems else 'ok    '} {check.__doc__}")
        for problem in problems:
            print(f"         {problem[:600]}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
