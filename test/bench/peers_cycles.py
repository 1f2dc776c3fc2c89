"""Cycles of the points of peers.py, counted by ncu, and shares of the tensor cores' peak."""

from __future__ import annotations

import argparse
import csv
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
from typing import Any

import peers_report
from peers_bench import Bench, attempt
from peers_cases import Case, all_cases, choose_backend, peer_of
from peers_compiler import HERE, Compiler

FLOPS_PER_CYCLE = 4096  # of one multiprocessor's tensor cores in bf16
MARKER, CYCLE_RUNS = "spin_kernel", 3
LIMIT_S = 300  # all points take 100 s on the host of an H200


def run_for_cycles(options: argparse.Namespace, points: list[tuple[str, Case]], folder: pathlib.Path) -> None:
    """Under ncu: a marker before each side of each point, then its runs. Says what it ran in a file. Images are in the
    folder already: compilers are processes, and a process that ncu watches had better start none."""
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # no processes for these either
    bench = Bench(options, folder)
    torch, sections, errors = bench.torch, [], {}
    bench.images = bench.compiler.compile_all(all_cases(points))
    for number, (name, case) in enumerate(points, 1):
        print(f"counting {number} of {len(points)}: {name}", file=sys.stderr, flush=True)
        with torch.no_grad(), choose_backend(case, peer_of(name)):
            found = attempt(errors, name, lambda n=name, c=case: {"runs": bench.runs(n, c)})
            if not found:
                continue
            ours, theirs, _, peer_case = found["runs"]
            sides = (("ours", ours, case), ("peer", theirs, peer_case))
            for side, run, run_case in sides:
                run()
                torch.cuda.synchronize()
                torch.cuda.profiler.start()
                torch.cuda._sleep(1000)  # pylint: disable=protected-access
                for _ in range(CYCLE_RUNS):
                    run()
                torch.cuda.synchronize()
                torch.cuda.profiler.stop()
                sections.append({"name": name, "side": side, "flops": run_case.flops()})
            torch.cuda.empty_cache()
    sms = torch.cuda.get_device_properties(0).multi_processor_count
    text = json.dumps({"sections": sections, "errors": errors, "multiprocessors": sms, "facts": bench.facts()})
    pathlib.Path(options.cycles_child).write_text(text, encoding="utf-8")


def read_ncu(path: pathlib.Path) -> list[list[float]]:
    """The cycles of the kernels that follow each marker, from ncu's CSV."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    first = next((n for n, text in enumerate(lines) if text.startswith('"ID"')), None)
    if first is None:
        raise RuntimeError("ncu wrote no table: " + " | ".join(lines[-5:]))
    sections: list[list[float]] = []
    for row in csv.DictReader(lines[first:]):
        if row.get("Metric Name") != "sm__cycles_elapsed.max":
            continue
        if MARKER in row["Kernel Name"]:
            sections.append([])
        elif sections:
            sections[-1].append(float(row["Metric Value"].replace(",", "")))
    return sections


def count_cycles(sections: list[dict[str, Any]], kernels: list[list[float]], sms: int) -> list[dict[str, Any]]:
    """Cycles of one run and the share of the tensor cores' peak, for both sides of each point."""
    if len(sections) != len(kernels):
        raise RuntimeError(f"ncu saw {len(kernels)} markers, expected {len(sections)}")
    points: dict[str, dict[str, Any]] = {}
    for section, cycles in zip(sections, kernels):
        each = max(1, len(cycles) // CYCLE_RUNS)
        runs = [sum(cycles[n : n + each]) for n in range(0, len(cycles) - each + 1, each)]
        if not runs:
            continue
        median = statistics.median(runs)
        point = points.setdefault(section["name"], {"name": section["name"]})
        point[section["side"]] = {
            "cycles": median,
            "kernels": each,
            "first_share": statistics.median(cycles[::each]) / median,
            "share": section["flops"] / (median * sms * FLOPS_PER_CYCLE),
        }
    return list(points.values())


def run_within(command: list[str], seconds: int) -> int:
    """The exit status of a command, which is ended with all that it started where it takes longer."""
    with subprocess.Popen(command, start_new_session=True) as process:
        try:
            return process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            sys.exit(f"peers.py: error: ncu did not end within {seconds} s; the point named last is where it was")
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def measure_cycles(options: argparse.Namespace, points: list[tuple[str, Case]], folder: pathlib.Path) -> dict[str, Any]:
    """Compiles, and runs itself under ncu: one process for all points."""
    Compiler(folder).compile_all(all_cases(points))
    ncu = shutil.which("ncu") or "/usr/local/cuda/bin/ncu"
    log, sections = folder / "ncu.csv", folder / "sections.json"
    command = [ncu, "--clock-control", "none", "--csv", "--log-file", str(log), "--profile-from-start", "off"]
    command += ["--target-processes", "application-only", "--metrics", "sm__cycles_elapsed.max"]
    command += [sys.executable, str(HERE / "peers.py"), "--cycles-child", str(sections)]
    command += ["--quick"] if options.quick else []
    for only in options.only:
        command += ["--only", only]
    status = run_within(command, LIMIT_S)
    if status or not sections.exists():
        tail = log.read_text(encoding="utf-8", errors="replace")[-600:] if log.exists() else ""
        sys.exit(f"peers.py: error: ncu ended with exit status {status}: {tail}")
    ran = json.loads(sections.read_text(encoding="utf-8"))
    counted = count_cycles(ran["sections"], read_ncu(log), ran["multiprocessors"])
    for point in counted:
        print(peers_report.cycles_line(point), flush=True)
    return {"facts": ran["facts"], "cycles": counted, "errors": ran["errors"]}
