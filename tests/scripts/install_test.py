#!/usr/bin/env python3
"""Installs a build into a temporary prefix, runs the program from there and compiles against the library.

    install_test.py BUILD PROGRAM BIN-FOLDER
"""
import os
import pathlib
import subprocess
import sys
import tempfile

GUEST = """#include <ringward_guest.h>
int main(void) { return rw_guest_abi_version() != RW_GUEST_ABI_VERSION; }
"""


def compile_with_guest(prefix):
    """What is wrong with libringward_guest.so, its header or its pkg-config file as installed; None if nothing."""
    found = list(pathlib.Path(prefix).rglob("ringward-guest.pc"))
    if not found:
        return "ringward-guest.pc was not installed"
    environment = {**os.environ, "PKG_CONFIG_PATH": str(found[0].parent), "PKG_CONFIG_ALLOW_SYSTEM_LIBS": "1"}
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "ringward-guest"], env=environment, text=True,
                           capture_output=True, check=True).stdout.split()
    program = pathlib.Path(prefix, "guest")
    subprocess.run(["cc", "-x", "c", "-", "-o", program, *flags], input=GUEST, text=True, check=True)
    library = next(pathlib.Path(prefix).rglob("libringward_guest.so"))
    done = subprocess.run([program], env={**os.environ, "LD_LIBRARY_PATH": str(library.parent)}, check=False)
    return f"a program that links it: exit {done.returncode}" if done.returncode else None


def import_guest(prefix):
    """What is wrong with the Python module as installed; None if nothing."""
    package = next(pathlib.Path(prefix).rglob("ringward_guest/__init__.py"), None)
    if package is None:
        return "the Python module was not installed"
    environment = {**os.environ, "PYTHONPATH": str(package.parent.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("RINGWARD_GUEST_LIBRARY", None)
    done = subprocess.run([sys.executable, "-c", "import ringward_guest as g; print(g.load()[1])"], env=environment,
                          capture_output=True, text=True, check=False)
    return None if (done.returncode, done.stdout) == (0, "\n") else f"{done.stdout}{done.stderr}"


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
        for name in ("ringward.rules.yml", "grafana/ringward-jobs.json", "grafana/ringward-watchers.json"):
            if not pathlib.Path(prefix, "share/ringward/monitoring", name).is_file():
                sys.exit(f"monitoring/{name} was not installed")
        complaint = compile_with_guest(prefix) or import_guest(prefix)
        if complaint:
            sys.exit(complaint)


if __name__ == "__main__":
    main()
