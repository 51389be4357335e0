#!/usr/bin/env python3
"""Replaces the text between two markers of a Markdown file by standard input.

    fill_markers.py FILE.md NAME < text

The markers are the lines `<!-- begin NAME -->` and `<!-- end NAME -->`. Exit 2 when the file has not exactly
one pair of them.
"""
import pathlib
import re
import sys


def main():
    path, name = pathlib.Path(sys.argv[1]), sys.argv[2]
    text = path.read_text(encoding="utf-8")
    block = re.compile(rf"(<!-- begin {re.escape(name)} -->\n).*?(<!-- end {re.escape(name)} -->)", re.S)
    if len(block.findall(text)) != 1:
        print(f"fill_markers: {path}: needs exactly one pair of markers '{name}'", file=sys.stderr)
        sys.exit(2)
    new = sys.stdin.read().rstrip("\n") + "\n"
    path.write_text(block.sub(lambda m: m.group(1) + new + m.group(2), text), encoding="utf-8")


if __name__ == "__main__":
    main()
