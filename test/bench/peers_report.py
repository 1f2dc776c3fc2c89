"""What peers.py measured, as lines for a terminal and as a section of docs/benchmarks.md."""

from __future__ import annotations

import math
import pathlib
from typing import Any

import peers_data_report

BEGIN, END = "<!-- peers: begin -->", "<!-- peers: end -->"

INTRODUCTION = """\
## On a GPU, beside cuDNN and FlexAttention

Written by `test/bench/peers.py --markdown docs/benchmarks.md`. bf16, 16384 tokens, heads times head dim 2048, layout
[B, S, H, D]; queries, keys and values are normal, so that logits have standard deviation 1 ("Data" below has others).
Both sides run in one process, in bursts of 2 ms in turns with pauses between, so that neither sees a hotter chip; times
as fast is the median of the ratios of neighbouring bursts. TFLOP/s count both products on the logits that the mask
keeps, and nothing else.
"""

# Groups of points by what their names begin with: whom they are beside, and the title of their table.
GROUPS = (
    ("cudnn", "cuDNN", "Beside cuDNN."),
    ("nvrtc", "nvptx", "The same kernels through CUDA C++ and NVRTC, beside `nvptx:sm_90a`."),
    ("flex", "FlexAttention", "Beside FlexAttention, compiled, with its block mask made beforehand; head dim 128."),
    ("own", "plain causal", "Variants beside our own plain causal attention, by FLOP kept; head dim 128 where none is "
     "named."),
    ("bias/cudnn", "cuDNN", "A bias of bf16 for each logit, the same for all batch entries, beside cuDNN."),
    ("bias/flex", "FlexAttention", "The same beside FlexAttention, compiled."),
    ("packed/cudnn", "cuDNN", "Packed sequences of 256 rows, causal, beside cuDNN on a batch of them, which nothing has to "
     "find."),
    ("packed/flash2", "FlashAttention-2", "The same beside PyTorch's `varlen_attn`, which is FlashAttention-2."),
    ("dropout", "cuDNN", "A tenth of the weights dropped, beside cuDNN."),
    ("flash2", "FlashAttention-2", "The same, and kernels for sm_80, beside PyTorch's FlashAttention-2."),
    ("backward/cudnn", "cuDNN", "Gradients beside cuDNN's. FLOPs are those of five products."),
    ("backward/flex", "FlexAttention", "Gradients beside FlexAttention's; head dim 128."),
    ("backward/own", "plain causal", "Gradients of variants beside our own of plain causal attention, by FLOP kept; "
     "head dim 128."),
    ("backward/learned", "without it", "Gradients with that of a bias, one for all batch entries or one for each, beside those "
     "without; four batch entries of 4096."),
    ("backward/deterministic", "in any order", "Gradients with the same bits in every run, beside those added up in any order."),
    ("backward/bias/cudnn", "cuDNN", "Gradients of queries, keys and values with a bias of bf16, beside cuDNN's."),
    ("backward/bias/flex", "FlexAttention", "The same beside FlexAttention's."),
    ("backward/dropout", "cuDNN", "Gradients with a tenth of the weights dropped, beside cuDNN's."),
    ("backward/flash2", "FlashAttention-2", "The same, and gradients of kernels for sm_80, beside PyTorch's "
     "FlashAttention-2's."),
    ("rest", "cuDNN", "Other rows of the tables of schedules beside cuDNN; f32 beside PyTorch's memory-efficient "
     "attention. Those of f32 and sm_80 use none of Hopper's own instructions."),
)


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(math.log(value) for value in values) / len(values)) if values else math.nan


def line(point: dict[str, Any]) -> str:
    """One point, for a terminal."""
    return (
        f"{point['name']:24} {point['tflops']:7.1f} TFLOP/s, peer {point['peer_tflops']:7.1f}, "
        f"{point['ratio']:.3f} times as fast ({point['ratio_low']:.3f} to {point['ratio_high']:.3f}), "
        f"greatest difference {point['difference']:.2g}"
    )


def cycles_line(point: dict[str, Any]) -> str:
    """The cycles of one point, for a terminal."""
    text = f"{point['name']:24}"
    for side in ("ours", "peer"):
        if side in point:
            text += f" {side} {point[side]['cycles']:.0f} cycles, {point[side]['share']:.3f} of peak;"
    if "ours" in point and "peer" in point:
        text += f" {point['ours']['share'] / point['peer']['share']:.3f} times as fast"
    return text


def summaries(report: dict[str, Any]) -> list[str]:
    """A line for each group of points."""
    lines = []
    for group, _, _ in GROUPS:
        ratios = [point["ratio"] for point in report.get("points", []) if point["name"].startswith(group + "/")]
        shares = [
            point["ours"]["share"] / point["peer"]["share"]
            for point in report.get("cycles", [])
            if point["name"].startswith(group + "/") and "ours" in point and "peer" in point
        ]
        for what, values in (("in time", ratios), ("in cycles", shares)):
            if values:
                lines.append(f"{group}: geometric mean of {len(values)} points {what}: {geometric_mean(values):.3f}")
    lines += peers_data_report.summaries(report)
    if report.get("errors"):
        lines.append(f"{len(report['errors'])} failed: " + ", ".join(report["errors"]))
    return lines


def points_table(points: list[dict[str, Any]], cycles: dict[str, dict[str, Any]], group: str, peer: str) -> list[str]:
    """The points of one group; without shares of the peak where no cycles were counted."""
    counted = any(point["name"] in cycles for point in points)
    shares = (" share of peak |", f" {peer}'s |") if counted else ()
    rows = [f"| point | attnc, TFLOP/s | {peer}, TFLOP/s | times as fast |" + "".join(shares),
            "|---|--:|--:|--:|" + "--:|" * len(shares)]
    for point in points:
        label = " ".join(point["name"].removeprefix(group + "/").split("/"))
        row = f"| {label} | {point['tflops']:.0f} | {point['peer_tflops']:.0f} | {point['ratio']:.3f} |"
        sides = cycles.get(point["name"], {})
        for side in ("ours", "peer") if counted else ():
            row += f" {sides[side]['share']:.3f} |" if side in sides else "  |"
        rows.append(row)
    mean = geometric_mean([point["ratio"] for point in points])
    return [*rows, f"| geometric mean | | | {mean:.3f} |" + " |" * len(shares), ""]


def section(report: dict[str, Any]) -> str:
    """The section of the page."""
    lines = [BEGIN, INTRODUCTION]
    lines += [f"- {name}: {fact}" for name, fact in report.get("facts", {}).items()] + [""]
    cycles = {point["name"]: point for point in report.get("cycles", [])}
    for group, peer, title in GROUPS:
        points = [point for point in report.get("points", []) if point["name"].startswith(group + "/")]
        if points:
            if cycles and group == "cudnn":
                title += " The share of the tensor cores' peak is from counted cycles."
            lines += [title, "", *points_table(points, cycles, group, peer)]
    lists = [point for point in cycles.values() if point.get("ours", {}).get("kernels", 1) > 1]
    if lists:
        shares = (f"{100 * point['ours']['first_share']:.1f} % ({point['name'].split('/', 1)[1]})" for point in lists)
        lines += [f"Of a launch's cycles its block mask takes {', '.join(shares)}, counted where its kernels run "
                  "one by one; a kernel that starts early hides a part of that.", ""]
    if shares_of_block_mask := report.get("block_mask"):
        shares = (f"{100 * entry['share']:.1f} % ({entry['case'].replace('_', ' ')})" for entry in shares_of_block_mask)
        lines += [f"Of a launch's time it takes {', '.join(shares)}: replays of a graph of both kernels, and of one "
                  "without the block mask, in turns.", ""]
    if host := report.get("host"):
        lines += [
            *([f"Host time of a launch from C: {host['c_us']:.1f} µs."] if "c_us" in host else []),
            f"Host time of a launch: {host['launch_us']:.1f} µs with bound arguments from Python, "
            f"whose call of an empty function takes {host['call_us']:.1f} µs; "
            f"{host['bind_and_launch_us']:.1f} µs binding tensors of PyTorch each time; "
            f"PyTorch's of cuDNN {host['peer_us']:.1f} µs.", "",
        ]
    if workspace := report.get("workspace"):
        taken = max(entry["taken_bytes"] for entry in workspace)
        resident = max(entry["resident_bytes"] for entry in workspace)
        lines += [
            f"Device memory of a launch beside its arguments: {taken} bytes; a loaded kernel holds {resident}.", ""
        ]
    if compilation := report.get("compile"):
        lines += ["| kernel | spec to image, s | ptxas alone, s | more, s |", "|---|--:|--:|--:|"]
        for entry in compilation:
            lines.append(f"| {entry['case']} | {entry['seconds']:.2f} | {entry['ptxas_seconds']:.2f} | "
                         f"{entry['more_seconds']:+.2f} |")
        lines.append("")
    if cpu := report.get("cpu"):
        lines += ["The CPU target beside PyTorch's attention on the same cores, 4096 rows, heads times head dim 2048:", ""]
        lines += ["| | dtype | head dim | mask | attnc, s | PyTorch, s | times as fast |", "|---|---|--:|---|--:|--:|--:|"]
        lines += [f"| {entry['what']} | {entry['element']} | {entry['dim']} | {entry['mask']} | {entry['seconds']:.3f} | {entry['peer_seconds']:.3f} | {entry['ratio']:.2f} |"
                  for entry in cpu] + [""]
    if errors := {name: why for name, why in report.get("errors", {}).items() if not name.startswith("data/")}:
        lines += ["Not measured:", ""] + [f"- {name}: {why.splitlines()[0]}" for name, why in errors.items()] + [""]
    return "\n".join([*lines, END])


def write(path: pathlib.Path, report: dict[str, Any]) -> None:
    """Puts the sections into the page."""
    if "facts" in report:
        put_section(path, BEGIN, END, section(report))
    if "data" in report:
        put_section(path, peers_data_report.BEGIN, peers_data_report.END, peers_data_report.section(report))


def put_section(path: pathlib.Path, begin: str, end: str, text: str) -> None:
    """Puts a section in place of the one that the page has between these marks, or at its end; the rest stays."""
    page = path.read_text(encoding="utf-8") if path.exists() else "# Benchmarks\n"
    if begin in page and end in page:
        before, rest = page.split(begin, 1)
        page = before + text + rest.split(end, 1)[1]
    else:
        page = page.rstrip("\n") + "\n\n" + text + "\n"
    path.write_text(page, encoding="utf-8")
