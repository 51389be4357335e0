#!/usr/bin/env python3
"""Fails when a file of the project holds what must not be published or left behind.

    check_hygiene.py ROOT

Looks at every tracked text file (outside a git checkout: at every file except build/ and the like) for
paths of one machine, package registry hosts, artifact servers, e-mail addresses, lint silencers without a reason,
conflict markers, and open ends without an issue number (written as the word, then the number in brackets after a
hash). One line per hit; exit 1 on any.
"""
import pathlib
import re
import subprocess
import sys

# (what, pattern). Written so that this file does not match itself.
PATTERNS = [
    ("a path of one machine", re.compile(r"(?<![\w.}-])/(?:work|home|Users|root|mnt|data\d*)/\w")),
    ("a package registry or mirror host", re.compile(
        r"\b(?:reg" r"istry\.\w+|py" r"pi|files\.python" r"hosted|(?:static\.)?cra" r"tes|proxy\.go" r"lang"
        r"|(?:deb|snap" r"shot)\.deb" r"ian|repo1?\.ma" r"ven|ruby" r"gems|gh" r"cr|qu" r"ay|hub\.doc" r"ker"
        r"|conda\.ana" r"conda)\.(?:org|com|io)\b")),
    ("an artifact server", re.compile(r"\b(?:artif" r"actory|nex" r"us|jfr" r"og)\b", re.I)),
    ("an e-mail address", re.compile(r"\b[\w.+-]+@[\w-]+\.(?:com|org|net|edu|io|de|dev)\b")),
    ("an open end without an issue number", re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b(?!\(#\d+\))")),
    ("a lint silencer without a reason", re.compile(r"NO" r"LINT(?:NEXTLINE|BEGIN)?(?![A-Z])(?:\([^)]*\))?(?!\([^)]*\)|: \w)")),
    ("a conflict marker", re.compile(r"^(?:<{7}|>{7}) ")),
]
SKIPPED_FOLDERS = {".git", "build", "quickstart", ".cache", "__pycache__"}


def files_of(root):
    """Tracked and new files of a git checkout; else every file below `root`."""
    listing = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                             capture_output=True, check=False)
    if listing.returncode == 0:
        return sorted(root / name for name in listing.stdout.decode().split("\0") if name)
    return sorted(p for p in root.rglob("*") if p.is_file() and not SKIPPED_FOLDERS & set(p.relative_to(root).parts))


def hits(root):
    for path in files_of(root):
        try:
            text = path.read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError):
            continue  # binary, or deleted but still tracked
        for number, line in enumerate(text.splitlines(), 1):
            for what, pattern in PATTERNS:
                found = pattern.search(line)
                if found:
                    yield f"{path.relative_to(root)}:{number}: {what}: {found.group(0)}"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    bad = list(hits(root))
    print("\n".join(bad) or "nothing that should not be here")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
