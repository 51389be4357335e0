#!/usr/bin/env python3
"""Scores the detectors on simulated jobs with planted faults and on healthy days.

    bench/detection/run.py [RINGWARD] [--share 1.0] [--seed 1] [--only plans|drawn|delays|healthy] [--rules RULES.toml] [--check]

plans: the fault plans beside this script, each simulated and replayed. drawn: faults of every kind, severities from 10 % to 300 %, in
jobs of 64, 1,024 and 10,240 ranks (steps of 1, 2 and 10 s). delays: a rank that is 20 % slower must be found within 10 steps where
self time varies by 5 %. healthy: ten days of each size at one false alarm a day, and days of the smallest size at ten, where the
knob must act. --share scales runs and days down (0.1 for a quick look; the figures then mean little). The whole takes about an
hour, the plans alone a minute. --rules scores the plans with other rules beside ours. --check exits 1 when a target is missed.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# world, seconds of a step, runs with a fault, their steps
SIZES = ((64, 1, 140, 1000), (1024, 2, 56, 1000), (10240, 10, 28, 600))
DAYS = 10


def bench(ringward, seed, **options):
    words = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    done = subprocess.run([ringward, "bench", "detection", "--json", "--quiet", "--seed", str(seed), *words],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"ringward bench detection {' '.join(words)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


class Targets:
    """Collects figures with what is wanted of them."""

    def __init__(self):
        self.missed = False

    def line(self, name, value, holds, wanted):
        self.missed = self.missed or not holds
        print(f"{name:<44} {value:<12} {wanted:<16} {'holds' if holds else 'DOES NOT HOLD'}", flush=True)


def run_json(words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def plan_line(name, score):
    delay = score["median_delay_steps"]
    print(f"  {name:<28} {score['faults']:>6} {score['recall']:>7.2f} {score['precision']:>10.2f} {score['right_culprit']:>8.2f} "
          f"{score['right_kind']:>6.2f} {'-' if delay is None else delay:>6} {score['false_incidents']:>6}", flush=True)


def plans(options):
    """Every plan by itself, then all of them together."""
    with tempfile.TemporaryDirectory(prefix="ringward-plans-") as folder:
        recordings = []
        print(f"  {'plan':<28} {'faults':>6} {'recall':>7} {'precision':>10} {'culprit':>8} {'kind':>6} {'delay':>6} {'false':>6}")
        for plan in sorted((HERE / "plans").glob("*.toml")):
            recording = f"{folder}/{plan.stem}.rwrec"
            run_json([options.ringward, "simulate", "job", "--plan", plan, "--out", recording, "--json", "--quiet"])
            plan_line(plan.stem, run_json([options.ringward, "replay", recording, "--json", "--quiet"])["score"])
            recordings.append(recording)
        against = ["--against", options.rules] if options.rules else []
        document = run_json([options.ringward, "replay", *recordings, *against, "--json", "--quiet"])
        plan_line("all", document["score"])
        if options.rules:
            plan_line(f"all, {pathlib.Path(options.rules).name}", document["score_against"])


def faults(ringward, share, seed, targets):
    total = found = culprit = kind = false = 0
    by_kind = {}
    for world, seconds, runs, steps in SIZES:
        result = bench(ringward, seed, world=world, step_seconds=seconds, runs=max(14, round(runs * share)), steps=steps)
        hits = round(result["recall"] * result["faults"])
        total += result["faults"]
        found += hits
        culprit += result["right_culprit"] * hits
        kind += result["right_kind"] * hits
        false += hits / result["precision"] - hits if result["precision"] else 0
        for name, one in result["kinds"].items():
            row = by_kind.setdefault(name, [0, 0.0, 0.0, 0.0])
            one_hits = one["recall"] * one["faults"]
            row[0] += one["faults"]
            row[1] += one_hits
            row[2] += one["right_culprit"] * one_hits
            row[3] += one["right_kind"] * one_hits
        print(f"{world} ranks: {result['faults']} faults, recall {result['recall']:.3f}, precision {result['precision']:.3f}, "
              f"culprit {result['right_culprit']:.3f}, kind {result['right_kind']:.3f}, median delay "
              f"{result['median_delay_steps']} steps, {result['nanoseconds_per_sample']:.0f} ns a sample", flush=True)
        if world == SIZES[-1][0]:
            targets.line("10,240 ranks x 8 metrics, ns a sample", f"{result['nanoseconds_per_sample']:.0f}",
                         result["nanoseconds_per_sample"] <= 250, "<= 250")
    for name, (count, hits, right, named) in sorted(by_kind.items()):
        print(f"  {name:<18} {count:>4} faults, found {hits / count:6.1%}, culprit {right / max(hits, 1):6.1%}, kind {named / max(hits, 1):6.1%}")
    precision = found / max(found + false, 1)
    targets.line(f"precision ({total} faults)", f"{precision:.3f}", precision >= 0.97, ">= 0.97")
    targets.line("recall", f"{found / total:.3f}", found / total >= 0.95, ">= 0.95")
    targets.line("right culprit", f"{culprit / max(found, 1):.3f}", culprit >= 0.97 * found, ">= 0.97")
    targets.line("right kind", f"{kind / max(found, 1):.3f}", kind >= 0.92 * found, ">= 0.92")


def delays(ringward, share, seed, targets):
    for cv, most in ((0.05, 10), (0.1, 10 * (0.1 / 0.08) ** 2)):
        result = bench(ringward, seed, world=64, kinds="slow-rank", severity=0.2, cv=cv, runs=max(10, round(40 * share)))
        delay = result["median_delay_steps"]
        targets.line(f"20 % slow rank, CV {cv:.0%}: median delay, steps", str(delay), delay <= most, f"<= {most:.0f}")


def healthy(ringward, share, seed, targets):
    days = max(1, round(DAYS * share))
    pooled = 0
    for world, seconds, _, _ in SIZES:
        result = bench(ringward, seed, world=world, step_seconds=seconds, runs=0, healthy_days=days)
        pooled += result["healthy_alarms"]
        targets.line(f"false alarms in {days} days of {world} ranks", str(result["healthy_alarms"]), result["healthy_alarms"] <= days,
                     f"<= {days}")
    targets.line(f"false alarms in all {3 * days} days", str(pooled), pooled <= 2 * days, f"<= {2 * days}")
    result = bench(ringward, seed, world=64, runs=0, healthy_days=days, false_alarms_per_day=10)
    rate = result["healthy_alarms"] / days
    targets.line("false alarms a day when ten are allowed", f"{rate:.1f}", 3 <= rate <= 15, "3 to 15")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ringward", nargs="?", default=str(ROOT / "build/release/bin/ringward"))
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=("plans", "drawn", "delays", "healthy"))
    parser.add_argument("--rules", help="TOML, as `ringward replay --against` takes it")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    targets = Targets()
    if options.only in (None, "plans"):
        plans(options)
    for name, part in (("drawn", faults), ("delays", delays), ("healthy", healthy)):
        if options.only in (None, name):
            part(options.ringward, options.share, options.seed, targets)
    sys.exit(1 if options.check and targets.missed else 0)


if __name__ == "__main__":
    main()
