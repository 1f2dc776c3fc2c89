#!/usr/bin/env python3
"""Launches captured in CUDA graphs: replays on new data give what launches give, bit for bit. Needs PyTorch.

  graph_replay.py        a plain kernel, one that takes its tiles from a counter, and one with a workspace: of the GPU's
                         pool, and of the caller's
"""

from __future__ import annotations

import pathlib
import sys
import tempfile
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
# In a source tree the benchmarks' modules lie beside; in an installation they are here.
sys.path.insert(0, str(HERE.parent / "bench"))

import torch  # pylint: disable=wrong-import-position

from attnc_runtime import Kernel  # pylint: disable=wrong-import-position
from peers_cases import Case, make_data  # pylint: disable=wrong-import-position
from peers_compiler import Compiler  # pylint: disable=wrong-import-position

CASES = (Case("full", 64, 1024), Case("causal", 128, 1024), Case("documents", 128, 4096), Case("packed", 128, 2048))
REPLAYS = 3


def replay(kernel: Kernel, case: Case, own_workspace: bool) -> str:
    """What is wrong with replays of `case`; empty if nothing is."""
    data = make_data(case, torch)
    arguments = data.arguments()
    results = [data.out, data.lse]
    workspace: Any = None
    if own_workspace:
        size = kernel.bind(*arguments).workspace_bytes()
        workspace = torch.empty(max(size, 16), dtype=torch.uint8, device="cuda")
    graph = torch.cuda.CUDAGraph()
    # What a launch does once, it does before the capture.
    kernel.bind(*arguments, workspace=workspace)()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        for _ in range(2):
            kernel.bind(*arguments, workspace=workspace)()
    for round_number in range(REPLAYS):
        data.query.normal_()
        kernel.bind(*arguments)()
        expected = [result.clone() for result in results]
        for result in results:
            result.fill_(float("nan"))
        graph.replay()
        torch.cuda.synchronize()
        for result, wanted in zip(results, expected):
            if not torch.equal(result.nan_to_num(nan=7e4), wanted.nan_to_num(nan=7e4)):
                return f"replay {round_number} differs"
    return ""


def main() -> int:
    failed = 0
    with tempfile.TemporaryDirectory(prefix="attnc-graphs-") as folder:
        compiler = Compiler(pathlib.Path(folder))
        for case in CASES:
            kernel = Kernel(compiler.emit(case, "image").read_bytes())
            for own in (False, True):
                fault = replay(kernel, case, own)
                failed += bool(fault)
                place = "a workspace of ours" if own else "the pool's"
                print(f"{'FAILED' if fault else 'right '} {case.image} at {case.sequence}, {place} {fault}", flush=True)
    print(f"{2 * len(CASES) - failed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
