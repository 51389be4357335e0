#!/usr/bin/env python3
"""Runs the cases of cases.py against the command line and checks exit codes and streams.

    run_cases.py RINGWARD DEMO [WORD]

RINGWARD is the program, DEMO the program of demo.cc; with WORD only cases whose title holds it run.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import cases
import behaviours

DEADLINE_S = 60


def environment(folder, extra):
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C.UTF-8", "TERM": "xterm"}
    env.update({k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")})
    env.update(extra)
    return env


def problems_of(case, done):
    """What differs from the case, one sentence each."""
    if done.returncode != case.code:
        yield f"exit code {done.returncode}, expected {case.code}"
    for name, text, pattern in (("stdout", done.stdout, case.out), ("stderr", done.stderr, case.err)):
        if not re.fullmatch(pattern, text, re.S):
            yield f"{name} is {text!r}, expected to match {pattern!r}"


def run_case(case, programs):
    with tempfile.TemporaryDirectory(prefix="ringward-cli-") as folder:
        for name, text in case.files.items():
            (pathlib.Path(folder) / name).write_text(text)
        command = [programs[case.program], *case.args]
        done = subprocess.run(command, cwd=folder, env=environment(folder, case.env), timeout=DEADLINE_S,
                              input="", capture_output=True, text=True, check=False)
    return list(problems_of(case, done))


def main():
    programs = {"ringward": os.path.abspath(sys.argv[1]), "demo": os.path.abspath(sys.argv[2])}
    word = sys.argv[3] if len(sys.argv) > 3 else ""
    failed = total = 0
    checks = [(case.title, lambda case=case: run_case(case, programs)) for case in cases.CASES]
    checks += [(check.__doc__.splitlines()[0], lambda check=check: list(check(programs)))
               for check in behaviours.CHECKS]
    for title, check in checks:
        if word not in title:
            continue
        total += 1
        bad = check()
        failed += bool(bad)
        for problem in bad:
            print(f"FAILED {title}: {problem}")
    print(f"{total - failed} of {total} cases pass")
    sys.exit(bool(failed) or total == 0)


if __name__ == "__main__":
    main()
