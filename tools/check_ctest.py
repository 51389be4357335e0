#!/usr/bin/env python3
"""Tells which tests of a ctest JUnit file did not run, and whether that is acceptable.

    check_ctest.py [--all-must-run] JUNIT.xml

Skipped, disabled and not-run tests are named, one a line. With --all-must-run any of them is a failure,
and so is a file without tests. Exit: 0 fine, 1 not, 2 bad usage or file.
"""
import sys
import xml.etree.ElementTree as xml


def not_run(path):
    """Returns (number of tests, [(name, why)] of those that did not run)."""
    cases = xml.parse(path).getroot().findall(".//testcase")
    left_out = []
    for case in cases:
        if case.get("status") in ("run", "fail"):
            continue
        skipped = case.find("skipped")
        why = skipped.get("message", "") if skipped is not None else case.get("status")
        left_out.append((case.get("name"), why or "not run"))
    return len(cases), left_out


def main():
    arguments = sys.argv[1:]
    strict = "--all-must-run" in arguments
    paths = [a for a in arguments if not a.startswith("--")]
    if len(paths) != 1:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    try:
        total, left_out = not_run(paths[0])
    except (OSError, xml.ParseError) as error:
        print(f"check_ctest: {paths[0]}: {error}", file=sys.stderr)
        sys.exit(2)
    for name, why in left_out:
        print(f"did not run: {name} ({why})")
    if strict and (left_out or total == 0):
        print(f"check_ctest: {len(left_out)} of {total} tests did not run, all must")
        sys.exit(1)


if __name__ == "__main__":
    main()
