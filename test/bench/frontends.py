#!/usr/bin/env python3
"""What users of the frontends wait for, beside what the frameworks have: calls, first calls, new lengths, training steps.

  frontends.py --json frontends.json                    with attnc's wheel and torch, JAX or both, on a machine with a GPU
  frontends.py --device cpu --tokens 256 --heads 2  small, to see that it runs
  frontends.py --from frontends.json --markdown docs/benchmarks.md

Each part runs in a process of its own with caches of its own, so that nothing has been compiled before.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

import peers_report

BEGIN, END = "<!-- frontends: begin -->", "<!-- frontends: end -->"
#: What is measured, and the framework that it wants.
PARTS = {"calls": "attnc", "masks": "torch", "decoding": "torch", "torch": "torch", "jax": "jax"}

INTRODUCTION = """\
## From Python

Written by `test/bench/frontends.py --markdown docs/benchmarks.md`. bf16; milliseconds are medians of rounds in which all sides
take their steps in turns.
"""


def measure(part: str, options: argparse.Namespace) -> Any:
    """The rows of one part, in this process."""
    device = options.device
    if part == "calls":
        import host_cost

        return host_cost.rows(device, options.seconds)
    if part == "jax":
        import frontends_jax

        return frontends_jax.measure_training(device, options.tokens, options.heads, 128)
    if part == "decoding":
        import frontends_decoding

        return frontends_decoding.measure_decoding(device, 16 * options.tokens)
    import frontends_torch

    if part == "masks":
        return frontends_torch.measure_masks(device, options.tokens // 2)
    return frontends_torch.measure_training(device, options.tokens, options.heads, 128)


def run_part(part: str, options: argparse.Namespace) -> Any:
    """The rows of one part, or what went wrong, from a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        caches = {"ATTNC_CACHE_DIR": f"{folder}/attnc", "TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor"}
        caches |= {"TRITON_CACHE_DIR": f"{folder}/triton", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
        command = [sys.executable, __file__, "--part", part, "--device", options.device]
        command += ["--tokens", str(options.tokens), "--heads", str(options.heads), "--seconds", str(options.seconds)]
        ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=os.environ | caches, check=False)
    lines = ran.stdout.splitlines()
    if ran.returncode != 0 or not lines:
        return {"error": f"exit status {ran.returncode}"}
    return json.loads(lines[-1])


def find_facts(options: argparse.Namespace) -> dict[str, str]:
    """What was measured, on what."""
    import attnc

    facts = {"Date": datetime.date.today().isoformat(), "Commit": options.commit, "attnc": attnc.__version__}
    asked = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    if options.device != "cpu":
        ran = subprocess.run(asked, capture_output=True, text=True, check=True)
        facts["GPU"], facts["Driver"] = ran.stdout.splitlines()[0].split(", ")
    facts["Tokens"] = f"{options.tokens}, {options.heads} heads of 128"
    peers = "import torch; print('PyTorch', torch.__version__, 'cuDNN', torch.backends.cudnn.version())", "import jax; print('JAX', jax.__version__)"
    told = [subprocess.run([sys.executable, "-c", peer], capture_output=True, text=True, check=False).stdout.strip() for peer in peers]
    return facts | {"Peers": ", ".join(text for text in told if text)}


def training_table(rows: list[dict[str, Any]]) -> list[str]:
    """Milliseconds of a step, and how many times as fast the best side of attnc is."""
    lines = []
    for row in rows:
        times: dict[str, float] = row["ms"]
        ours = min((time for name, time in times.items() if name.startswith("attnc")), default=float("nan"))
        lines += [f"{row['kind'].capitalize()}, {row['length']} tokens a sequence:", ""]
        lines += ["| side | a step, ms | attnc is times as fast |", "|---|--:|--:|"]
        for name, time in times.items():
            lines.append(f"| {name} | {time:.2f} | {'' if name.startswith('attnc') else f'{time / ours:.3f}'} |")
        lines += [""] + [f"Not measured: {name}: {why.splitlines()[0]}" for name, why in row["errors"].items()]
        lines += [""] * bool(row["errors"])
    return lines


def decoding_table(rows: list[dict[str, Any]]) -> list[str]:
    """Milliseconds of a layer, and how many times as fast attnc's rows are."""
    lines = []
    for row in rows:
        times: dict[str, float] = row["ms"]
        ours = times.get("attnc, in rows", float("nan"))
        lines += [f"{row['sequences']} sequences, {row['rows'] // 2} to {row['rows']} keys:", ""]
        lines += ["| side | a layer, ms | attnc in rows is times as fast |", "|---|--:|--:|"]
        lines += [f"| {name} | {time:.4f} | {time / ours:.3f} |" for name, time in times.items()]
        lines += [""] + [f"Not measured: {name}: {why.splitlines()[0]}" for name, why in row["errors"].items()]
        lines += [""] * bool(row["errors"])
    return lines


def section(report: dict[str, Any]) -> str:
    """The section of the page."""
    lines = [BEGIN, INTRODUCTION, *(f"- {key}: {value}" for key, value in report["facts"].items()), ""]
    if isinstance(rows := report.get("calls"), list):
        lines += ["A call with tensors of 8 numbers, kernel included, in µs by path:", "", "| | path | µs |", "|---|---|--:|"]
        lines += [f"| {framework} | {path} | {time:.1f} |" for framework, path, time in rows] + [""]
    if isinstance(rows := report.get("masks"), list):
        lines += ["FlexAttention's function, eight documents under a causal mask in half as many tokens, in ms:", ""]
        lines += ["| | attnc | FlexAttention, compiled |", "|---|--:|--:|"]
        for row in rows:
            lines.append(f"| {row['what']} | {row['attnc']:.1f} | {row.get('FlexAttention', float('nan')):.1f} |")
        lines.append("")
    if isinstance(rows := report.get("decoding"), list):
        lines += ["One token of each sequence, 32 heads on 8 of 128, from a CUDA graph:", "", *decoding_table(rows)]
    for part, what in (("torch", "under torch.compile"), ("jax", "under jax.jit")):
        if isinstance(rows := report.get(part), list):
            lines += [f"A training step of one transformer layer, forward and gradients, {what}:", "", *training_table(rows)]
    for part in PARTS:
        if isinstance(found := report.get(part), dict):
            lines += [f"Not measured: {part}: {found['error']}", ""]
    return "\n".join([*lines, END])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--device", default="cuda:0", help="cpu or cuda:0 (default)")
    add("--tokens", type=int, default=16384, help="of a batch (default 16384)")
    add("--heads", type=int, default=16, help="of 128 (default 16)")
    add("--seconds", type=float, default=0.5, help="for each path of a call (default 0.5)")
    add("--only", nargs="*", choices=list(PARTS), default=list(PARTS), help="these parts alone")
    add("--commit", default="unknown", help="of what is measured, for the page")
    add("--json", metavar="FILE", help="write the numbers there")
    add("--from", dest="source", metavar="FILE", help="numbers of an earlier run")
    add("--markdown", metavar="FILE", help="write them as a section of that page")
    add("--part", choices=list(PARTS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        print(json.dumps(measure(options.part, options)))
        return
    if options.source:
        report = json.loads(pathlib.Path(options.source).read_text(encoding="utf-8"))
    else:
        report = {"facts": find_facts(options)}
        for part in options.only:
            if importlib.util.find_spec(PARTS[part]) is not None:
                report[part] = run_part(part, options)
                if options.json:
                    pathlib.Path(options.json).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(section(report))
    if options.markdown:
        peers_report.put_section(pathlib.Path(options.markdown), BEGIN, END, section(report))


if __name__ == "__main__":
    main()
