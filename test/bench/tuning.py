#!/usr/bin/env python3
"""What tuning gains over the heuristics: 20 specs at sizes that these were not made on, as a table.

  test/bench/tuning.py                              on this machine's GPU, some twenty minutes
  test/bench/tuning.py --target cpu --small         on this CPU, at sizes for CPUs
  test/bench/tuning.py --filter gemma2 --seconds 20
  test/bench/tuning.py --save tuned --markdown gain.md

Each case is tuned by `attnc tune`, whose record goes to a cache of its own (`--save` keeps it), and then measured once more by
`attnc bench`, in turns with the heuristics and by processes of their own: the gain that is printed is that of the second
measurement, which chose nothing and so has no luck in it. The records can be shipped: `attnc records export`.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass(frozen=True)
class Case:
    """One spec of docs/examples at some sizes; `small` ones are for a CPU."""

    spec: str
    sizes: str
    small: str
    backward: bool = False

    @property
    def name(self) -> str:
        return self.spec + ("/backward" if self.backward else "")


# The tables of heuristics were made on plain, causal and windowed kernels at powers of two from 512 to 16384, with 16 heads or
# more in the batch. These lengths lie between those, batches and heads are others, and many masks and scores are.
CASES = [
    Case("llama3", "B=1,Sq=3000,Sk=3000", "B=1,Sq=300,Sk=300"),
    Case("llama3", "B=1,Sq=12000,Sk=12000", "B=1,Sq=700,Sk=700"),
    Case("llama3", "B=24,Sq=1,Sk=9000", "B=4,Sq=1,Sk=900"),
    Case("llama3", "B=6,Sq=200,Sk=5000", "B=1,Sq=100,Sk=900"),
    Case("llama3", "B=2,Sq=1500,Sk=1500", "B=1,Sq=200,Sk=200", backward=True),
    Case("mistral", "B=1,Sq=11000,Sk=11000", "B=1,Sq=500,Sk=500"),
    Case("mistral", "B=3,Sq=700,Sk=2600", "B=1,Sq=100,Sk=700"),
    Case("gemma2", "B=1,Sq=6000,Sk=6000", "B=1,Sq=300,Sk=300"),
    Case("gemma2", "B=5,Sq=900,Sk=900", "B=2,Sq=150,Sk=150"),
    Case("gpt_oss", "B=2,Sq=3500,Sk=3500", "B=1,Sq=200,Sk=200"),
    Case("bloom", "B=3,Sq=1800,Sk=1800", "B=1,Sq=300,Sk=300"),
    Case("t5", "B=7,Sq=600,Sk=600", "B=1,Sq=200,Sk=200"),
    Case("vit", "B=40,Sq=197,Sk=197", "B=2,Sq=197,Sk=197"),
    Case("vit", "B=12,Sq=577,Sk=577", "B=1,Sq=577,Sk=577", backward=True),
    Case("cross_attention", "B=6,Sq=1300,Sk=80", "B=2,Sq=300,Sk=80"),
    Case("streaming_llm", "B=1,Sq=9000,Sk=9000", "B=1,Sq=500,Sk=500"),
    Case("deepseek_mla_prefill", "B=1,Sq=2600,Sk=2600", "B=1,Sq=150,Sk=150"),
    Case("packed_documents", "B=1,Sq=7000", "B=1,Sq=500"),
    Case("prefix_lm", "B=2,Sq=2200,Sk=2200", "B=1,Sq=200,Sk=200"),
    Case("llama4_chunked", "B=1,Sq=10000,Sk=10000", "B=1,Sq=400,Sk=400"),
]


@dataclasses.dataclass
class Gain:
    """What came of a case; seconds are medians of the second measurement."""

    case: Case
    sizes: str
    heuristics: float = 0
    tuned: float = 0
    candidates: int = 0
    schedule: str = ""
    fault: str = ""

    @property
    def ratio(self) -> float:
        return self.heuristics / self.tuned if self.tuned else 1


def find_first(*paths: pathlib.Path) -> pathlib.Path:
    for path in paths:
        if path.exists():
            return path
    sys.exit(f"tuning.py: error: none of these is here: {', '.join(map(str, paths))}")


class Attnc:
    """The program, with a cache of its own."""

    def __init__(self, options: argparse.Namespace, cache: str) -> None:
        self.program = options.attnc or find_first(HERE / "../../../bin/attnc", HERE / "../../build/release/bin/attnc")
        self.examples = find_first(HERE / "../../../examples", HERE / "../../docs/examples")
        self.target = options.target
        self.environment = {**os.environ, "ATTNC_CACHE_DIR": cache, "ATTNC_CACHE": "on"}

    def json(self, command: str, case: Case, sizes: str, *arguments: str) -> dict:
        line = [str(self.program), command, str(self.examples / f"{case.spec}.mlir"), "--shape", sizes, "--target", self.target]
        line += ["--json", *arguments, *(["--backward"] if case.backward else [])]
        done = subprocess.run(line, capture_output=True, text=True, env=self.environment, check=False)
        if done.returncode:
            lines = (done.stderr or done.stdout).strip().splitlines() or [f"exit status {done.returncode}"]
            raise RuntimeError(next((line for line in lines if "error:" in line), lines[-1]))
        return json.loads(done.stdout)


def measure(attnc: Attnc, case: Case, options: argparse.Namespace) -> Gain:
    sizes = case.small if options.small else case.sizes
    gain = Gain(case, sizes)
    try:
        tuned = attnc.json("tune", case, sizes, "--seconds", str(options.seconds), "--candidates", str(options.candidates))
        gain.candidates = tuned["candidates"]
        gain.schedule = " ".join(" ".join(texts) for texts in tuned["schedules"])
        # Where nothing is faster both are one kernel.
        times: dict[str, list[float]] = {"heuristics": [], **({"records": []} if gain.schedule else {})}
        for turn in range(options.turns):
            for policy in sorted(times, reverse=turn % 2 == 1):
                times[policy].append(attnc.json("bench", case, sizes, "--policy", policy)["median_s"])
        gain.heuristics = statistics.median(times["heuristics"])
        gain.tuned = statistics.median(times["records"]) if gain.schedule else gain.heuristics
    except RuntimeError as fault:
        gain.fault = str(fault)
    return gain


def write_table(gains: list[Gain], device: str) -> str:
    """The page: a row for each case, and the geometric mean of those that were measured."""
    lines = [f"# Gain of tuning over the heuristics, {device}", ""]
    lines += ["| spec | sizes | heuristics, ms | tuned, ms | gain | tried | schedule |", "|---|---|---|---|---|---|---|"]
    for gain in gains:
        if gain.fault:
            lines.append(f"| {gain.case.name} | {gain.sizes} | | | | | {gain.fault} |")
            continue
        schedule = gain.schedule.replace("|", "\\|") or "the heuristics' own"
        lines.append(f"| {gain.case.name} | {gain.sizes} | {1e3 * gain.heuristics:.4g} | {1e3 * gain.tuned:.4g} "
                     f"| {gain.ratio:.3f} | {gain.candidates} | {schedule} |")
    ratios = [gain.ratio for gain in gains if not gain.fault]
    if ratios:
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        lines.append(f"| geometric mean | | | | {mean:.3f} | | |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="auto", help="as attnc takes it (default: auto, the GPU where there is one)")
    parser.add_argument("--attnc", help="the program (default: that of this installation or build tree)")
    parser.add_argument("--filter", default="", help="cases whose name or sizes hold this text")
    parser.add_argument("--small", action="store_true", help="sizes for a CPU")
    parser.add_argument("--seconds", type=float, default=30, help="for the runs of a case's candidates (default 30)")
    parser.add_argument("--candidates", type=int, default=64, help="to try for each program (default 64)")
    parser.add_argument("--turns", type=int, default=3, help="of the second measurement (default 3)")
    parser.add_argument("--save", help="folder of a cache that keeps the records")
    parser.add_argument("--markdown", help="file for the table; standard output as well")
    parser.add_argument("--list", action="store_true", help="print the cases, and measure nothing")
    options = parser.parse_args()
    cases = [case for case in CASES if options.filter in f"{case.name} {case.small if options.small else case.sizes}"]
    if options.list:
        for case in cases:
            print(case.name, case.small if options.small else case.sizes)
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        attnc = Attnc(options, options.save or scratch)
        gains = []
        for case in cases:
            gains.append(measure(attnc, case, options))
            last = gains[-1]
            print(f"{case.name} {last.sizes}: {last.fault or f'{last.ratio:.3f}'}", file=sys.stderr, flush=True)
        records = sorted((pathlib.Path(options.save or scratch) / "records").glob("*.json"))
        device = json.loads(records[0].read_text())["device"] if records else "no device"
    table = write_table(gains, device)
    print(table, end="")
    if options.markdown:
        pathlib.Path(options.markdown).write_text(table)
    return 1 if any(gain.fault for gain in gains) else 0


if __name__ == "__main__":
    sys.exit(main())
