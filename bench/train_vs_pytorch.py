#!/usr/bin/env python3
"""Steps per second of `ringward bench train` and of the same nets in PyTorch, side by side.

    bench/train_vs_pytorch.py [RINGWARD] [--runs 11] [--seconds 0.2] [--net 20,10,3,10,20 ...]
                              [--batch 32,256,1024] [--check] [--json FILE]

Both run on one thread, float32, relu, Adam, reconstructing one batch of random rows. Runs alternate,
so that a busy machine slows both; a ratio is the median of the runs' ratios, and the spread beside it
their smallest and largest. `of sgemm` is the rate of Ringward's products over the rate that OpenBLAS
reaches on the same shapes in the same run. Scoring compares outputs of the trained nets per second; `needs` is the share of
the core's peak (multiply-adds in registers alone, measured in the same run) that twice PyTorch's rate would take.

PyTorch needs python3-torch (Debian) or any other. Its BLAS is printed; Debian's reference BLAS is
refused, because it is some ten times slower than what anyone would use.
--check exits 1 where a ratio is below the project's target.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# (net, batch) -> least ratio of steps per second
TARGETS = {("20,10,3,10,20", 32): 80, ("20,10,3,10,20", 256): 15, ("20,10,3,10,20", 1024): 4,
           ("100,128,64,128,100", 32): 5, ("100,128,64,128,100", 256): 1.7, ("100,128,64,128,100", 1024): 1.25}
SCORING_TARGET = 2
SGEMM_TARGET = ("100,128,64,128,100", 256, 0.85)


def load_torch():
    """Imports torch on one thread; returns it and the path of its BLAS, or ends with a message."""
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"
    try:
        import torch
    except ImportError:
        sys.exit("this Python has no torch: install python3-torch and run this script by /usr/bin/python3")
    torch.set_num_threads(1)
    torch.mm(torch.ones(64, 64), torch.ones(64, 64))  # a BLAS that is loaded late is loaded now
    maps = pathlib.Path("/proc/self/maps").read_text()
    libraries = sorted(set(re.findall(r"/\S*(?:blas|mkl|blis|atlas)\S*\.so\S*", maps)))
    for library in libraries:
        if re.search(r"/blas/libblas\.so", library):
            sys.exit(f"torch uses the reference BLAS ({library}), which would flatter the comparison; install "
                     "libopenblas0-pthread, or choose it by: update-alternatives --config "
                     "libblas.so.3-x86_64-linux-gnu")
    return torch, ", ".join(libraries) or "compiled into torch"


def rate(seconds, body):
    """Calls of body per second, after a warm-up of a tenth of the time."""
    def run(span):
        start, calls, group = time.perf_counter(), 0, 1
        while True:
            for _ in range(group):
                body()
            calls += group
            group = min(group * 2, 16)
            passed = time.perf_counter() - start
            if passed >= span:
                return calls / passed
    run(seconds / 10)
    return run(seconds)


def torch_rates(torch, net, batch, seconds):
    """Training steps and scored rows per second of a net such as [20, 10, 20]."""
    torch.manual_seed(1)
    layers = []
    for inputs, outputs in zip(net, net[1:]):
        layers += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers[:-1])
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loss_of = torch.nn.MSELoss()
    x = torch.randn(batch, net[0])

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss_of(model(x), x).backward()
        optimizer.step()

    def score():
        with torch.no_grad():
            model(x)

    return rate(seconds, step), batch * rate(seconds, score)


def ringward_rates(program, net, batch, seconds):
    command = [program, "bench", "train", "--layers", net, "--batch", str(batch), "--seconds", str(seconds), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed: {done.stderr.strip()}")
    report = json.loads(done.stdout)
    result = report["results"][0]
    if result["wrong"] != 0:
        sys.exit(f"{' '.join(command)}: {result['wrong']} wrong outputs")
    return report, result


def summary(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def measure(torch, args, net, batch):
    """The figures of one net and batch size over all runs."""
    ours, theirs, scored, torch_scored, of_sgemm, of_peak = [], [], [], [], [], []
    for _ in range(args.runs):
        report, result = ringward_rates(args.ringward, net, batch, args.seconds)
        ours.append(result["steps_per_second"])
        scored.append(result["infer_rows_per_second"])
        of_peak.append(result["infer_gflops"] / result["peak_gflops"])
        if result["sgemm_gflops"]:
            of_sgemm.append(result["gflops"] / result["sgemm_gflops"])
        steps, rows = torch_rates(torch, [int(w) for w in net.split(",")], batch, args.seconds)
        theirs.append(steps)
        torch_scored.append(rows)
    return {"net": net, "batch": batch, "isa": report["isa"], "blas": report["blas"],
            "steps_per_second": summary(ours), "torch_steps_per_second": summary(theirs),
            "ratio": summary([a / b for a, b in zip(ours, theirs)]),
            "scoring_ratio": summary([a / b for a, b in zip(scored, torch_scored)]),
            "scoring_of_peak": summary(of_peak),
            "scoring_needs": summary([SCORING_TARGET * peak * b / a for peak, a, b in zip(of_peak, scored, torch_scored)]),
            "of_sgemm": summary(of_sgemm) if of_sgemm else None}


def missed(figures):
    """One sentence for every target that these figures miss."""
    key = (figures["net"], figures["batch"])
    where = f"{key[0]} at batch {key[1]}"
    if key in TARGETS and figures["ratio"]["median"] < TARGETS[key]:
        yield f"{where}: {figures['ratio']['median']:.2f}x PyTorch, target {TARGETS[key]}x"
    if figures["scoring_ratio"]["median"] < SCORING_TARGET:
        yield (f"{where}: scoring {figures['scoring_ratio']['median']:.2f}x PyTorch, target {SCORING_TARGET}x, "
               f"which would take {figures['scoring_needs']['median']:.0%} of the core's peak "
               f"({figures['scoring_of_peak']['median']:.0%} reached)")
    if key == SGEMM_TARGET[:2] and not figures["of_sgemm"]:
        yield f"{where}: no OpenBLAS to measure sgemm with, target {SGEMM_TARGET[2]:.0%} of it"
    elif key == SGEMM_TARGET[:2] and figures["of_sgemm"]["median"] < SGEMM_TARGET[2]:
        yield f"{where}: {figures['of_sgemm']['median']:.0%} of sgemm, target {SGEMM_TARGET[2]:.0%}"


def spread(s, form):
    return f"{s['median']:{form}} ({s['min']:{form}}..{s['max']:{form}})"


def line(f):
    of_sgemm = spread(f["of_sgemm"], ".2f") if f["of_sgemm"] else "no OpenBLAS"
    return (f"{f['net']:>20} {f['batch']:>6} {f['steps_per_second']['median']:>10.0f} "
            f"{f['torch_steps_per_second']['median']:>9.0f}   {spread(f['ratio'], '.2f'):<24}"
            f"{spread(f['scoring_ratio'], '.2f'):<24}{f['scoring_of_peak']['median']:>8.0%} {f['scoring_needs']['median']:>6.0%}   "
            f"{of_sgemm}")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ringward", nargs="?", default=str(ROOT / "build/release/bin/ringward"))
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--net", nargs="+", default=["20,10,3,10,20", "100,128,64,128,100"])
    parser.add_argument("--batch", default="32,256,1024")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--json", help="write all figures to this file")
    return parser.parse_args()


def main():
    args = parse()
    torch, blas = load_torch()
    print(f"PyTorch {torch.__version__}, one thread, BLAS: {blas}; {args.runs} alternating runs of {args.seconds} s each")
    print(f"{'net':>20} {'batch':>6} {'ringward/s':>10} {'torch/s':>9}   {'ratio (min..max)':<24}"
          f"{'scoring (min..max)':<24}{'of peak':>8} {'needs':>6}   of sgemm (min..max)")
    rows = []
    for net in args.net:
        for batch in args.batch.split(","):
            rows.append(measure(torch, args, net, int(batch)))
            print(line(rows[-1]), flush=True)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps({"torch": torch.__version__, "torch_blas": blas, "figures": rows},
                                                      indent=2) + "\n")
    problems = [problem for figures in rows for problem in missed(figures)]
    for problem in problems:
        print(f"below target: {problem}")
    if args.check and problems:
        sys.exit(1)


if __name__ == "__main__":
    main()
