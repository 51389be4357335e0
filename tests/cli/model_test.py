#!/usr/bin/env python3
"""The models' subcommands on real files: a table is made, learned, scored and evaluated, and bad input is refused.

    model_test.py RINGWARD

Every check is a function whose docstring is its title; bad input is a table (REFUSED): add a row for a new kind.
"""
import csv
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

COLUMNS = ["--label", "kind", "--normal", "normal"]
ROWS = 600
GOOD = "a,b\n" + "".join(f"{i},{i * i % 7}\n" for i in range(40))

# What is refused: title, subcommand line, files, and the one line on standard error ({} stands for the folder).
TRAIN = ["train", "--out", "new", "--steps", "5", "--data"]
SCORE = ["score", "--model", "{model}", "--data"]
REFUSED = [
    ("an infinite value", [*TRAIN, "t.csv"], {"t.csv": GOOD + "1,inf\n"}, r't\.csv:42: column "b": the value is infinite'),
    ("a ragged line", [*TRAIN, "t.csv"], {"t.csv": GOOD + "1\n"}, r"t\.csv:42: .*2 are expected"),
    ("an empty file", [*TRAIN, "t.csv"], {"t.csv": ""}, r"t\.csv: is empty"),
    ("no such file", [*TRAIN, "nothing.csv"], {}, r"nothing\.csv.*[Nn]o such file.*"),
    ("a pattern without a match", [*TRAIN, "*.tsv"], {}, r".*\*\.tsv.*"),
    ("a text among numbers", [*TRAIN, "t.csv", "--numeric", "b"], {"t.csv": GOOD + "1,x\n"}, r't\.csv:42: column "b": .*x.*'),
    ("a label that is no column", [*TRAIN, "t.csv", "--label", "c"], {"t.csv": GOOD}, r'.*"?c"?.*'),
    ("normal values without a label", [*TRAIN, "t.csv", "--normal", "0"], {"t.csv": GOOD}, r"--normal needs --label: t\.csv .*"),
    ("too few rows", [*TRAIN, "t.csv"], {"t.csv": "a,b\n1,2\n2,1\n"}, r"2 rows to train on, at least 8 .*"),
    ("bytes that are no gzip", [*TRAIN, "t.csv.gz"], {"t.csv.gz": "hello"}, r"t\.csv\.gz.*"),
    ("a rate of zero", [*TRAIN, "t.csv", "--false-alarm-rate", "0"], {"t.csv": GOOD}, r"--false-alarm-rate: got '0', .*"),
    ("a model that is not there", ["score", "--model", "none", "--data", "t.csv"], {"t.csv": GOOD}, r".*none.*"),
    ("an id with the name of a column that score writes", [*SCORE, "t.csv", "--id", "row", "--out", "s.jsonl"],
     {"t.csv": "row,a\n1,2\n"}, r'--id: score writes a column "row" of its own.*'),
    ("an id with the name of a reason", [*SCORE, "t.csv", "--id", "reason_2", "--explain", "2"], {"t.csv": GOOD}, r'--id: .*"reason_2".*'),
    ("an id named twice", [*SCORE, "t.csv", "--id", "a", "a"], {"t.csv": GOOD}, r'--id: the column "a" is named twice'),
    ("scores over the rows they are of", [*SCORE, "*.csv", "--out", "./t.csv"], {"t.csv": GOOD}, r"\./t\.csv: is one of the inputs.*"),
    ("scores into a file without a name", [*SCORE, "t.csv", "--out", ""], {"t.csv": GOOD}, r"--out: got '', .*"),
    ("scores and a document on standard output", [*SCORE, "t.csv", "--out", "-", "--json"], {"t.csv": GOOD}, r"--json and --out - .*"),
    ("a column the model needs", ["score", "--model", "{model}", "--data", "t.csv"], {"t.csv": GOOD},
     r't\.csv: .*flow_m3h.*'),
    ("an evaluation without labels", ["evaluate", "--model", "{model}", "--data", "t.csv"], {"t.csv": GOOD}, r".*label.*"),
    ("an option that files of scores do not take", ["evaluate", "--scores", "s.csv", "--labels", "s.csv", "--kind", "k"],
     {"s.csv": "score\n1\n"}, r"--kind goes with --model, not with --scores"),
    ("a column of kinds that is none", ["evaluate", "--model", "{model}", "--data", "{table}", *COLUMNS, "--kind", "nope"], {},
     r'.*: no column "nope" \(--kind\).*'),
    ("too few rows for a dry run", [*TRAIN, "t.csv", "--dry-run"], {"t.csv": "a,b\n1,2\n2,1\n"}, r"2 rows to train on, at least 8 .*"),
    ("too many inputs for a dry run", [*TRAIN, "t.csv", "--dry-run", "--window", "100000"], {"t.csv": "a,b,c,d,e,f,g,h,i,j,k,l\n" + "".join(
        ",".join(str(i * (j + 1) % 11) for j in range(12)) + "\n" for i in range(40))}, r"\d+ inputs, at most 1000000 can be trained on"),
    ("patience without a row to measure it on", [*TRAIN, "t.csv", "--dry-run", "--validation", "0.01", "--patience", "2"], {"t.csv": GOOD},
     r"--validation 0\.01 of 40 rows sets none apart for --patience"),
    ("no hidden layer", [*TRAIN, "t.csv", "--hidden="], {"t.csv": GOOD}, r"--hidden: at least one width is needed"),
    ("balance and deterministic", [*TRAIN, "t.csv", "--balance", "--deterministic"], {"t.csv": GOOD},
     r"--balance and --deterministic exclude each other"),
    ("a folder of somebody's own with a model.toml", ["train", "--out", "theirs", "--steps", "5", "--data", "t.csv"],
     {"t.csv": GOOD, "theirs/model.toml": "[x]\n", "theirs/notes.txt": "mine"}, r"theirs: exists and holds other files.*"),
    ("the model's folder for the evaluation", ["evaluate", "--model", "{model}", "--data", "t.csv", "--out", "{model}"],
     {"t.csv": GOOD}, r".*: is a model folder, whose report this would replace; choose another name"),
    ("scores that are no numbers", ["evaluate", "--scores", "s.csv", "--labels", "l.csv"],
     {"s.csv": "score\n1\n?\n3\nx\n", "l.csv": "label\n1\n0\n1\n0\n"}, r"s\.csv:\d: the score is not a number"),
    ("both scores and labels from a pipe", ["evaluate", "--scores", "-", "--labels", "-"], {},
     r"--scores and --labels: standard input can be read only once"),
    ("scores and labels of unequal length", ["evaluate", "--scores", "s.csv", "--labels", "l.csv"],
     {"s.csv": "score\n1\n2\n", "l.csv": "label\n1\n"}, r".*l\.csv.*|.*s\.csv.*"),
]


def files_in(folder):
    return {str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*") if path.is_file()}


class Models:
    """A folder with a table and a model trained on it, and the program."""

    def __init__(self, program, folder):
        self.program, self.folder = program, pathlib.Path(folder)
        self.run("simulate", "table", "--rows", str(ROWS), "--anomalies", "0.1", "--seed", "3", "--out", "table.csv")
        self.trained = self.train("model")

    def call(self, *args, stdin="", cwd=None):
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "LC_ALL": "C.UTF-8"}
        env.update({k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")})
        if "-np" in args:  # ranks over Open MPI, which leaves tables of components it has unloaded: leaks without a name
            env["ASAN_OPTIONS"] = ":".join(filter(None, [env.get("ASAN_OPTIONS"), "detect_leaks=0"]))
        return subprocess.run([self.program, *args], cwd=cwd or self.folder, env=env, input=stdin, capture_output=True,
                              text=True, timeout=240, check=False)

    def run(self, *args, stdin=""):
        done = self.call(*args, stdin=stdin)
        if done.returncode != 0:
            raise RuntimeError(f"{args}: exit {done.returncode}: {done.stderr}")
        return done.stdout

    def train(self, out, *extra):
        return json.loads(self.run("train", "--data", "table.csv", *COLUMNS, "--drop", "label", "faulty_sensor", "--id",
                                   "timestamp", "--steps", "60", "--out", out, "--json", *extra))

    def score(self, *extra, data="table.csv", stdin=""):
        return self.run("score", "--model", "model", "--data", data, "--id", "timestamp", *extra, stdin=stdin)


def training_says_what_it_did(models):
    """train --json tells rows, ranks, nets and the threshold, and leaves a model and a report"""
    told = models.trained
    yield "rows", told["rows"] == ROWS * 9 // 10
    yield "columns", told["columns"] == 17
    yield "epochs end at the last step", told["epochs"][-1]["steps"] == told["steps"] == 60
    yield "threshold", told["calibration"]["threshold"] > 0
    for name in ("model.toml", "report.html"):
        yield name, (models.folder / "model" / name).stat().st_size > 0


def training_logs_as_asked(models):
    """train hands --verbose, --quiet and --log-level on to its ranks"""
    for flags, told in ((["-v"], True), (["--log-level", "info"], True), (["-q"], False), (["--log-level", "off"], False)):
        done = models.call("train", "--data", "table.csv", "--steps", "5", "--out", "logged", *flags)
        yield f"{flags}: exit code {done.returncode}: {done.stderr!r}", done.returncode == 0
        yield f"{flags}: {done.stderr!r}", (re.search(r"^\S+Z info rank=0 ", done.stderr, re.M) is not None) == told


def report_holds_the_numbers(models):
    """report.html holds the same document as --json, for train and for evaluate"""
    told = json.loads(models.run("evaluate", "--model", "model", "--data", "table.csv", *COLUMNS, "--json", "--out", "evaluation"))
    for folder, document in (("model", models.trained), ("evaluation", told)):
        page = (models.folder / folder / "report.html").read_text()
        data = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.S)
        yield f"{folder}: holds JSON", data is not None
        document = {k: v for k, v in document.items() if k != "report"}  # where the page is, which it need not say
        shown = {k: v for k, v in json.loads(data.group(1)).items() if k != "report"} if data else None
        yield f"{folder}: the same numbers", shown == document
        yield f"{folder}: needs no network", not re.search(r'(src|href)="https?:', page)


def scores_have_a_line_a_row(models):
    """score writes one line a row in order, with p-values that fall as scores rise"""
    rows = list(csv.DictReader(io.StringIO(models.score())))
    yield "one line a row", [int(r["row"]) for r in rows] == list(range(ROWS))
    rows.sort(key=lambda r: float(r["score"]))
    p_values = [float(r["p_value"]) for r in rows]
    yield "p falls as the score rises", all(a >= b for a, b in zip(p_values, p_values[1:]))
    threshold = models.trained["calibration"]["threshold"]
    yield "anomaly = above the threshold", all((float(r["score"]) > threshold) == (r["anomaly"] == "1") for r in rows)


def streams_score_alike(models):
    """Rows from standard input, from a file and in two files have the same scores, digit for digit"""
    whole = models.score()
    text = (models.folder / "table.csv").read_text()
    yield "standard input", models.score(data="-", stdin=text) == whole
    yield "standard output by name", models.score("--out", "-") == whole and not (models.folder / "-").exists()
    lines = text.splitlines(keepends=True)
    (models.folder / "tail.csv").write_text(lines[0] + "".join(lines[400:]))
    scores = [line.split(",", 2)[2] for line in whole.splitlines()[400:]]
    yield "the last rows alone", [line.split(",", 2)[2] for line in models.score(data="tail.csv").splitlines()[1:]] == scores


def explanations_add_up(models):
    """score --explain names seen and expected values, and the shares of all columns sum to the score, less what was as expected"""
    document = json.loads(models.score("--explain", "17", "--json"))
    inputs = max(sum(bool(reason["feature"]) for reason in row["reasons"]) for row in document["scores"])
    for row in document["scores"][:50]:
        total = sum(reason["contribution"] for reason in row["reasons"])
        left_out = sum(bool(reason["feature"]) for reason in row["reasons"]) < inputs
        if total > (1 + 1e-6) * row["score"] or (not left_out and total < (1 - 1e-6) * row["score"]):
            yield f"row {row['row']}: {total} is not {row['score']}", False
    yield "has reasons", bool(document["scores"][0]["reasons"])


def reasons_show_the_cells(models):
    """score --explain shows each cell as it was read, also of the rows of a window, in a file and from a pipe"""
    rows = "".join(f"0.{i * 37 % 97},{i * 7 % 50},{'ab'[i % 2]}\n" for i in range(200))
    (models.folder / "cells.csv").write_text("x,y,kind\n" + rows)
    new = [["1000000000000", "1", "a"], ["1e9", "0.999999", "never seen"], ["1700000060", "", "b"], ["-1.25", "3", "a"]]
    text = "x,y,kind\n" + "".join(",".join(row) + "\n" for row in new)
    (models.folder / "odd.csv").write_text(text)
    seen = [{"x": "1000000000", "y": row[1], "kind": row[2]} if row[0] == "1e9" else
            {"x": row[0], "y": row[1] or "missing", "kind": row[2]} for row in new]
    for window in (1, 3):
        models.run("train", "--data", "cells.csv", "--steps", "5", "--hidden", "4", "--window", str(window), "--out", f"cells{window}")
        for data, stdin in (("odd.csv", ""), ("-", text)):
            told = json.loads(models.run("score", "--model", f"cells{window}", "--data", data, "--explain", "9", "--json", stdin=stdin))
            for i, row in enumerate(told["scores"]):
                shown = {reason["feature"]: reason["seen"] for reason in row["reasons"]}
                wanted = {name + (f"[t-{ago}]" if ago else ""): value for ago in range(window)
                          for name, value in seen[max(0, i - ago)].items()}
                # A level that was expected is no reason.
                kinds = {name: value for name, value in wanted.items() if name.startswith("kind") and name not in shown}
                yield f"window {window}, {data}, row {i}: {shown}", {**shown, **kinds} == wanted


def reasons_are_not_what_was_expected(models):
    """score --explain leaves out cells that are as the other columns foretell, of numbers, levels and hashed levels"""
    rows = "".join(f"{i * 37 % 97},{'xyz'[i * i % 3]},h{i * 7 % 150}\n" for i in range(400))
    (models.folder / "levels.csv").write_text("number,level,hashed\n" + rows)
    models.run("train", "--data", "levels.csv", "--categorical", "hashed", "--steps", "50", "--hidden", "4", "--out", "levels")
    told = json.loads(models.run("score", "--model", "levels", "--data", "levels.csv", "--explain", "3", "--json"))
    reasons = [reason for row in told["scores"] for reason in row["reasons"]]
    same = [reason for reason in reasons if reason["seen"] == reason["expected"]]
    yield f"{len(same)} of {len(reasons)}: {same[:3]}", not same and len(reasons) > 400
    buckets = [reason for reason in reasons if reason["expected"].startswith("bucket")]
    yield "hashed levels are among them", bool(buckets)


def ranks_agree(models):
    """Two ranks train the same model as one, bit for bit with --deterministic"""
    weights = []
    for ranks in ("1", "2"):
        models.train("model" + ranks, "-np", ranks, "--deterministic")
        weights.append((models.folder / ("model" + ranks) / "weights.safetensors").read_bytes())
    yield "equal weights", weights[0] == weights[1]


def balanced_ranks_agree(models):
    """Two ranks that share the batch by their speed learn what one learns, to rounding"""
    losses = [models.train("balanced" + ranks, "-np", ranks, "--balance", "--contaminated")["train_loss"] for ranks in ("1", "2")]
    yield f"losses {losses}", abs(losses[0] - losses[1]) < 1e-3 * losses[0]


def evaluation_counts(models):
    """evaluate counts alarms, finds and false alarms that fit together, and says what chance would give"""
    told = json.loads(models.run("evaluate", "--model", "model", "--data", "table.csv", *COLUMNS, "--json"))
    yield "rows", told["rows"] == ROWS and told["anomalies"] == ROWS // 10
    yield "alarms", told["alarms"] == told["found"] + told["false_alarms"]
    yield "recall", abs(told["recall"]["value"] - told["found"] / told["anomalies"]) < 1e-12
    yield "random AUROC", told["auroc"]["random"] == 0.5 and told["auprc"]["random"] == told["prevalence"]
    yield "interval", told["auroc"]["low"] <= told["auroc"]["value"] <= told["auroc"]["high"]
    yield "better than chance", told["auroc"]["low"] > 0.5
    bare = json.loads(models.run("evaluate", "--model", "model", "--data", "table.csv", *COLUMNS, "--json", "--resamples", "0"))
    yield "no interval without resamples", bare["auroc"] == {**told["auroc"], "low": None, "high": None}


def an_alarm_can_fail_a_script(models):
    """score --fail-on-anomaly exits with 1 when a row is anomalous"""
    yield "exit code", models.call("score", "--model", "model", "--data", "table.csv", "--fail-on-anomaly").returncode == 1


def score_ends_when_told_to(models):
    """score that waits for a row ends with 130 on a signal, leaving no part of a file behind"""
    rows = "".join((models.folder / "table.csv").read_text().splitlines(keepends=True)[:5])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for out in ([], ["--out", "told/scores.csv"]):
            (models.folder / "told").mkdir(exist_ok=True)
            with subprocess.Popen([models.program, "score", "--model", "model", "--data", "-", *out], cwd=models.folder,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  preexec_fn=lambda n=number: signal.signal(n, signal.SIG_DFL)) as child:
                child.stdin.write(rows)
                child.stdin.flush()
                deadline = time.monotonic() + 60
                if out:  # the rows are in the unfinished file: the program waits for more
                    while not any(p.stat().st_size for p in (models.folder / "told").iterdir()) and time.monotonic() < deadline:
                        time.sleep(0.01)
                else:
                    yield "header", child.stdout.readline() == "row,score,p_value,anomaly\n"
                    yield "rows", [child.stdout.readline()[:2] for _ in range(4)] == ["0,", "1,", "2,", "3,"]
                child.send_signal(number)
                try:
                    child.wait(timeout=30)
                    ended = True
                except subprocess.TimeoutExpired:
                    ended = False
                    child.kill()
            yield f"{number} {out}: ends while its input is open", ended
            yield f"{number} {out}: exit code {child.returncode}", child.returncode == 130
            left = os.listdir(models.folder / "told")
            yield f"{number} {out}: left {left}", not left


def a_damaged_model_is_refused(models):
    """A model of which any file is cut or altered is refused in one line that names the file"""
    for name in ("model.toml", "weights.safetensors"):
        data = (models.folder / "model" / name).read_bytes()
        middle = len(data) // 2
        for what, damaged in (("cut", data[:-40]), ("altered", data[:middle] + b"\x01" + data[middle + 1:]),
                              ("endless", data + b"x" * 100), ("another net", data.replace(b"'relu'", b"'tanh'", 1))):
            if damaged == data:  # weights hold no name of an activation
                yield f"{what} {name}: nothing was damaged", name != "model.toml"
                continue
            copy = models.folder / f"{what}-{name}"
            subprocess.run(["cp", "-r", models.folder / "model", copy], check=True)
            (copy / name).write_bytes(damaged)
            done = models.call("score", "--model", str(copy), "--data", "table.csv")
            yield f"{what} {name}: exit code {done.returncode}", done.returncode == 2
            yield f"{what} {name}: one line naming it: {done.stderr!r}", done.stderr.count("\n") == 1 and name in done.stderr
            yield f"{what} {name}: nothing on standard output", done.stdout == ""


def names_may_be_in_any_language(models):
    """Column names and label values outside ASCII go through train, evaluate and score"""
    rows = "".join(f"{i * 7 % 40},{i * 7 % 40 * 2},{'üblich' if i % 20 else 'störung'}\n" for i in range(400))
    (models.folder / "größen.csv").write_text("länge,breite µm,zustand ä\n" + rows)
    models.run("train", "--data", "größen.csv", "--label", "zustand ä", "--normal", "üblich", "--steps", "5", "--out", "größen")
    told = json.loads(models.run("evaluate", "--model", "größen", "--data", "größen.csv", "--json"))
    yield "labels are known from the model", told["anomalies"] == 20
    yield "names come back", "breite µm" in models.run("score", "--model", "größen", "--data", "größen.csv", "--explain", "2")


def inputs_are_not_overwritten(models):
    """score --out refuses every other name of its input: a symbolic or hard link, and standard input's file"""
    text = (models.folder / "table.csv").read_text()
    (models.folder / "soft.csv").symlink_to("table.csv")
    (models.folder / "hard.csv").hardlink_to(models.folder / "table.csv")
    score = [models.program, "score", "--model", "model", "--data"]
    for data, out in (("table.csv", "soft.csv"), ("table.csv", "hard.csv"), ("soft.csv", "table.csv"), ("-", "table.csv")):
        with open(models.folder / "table.csv", encoding="utf-8") as stdin:
            done = subprocess.run([*score, data, "--out", out], cwd=models.folder, stdin=stdin, capture_output=True, text=True,
                                  timeout=240, check=False)
        yield f"{data} {out}: exit code {done.returncode}", done.returncode == 2
        yield f"{data} {out}: {done.stderr!r}", done.stderr.count("\n") == 1 and out in done.stderr
        yield f"{data} {out}: overwrote it", (models.folder / "table.csv").read_text() == text
    yield "not in the way of devices", models.call("score", "--model", "model", "--data", "table.csv", "--out", "/dev/null").returncode == 0


def bad_input_is_refused(models):
    """Bad input gives one line that names file, line and column, exit code 2, and nothing half-written"""
    for title, arguments, files, pattern in REFUSED:
        with tempfile.TemporaryDirectory(prefix="ringward-bad-", dir=models.folder) as folder:
            for name, text in files.items():
                (pathlib.Path(folder) / name).parent.mkdir(exist_ok=True)
                (pathlib.Path(folder) / name).write_text(text)
            arguments = [a.format(model=models.folder / "model", table=models.folder / "table.csv") for a in arguments]
            done = models.call(*arguments, cwd=folder)
            lines = [line for line in done.stderr.splitlines() if not re.match(r"\d{4}-\d\d-\d\dT\S+ info ", line)]
            yield f"{title}: exit code {done.returncode}", done.returncode == 2
            yield (f"{title}: said {lines}",
                   len(lines) == 1 and re.fullmatch(r"ringward( \w+)?: (" + pattern + ")", lines[0]) is not None)
            yield f"{title}: wrote something", done.stdout == "" and files_in(folder) == set(files)


CHECKS = [training_says_what_it_did, training_logs_as_asked, report_holds_the_numbers, scores_have_a_line_a_row,
          streams_score_alike, explanations_add_up, reasons_show_the_cells, reasons_are_not_what_was_expected, ranks_agree, balanced_ranks_agree, evaluation_counts,
          an_alarm_can_fail_a_script, score_ends_when_told_to, a_damaged_model_is_refused, names_may_be_in_any_language, inputs_are_not_overwritten,
          bad_input_is_refused]


def main():
    failed = 0
    with tempfile.TemporaryDirectory(prefix="ringward-models-") as folder:
        models = Models(os.path.abspath(sys.argv[1]), folder)
        for check in CHECKS:
            problems = [what for what, holds in check(models) if not holds]
            failed += bool(problems)
            print(f"{'FAILED' if problems else 'ok    '} {check.__doc__}")
            for problem in problems:
                print(f"         {problem}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
