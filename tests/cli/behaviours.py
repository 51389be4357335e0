"""What a table of command lines cannot say: pipes, signals, terminals, shells. One function a check;
each yields what is wrong."""
import fcntl
import itertools
import json
import os
import pathlib
import pty
import random
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import threading

DEADLINE_S = 60
# What the leak search of the address sanitizer prints when a thread ends beneath it.
LEAK_SEARCH_NOISE = re.compile(r"^==\d+==Unable to get registers from thread \d+\.\n", re.M)


def full_disk(programs):
    """a full disk under standard output is an error"""
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([programs["ringward"], "completion", "bash"], stdout=full, stderr=subprocess.PIPE,
                              text=True, timeout=DEADLINE_S, check=False)
    if done.returncode != 3 or done.stderr != "ringward: standard output: No space left on device\n":
        yield f"{done.returncode}, {done.stderr!r}"


def closed_output(programs):
    """a closed standard output is an error"""
    done = subprocess.run(["bash", "-c", '"$0" --help >&-', programs["ringward"]], capture_output=True, text=True,
                          timeout=DEADLINE_S, check=False)
    if done.returncode != 3 or done.stderr != "ringward: standard output: Bad file descriptor\n":
        yield f"{done.returncode}, {done.stderr!r}"


def full_disk_under_a_stream(programs):
    """a subcommand that notices a full disk itself says so once"""
    with tempfile.TemporaryDirectory(prefix="ringward-cli-") as folder, open("/dev/full", "w", encoding="utf-8") as full:
        root = pathlib.Path(folder)
        make_table(root / "rows.csv", 300, 3)
        subprocess.run([programs["ringward"], "train", "--data", root / "rows.csv", "--out", root / "model", "--hidden",
                        "2", "--steps", "2", "-q"], capture_output=True, timeout=DEADLINE_S, check=True)
        done = subprocess.run([programs["ringward"], "score", "--model", root / "model", "--data", root / "rows.csv"],
                              stdout=full, stderr=subprocess.PIPE, text=True, timeout=DEADLINE_S, check=False)
    if done.returncode != 3 or done.stderr != "ringward: standard output: No space left on device\n":
        yield f"{done.returncode}, {done.stderr!r}"


def file_size_limit(programs):
    """a file beyond `ulimit -f` is an error in one line, not a signal"""
    with tempfile.TemporaryDirectory(prefix="ringward-cli-") as folder:
        for script in ('ulimit -f 1; "$0" simulate table --rows 400 --seed 1 --out out.csv -q',
                       'ulimit -f 1; "$0" train --data rows.csv --out out --hidden 900 --steps 2 -q'):
            make_table(pathlib.Path(folder, "rows.csv"), 50, 3)
            done = subprocess.run(["bash", "-c", script, programs["ringward"]], cwd=folder, capture_output=True,
                                  text=True, timeout=DEADLINE_S, check=False)
            if done.returncode != 3 or not re.fullmatch(r"ringward.*: File too large\n", done.stderr):
                yield f"{script}: {done.returncode}, {done.stderr!r}"


def logs_beside_the_model(programs):
    """--log-dir inside --out is refused before a folder is made"""
    with tempfile.TemporaryDirectory(prefix="ringward-cli-") as folder:
        make_table(pathlib.Path(folder, "rows.csv"), 50, 3)
        for logs in ("model", "./model/", "model/logs"):
            done = subprocess.run([programs["ringward"], "train", "--data", "rows.csv", "--out", "model", "--log-dir",
                                   logs], cwd=folder, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
            expected = f"ringward train: --log-dir {logs}: is in --out, which holds a model\n"
            if done.returncode != 2 or done.stderr != expected or os.listdir(folder) != ["rows.csv"]:
                yield f"{logs}: {done.returncode}, {done.stderr!r}, {os.listdir(folder)}"


def output_of_ranks(programs):
    """what ranks print to a full disk is an error in one line, to a reader that left a quiet end"""
    with tempfile.TemporaryDirectory(prefix="ringward-cli-") as folder:
        make_table(pathlib.Path(folder, "rows.csv"), 300, 3)
        train = '"$0" train --data rows.csv --out model --hidden 2 --steps 2 -q'
        reader, writer = os.pipe()
        os.close(reader)
        with open("/dev/full", "wb") as full, os.fdopen(writer, "wb") as nobody:
            for out, codes, err in ((full, (3,), "ringward: standard output: No space left on device\n"),
                                    (nobody, (-signal.SIGPIPE, 128 + signal.SIGPIPE), "")):
                done = subprocess.run(["bash", "-c", train, programs["ringward"]], cwd=folder, stdout=out,
                                      stderr=subprocess.PIPE, text=True, timeout=DEADLINE_S, check=False)
                if done.returncode not in codes or LEAK_SEARCH_NOISE.sub("", done.stderr) != err:
                    yield f"{out.name}: {done.returncode}, {done.stderr!r}"


def reader_left(programs):
    """a reader that leaves ends the program quietly"""
    script = '"$0" demo end endless | head -n 1; echo ${PIPESTATUS[0]}'
    done = subprocess.run(["bash", "-c", script, programs["demo"]], capture_output=True, text=True,
                          timeout=DEADLINE_S, check=False)
    if done.stdout != "0123456789\n141\n" or done.stderr:
        yield f"{done.stdout!r}, {done.stderr!r}"


def interrupts(programs):
    """SIGINT, SIGTERM and SIGHUP give 130, with and without an orderly end"""
    for how, expected in (("interrupt", "ringward demo end: stopped in good order\n"), ("stubborn", "")):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with subprocess.Popen([programs["demo"], "demo", "end", how], stderr=subprocess.PIPE, text=True) as child:
                child.stderr.readline()  # "waiting": the handler is in place
                child.send_signal(number)
                _, rest = child.communicate(timeout=DEADLINE_S)
            if child.returncode != 130 or rest != expected:
                yield f"{how} {number}: {child.returncode}, {rest!r}"


def log_file(programs):
    """--log-file receives the log"""
    with tempfile.TemporaryDirectory(prefix="ringward-cli-") as folder:
        path = pathlib.Path(folder, "run.log")
        subprocess.run([programs["demo"], "demo", "end", "log", "--log-file", path], stderr=subprocess.DEVNULL,
                       timeout=DEADLINE_S, check=True)
        text = path.read_text(encoding="utf-8")
    if not re.fullmatch(r'\S+Z info medium ranks=4 note="two words"\n\S+Z warning large\n', text):
        yield repr(text)
    done = subprocess.run([programs["demo"], "demo", "end", "log", "--log-file", "/dev/full"], capture_output=True,
                          text=True, timeout=DEADLINE_S, check=False)
    lines = [r'\S+Z info medium ranks=4 note="two words"', r"\S+Z warning the log file is incomplete: .*/dev/full.*",
             r"\S+Z warning large"]
    if done.returncode or not re.fullmatch("".join(line + "\n" for line in lines), done.stderr):
        yield f"/dev/full: {done.returncode}, {done.stderr!r}"


def on_terminal(command, columns, env):
    """What `command` writes to a terminal of that width on its standard error."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen(command, stderr=child, stdout=subprocess.DEVNULL, env={**os.environ, **env}) as process:
        os.close(child)
        seen = b""
        while True:
            try:
                part = os.read(parent, 4096)
            except OSError:  # EIO: the last writer closed
                break
            if not part:
                break
            seen += part
        process.wait(timeout=DEADLINE_S)
    os.close(parent)
    return seen.decode()


def progress_bar(programs):
    """the bar is drawn on a terminal, fits it, makes way for log lines and is erased"""
    command = [programs["demo"], "demo", "end", "progress"]
    for columns in (30, 60, 120):
        seen = on_terminal(command, columns, {"TERM": "xterm", "NO_COLOR": "1"})
        frames = [part for part in seen.replace("\n", "\r").split("\r") if part.startswith("demo ")]
        if not frames or any(len(frame.removesuffix("\x1b[K")) >= columns for frame in frames):
            yield f"{columns} columns: {frames!r}"
        if len(frames) > 12:
            yield f"{len(frames)} redraws in about 0.3 s"
        if not re.search(r"\r\x1b\[K\S+Z info halfway\r+\n", seen) or not seen.endswith("\r\x1b[K"):
            yield repr(seen)
    if on_terminal([*command, "-q"], 60, {"TERM": "xterm"}):
        yield "--quiet prints"


def colour(programs):
    """log levels are coloured on a terminal unless NO_COLOR is set"""
    command = [programs["demo"], "demo", "end", "log"]
    for env, expected in (({"TERM": "xterm", "NO_COLOR": ""}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False),
                          ({"TERM": "dumb", "NO_COLOR": ""}, False)):
        if ("\x1b[32minfo\x1b[0m" in on_terminal(command, 80, env)) != expected:
            yield f"{env}: colour should be {expected}"


def json_round_trip(programs):
    """doubles in JSON are read back exactly"""
    for text in ("0.1", "1e-300", "0.30000000000000004", "0.3333333333333333"):
        done = subprocess.run([programs["demo"], "demo", "options", "--json", "--rate", text], capture_output=True,
                              text=True, timeout=DEADLINE_S, check=True)
        if json.loads(done.stdout)["rate"] != float(text):
            yield done.stdout


# words before the cursor (the last one is being typed) -> what bash offers; files are a.csv and dir/
COMPLETIONS = [
    (["d"], ["demo"]),
    ([""], ["--help", "--version", "completion", "demo", "help"]),
    (["demo", ""], ["--help", "end", "options"]),
    (["demo", "op"], ["options"]),
    (["demo", "options", "--sh"], ["--shuffle"]),
    (["demo", "options", "--no"], ["--no-shuffle"]),
    (["demo", "options", "-n"], ["-np"]),
    (["demo", "options", "--fruit", ""], ["apple", "pear"]),
    (["demo", "options", "--fruit", "=", "p"], ["pear"]),
    (["demo", "options", "--fruit", "="], ["apple", "pear"]),
    (["demo", "options", "--epochs", ""], []),
    (["demo", "options", "--data", "a"], ["a.csv"]),
    (["demo", "options", "--data", "a.csv", "d"], ["dir"]),
    (["demo", "options", "--out", ""], ["dir"]),
    (["demo", "options", "--config", "a"], ["a.csv"]),
    (["demo", "options", "--log-level", "w"], ["warning"]),
]


def bash_completion(programs):
    """bash completes subcommands, flags, names, files and folders"""
    ask = 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ringward; printf "%s\\n" "${COMPREPLY[@]}"'
    with tempfile.TemporaryDirectory(prefix="ringward-cli-") as folder:
        pathlib.Path(folder, "a.csv").write_text("", encoding="utf-8")
        pathlib.Path(folder, "dir").mkdir()
        with tempfile.NamedTemporaryFile("w", suffix=".bash") as completion:
            subprocess.run([programs["demo"], "completion", "bash"], stdout=completion, timeout=DEADLINE_S,
                           check=True)
            for words, expected in COMPLETIONS:
                done = subprocess.run(["bash", "-eu", "-c", ask, completion.name, "ringward", *words], cwd=folder,
                                      capture_output=True, text=True, timeout=DEADLINE_S, check=False)
                offered = sorted(done.stdout.split())
                if done.returncode or done.stderr or offered != expected:
                    yield f"{words}: {offered} {done.stderr!r}, expected {expected}"


def real_completion(programs):
    """the program's own bash script loads and offers every subcommand of its help"""
    ask = ('source <("$0" completion bash); COMP_WORDS=(ringward ""); COMP_CWORD=1; _ringward; '
           'printf "%s\\n" "${COMPREPLY[@]}"; complete -p ringward')
    done = subprocess.run(["bash", "-eu", "-c", ask, programs["ringward"]], capture_output=True, text=True,
                          timeout=DEADLINE_S, check=False)
    offered = set(done.stdout.split())
    listing = subprocess.run([programs["ringward"], "--help"], capture_output=True, text=True, timeout=DEADLINE_S,
                             check=True).stdout
    listed = set(re.findall(r"^  ([a-z]+)(?: [a-z]+)? {2,}\S", listing, re.M))
    if done.stderr or not listed or not listed <= offered or "_ringward" not in offered:
        yield f"offered {offered}, listed {listed}, {done.stderr!r}"


def zsh_completion(programs):
    """the zsh script is well-formed (left out where zsh is not installed)"""
    zsh = shutil.which("zsh")
    if zsh is None:
        print("note: zsh is not installed; its completion script is not checked")
        return
    script = 'compdef() { :; }; source <("$0" completion zsh) && whence -w _ringward'
    for program in ("ringward", "demo"):
        done = subprocess.run([zsh, "-f", "-c", script, programs[program]], capture_output=True, text=True,
                              timeout=DEADLINE_S, check=False)
        if done.stdout != "_ringward: function\n" or done.stderr:
            yield f"{program}: {done.stdout!r}, {done.stderr!r}"


def make_table(path, rows, columns):
    """Writes a table of normal numbers and returns its lines, the header first."""
    draw = random.Random(rows)
    lines = [",".join(f"c{j}" for j in range(columns))]
    lines += [",".join(f"{draw.gauss(0, 1):.4f}" for _ in range(columns)) for _ in range(rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [line + "\n" for line in lines]


def score_in_pieces(command, lines, sizes):
    """What `command` prints for `lines` when each piece of rows is sent only after the one before it was scored."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True) as child:
        stuck = threading.Timer(DEADLINE_S, child.kill)
        stuck.start()
        child.stdin.write(lines[0])
        seen, sent = [], 1
        while sent < len(lines):
            piece = lines[sent:sent + next(sizes)]
            child.stdin.write("".join(piece))
            child.stdin.flush()
            seen += [child.stdout.readline() for _ in range(len(piece) + (not seen))]
            sent += len(piece)
        child.stdin.close()
        seen.append(child.stdout.read())
        stuck.cancel()
    return "".join(seen)


def rows_of_a_stream(programs):
    """a row's score is the same to the byte from a file, from a pipe, and in pieces of any size"""
    with tempfile.TemporaryDirectory(prefix="ringward-cli-") as folder:
        root = pathlib.Path(folder)
        make_table(root / "train.csv", 300, 30)
        lines = make_table(root / "rows.csv", 200, 30)
        subprocess.run([programs["ringward"], "train", "--data", root / "train.csv", "--out", root / "model",
                        "--hidden", "16,8", "--steps", "20", "-q"], capture_output=True, timeout=DEADLINE_S, check=True)
        command = [programs["ringward"], "score", "--model", root / "model", "--data"]
        options = {"capture_output": True, "text": True, "timeout": DEADLINE_S, "check": True}
        from_file = subprocess.run([*command, root / "rows.csv"], **options).stdout
        from_pipe = subprocess.run([*command, "-"], input="".join(lines), **options).stdout
        in_pieces = score_in_pieces([*command, "-"], lines, itertools.cycle((1, 7, 40)))
    if from_file.count("\n") != len(lines):
        yield f"{len(lines)} lines give {from_file!r}"
    for name, text in (("a pipe", from_pipe), ("pieces", in_pieces)):
        if text != from_file:
            yield f"from {name}: {text!r}, from the file: {from_file!r}"


CHECKS = [full_disk, full_disk_under_a_stream, closed_output, output_of_ranks, file_size_limit, logs_beside_the_model,
          reader_left, interrupts, log_file, progress_bar, colour, json_round_trip, bash_completion, real_completion,
          zsh_completion, rows_of_a_stream]
