"""Times of what users wait for, in turns."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable


#: Seconds between sides, so that none runs on a chip that the one before has heated.
PAUSE = 0.05


def in_turns(runs: dict[str, Callable[[], object]], rounds: int = 9, steps: int = 3) -> dict[str, float]:
    """Milliseconds of a step by name: medians of rounds, in which all run one after the other, each round in another order.

    A run takes a step and waits until it is done. What it has to compile should be compiled before.
    """
    names = list(runs)
    found: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(rounds):
        first = turn % max(len(names), 1)
        for name in names[first:] + names[:first]:
            run = runs[name]
            time.sleep(PAUSE)
            run()
            start = time.perf_counter()
            for _ in range(steps):
                run()
            found[name].append((time.perf_counter() - start) / steps * 1e3)
    return {name: statistics.median(times) for name, times in found.items()}


def fault_of(what: str, step: Callable[[], float]) -> str:
    """Takes a step, whose loss is printed as progress. What keeps it from being taken; empty where nothing does."""
    fault = ""
    try:
        told = f"loss {step():.6f}"
    except Exception as error:
        told = fault = f"{type(error).__name__}: {str(error)[:300]}"
    print(f"{what}: {told}", file=sys.stderr, flush=True)
    return fault


def once(run: Callable[[], object]) -> float:
    """Milliseconds of one run."""
    start = time.perf_counter()
    run()
    return (time.perf_counter() - start) * 1e3
