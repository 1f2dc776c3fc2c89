"""Runs cases on a target, in a process that others feed: a crash or a hang costs one spec."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import re
import select
import signal
import subprocess
import tempfile
import time

import numpy as np

import tensors
from generate import Case
from gradients import names_of, run_spec_backward
from reference import SEQUENTIAL, TENSOR_CORES, run_spec
from scalars import Precision
from spec import element_type, shape_of

# What a pass says to itself: no user can act on it.
_INTERNAL = re.compile(
    r"failed to legalize|explicitly marked illegal|has no meaning in|missing \S*Interface registration|unregistered|"
    r"LLVM ERROR|Assertion|does not verify|failed to run|ptxas|unresolved materialization|does not dominate|"
    r"cannot be converted|failed without a message|gives other bits|CUDA_ERROR_|cannot read|has another rank"
)
# Variants of the baseline that a result may be measured by: see `compute_logits`.
BASELINES = (0, 1, 2, 3, 4, 8, *range(SEQUENTIAL, SEQUENTIAL + 8))
# Those of GPUs, where numbers that are multiplied have 16 bits or are rounded to TF32.
GPU_BASELINES = (TENSOR_CORES, TENSOR_CORES + 1)
# What the simulator found, of an operation of a tile program.
_SIMULATED = re.compile(r"error: '(?:tile|scf)\.\w+' (.*)")


@dataclasses.dataclass
class Verdict:
    """What came of one case: "right", "refused" or a fault."""

    kind: str
    reason: str = ""  # one line
    output: str = ""
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)  # by what they were spent on

    @property
    def fault(self) -> bool:
        return self.kind not in ("right", "refused")

    def same_fault(self, other: Verdict) -> bool:
        """Whether both show one fault, as far as words tell."""
        told = self.kind not in ("message", "crash") or self.words() == other.words()
        return self.fault and self.kind == other.kind and told

    def words(self) -> str:
        """The reason without what differs from spec to spec."""
        text = re.sub(r"^.*?: (error: )?(?=')|%\w+|-?\d+(\.\d+)?(e[-+]?\d+)?|'[^']*'?:\d+:\d+:", "#", self.reason)
        return re.sub(r"tensor<[^>]*>", "tensor", text)


def write_case(folder: pathlib.Path, case: Case) -> tuple[pathlib.Path, pathlib.Path]:
    folder.mkdir(parents=True, exist_ok=True)
    spec, inputs = folder / "spec.mlir", folder / "inputs.safetensors"
    spec.write_text(case.spec.text(), encoding="utf-8")
    elements = {name: shape_of(kind)[1] if kind.startswith("tensor") else kind for name, kind in case.spec.arguments.items()}
    given = {name: (elements[name], value) for name, value in case.inputs.items() if name in elements}
    tensors.write(inputs, given | case.saved)
    return spec, inputs


def first_error(text: str) -> str:
    """The line that says why."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if "error:" in line), lines[0] if lines else "no message")


def compare(case: Case, exact: dict[str, np.ndarray]) -> str:
    """How the project's reference differs from numpy's; empty where it does not."""
    for name, want in case.expected.items():
        got = exact[name]
        if got.shape != want.shape:
            return f"{name} has shape {got.shape}, numpy has {want.shape}"
        both_empty = (got == -np.inf) & (want == -np.inf)
        is_lse = want.ndim == 3 and not case.backward
        unit = 1e-6 * np.maximum(1, np.abs(want)) if is_lse else 1e-6 * max(1, np.abs(want).max(initial=0))
        with np.errstate(invalid="ignore"):
            wrong = ~both_empty & ~(np.abs(got - want) <= unit)
        if wrong.any():
            place = tuple(int(x) for x in np.argwhere(wrong)[0])
            return f"{name}{list(place)} is {got[place]:.6g} by the reference, {want[place]:.6g} by numpy; {int(wrong.sum())} of {wrong.size} differ"
    return ""


def element_of(case: Case, name: str) -> str:
    """The element type of a result."""
    if case.backward:
        of = next(tensor for names in names_of(case.spec) for tensor, result in zip(names.tensors, names.results) if result == name)
        return element_type(case.spec.arguments[of])
    types = case.spec.result_types()
    return shape_of(next(types[result] for result, other in case.spec.returns if other == name))[1]


def is_as_plain(case: Case, got: dict[str, np.ndarray], target: str) -> bool:
    """Whether a result that the one baseline calls wrong is right by others that are as plain.

    Where few elements count, a baseline may happen to be exact, and says little of what plain computations give. Others
    sum in other orders, one after the other among them, take functions from a library for f32 that may be off by an ulp,
    make weights by powers of 2 as GPUs do, relative to other references than the maximum, and round them before they are
    divided; the rule holds for the greatest of their errors. Tensor cores cut sums off, and TF32 has a rounding of its own
    there.
    """
    has_tensor_cores = target.startswith(("nvptx", "nvrtc")) and all(
        element_type(case.spec.arguments[kernel.tensors[0]]) != "f32" or case.spec.rounds_to_tf32(kernel)
        for kernel in case.spec.kernels)
    variants = (*BASELINES, *(GPU_BASELINES if has_tensor_cores else ()))
    if case.backward:
        saved = {name: value for name, (_, value) in case.saved.items()}
        baselines = [run_spec_backward(case.spec, case.inputs, saved, Precision.BASELINE, variant) for variant in variants]
    else:
        baselines = [run_spec(case.spec, case.inputs, Precision.BASELINE, variant) for variant in variants]
    for name, want in case.expected.items():
        value, empty = got["got/" + name].astype(np.float64), want == -np.inf
        if not np.array_equal(value == -np.inf, empty) or not np.isfinite(value[~empty]).all():
            return False
        errors = [np.abs(base[name][~empty] - want[~empty]) for base in baselines]
        error, greatest = np.abs(value[~empty] - want[~empty]), np.abs(want[~empty]).max(initial=0)
        element = element_of(case, name)
        bits = {"f32": 24, "f16": 11, "bf16": 8}[element]
        ulp = 2.0 ** (np.floor(np.log2(max(greatest, 1e-30))) + 1 - bits)
        is_lse = any(name == other and result in kernel.results[1:] for kernel in case.spec.kernels for result, other in case.spec.returns)
        factor = 3 if any(op.name in ("attn.softcap", "math.tanh") for kernel in case.spec.kernels if kernel.score for op in kernel.score.ops) else 2
        limit = factor * max(one.max(initial=0) for one in errors) + 2 * ulp
        mean = 1.1 * max(one.mean() if one.size else 0 for one in errors) + 0.05 * ulp
        has_mean = not is_lse and not case.backward
        if error.size and (error.max() > (max(limit, 1e-4) if is_lse else limit) or (has_mean and error.mean() > mean)):
            return False
    return True


def place_of_crash(said: str) -> str:
    """The functions of ours that a stack trace begins with."""
    frames = re.findall(r"^ *#\d+ \S+ ((?:attnc::|\(anonymous namespace\)::)[^(]*(?:\(anonymous namespace\)[^(]*)*)", said, re.MULTILINE)
    names = [re.sub(r"^.*::", "", frame.replace("(anonymous namespace)::", "")).strip() for frame in frames]
    return " < ".join(dict.fromkeys(name for name in names if name and name not in ("serveSpecs", "carryOut")))[:120]


class Runner:
    """A process of attnc-conformance-tests that serves specs for one target."""

    def __init__(self, binary: pathlib.Path, target: str, repeats: int, timeout: float, cores: set[int] | None = None,
                 backward: bool = False, sanitizer: str = "") -> None:
        self.target, self.repeats, self.timeout = target, repeats, timeout
        self.process: subprocess.Popen[bytes] | None = None
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fuzz-specs-"))
        self.log, self.found = self.folder / "stderr", self.folder / "sanitizer"
        watched = ["compute-sanitizer", "--tool", sanitizer, "--print-limit", "3", "--log-file", str(self.found)]
        served = [str(binary), "--serve-specs", target, str(repeats), *(["--backward"] if backward else [])]
        self.command = [*(watched if sanitizer else []), *served]
        self.cores = cores

    def stop(self) -> None:
        """Ends the process; the next request starts another."""
        if self.process:
            self.process.kill()
            self.process.wait()
        self.process = None

    def close(self) -> None:
        self.stop()
        for path in self.folder.glob("*"):
            path.unlink()
        self.folder.rmdir()

    def start(self) -> subprocess.Popen[bytes]:
        if self.process is None or self.process.poll() is not None:
            with open(self.log, "wb") as log:
                self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
            if self.cores:
                # Its pools have a thread for each core that it may use.
                os.sched_setaffinity(self.process.pid, self.cores)
        return self.process

    def ask(self, line: str) -> tuple[str, str]:
        """The answer to a request, or why there is none."""
        process = self.start()
        assert process.stdin and process.stdout
        process.stdin.write(line.encode() + b"\n")
        process.stdin.flush()
        answer = b""
        while not answer.endswith(b"\n"):
            if not select.select([process.stdout], [], [], self.timeout)[0]:
                process.kill()
                process.wait()
                return "", f"hangs: silent for {self.timeout:g} s"
            chunk = os.read(process.stdout.fileno(), 1 << 16)
            if not chunk:
                status = process.wait()
                name = signal.Signals(-status).name if status < 0 else f"exit status {status}"
                return "", f"ends with {name}"
            answer += chunk
        return answer.decode(errors="replace"), ""

    def said(self) -> str:
        try:
            return self.log.read_text(errors="replace")[:6000]
        except OSError:
            return ""

    def first_finding(self) -> str:
        """What the sanitizer has to say of a kernel that it ended: what, and where."""
        if not self.found.exists():
            return ""
        lines = [line.lstrip("= ").strip() for line in self.found.read_text(errors="replace").splitlines()[1:4]]
        return "".join(f"; {line}" for line in lines if line)

    def run(self, case: Case) -> Verdict:
        start = time.monotonic()
        seconds: dict[str, float] = {}
        verdict = self.judge(case, seconds)
        # What is left is writing and reading files, and numpy's word on the results.
        verdict.seconds = seconds | {"compare": time.monotonic() - start - sum(seconds.values()) + seconds.get("assembler", 0)}
        return verdict

    def judge(self, case: Case, seconds: dict[str, float]) -> Verdict:
        spec, inputs = write_case(self.folder, case)
        reference = self.folder / "reference.safetensors"
        answer, ended = self.ask(f"{spec}\t{inputs}\t{reference}\t{case.layout}")
        if ended:
            said = self.said()
            line = next((line for line in said.splitlines() if re.search(r"LLVM ERROR|Assertion|ERROR:", line)), "")
            line = line or place_of_crash(said)
            return Verdict("hang" if "hangs" in ended else "crash", f"the process {ended}" + (f": {line}" if line else ""), said)
        result = json.loads(answer)
        seconds.update(result["seconds"])
        if result["stage"] != "done":
            error = result["error"]
            line = first_error(error)
            if "CUDA_ERROR_" in error:
                # What goes wrong on a GPU leaves nothing there that works.
                self.stop()
                line += self.first_finding()
            if fault := _SIMULATED.search(line):
                return Verdict("deadlock" if "deadlock" in fault[1] else "race", line, error)
            if _INTERNAL.search(error):
                return Verdict("message", line, error)
            if result["stage"] == "compile" and not re.search(r":\d+:\d+: error: ", error):
                return Verdict("message", "a refusal without a place: " + line, error)
            return Verdict("refused" if result["stage"] in ("compile", "run") else "message", line, error)
        if self.repeats == 0:
            return Verdict("right")
        text = "\n".join(one["line"] for one in result["results"])
        results = tensors.read(reference)
        if difference := compare(case, results):
            return Verdict("reference", difference, text)
        if any(one["fault"] for one in result["results"]) and is_as_plain(case, results, self.target):
            return Verdict("right", "by other baselines", text)
        for one in result["results"]:
            if one["fault"]:
                kind = "mean" if "the mean error" in one["fault"] else "NaN" if re.search(r" is [-+]?nan", one["fault"]) else "wrong"
                return Verdict(kind, f"{one['name']}: {one['fault']}", text)
        return Verdict("right", output=text)
