"""What peers_data.py measured, as lines for a terminal and as a section of docs/benchmarks.md."""

from __future__ import annotations

from typing import Any

BEGIN, END = "<!-- data: begin -->", "<!-- data: end -->"
GOAL = 0.02  # of the time on sigma=1

INTRODUCTION = """\
## Data

Written by `test/bench/peers.py --data all --accuracy --markdown docs/benchmarks.md`. 16384 tokens, heads times head dim
2048, layout [B, S, H, D]; values are normal. In columns *1* to *32* queries and keys are normal, and queries scaled so
that logits have that standard deviation. What follows is *1* with something added: *sink* a logit of 60 at key 0 for
every query, *grow* and *shrink* logits that rise or fall by 40 from the first key to the last. *model* takes queries and
keys of SmolLM2-135M on a text of 4096 tokens, from one head of every fourth layer (test/bench/model_logits.py); beyond
64 components and 4096 tokens they come again and again, scaled so that logits stay what they are.

Both kernels on these data, and both on data of *1* elsewhere in memory, run in one process in bursts of 2 ms in turns,
with pauses between. How far column *1* is from 1 tells how exact the others are.
"""


def line(point: dict[str, Any]) -> str:
    """One point, for a terminal."""
    text = (
        f"{point['name']:32} {point['seconds'] * 1e3:.3f} ms, {point['relative']:.3f} of sigma=1; peer "
        f"{point['peer_seconds'] * 1e3:.3f} ms, {point['peer_relative']:.3f}; {point['ratio']:.3f} times as fast"
    )
    if errors := point.get("errors"):
        text += "; errors " + ", ".join(
            f"{side} {found['max']:.2g} at most, {found['mean']:.2g} mean" for side, found in errors.items()
        )
    return text


def summaries(report: dict[str, Any]) -> list[str]:
    """How far times go from those on sigma=1, for each column."""
    lines = []
    points = report.get("data", [])
    for column in dict.fromkeys(point["column"] for point in points):
        times = [point["relative"] for point in points if point["column"] == column]
        within = sum(time <= 1 + GOAL for time in times)
        lines.append(f"data {column}: {min(times):.3f} to {max(times):.3f} of the time on sigma=1, {within} of "
                     f"{len(times)} within {100 * GOAL:.0f} %")
    if left := report.get("left_out"):
        lines.append(f"{len(left)} left out for want of time, from {left[0]} on")
    return lines


def shown(column: str) -> str:
    return column.removeprefix("sigma=")


def table(points: list[dict[str, Any]], columns: list[str], cell: Any) -> list[str]:
    """Rows of kernels, columns of data."""
    cells = {(point["row"], point["column"]): cell(point) for point in points}
    lines = ["| | " + " | ".join(map(shown, columns)) + " |", "|---|" + "--:|" * len(columns)]
    for row in dict.fromkeys(point["row"] for point in points):
        found = [cells.get((row, column), "") for column in columns]
        lines.append(f"| {' '.join(row.split('/')[2:])} | {' | '.join(found)} |")
    return [*lines, ""]


def errors_table(points: list[dict[str, Any]], columns: list[str]) -> list[str]:
    """Errors over all rows of kernels, columns of data."""
    lines = ["| | " + " | ".join(map(shown, columns)) + " |", "|---|" + "--:|" * len(columns)]
    for side, name in (("ours", "attnc"), ("peer", "cuDNN")):
        for what in ("max", "mean"):
            texts = []
            for column in columns:
                found = [point["errors"][side][what] for point in points if point["column"] == column]
                # What is no number stays one.
                wrong = any(value != value for value in found)
                value = float("nan") if wrong else max(found) if what == "max" else sum(found) / max(1, len(found))
                texts.append(f"{value:.1e}")
            lines.append(f"| {name}, {'greatest' if what == 'max' else 'mean'} | {' | '.join(texts)} |")
    return [*lines, ""]


def section(report: dict[str, Any]) -> str:
    """The section of the page."""
    lines = [BEGIN, INTRODUCTION]
    lines += [f"- {name}: {fact}" for name, fact in report.get("data_facts", {}).items()] + [""]
    everything = report["data"]
    for element in dict.fromkeys(point["row"].split("/")[1] for point in everything):
        points = [point for point in everything if point["row"].split("/")[1] == element]
        columns = list(dict.fromkeys(point["column"] for point in points))
        lines += [f"{element}: our time over our own in column 1, and cuDNN's over its own:", ""]
        lines += table(points, columns, lambda point: f"{point['relative']:.3f}, {point['peer_relative']:.3f}")
        lines += [f"{element}: times as fast as cuDNN:", ""]
        lines += table(points, columns, lambda point: f"{point['ratio']:.2f}")
        judged = [point for point in points if "errors" in point]
        if judged:
            lines += [f"{element}: distance of results from a reference in f64, 64 rows of each head and kernel:", ""]
            lines += errors_table(judged, list(dict.fromkeys(point["column"] for point in judged)))
    if left := report.get("left_out"):
        lines += [f"Left out for want of time: {len(left)} points, from {left[0]} on.", ""]
    if errors := {name: why for name, why in report.get("errors", {}).items() if name.startswith("data/")}:
        lines += ["Not measured:", ""] + [f"- {name}: {why.splitlines()[0]}" for name, why in errors.items()] + [""]
    return "\n".join([*lines, END])
