#!/usr/bin/env python3
"""Runs every block of docs/tutorial-watch-your-job.md as it stands there, and sees what was recorded.

    tutorial_test.py RINGWARD PYTHON-FOLDER LIBRARY TUTORIAL [--only WORD]
"""
import argparse
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.S | re.M)
NAMED = re.compile(r"(?:# |/\* )([\w.]+)(?: \*/)?\n")
LANGUAGES = {"sh", "python", "c"}


def sections(text):
    """{heading: [(language, block)]} of those with blocks."""
    found = {}
    for part in re.split(r"^## ", text, flags=re.M)[1:]:
        blocks = BLOCK.findall(part)
        assert {language for language, _ in blocks} <= LANGUAGES, f"a block of another language in: {part[:40]}"
        if blocks:
            found[part.splitlines()[0]] = blocks
    return found


def environment(arguments, folder):
    """`ringward` and Debian's python3 first in PATH; the modules as if installed."""
    tools = folder / "tools"
    tools.mkdir()
    (tools / "ringward").symlink_to(arguments.ringward)
    (tools / "python3").symlink_to("/usr/bin/python3")
    standin = pathlib.Path(__file__).resolve().parent / "horovod_standin"
    return {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "PYTHONPATH": f"{arguments.python}:{standin}",
            "RINGWARD_GUEST_LIBRARY": str(arguments.library), "PYTHONDONTWRITEBYTECODE": "1", "GLOO_SOCKET_IFNAME": "lo"}


def run_commands(block, folder, variables):
    process = subprocess.Popen(["sh", "-e", "-c", block], cwd=folder, env=variables, stdin=subprocess.DEVNULL, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        output, _ = process.communicate(timeout=200)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)  # its own session
        output, _ = process.communicate(timeout=60)
        raise AssertionError(f"takes too long:\n{block}\n{output}") from None
    assert process.returncode == 0, f"{block}\nexit {process.returncode}\n{output}"


def steps_of(recording):
    """Events of a recording: the watcher has seen something."""
    with sqlite3.connect(f"file:{recording}?mode=ro", uri=True) as database:
        return database.execute("SELECT count(*) FROM event_rows").fetchone()[0]


def run_section(heading, blocks, folder, variables):
    for language, block in blocks:
        if language == "sh":
            run_commands(block, folder, variables)
        else:
            name = NAMED.match(block)
            assert name, f"{heading}: a block without a name:\n{block}"
            (folder / name[1]).write_text(block, encoding="utf-8")
    recorded = {path.name: steps_of(path) for path in sorted(folder.glob("*.rwrec"))}
    assert all(count > 20 for count in recorded.values()), recorded
    return ", ".join(f"{count} events in {name}" for name, count in recorded.items()) or "ran"


def main():
    parser = argparse.ArgumentParser()
    for name in ("ringward", "python", "library", "tutorial"):
        parser.add_argument(name, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    found = sections(arguments.tutorial.read_text(encoding="utf-8"))
    assert len(found) >= 5, list(found)
    failed = False
    for heading, blocks in found.items():
        if arguments.only not in heading:
            continue
        with tempfile.TemporaryDirectory(prefix="tutorial-") as name:
            folder = pathlib.Path(name)
            variables = environment(arguments, folder)
            try:
                print(f"ok   {heading}: {run_section(heading, blocks, folder, variables)}", flush=True)
            except AssertionError as error:
                failed = True
                print(f"FAIL {heading}: {error}", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
