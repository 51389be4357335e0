#!/usr/bin/env python3
"""The dashboards in monitoring/ are those that their generator makes, of any table of metrics; the rules know what is critical."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools/make_dashboards.py"
TABLE_END = "<!-- end metrics -->"


def run(root, *options):
    return subprocess.run([sys.executable, TOOL, root, *options], capture_output=True, text=True, check=False)


def panels(root, name):
    """{expression: title} of a dashboard."""
    found = json.loads((root / "monitoring/grafana" / name).read_text())["panels"]
    return {panel["targets"][0]["expr"]: panel["title"] for panel in found if "targets" in panel}


class Dashboards(unittest.TestCase):
    def test_those_of_the_tree_are_up_to_date(self):
        done = run(ROOT, "--check")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_new_metric_is_missed_and_then_shown(self):
        rows = [  # row of the table, dashboard, expression, title
            ("| `ringward_host_fan_ratio` | gauge | ratio | job, host | Speed of the fan |", "ringward-jobs.json",
             'ringward_host_fan_ratio{job=~"$job"}', "Host fan ratio"),
            ("| `ringward_naps_total` | counter |  |  | Naps |", "ringward-watchers.json",
             'rate(ringward_naps_total{instance=~"$instance"}[$__rate_interval])', "Naps a second"),
            ("| `ringward_born_timestamp_seconds` | gauge | seconds |  | Birth |", "ringward-watchers.json",
             'time() - ringward_born_timestamp_seconds{instance=~"$instance"}', "Born: age"),
        ]
        for row, name, expression, title in rows:
            with self.subTest(row), tempfile.TemporaryDirectory() as folder:
                root = pathlib.Path(folder)
                shutil.copytree(ROOT / "monitoring", root / "monitoring")
                (root / "docs").mkdir()
                table = (ROOT / "docs/metrics.md").read_text()
                (root / "docs/metrics.md").write_text(table.replace(TABLE_END, row + "\n" + TABLE_END))
                self.assertEqual(run(root, "--check").returncode, 1)
                self.assertEqual(run(root).returncode, 0)
                self.assertEqual(run(root, "--check").returncode, 0)
                self.assertEqual(panels(root, name).get(expression), title)

    def test_panels_do_not_overlap(self):
        for path in (ROOT / "monitoring/grafana").glob("*.json"):
            cells = set()
            for panel in json.loads(path.read_text())["panels"]:
                place = panel["gridPos"]
                taken = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
                self.assertFalse(taken & cells, f"{path.name}: {panel['title']}")
                self.assertLessEqual(place["x"] + place["w"], 24)
                cells |= taken


class Rules(unittest.TestCase):
    def test_what_the_watcher_calls_critical_is_critical(self):
        said = re.search(r"Severity is `critical` where.*?\((.*?)\)", (ROOT / "docs/alerts.md").read_text(), re.S).group(1)
        rules = (ROOT / "monitoring/ringward.rules.yml").read_text()
        critical = re.findall(r'cause=~"([^"]*)"\}\) > 0\n +labels: \{severity: critical\}', rules)
        self.assertEqual(sorted("|".join(critical).split("|")), sorted(re.findall(r"`([\w-]+)`", said)))


if __name__ == "__main__":
    unittest.main()
