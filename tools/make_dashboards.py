#!/usr/bin/env python3
"""Makes Grafana's dashboards from the table of metrics and the recording rules.

    make_dashboards.py ROOT            writes ROOT/monitoring/grafana/*.json
    make_dashboards.py ROOT --check    exit 1 where they are not what it would write

The table is docs/metrics.md's, which a test holds equal to the program's. A metric with the label `job` is shown on the
dashboard of jobs, any other on the watchers'; a new metric or recording rule needs nothing here.
"""
import json
import pathlib
import re
import sys

ROW = re.compile(r"^\| `ringward_(\w+)` \| (counter|gauge) \| (\w*) \| ([\w, ]*) \| (.*) \|$", re.M)
RECORD = re.compile(r"^ +- record: (job:ringward_(\w+):(\w+))", re.M)
UNITS = {"seconds": "s", "bytes": "bytes", "celsius": "celsius", "watts": "watt", "hertz": "hertz", "ratio": "percentunit"}
ACROSS, WIDTH, HEIGHT = 3, 8, 7  # panels in a row of 24 columns
# Of the jobs' dashboard: panels of metrics whose names begin so stand below this heading.
SECTIONS = (("job_", "The job: steps, times and losses over its ranks"), ("rank_", "Each rank"), ("host_", "Machines"),
            ("gpu_", "Accelerators"), ("", "Incidents and sight"))


def target(expression, legend, instant=False):
    return {"refId": "A", "expr": expression, "legendFormat": legend, "instant": instant, "range": not instant,
            "format": "table" if instant else "time_series"}


def panel(kind, title, description, unit, wanted):
    made = {"type": kind, "title": title, "description": description, "datasource": {"type": "prometheus", "uid": "${source}"},
            "fieldConfig": {"defaults": {"unit": unit}, "overrides": []}, "targets": [wanted], "options": {}}
    if kind == "timeseries":
        made["fieldConfig"]["defaults"]["custom"] = {"lineWidth": 1, "fillOpacity": 0, "showPoints": "never"}
        made["options"] = {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi", "sort": "desc"}}
    return made


def title_of(name):
    words = name.removesuffix("_total").removesuffix("_timestamp_seconds").replace("_", " ")
    return words[0].upper() + words[1:]


def metric_panel(name, kind, unit, labels, meaning):
    """A gauge as it is, a counter as its rate, a time stamp as its age."""
    labels = [label for label in labels.split(", ") if label]
    series = f"ringward_{name}" + ('{job=~"$job"}' if "job" in labels else '{instance=~"$instance"}')
    title, shown = title_of(name), UNITS.get(unit, "none")
    if kind == "counter":
        series = f"rate({series}[$__rate_interval])"
        title, shown = title + " a second", "none" if unit else "cps"
    if name.endswith("_timestamp_seconds"):
        series, title = f"time() - {series}", title + ": age"
    legend = " ".join("{{" + label + "}}" for label in labels + ["instance"])
    return panel("timeseries", title, meaning, shown, target(series, legend))


def record_panel(name, what, how):
    title = {"share": "share of a step", "ratio": "over the median's", "rate1m": "a second", "sum": "", "all": "", "max": ""}[how]
    return panel("timeseries", f"{title_of(what)} {title}".strip(), f"Recording rule {name}",
                 "percentunit" if how == "share" else "none", target(name + '{job=~"$job"}', "{{job}}"))


def alerts_panel():
    return panel("table", "Alerts that fire", "Rules of ringward.rules.yml", "none",
                 target('ALERTS{alertname=~"Ringward.*", alertname!="RingwardDeadMan", alertstate="firing"}', "", instant=True))


def lay_out(sections):
    """Panels with their places and numbers; `sections` = [(heading, panels)]."""
    placed, y = [], 0
    for heading, panels in sections:
        placed.append({"type": "row", "title": heading, "collapsed": False, "panels": [], "gridPos": {"x": 0, "y": y, "w": 24, "h": 1}})
        y += 1
        for begin in range(0, len(panels), ACROSS):
            for column, one in enumerate(panels[begin:begin + ACROSS]):
                placed.append({**one, "gridPos": {"x": column * WIDTH, "y": y, "w": WIDTH, "h": HEIGHT}})
            y += HEIGHT
    return [{"id": number, **one} for number, one in enumerate(placed, 1)]


def dashboard(uid, title, variable, query, sections):
    source = {"name": "source", "type": "datasource", "query": "prometheus", "label": "Prometheus", "current": {}}
    chosen = {"name": variable, "type": "query", "label": variable.capitalize(), "query": query, "refresh": 2, "sort": 1,
              "datasource": {"type": "prometheus", "uid": "${source}"}, "multi": True, "includeAll": True, "allValue": ".+",
              "current": {"text": "All", "value": "$__all"}}
    return {"uid": uid, "title": title, "tags": ["ringward"], "schemaVersion": 39, "version": 1, "editable": True, "refresh": "10s",
            "time": {"from": "now-1h", "to": "now"}, "timezone": "browser", "templating": {"list": [source, chosen]},
            "annotations": {"list": []}, "panels": lay_out(sections)}


def dashboards(root):
    """{file name: text}"""
    text = (root / "docs/metrics.md").read_text(encoding="utf-8")
    metrics = ROW.findall(text)
    assert len(metrics) == text.count("\n| `ringward_"), "docs/metrics.md: a row of another form"
    records = RECORD.findall((root / "monitoring/ringward.rules.yml").read_text(encoding="utf-8"))
    of_jobs = [row for row in metrics if "job" in row[3].split(", ")]
    sections, left = [], of_jobs
    for prefix, heading in SECTIONS:
        sections.append((heading, [metric_panel(*row) for row in left if row[0].startswith(prefix)]))
        left = [row for row in left if not row[0].startswith(prefix)]
    sections = [("At a glance", [alerts_panel()] + [record_panel(*record) for record in records]), sections[-1]] + sections[:-1]
    watchers = [metric_panel(*row) for row in metrics if row not in of_jobs]
    made = {
        "ringward-jobs.json": dashboard("ringward-jobs", "Ringward: training jobs", "job", "label_values(ringward_job_step, job)",
                                        [section for section in sections if section[1]]),
        "ringward-watchers.json": dashboard("ringward-watchers", "Ringward: the watchers", "instance",
                                            "label_values(ringward_looks_total, instance)", [("The watchers themselves", watchers)])}
    return {name: json.dumps(value, indent=1, sort_keys=True) + "\n" for name, value in made.items()}


def main():
    root = pathlib.Path(sys.argv[1])
    stale = []
    for name, text in dashboards(root).items():
        path = root / "monitoring/grafana" / name
        if "--check" not in sys.argv[2:]:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(f"{path}: not what tools/make_dashboards.py makes of docs/metrics.md and the rules; run it")
    print("\n".join(stale) or "the dashboards show every metric")
    sys.exit(bool(stale))


if __name__ == "__main__":
    main()
