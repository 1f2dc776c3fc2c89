"""Inputs of jumps.mlir's @jump128, and the bits of results of it in rows that do not jump.

usage: row_bits.py make FILE
       row_bits.py compare FILE OTHER     results in even rows, which keep their digits, and in odd ones, which do not
"""

import pathlib
import random
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "fuzz/specs"))
import tensors  # noqa: E402

QUERIES, KEYS, HEADS, DIM = 130, 300, 2, 128


def make(path: pathlib.Path) -> None:
    """Writes normal queries, keys and values in bf16; logits have a deviation of 6."""
    random.seed(1)
    shapes = {"q": (6.0, [1, QUERIES, HEADS, DIM]), "k": (1.0, [1, KEYS, 1, DIM]), "v": (1.0, [1, KEYS, 1, DIM])}
    draw = {name: np.array([random.gauss(0, deviation) for _ in range(np.prod(shape))]).reshape(shape)
            for name, (deviation, shape) in shapes.items()}
    tensors.write(path, {name: ("bf16", value) for name, value in draw.items()})


def compare(one: pathlib.Path, other: pathlib.Path) -> None:
    """Prints which part of the elements of even and of odd rows differs."""
    differs = tensors.read(one)["out"] != tensors.read(other)["out"]
    for name, first in (("even", 0), ("odd", 1)):
        part = differs[:, first::2].mean()
        print(f"{name}: {'nearly none' if part < 0.06 else 'some' if part < 0.5 else 'most'} ({100 * part:.2f} %)")


if __name__ == "__main__":
    command, *paths = sys.argv[1:]
    {"make": make, "compare": compare}[command](*map(pathlib.Path, paths))
