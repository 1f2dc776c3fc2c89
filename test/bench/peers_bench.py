"""What peers.py measures in one process: bursts of both sides in turns, and what a launch costs beside its kernel."""

from __future__ import annotations

import argparse
import ctypes
import dataclasses
import datetime
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import time
import traceback
from typing import Any, Callable

from attnc_runtime import Kernel, Library
from peers_cases import (
    Case, Data, call_flex, call_sdpa, call_sdpa_backward, call_varlen, choose_backend, make_data, peer_of,
)
from peers_compiler import HERE, TARGET, Compiler

SLEEP_CYCLES = 1_500_000  # hides the host's launches behind a GPU that waits
BURST_SECONDS = 2e-3
PAUSE_SECONDS = 0.03
CPU_ROUNDS = 3
COMPILE_ROUNDS = 9

Run = Callable[[], Any]


def find_commit() -> str:
    if (HERE / "commit").exists():
        return (HERE / "commit").read_text(encoding="utf-8").strip()
    asked = subprocess.run(
        ["git", "-C", str(HERE), "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=False
    )
    return asked.stdout.strip() or "unknown"


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

    def choose_count(self, run: Run) -> int:
        """How many runs make a burst."""
        run()
        self.torch.cuda.synchronize()
        count = max(1, round(BURST_SECONDS / self.burst(run, 3)))
        time.sleep(PAUSE_SECONDS)
        return count

    def paused_burst(self, run: Run, count: int) -> float:
        """Seconds of one of `count` runs, after which the chip rests."""
        seconds = self.burst(run, count)
        time.sleep(PAUSE_SECONDS)
        return seconds

    def pair(self, ours: Run, theirs: Run) -> dict[str, Any]:
        """Seconds of both, and how many times as fast ours is."""
        counts = [self.choose_count(run) for run in (ours, theirs)]
        rounds = []
        for _ in range(self.options.rounds):
            rounds.append([self.paused_burst(run, count) for run, count in zip((ours, theirs), counts)])
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
        ours, data = self.bind(case)
        peer = peer_of(name)
        if peer == "flash2" and case.variant == "packed":
            return ours, call_varlen(case, data), data, case
        if peer in ("cudnn", "rest", "dropout", "flash2"):
            call = call_sdpa_backward if case.backward else call_sdpa
            return ours, call(case, data, self.torch), data, case
        if peer == "flex":
            return ours, call_flex(case, data, self.torch), data, case
        if peer == "nvrtc":
            same = dataclasses.replace(case, cuda=False)
            return ours, self.bind(same)[0], data, same
        if peer == "deterministic":
            same = dataclasses.replace(case, deterministic=False)
            return ours, self.bind(same)[0], data, same
        if peer == "learned":
            given = dataclasses.replace(case, variant="full_bias")
            return ours, self.bind(given)[0], data, given
        plain = Case("causal", case.dim, case.sequence, backward=case.backward)
        return ours, self.bind(plain)[0], data, plain

    def bind(self, case: Case) -> tuple[Run, Data]:
        """Our run, and its data; that of a backward has the forward's results."""
        data = make_data(case, self.torch)
        if not case.backward:
            return self.kernel(case).bind(*data.arguments()), data
        self.kernel(case.forward)(*data.arguments())
        return self.kernel(case).bind(*data.backward_arguments(self.torch)), data

    def difference(self, ours: Run, theirs: Run, data: Data) -> float:
        """The greatest distance between both results; NaN where ours leaves something out."""
        ours()
        expected = theirs()
        self.torch.cuda.synchronize()
        if expected is None:
            return 0.0
        if isinstance(expected, tuple):
            pairs = zip(data.gradients, expected)
            return max((own.transpose(1, 2).float() - peers.float()).abs().max().item() for own, peers in pairs)
        return (data.out.float() - expected.transpose(1, 2).reshape(data.out.shape).float()).abs().max().item()

    def measure(self, name: str, case: Case) -> dict[str, Any]:
        with self.torch.no_grad(), choose_backend(case, peer_of(name)):
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
        with self.torch.no_grad(), choose_backend(case):
            bound, peer = kernel.bind(*data.arguments()), call_sdpa(case, data, self.torch)
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

    def measure_block_mask(self, case: Case) -> dict[str, Any]:
        """The share of a launch's time that its block mask takes: replays of a graph of both kernels, and of one
        whose block mask is left out, in turns. The list is ready then."""
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
        """Seconds from spec to image in a process of its own, nothing cached, and of ptxas alone on the same PTX, in
        turns: what else runs on the host would else be taken for one of them."""
        ptx = self.compiler.emit(case, "ptx")
        ptxas = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
        output = str(ptx.with_suffix(".cubin"))
        command = [ptxas, "-arch=" + TARGET.split(":")[1], "-O3", str(ptx), "-o", output]

        def seconds(run: Run) -> float:
            began = time.perf_counter()
            run()
            return time.perf_counter() - began

        ours, alone = [], []
        for _ in range(COMPILE_ROUNDS):
            ours.append(seconds(lambda: self.compiler.emit(case, "image")))
            alone.append(seconds(lambda: subprocess.run(command, check=True, capture_output=True)))
        return {
            "case": case.image, "seconds": statistics.median(ours), "ptxas_seconds": statistics.median(alone),
            "more_seconds": statistics.median(a - b for a, b in zip(ours, alone)),
        }

    def measure_cpu(self, case: Case) -> dict[str, Any]:
        """Seconds of the CPU target and of PyTorch's attention on the same cores, in turns."""
        path = self.compiler.folder / f"cpu_{case.image}.mlir"
        path.write_text(case.spec(), encoding="utf-8")
        sizes = f"B={case.batch},Sq={case.sequence},Sk={case.sequence}"
        command = [self.compiler.program, "bench", str(path), "--shape", sizes, "--target", "cpu", "--json"]
        command += ["--backward"] * case.backward
        dtype = self.torch.bfloat16 if case.element == "bf16" else self.torch.float32
        shape = (case.batch, case.heads, case.sequence, case.dim)
        values = [self.torch.randn(shape).to(dtype).requires_grad_(case.backward) for _ in range(3)]
        attend = self.torch.nn.functional.scaled_dot_product_attention
        causal = case.variant == "causal"

        def ours() -> float:
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            return json.loads(done.stdout)["median_s"]

        def theirs() -> float:
            times = []
            with self.torch.set_grad_enabled(case.backward):
                out = attend(*values, is_causal=causal) if case.backward else None
                for _ in range(2 if case.backward else 5):
                    began = time.perf_counter()
                    if case.backward:
                        self.torch.autograd.grad(out, values, out.detach(), retain_graph=True)
                    else:
                        attend(*values, is_causal=causal)
                    times.append(time.perf_counter() - began)
            return statistics.median(times)

        theirs()
        pairs = [(ours(), theirs()) for _ in range(CPU_ROUNDS)]
        return {
            "what": "gradients" if case.backward else "forward",
            "element": case.element,
            "dim": case.dim,
            "mask": case.variant,
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
