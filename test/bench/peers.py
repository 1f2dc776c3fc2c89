#!/usr/bin/env python3
"""Kernels of attnc beside cuDNN and FlexAttention on a GPU: bf16, 16384 tokens, heads times head dim 2048.

  peers.py                                  everything; a few minutes
  peers.py --quick                          sequences of 4096, fewer rounds
  peers.py --only cudnn/d128 --only flex    points whose name contains one of these; --list shows the names
  peers.py --cycles                         cycles and shares of the tensor cores' peak, by ncu, instead of times
  peers.py --json out.json                  the numbers; later: peers.py --from out.json --markdown docs/benchmarks.md

Wall time on one GPU drifts with its clock, so nothing is compared over more than a few milliseconds: both sides run in
short bursts in turns, with pauses between, and what counts is the median of the ratios of neighbours.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import csv
import ctypes
import datetime
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
from typing import Any, Callable

import peers_report
from attnc_runtime import Kernel, Library
from peers_cases import Case, Data, call_cudnn, call_flex, make_data

HERE = pathlib.Path(__file__).resolve().parent
ATTNC = (HERE / "../../../bin/attnc", HERE / "../../build/release/bin/attnc")
TARGET, OLDER_TARGET = "nvptx:sm_90a", "nvptx:sm_80"
SLEEP_CYCLES = 1_500_000  # hides the host's launches behind a GPU that waits
BURST_SECONDS = 2e-3
PAUSE_SECONDS = 0.03
FLOPS_PER_CYCLE = 4096  # of one multiprocessor's tensor cores in bf16
FLEX_VARIANTS = ("softcap", "alibi", "window", "documents")
OWN_VARIANTS = ("alibi", "window", "gqa", "sinks", "softcap", "dense")
CPU_MASKS, CPU_ROUNDS = ("full", "causal"), 3
OTHERS = ("census", "host", "workspace", "compile", "cpu")  # what is no point
CENSUS_VARIANTS = ("documents", "dense")
OTHER_DIMS = (32, 96, 192)  # of the schedules for sm_90a that no other point shows
SEQUENCES = (("packed", 2048), ("packed", 256), ("lengths", 2048))  # beside a batch without ends of their own

Run = Callable[[], Any]


def find_program() -> str:
    for place in ATTNC:
        if place.exists():
            return str(place.resolve())
    return shutil.which("attnc") or sys.exit("peers.py: error: there is no attnc; is this an archive or a build tree?")


def find_commit() -> str:
    if (HERE / "commit").exists():
        return (HERE / "commit").read_text(encoding="utf-8").strip()
    asked = subprocess.run(
        ["git", "-C", str(HERE), "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=False
    )
    return asked.stdout.strip() or "unknown"


def all_points(quick: bool) -> list[tuple[str, Case]]:
    """Names and cases; the name begins with the peer."""
    points = []
    long = 4096 if quick else 16384
    for dim in (64, 128, 256):
        for sequence in (4096,) if quick else (1024, 4096, 16384):
            for mask in ("full", "causal"):
                points.append((f"cudnn/d{dim}/{sequence // 1024}k/{mask}", Case(mask, dim, sequence)))
    points += [(f"flex/{variant}", Case(variant, 128, long)) for variant in FLEX_VARIANTS]
    points += [(f"own/{variant}", Case(variant, 128, long)) for variant in OWN_VARIANTS]
    points += [(f"own/{variant}/{length}", Case(variant, 128, length)) for variant, length in SEQUENCES]
    points += [(f"rest/d{dim}/4k/{mask}", Case(mask, dim, 4096)) for dim in OTHER_DIMS for mask in ("full", "causal")]
    points += [(f"rest/sm_80/d{dim}/4k/causal", Case("causal", dim, 4096, warps=True)) for dim in (64, 128, 256)]
    return points


class Compiler:
    """Images of cases, compiled once each."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.program = find_program()
        self.environment = dict(os.environ, ATTNC_CACHE_DIR=str(folder / "cache"))

    def spec_path(self, case: Case) -> pathlib.Path:
        path = self.folder / f"{case.image}.mlir"
        path.write_text(case.spec(), encoding="utf-8")
        return path

    def emit(self, case: Case, stage: str) -> pathlib.Path:
        """Compiles to a stage; the file."""
        path = self.folder / f"{case.image}.{stage}"
        schedule = ["--schedule", self.older_schedules(case)] if case.warps else []
        self.compile(case, ["--target", TARGET, "--emit", stage, "-o", str(path), *schedule])
        return path

    def older_schedules(self, case: Case) -> str:
        """What the compiler chooses for a GPU without Hopper's instructions."""
        text = self.compile(case, ["--target", OLDER_TARGET, "--emit", "attn", "-o", "-"])
        found = dict.fromkeys(re.findall(r"#attn\.schedule<[^<>]*<[^<>]*>[^<>]*>", text))
        return "[" + ", ".join(found) + "]"

    def compile(self, case: Case, options: list[str]) -> str:
        """What `attnc compile` prints for a case."""
        command = [self.program, "compile", str(self.spec_path(case)), *options]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"attnc compile {case.image}: {done.stderr.strip()[:600] or done.returncode}")
        return done.stdout

    def compile_all(self, cases: list[Case]) -> dict[str, pathlib.Path | Exception]:
        """The image of each case, or why there is none."""
        images: dict[str, pathlib.Path | Exception] = {}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            futures = {case.image: pool.submit(self.emit, case, "image") for case in cases}
            for name, future in futures.items():
                error = future.exception()
                images[name] = error if isinstance(error, Exception) else future.result()
        return images


class Bench:
    """Measures points in this process."""

    def __init__(self, options: argparse.Namespace, folder: pathlib.Path) -> None:
        import torch  # pylint: disable=import-outside-toplevel  # a second's work that --list and --from do without

        torch.cuda.init()
        torch.zeros(1, device="cuda")  # the context, before anything is loaded into it
        self.torch = torch
        self.options = options
        self.library = Library()
        self.compiler = Compiler(folder)
        self.images: dict[str, pathlib.Path | Exception] = {}
        self.start, self.end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def kernel(self, case: Case) -> Kernel:
        image = self.images[case.image]
        if isinstance(image, Exception):
            raise image
        return Kernel(image.read_bytes(), self.library)

    def burst(self, run: Run, count: int) -> float:
        """Seconds of one of `count` runs."""
        self.torch.cuda._sleep(SLEEP_CYCLES)  # pylint: disable=protected-access
        self.start.record()
        for _ in range(count):
            run()
        self.end.record()
        self.torch.cuda.synchronize()
        return self.start.elapsed_time(self.end) * 1e-3 / count

    def pair(self, ours: Run, theirs: Run) -> dict[str, Any]:
        """Seconds of both, and how many times as fast ours is."""
        counts = []
        for run in (ours, theirs):
            run()
            self.torch.cuda.synchronize()
            counts.append(max(1, round(BURST_SECONDS / self.burst(run, 3))))
            time.sleep(PAUSE_SECONDS)
        rounds = []
        for _ in range(self.options.rounds):
            seconds = []
            for run, count in zip((ours, theirs), counts):
                seconds.append(self.burst(run, count))
                time.sleep(PAUSE_SECONDS)
            rounds.append(seconds)
        ratios = sorted(theirs_s / ours_s for ours_s, theirs_s in rounds)
        return {
            "seconds": statistics.median(pair[0] for pair in rounds),
            "peer_seconds": statistics.median(pair[1] for pair in rounds),
            "ratio": statistics.median(ratios),
            "ratio_low": ratios[len(ratios) // 10],
            "ratio_high": ratios[-1 - len(ratios) // 10],
        }

    def runs(self, name: str, case: Case) -> tuple[Run, Run, Data, Case]:
        """Our run, the peer's, our data, and the peer's case."""
        data = make_data(case, self.torch)
        ours = self.kernel(case).bind(*data.arguments())
        if name.startswith(("cudnn/", "rest/")):
            return ours, call_cudnn(case, data, self.torch), data, case
        if name.startswith("flex/"):
            return ours, call_flex(case, data, self.torch), data, case
        plain = Case("causal", case.dim, case.sequence)
        twin = make_data(plain, self.torch)
        return ours, self.kernel(plain).bind(*twin.arguments()), data, plain

    def difference(self, ours: Run, theirs: Run, data: Data) -> float:
        """The greatest distance between both results; NaN where ours leaves something out."""
        ours()
        expected = theirs()
        self.torch.cuda.synchronize()
        if expected is None:
            return 0.0
        return (data.out.transpose(1, 2).float() - expected.float()).abs().max().item()

    def measure(self, name: str, case: Case) -> dict[str, Any]:
        from torch.nn.attention import SDPBackend, sdpa_kernel  # pylint: disable=import-outside-toplevel

        with self.torch.no_grad(), sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            ours, theirs, data, peer_case = self.runs(name, case)
            result: dict[str, Any] = {"name": name, "flops": case.flops(), "peer_flops": peer_case.flops()}
            result["difference"] = self.difference(ours, theirs, data)
            result.update(self.pair(ours, theirs))
        result["tflops"] = case.flops() / result["seconds"] * 1e-12
        result["peer_tflops"] = peer_case.flops() / result["peer_seconds"] * 1e-12
        # By FLOP where the work differs.
        scale = case.flops() / peer_case.flops()
        for key in ("ratio", "ratio_low", "ratio_high"):
            result[key] *= scale
        return result

    def measure_host(self, case: Case) -> dict[str, Any]:
        """Microseconds of the host for one launch: ours from C and from Python, an empty call of the library from there,
        and PyTorch's of cuDNN."""
        from torch.nn.attention import SDPBackend, sdpa_kernel  # pylint: disable=import-outside-toplevel

        def cost(run: Run) -> float:
            best = []
            for _ in range(20):
                self.torch.cuda.synchronize()
                began = time.perf_counter()
                for _ in range(50):
                    run()
                best.append((time.perf_counter() - began) / 50)
            self.torch.cuda.synchronize()
            return statistics.median(best) * 1e6

        data = make_data(case, self.torch)
        kernel = self.kernel(case)
        with self.torch.no_grad(), sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            bound, peer = kernel.bind(*data.arguments()), call_cudnn(case, data, self.torch)
            return {
                "c_us": self.bench_program(case)["host_s"] * 1e6,
                "launch_us": cost(bound),
                "call_us": cost(self.library.functions.attnc_version),
                "bind_and_launch_us": cost(lambda: kernel(*data.arguments())),
                "peer_us": cost(peer),
            }

    def bench_program(self, case: Case) -> dict[str, Any]:
        """What `attnc bench` says of a case, in a process of its own."""
        shape = f"B={case.batch},Sq={case.sequence},Sk={case.sequence}"
        command = [self.compiler.program, "bench", str(self.compiler.spec_path(case)), "--shape", shape]
        done = subprocess.run([*command, "--target", TARGET, "--json"], check=True, capture_output=True, text=True)
        return json.loads(done.stdout)

    def measure_workspace(self, case: Case) -> dict[str, Any]:
        """Device memory that launches take beside their arguments, by asking before and after."""
        data = make_data(case, self.torch)
        kernel = self.kernel(case)
        run = kernel.bind(*data.arguments())
        self.torch.cuda.synchronize()
        before = self.torch.cuda.mem_get_info()[0]
        for _ in range(20):
            run()
        self.torch.cuda.synchronize()
        after = self.torch.cuda.mem_get_info()[0]
        return {"case": case.image, "sequence": case.sequence, "taken_bytes": before - after, **kernel.info()}

    def measure_census(self, case: Case) -> dict[str, Any]:
        """The share of a launch's time that the census of its tiles takes: replays of a graph of both kernels, and of one
        whose census is left out, in turns. The list is ready then."""
        data, stream = make_data(case, self.torch), self.torch.cuda.Stream()
        kernel = self.kernel(case)
        driver, handle = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(stream.cuda_stream)

        def call(name: str, *arguments: Any) -> None:
            if code := getattr(driver, name)(*arguments):
                raise RuntimeError(f"{name} gives {code}")

        with self.torch.cuda.stream(stream):
            size = kernel.bind(*data.arguments()).workspace_bytes()
            workspace = self.torch.empty(size, dtype=self.torch.uint8, device="cuda")
            run = kernel.bind(*data.arguments(), workspace=workspace)
            run()
            stream.synchronize()
            graph, root, count = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t(1)
            call("cuStreamBeginCapture_v2", handle, 2)  # CU_STREAM_CAPTURE_MODE_RELAXED
            run()
            call("cuStreamEndCapture", handle, ctypes.byref(graph))
            call("cuGraphGetRootNodes", graph, ctypes.byref(root), ctypes.byref(count))
            both, alone = ctypes.c_void_p(), ctypes.c_void_p()
            for program in (both, alone):
                call("cuGraphInstantiateWithFlags", ctypes.byref(program), graph, ctypes.c_ulonglong(0))
            call("cuGraphNodeSetEnabled", alone, root, 0)
            pair = self.pair(lambda: call("cuGraphLaunch", both, handle), lambda: call("cuGraphLaunch", alone, handle))
            for program in (both, alone):
                call("cuGraphExecDestroy", program)
            call("cuGraphDestroy", graph)
        return {"case": case.image, "sequence": case.sequence, "seconds": pair["seconds"], "share": 1 - pair["ratio"]}

    def measure_compilation(self, case: Case) -> dict[str, Any]:
        """Seconds from spec to image in a process of its own, nothing cached, and of ptxas alone on the same PTX."""
        ptx = self.compiler.emit(case, "ptx")
        ptxas = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"

        def seconds(run: Run) -> float:
            times = []
            for _ in range(3):
                began = time.perf_counter()
                run()
                times.append(time.perf_counter() - began)
            return statistics.median(times)

        output = str(ptx.with_suffix(".cubin"))
        command = [ptxas, "-arch=" + TARGET.split(":")[1], "-O3", str(ptx), "-o", output]
        ours = seconds(lambda: self.compiler.emit(case, "image"))
        alone = seconds(lambda: subprocess.run(command, check=True, capture_output=True))
        return {"case": case.image, "seconds": ours, "ptxas_seconds": alone, "ratio": ours / alone}

    def measure_cpu(self, mask: str) -> dict[str, Any]:
        """Seconds of the CPU target and of PyTorch's attention on the same cores, in turns: f32, 4096 rows of 128."""
        case = Case(mask, 128, 4096)
        path = self.compiler.folder / f"cpu_{case.image}.mlir"
        path.write_text(case.spec().replace("bf16", "f32"), encoding="utf-8")
        shape = f"B={case.batch},Sq={case.sequence},Sk={case.sequence}"
        command = [self.compiler.program, "bench", str(path), "--shape", shape, "--target", "cpu", "--json"]
        values = [self.torch.randn(case.batch, case.heads, case.sequence, case.dim) for _ in range(3)]
        attention = self.torch.nn.functional.scaled_dot_product_attention

        def ours() -> float:
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            return json.loads(done.stdout)["median_s"]

        def theirs() -> float:
            times = []
            for _ in range(5):
                began = time.perf_counter()
                attention(*values, is_causal=mask == "causal")
                times.append(time.perf_counter() - began)
            return statistics.median(times)

        theirs()
        pairs = [(ours(), theirs()) for _ in range(CPU_ROUNDS)]
        return {
            "mask": mask,
            "threads": self.torch.get_num_threads(),
            "seconds": statistics.median(pair[0] for pair in pairs),
            "peer_seconds": statistics.median(pair[1] for pair in pairs),
            "ratio": statistics.median(pair[1] / pair[0] for pair in pairs),
        }

    def facts(self) -> dict[str, str]:
        """What was measured, on what."""
        properties = self.torch.cuda.get_device_properties(0)
        asked = subprocess.run(
            ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
            capture_output=True, text=True, check=False,
        )
        version = subprocess.run([self.compiler.program, "--version"], capture_output=True, text=True, check=False)
        return {
            "Date": datetime.date.today().isoformat(),
            "Commit": find_commit(),
            "GPU": f"{properties.name}, {properties.multi_processor_count} multiprocessors",
            "Driver": asked.stdout.strip().splitlines()[0] if asked.stdout.strip() else "unknown",
            "attnc": " ".join(version.stdout.split()[:6]),
            "Peers": f"PyTorch {self.torch.__version__}, cuDNN {self.torch.backends.cudnn.version()}, "
            f"CUDA {self.torch.version.cuda}",
        }


def attempt(errors: dict[str, str], name: str, run: Callable[[], dict[str, Any]]) -> dict[str, Any] | None:
    """The result of `run`; an error is told, and the rest goes on."""
    try:
        return run()
    except Exception as error:  # pylint: disable=broad-exception-caught  # whatever a peer or a driver raises
        errors[name] = f"{type(error).__name__}: {error}"[:600]
        print(f"{name:24} failed: {errors[name]}", flush=True)
        if not isinstance(error, RuntimeError):
            traceback.print_exc()
        if "CUDA" in errors[name] and ("illegal" in errors[name].lower() or "LAUNCH_FAILED" in errors[name]):
            sys.exit("peers.py: error: the GPU is in an error; nothing after this would count")
        return None


def attempt_each(
    errors: dict[str, str], name: str, cases: list[Case], run: Callable[[Case], dict[str, Any]]
) -> list[dict[str, Any]]:
    """The results of `run` for all cases that it works for."""
    found = [attempt(errors, f"{name}/{case.image}", lambda case=case: run(case)) for case in cases]
    return [entry for entry in found if entry]


def measure_all(options: argparse.Namespace, points: list[tuple[str, Case]], folder: pathlib.Path) -> dict[str, Any]:
    """Times of all points, and what else is asked for."""
    bench = Bench(options, folder)
    torch_sms = bench.torch.cuda.get_device_properties(0).multi_processor_count
    report: dict[str, Any] = {"facts": bench.facts(), "multiprocessors": torch_sms, "points": [], "errors": {}}
    errors = report["errors"]
    others = {name for name in OTHERS if wanted(options, name)}
    cases = [case for _, case in points] + [Case("causal", 128, 4096)]
    began = time.perf_counter()
    bench.images = bench.compiler.compile_all(cases)
    print(f"compiled {len(bench.images)} kernels in {time.perf_counter() - began:.1f} s", flush=True)
    for name, case in points:
        result = attempt(errors, name, lambda name=name, case=case: bench.measure(name, case))
        if result:
            report["points"].append(result)
            print(peers_report.line(result), flush=True)
        bench.torch.cuda.empty_cache()
    if "census" in others:
        lists = [case for _, case in points if case.variant in CENSUS_VARIANTS]
        report["census"] = attempt_each(errors, "census", list({case.image: case for case in lists}.values()),
                                        bench.measure_census)
        for entry in report["census"]:
            print(f"census {entry['case']}: {100 * entry['share']:.1f} % of the time of a launch", flush=True)
    if "host" in others:
        report["host"] = attempt(errors, "host", lambda: bench.measure_host(Case("causal", 128, 1024)))
        print("host", report["host"], flush=True)
    if "workspace" in others:
        sizes = [Case("causal", 128, 4096), *{case.image: case for _, case in points}.values()]
        report["workspace"] = attempt_each(errors, "workspace", sizes, bench.measure_workspace)
        most = max((entry["taken_bytes"] for entry in report["workspace"]), default=0)
        print(f"workspace: {most} bytes at most over {len(report['workspace'])} kernels", flush=True)
    if "compile" in others:
        wants = [Case("causal", dim, 4096) for dim in (64, 128, 256)] + [Case("softcap", 128, 4096)]
        report["compile"] = attempt_each(errors, "compile", wants, bench.measure_compilation)
        for entry in report["compile"]:
            print(f"compile {entry['case']}: {entry['seconds']:.2f} s, ptxas alone {entry['ptxas_seconds']:.2f} s, "
                  f"{entry['ratio']:.2f} times", flush=True)
    if "cpu" in others:
        found = [attempt(errors, f"cpu/{mask}", lambda mask=mask: bench.measure_cpu(mask)) for mask in CPU_MASKS]
        report["cpu"] = [entry for entry in found if entry]
        for entry in report["cpu"]:
            print(f"cpu {entry['mask']}: {entry['seconds']:.3f} s, PyTorch's {entry['peer_seconds']:.3f} s on "
                  f"{entry['threads']} threads, {entry['ratio']:.2f} times as fast", flush=True)
    return report


MARKER, CYCLE_RUNS = "spin_kernel", 3


def run_for_cycles(options: argparse.Namespace, points: list[tuple[str, Case]], folder: pathlib.Path) -> None:
    """Under ncu: a marker before each side of each point, then its runs. Says what it ran in a file."""
    from torch.nn.attention import SDPBackend, sdpa_kernel  # pylint: disable=import-outside-toplevel

    bench = Bench(options, folder)
    torch, sections, errors = bench.torch, [], {}
    bench.images = bench.compiler.compile_all([case for _, case in points] + [Case("causal", 128, 4096)])
    with torch.no_grad(), sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        for name, case in points:
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


def measure_cycles(options: argparse.Namespace, folder: pathlib.Path) -> dict[str, Any]:
    """Runs itself under ncu: one process for all points."""
    ncu = shutil.which("ncu") or "/usr/local/cuda/bin/ncu"
    log, sections = folder / "ncu.csv", folder / "sections.json"
    command = [ncu, "--clock-control", "none", "--csv", "--log-file", str(log), "--profile-from-start", "off"]
    command += ["--metrics", "sm__cycles_elapsed.max", sys.executable, str(HERE / "peers.py")]
    command += ["--cycles-child", str(sections)] + (["--quick"] if options.quick else [])
    for only in options.only:
        command += ["--only", only]
    done = subprocess.run(command, check=False)
    if done.returncode or not sections.exists():
        tail = log.read_text(encoding="utf-8", errors="replace")[-600:] if log.exists() else ""
        sys.exit(f"peers.py: error: ncu ended with exit status {done.returncode}: {tail}")
    ran = json.loads(sections.read_text(encoding="utf-8"))
    points = count_cycles(ran["sections"], read_ncu(log), ran["multiprocessors"])
    for point in points:
        print(peers_report.cycles_line(point), flush=True)
    return {"facts": ran["facts"], "cycles": points, "errors": ran["errors"]}


def wanted(options: argparse.Namespace, name: str) -> bool:
    return not options.only or any(only in name for only in options.only)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--only", action="append", default=[], metavar="TEXT", help="points whose name contains TEXT")
    add("--list", action="store_true", help="print the names of the points and end")
    add("--quick", action="store_true", help="sequences of 4096, 5 rounds")
    add("--rounds", type=int, default=0, metavar="N", help="bursts of each side (11)")
    add("--cycles", action="store_true", help="count cycles under ncu instead of time")
    add("--json", metavar="FILE", help="write the numbers there")
    add("--from", dest="source", action="append", default=[], metavar="FILE", help="take numbers, measure nothing")
    add("--markdown", metavar="FILE", help="write them as a section of that page")
    add("--cycles-child", metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.rounds = options.rounds or (5 if options.quick else 11)
    return options


def main() -> int:
    options = parse_options()
    points = [point for point in all_points(options.quick) if wanted(options, point[0])]
    if options.list:
        print("\n".join([name for name, _ in all_points(options.quick)] + list(OTHERS)))
        return 0
    report: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="attnc-peers-") as name:
        folder = pathlib.Path(name)
        if options.cycles_child:
            run_for_cycles(options, points, folder)
            return 0
        if options.source:
            for source in options.source:
                report.update(json.loads(pathlib.Path(source).read_text(encoding="utf-8")))
        elif options.cycles:
            report = measure_cycles(options, folder)
        else:
            report = measure_all(options, points, folder)
    if not options.source:
        for summary in peers_report.summaries(report):
            print(summary)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    if options.markdown:
        peers_report.write(pathlib.Path(options.markdown), report)
    return 1 if report.get("errors") else 0


if __name__ == "__main__":
    sys.exit(main())
