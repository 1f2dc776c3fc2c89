#!/usr/bin/env python3
"""Kernels of attnc beside cuDNN and FlexAttention on a GPU: bf16, 16384 tokens, heads times head dim 2048.

  peers.py                                  everything; a few minutes
  peers.py --quick                          sequences of 4096, fewer rounds
  peers.py --only cudnn/d128 --only flex    points whose name contains one of these; --list shows the names
  peers.py --cycles                         cycles and shares of the tensor cores' peak, by ncu, instead of times
  peers.py --data all --accuracy            speed and errors by data instead, in bf16 and f16: see peers_data.py
  peers.py --json out.json                  the numbers; later: peers.py --from out.json --markdown docs/benchmarks.md

Wall time on one GPU drifts with its clock, so nothing is compared over more than a few milliseconds: both sides run in
short bursts in turns, with pauses between, and what counts is the median of the ratios of neighbours.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import sys
import tempfile
import time
from typing import Any, Callable

import peers_report
from peers_bench import Bench, attempt, attempt_each
from peers_cases import LEARNED, Case, all_cases
from peers_cycles import measure_cycles, run_for_cycles
from peers_data import data_points, find_model, measure_data, parse_columns

BACKWARD_OWN_VARIANTS = ("alibi", "window", "gqa", "sinks", "softcap")
FLEX_VARIANTS = ("softcap", "softcap_no_lse", "alibi", "window", "documents")
OWN_VARIANTS = ("alibi", "window", "gqa", "sinks", "softcap", "softcap_no_lse", "dense")
OTHERS = ("block_mask", "host", "workspace", "compile", "cpu")  # what is no point
BLOCK_MASK_VARIANTS = ("documents", "dense")
OTHER_DIMS = (32, 96, 192)  # of the schedules for sm_90a that no other point shows
# Elements that take registers of their own, and a list where two consumers work on it, by head dims.
HEAVY = [(variant, dim) for variant in ("bias", "dropout") for dim in (64, 128, 256)] + [("documents", 64)]
# A window's schedule for fewer queries; sequences beside a batch without ends of their own.
SHORT = (("window", 2048), ("packed", 2048), ("packed", 256), ("lengths", 2048))


def all_points(quick: bool) -> list[tuple[str, Case]]:
    """Names and cases; the name begins with the peer."""
    points = []
    long = 4096 if quick else 16384
    for dim in (64, 128, 256):
        for sequence in (4096,) if quick else (1024, 4096, 16384):
            for mask in ("full", "causal"):
                points.append((f"cudnn/d{dim}/{sequence // 1024}k/{mask}", Case(mask, dim, sequence)))
    points += [(name.replace("cudnn/", "nvrtc/"), dataclasses.replace(case, cuda=True)) for name, case in points]
    points += [(f"flex/{variant}", Case(variant, 128, long)) for variant in FLEX_VARIANTS]
    points += [(f"own/{variant}", Case(variant, 128, long)) for variant in OWN_VARIANTS]
    points += [(f"own/{variant}/{length}", Case(variant, 128, length)) for variant, length in SHORT]
    points += [(f"own/{variant}/d{dim}", Case(variant, dim, 4096)) for variant, dim in HEAVY]
    points += [(f"bias/{peer}/d{dim}/4k/full", Case("full_bias", dim, 4096)) for peer in ("cudnn", "flex") for dim in (64, 128, 256)]
    short = [Case("packed", dim, 256) for dim in (64, 128)]
    points += [(f"packed/{peer}/d{case.dim}/{case.batch} of {case.sequence}", case)
               for peer in ("cudnn", "flash2") for case in short]
    # The two peers that drop weights, and the one that has no instructions of Hopper's either.
    dropped = [Case("dropout", dim, 4096) for dim in (64, 128, 256)]
    points += [(f"dropout/d{case.dim}/4k/causal", case) for case in dropped]
    points += [(f"flash2/dropout/d{case.dim}/4k/causal", case) for case in dropped]
    points += [(f"flash2/sm_80/d{dim}/{sequence // 1024}k/{mask}", Case(mask, dim, sequence, warps=True))
               for dim in (64, 128, 256) for sequence in sorted({4096, long}) for mask in ("full", "causal")]
    points += [("backward/" + name, dataclasses.replace(case, backward=True)) for name, case in points
               if name.startswith(("cudnn/", "flex/", "bias/", "dropout/", "flash2/")) and case.has_lse]
    points += [(f"backward/own/{variant}", Case(variant, 128, long, backward=True)) for variant in BACKWARD_OWN_VARIANTS]
    points += [(f"backward/learned/{variant}/d{dim}", Case(variant, dim, 4096, backward=True))
               for variant in LEARNED for dim in (64, 128, 256)]
    points += [(f"backward/deterministic/d{dim}/{length // 1024}k/{mask}",
                Case(mask, dim, length, backward=True, deterministic=True))
               for dim in (64, 128, 256) for length in (1024, 4096, 16384) for mask in ("full", "causal")]
    points += [(f"rest/d{dim}/4k/{mask}", Case(mask, dim, 4096)) for dim in OTHER_DIMS for mask in ("full", "causal")]
    points += [(f"rest/f32/d{dim}/4k/causal", Case("causal", dim, 4096, element="f32")) for dim in (64, 128, 256)]
    points += [(f"rest/sm_80/d{dim}/4k/causal", Case("causal", dim, 4096, warps=True)) for dim in (64, 128, 256)]
    return points


def cpu_points() -> list[tuple[str, Case]]:
    """Names and cases of the CPU target."""
    return [(f"cpu/{what}/{element}/d{dim}/{mask}", Case(mask, dim, 4096, element=element, backward=what == "gradients"))
            for what in ("forward", "gradients") for element in ("f32", "bf16") for dim in (64, 128)
            for mask in ("full", "causal")]


def measure_all(options: argparse.Namespace, points: list[tuple[str, Case]], folder: pathlib.Path,
                save: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Times of all points, and what else is asked for. What there is of the report is saved on the way, so that a run
    that is cut off has not been in vain."""
    bench = Bench(options, folder)
    torch_sms = bench.torch.cuda.get_device_properties(0).multi_processor_count
    report: dict[str, Any] = {"facts": bench.facts(), "multiprocessors": torch_sms, "points": [], "errors": {}}
    errors = report["errors"]
    others = {name for name in OTHERS
              if wanted(options, name) or any(only.startswith(name + "/") for only in options.only)}
    cases = all_cases(points)
    began = time.perf_counter()
    bench.images = bench.compiler.compile_all(cases)
    print(f"compiled {len(bench.images)} kernels in {time.perf_counter() - began:.1f} s", flush=True)
    for name, case in points:
        result = attempt(errors, name, lambda name=name, case=case: bench.measure(name, case))
        if result:
            report["points"].append(result)
            print(peers_report.line(result), flush=True)
            save(report)
        bench.torch.cuda.empty_cache()
    if "block_mask" in others:
        lists = [case for _, case in points if case.variant in BLOCK_MASK_VARIANTS and not case.backward]
        report["block_mask"] = attempt_each(errors, "block_mask", list({case.image: case for case in lists}.values()),
                                        bench.measure_block_mask)
        for entry in report["block_mask"]:
            print(f"block mask {entry['case']}: {100 * entry['share']:.1f} % of the time of a launch", flush=True)
    if "host" in others:
        report["host"] = attempt(errors, "host", lambda: bench.measure_host(Case("causal", 128, 1024)))
        print("host", report["host"], flush=True)
    if "workspace" in others:
        sizes = [Case("causal", 128, 4096), *{case.image: case for _, case in points if not case.backward}.values()]
        report["workspace"] = attempt_each(errors, "workspace", sizes, bench.measure_workspace)
        most = max((entry["taken_bytes"] for entry in report["workspace"]), default=0)
        print(f"workspace: {most} bytes at most over {len(report['workspace'])} kernels", flush=True)
    if "compile" in others:
        wants = [Case("causal", dim, 4096) for dim in (64, 128, 256)] + [Case("softcap", 128, 4096)]
        report["compile"] = attempt_each(errors, "compile", wants, bench.measure_compilation)
        for entry in report["compile"]:
            print(f"compile {entry['case']}: {entry['seconds']:.2f} s, ptxas alone {entry['ptxas_seconds']:.2f} s, "
                  f"{entry['more_seconds']:+.2f} s", flush=True)
    save(report)
    if "cpu" in others:
        report["cpu"] = []
        for name, case in cpu_points():
            entry = attempt(errors, name, lambda case=case: bench.measure_cpu(case)) if wanted(options, name) else None
            if entry:
                report["cpu"].append(entry)
                save(report)
                print(f"{name}: {entry['seconds']:.3f} s, PyTorch's {entry['peer_seconds']:.3f} s on {entry['threads']} "
                      f"threads, {entry['ratio']:.2f} times as fast", flush=True)
    return report


def wanted(options: argparse.Namespace, name: str) -> bool:
    return not options.only or any(only in name for only in options.only)


def find_facts(report: dict[str, Any]) -> dict[str, str]:
    """What was measured on what; empty where nothing was."""
    return report.get("facts") or report.get("data_facts") or {}


def join_reports(sources: list[str]) -> dict[str, Any]:
    """The numbers of several files as one report, which is of one commit on one kind of GPU."""
    report: dict[str, Any] = {}
    for source in sources:
        part = json.loads(pathlib.Path(source).read_text(encoding="utf-8"))
        facts = find_facts(part)
        for fact in ("Commit", "GPU"):
            expected, found = (find_facts(report) or facts)[fact], facts[fact]
            if found != expected:
                sys.exit(f"peers.py: error: {source}: {fact}: expected '{expected}' as before, got '{found}'")
        # Points and rows may be of several runs.
        joined = {key: report.get(key, []) + part.get(key, []) for key in ("points", "cpu", "data", "left_out")}
        errors = {**report.get("errors", {}), **part["errors"]}
        report.update(part, errors=errors, **{key: found for key, found in joined.items() if found})
    return report


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--only", action="append", default=[], metavar="TEXT", help="points whose name contains TEXT")
    add("--list", action="store_true", help="print the names of the points and end")
    add("--quick", action="store_true", help="sequences of 4096, 5 rounds")
    add("--rounds", type=int, default=0, metavar="N", help="bursts of each side (11)")
    add("--cycles", action="store_true", help="count cycles under ncu instead of time")
    add("--data", action="append", default=[], metavar="D",
        help="normal, sigma=S, sink, grow, shrink or model, each a column, or all; --only chooses rows")
    add("--model", metavar="FILE", help="where model_logits.py wrote the model's queries and keys")
    add("--accuracy", action="store_true", help="with --data: errors of both sides against a reference in f64")
    add("--budget", type=float, default=0, metavar="S", help="with --data: leave out what would not end in S seconds")
    add("--json", metavar="FILE", help="write the numbers there")
    add("--from", dest="source", action="append", default=[], metavar="FILE", help="take numbers, measure nothing")
    add("--markdown", metavar="FILE", help="write them as a section of that page")
    add("--cycles-child", metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.rounds = options.rounds or (5 if options.quick or options.data else 11)
    try:
        options.data = parse_columns(options.data)
        if options.data == ["model"]:
            find_model(options.model)
    except (ValueError, FileNotFoundError) as error:
        sys.exit(f"peers.py: error: --data: {error}")
    if options.data and options.cycles:
        sys.exit("peers.py: error: expected --data or --cycles, got both")
    return options


def main() -> int:
    options = parse_options()
    points = data_points(options.quick) if options.data else all_points(options.quick)
    if options.list:
        print("\n".join([name for name, _ in points] + ([] if options.data else list(OTHERS))))
        return 0
    points = [point for point in points if wanted(options, point[0])]
    report: dict[str, Any] = {}

    def save(found: dict[str, Any]) -> None:
        if options.json:
            pathlib.Path(options.json).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")

    with tempfile.TemporaryDirectory(prefix="attnc-peers-") as name:
        folder = pathlib.Path(name)
        if options.cycles_child:
            run_for_cycles(options, points, pathlib.Path(options.cycles_child).parent)
            return 0
        if options.source:
            report = join_reports(options.source)
        elif options.data:
            report = measure_data(options, points, folder, save)
        elif options.cycles:
            report = measure_cycles(options, points, folder)
        else:
            report = measure_all(options, points, folder, save)
    if not options.source:
        for summary in peers_report.summaries(report):
            print(summary)
    save(report)
    if options.markdown:
        peers_report.write(pathlib.Path(options.markdown), report)
    return 1 if report.get("errors") else 0


if __name__ == "__main__":
    sys.exit(main())
