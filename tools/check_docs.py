#!/usr/bin/env python3
"""Fails when the documents and the program drift apart.

    check_docs.py ROOT [RINGWARD]

Every relative link of every Markdown file leads to a file; every page of docs/ can be reached by links from
README.md; the module table of ARCHITECTURE.md names exactly the modules that src/ has; and, with a program given,
every subcommand that `RINGWARD --help` lists has a page docs/NAME.md.
"""
import pathlib
import re
import subprocess
import sys

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
SKIPPED_FOLDERS = {".git", "build", "quickstart", ".cache"}
# A line of the help's list of subcommands: indented, a name, at least two spaces, what it does.
SUBCOMMAND = re.compile(r"^ +([a-z]+)(?: [a-z]+)? {2,}\S")
WITHOUT_PAGE = {"help", "completion", "version"}


def pages_of(root):
    return sorted(p for p in root.rglob("*.md") if not SKIPPED_FOLDERS & set(p.relative_to(root).parts))


def links_of(page):
    """(line number, target path) of each relative link."""
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        for target in LINK.findall(line):
            if not re.match(r"[a-z]+:", target):
                yield number, (page.parent / target).resolve()


def unreachable(root, pages):
    seen, todo = set(), [root / "README.md"]
    while todo:
        page = todo.pop()
        if page in seen or page not in pages:
            continue
        seen.add(page)
        todo += [t / "README.md" if t.is_dir() else t for _, t in links_of(page)]
    return [p for p in pages if (root / "docs") in p.parents and p not in seen]


def module_complaints(root):
    """Differences between the modules of src/ and the rows `| `name` | … |` of the table in ARCHITECTURE.md."""
    there = {str(p.parent.relative_to(root / "src")) for p in (root / "src").rglob("CMakeLists.txt")
             if "ringward_module(" in p.read_text()}
    table = re.search(r"<!-- begin modules -->(.*?)<!-- end modules -->", (root / "ARCHITECTURE.md").read_text(), re.S)
    named = set(re.findall(r"^\| `([\w/]+)` \|", table.group(1) if table else "", re.M))
    return ([f"ARCHITECTURE.md: module src/{m} is missing in the table" for m in sorted(there - named)] +
            [f"ARCHITECTURE.md: there is no module src/{m}" for m in sorted(named - there)])


def subcommands(program):
    text = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    names = {m.group(1) for m in map(SUBCOMMAND.match, text.splitlines()) if m}
    return sorted(names - WITHOUT_PAGE)


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    pages = pages_of(root)
    bad = [f"{page.relative_to(root)}:{number}: leads nowhere: {target}"
           for page in pages for number, target in links_of(page) if not target.exists()]
    bad += [f"{page.relative_to(root)}: no link leads here" for page in unreachable(root, pages)]
    bad += module_complaints(root)
    if len(sys.argv) > 2:
        bad += [f"docs/{name}.md: missing, but `ringward {name}` exists" for name in subcommands(sys.argv[2])
                if not (root / "docs" / f"{name}.md").exists()]
    print("\n".join(bad) or f"{len(pages)} pages hang together")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
