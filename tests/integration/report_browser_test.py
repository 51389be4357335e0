#!/usr/bin/env python3
"""Opens report pages in Chromium and fails unless they are whole there.

    report_browser_test.py SAMPLE_PROGRAM          pages that SAMPLE_PROGRAM writes into a folder
    report_browser_test.py --page HTML JSON ...    a page and the file its JSON block must equal

Checked: the browser reports no error on its console, every chart of the source is in the DOM and inside its
card, the JSON block equals the --json document, no hostile text became markup, and nothing scrolls sideways
at 360 px. Without Chromium it fails: the integration tests are for machines that have their programs.
"""
import html
import html.parser
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-dev-shm-usage", "--hide-scrollbars", "--enable-logging=stderr"]
ALLOWED = set("html head meta title style body main header footer section h1 h2 h3 p div dl dt dd ul li figure "
              "figcaption svg desc path rect text circle table caption thead tbody tr th td i strong script".split())
WIDTH_PAGE = """<!DOCTYPE html><html><body><iframe id="f" width="360" height="800" srcdoc="{}"></iframe><script>
document.getElementById('f').onload = function () {{
  var root = this.contentDocument.documentElement;
  document.body.dataset.overflow = root.scrollWidth - 360;
}};</script></body></html>"""


class Elements(html.parser.HTMLParser):
    """Counts the elements of a page and keeps its JSON block and event-handler attributes."""

    def __init__(self, text):
        super().__init__()
        self.count, self.json, self.handlers, self.in_json = {}, "", [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1
        self.in_json = tag == "script" and ("id", "ringward-data") in attrs
        self.handlers += [name for name, _ in attrs if name.startswith("on")]

    def handle_endtag(self, tag):
        self.in_json = False

    def handle_data(self, data):
        self.json += data if self.in_json else ""


def dump_dom(browser, page, profile):
    """The DOM after scripts have run, and what went to the console."""
    command = [browser, *FLAGS, f"--user-data-dir={profile}", "--virtual-time-budget=2000", "--dump-dom",
               page.as_uri()]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return run.stdout, [line for line in run.stderr.splitlines() if ":CONSOLE" in line]


def faults(browser, page, document, folder):
    """Yields what is wrong with `page`."""
    source_text = page.read_text(encoding="utf-8")
    source = Elements(source_text)
    text, console = dump_dom(browser, page, folder / "profile")
    dom = Elements(text)
    yield from (f"console: {line}" for line in console)
    for tag in ("svg", "path", "rect", "table"):
        if dom.count.get(tag, 0) != source.count.get(tag, 0):
            yield f"{dom.count.get(tag, 0)} <{tag}> in the browser, {source.count.get(tag, 0)} in the source"
    if 'id="tip"' not in text:
        yield "the script did not run"
    if set(dom.count) - ALLOWED:
        yield f"unexpected elements {sorted(set(dom.count) - ALLOWED)}"
    if dom.handlers:
        yield f"event handlers in the markup: {dom.handlers}"
    if json.loads(dom.json) != json.loads(document.read_text(encoding="utf-8")):
        yield "the JSON block differs from the --json document"
    narrow = folder / "narrow.html"
    narrow.write_text(WIDTH_PAGE.format(html.escape(source_text)), encoding="utf-8")
    text, _ = dump_dom(browser, narrow, folder / "profile")
    if 'data-overflow="0"' not in text:
        yield "scrolls sideways at 360 px: " + text.partition("data-overflow=")[2][:8]


def check(browser, pages, folder):
    bad = 0
    for page, document in pages:
        found = list(faults(browser, page, document, folder))
        print(f"{page.name}: " + ("fine" if not found else "\n  ".join(["FAULTY", *found])))
        bad += len(found)
    return 1 if bad else 0


def main():
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if not browser:
        sys.exit("no chromium on this machine; scripts/setup.sh --with-integration installs it")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if sys.argv[1] == "--page":
            paths = [pathlib.Path(p).resolve() for p in sys.argv[2:]]
            pages = list(zip(paths[::2], paths[1::2]))
        else:
            subprocess.run([sys.argv[1], name], check=True, timeout=60)
            pages = [(page, page.with_suffix(".json")) for page in sorted(folder.glob("*.html"))]
        if not pages:
            sys.exit("no pages to look at")
        sys.exit(check(browser, pages, folder))


if __name__ == "__main__":
    main()
