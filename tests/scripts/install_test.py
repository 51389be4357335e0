#!/usr/bin/env python3
"""Installs a build into a temporary prefix and runs the program from there.

    install_test.py BUILD PROGRAM BIN-FOLDER
"""
import pathlib
import subprocess
import sys
import tempfile


def main():
    build, program, bin_folder = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="ringward-install-") as prefix:
        subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
        installed = pathlib.Path(prefix, bin_folder, program)
        done = subprocess.run([installed, "--version"], capture_output=True, text=True, check=False, cwd=prefix)
        print(sorted(str(p.relative_to(prefix)) for p in pathlib.Path(prefix).rglob("*") if p.is_file()))
        print(done.stdout, done.stderr)
        if done.returncode != 0 or not any(c.isdigit() for c in done.stdout):
            sys.exit(f"{program} --version: exit {done.returncode}")
        if not list(pathlib.Path(prefix).rglob("LICENSE")):
            sys.exit("LICENSE was not installed")


if __name__ == "__main__":
    main()
