#!/usr/bin/env python3
"""Measures the shape of the C++ code and fails where a limit is passed.

    check_shape.py ROOT

Limits: a function of 60 lines, a file of 500. A constant or type of an anonymous namespace has a name of its own in
its folder: the sanitizer builds compile the sources of a module as one. Printed beside them, as habits to keep: the 90th percentile and
the longest of function lengths, the median length and comment share of headers, test lines per source line.
A function's length is counted from the line of its opening brace to that of its closing one, both included.
"""
import pathlib
import re
import statistics
import sys

FUNCTION_MAX, FILE_MAX = 60, 500
FOLDERS = ("src", "apps", "tests", "bench", "examples")

# Comments, raw strings, strings, character literals: blanked out, newlines kept. A quote between
# digits (1'000) is a separator, not a literal.
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'',
                   re.S)
CONTAINER = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b(?![^{]*\)\s*(?:const|noexcept|override|final|\s)*$)")
FUNCTION_HEAD = re.compile(r"\)\s*(?:const|noexcept|override|final|mutable|try|&+|->[^{};]+|requires[^{};]+|\s)*"
                           r"(?::(?!:)\s*[^;]*[)}]\s*)?$")


def blanked(text):
    """The text without comments, strings and preprocessor lines, line numbers unchanged."""
    text = NOISE.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)
    return re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.M)


def functions(text):
    """Yields (first line, number of lines, head) of every outermost function body."""
    stack, head_start, function_at = [], 0, None
    line = 1
    for position, char in enumerate(text):
        if char == "\n":
            line += 1
        elif char == "{":
            head = text[head_start:position]
            inside = function_at is not None
            container = not inside and bool(CONTAINER.search(head))
            if not inside and not container and FUNCTION_HEAD.search(head) and "=" not in head.split("(")[0]:
                function_at, name = len(stack), " ".join(head.split())[:80]
                opened = line
            stack.append((container, inside))
            if container:
                head_start = position + 1
        elif char == "}" and stack:
            container, _ = stack.pop()
            if function_at == len(stack):
                yield opened, line - opened + 1, name
                function_at, head_start = None, position + 1
            elif container:
                head_start = position + 1
        elif char == ";" and function_at is None:
            head_start = position + 1


ANONYMOUS = re.compile(r"^namespace \{$.*?^\}  // namespace$", re.S | re.M)
UNNESTED_NAME = re.compile(r"^(?:(?:constexpr|const|static|inline)\s[^=;(\n]*?\b(\w+)(?:\[[^\n=]*\])?\s*[={]|"
                           r"(?:class|struct|enum class|union)\s+(\w+)[^;\n]*\{)", re.M)


def twice_in_a_folder(root):
    """Names of anonymous namespaces that two sources (or two tests) of one folder define."""
    first = {}
    for path in sources(root):
        if path.suffix != ".cc":
            continue
        text = path.read_text()
        for body in (blanked(text)[m.start():m.end()] for m in ANONYMOUS.finditer(text)):
            for name in {a or b for a, b in UNNESTED_NAME.findall(body)}:
                other = first.setdefault((path.parent, path.name.endswith("_test.cc"), name), path)
                if other != path:
                    yield f"{path.relative_to(root)}: {name} is a name in {other.name} too; modules are compiled as one"


def sources(root):
    for folder in FOLDERS:
        yield from sorted(p for p in (root / folder).rglob("*") if p.suffix in (".h", ".cc"))


def other_test_lines(root):
    """Lines of the tests that are not C++."""
    return sum(p.read_text().count("\n") for p in (root / "tests").rglob("*") if p.suffix in (".py", ".sh"))


def comment_share(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return sum(line.startswith("//") or "//" in line for line in lines) / max(1, len(lines))


def measure(root):
    """Returns (complaints, function lengths, header texts, lines of tests, lines of sources)."""
    bad, lengths, headers, test_lines, source_lines = [], [], [], other_test_lines(root), 0
    for path in sources(root):
        text = path.read_text()
        count = text.count("\n")
        name = path.relative_to(root)
        if count > FILE_MAX:
            bad.append(f"{name}: {count} lines, at most {FILE_MAX}")
        for line, length, head in functions(blanked(text)):
            lengths.append((length, f"{name}:{line}"))
            if length > FUNCTION_MAX:
                bad.append(f"{name}:{line}: function of {length} lines, at most {FUNCTION_MAX}: {head}")
        is_test = "test" in path.name or "contract" in path.name or name.parts[0] == "tests"
        test_lines += count * is_test
        source_lines += count * (not is_test)
        if path.suffix == ".h" and not is_test:
            headers.append(text)
    bad.extend(twice_in_a_folder(root))
    return bad, sorted(lengths), headers, test_lines, source_lines


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    bad, lengths, headers, test_lines, source_lines = measure(root)
    print("\n".join(bad), end="\n" if bad else "")
    if lengths:
        print(f"{len(lengths)} functions: 90th percentile {lengths[int(0.9 * (len(lengths) - 1))][0]} lines, "
              f"longest {lengths[-1][0]} ({lengths[-1][1]})")
    if headers:
        print(f"{len(headers)} headers: median {statistics.median(h.count(chr(10)) for h in headers):.0f} lines, "
              f"comments {100 * statistics.median(map(comment_share, headers)):.0f} %")
    print(f"test lines per source line: {test_lines / max(1, source_lines):.2f} ({test_lines} : {source_lines})")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
