"""Inputs of jumps.mlir's @jump128, and the bits of results of it in rows that do not jump.

usage: row_bits.py make FILE
       row_bits.py compare FILE OTHER     results in even rows, which keep their digits, and in odd ones, which do not
"""

import json
import pathlib
import random
import struct
import sys

QUERIES, KEYS, HEADS, DIM = 130, 300, 2, 128


def make(path: str) -> None:
    """Writes normal queries, keys and values in bf16; logits have a deviation of 6."""
    random.seed(1)
    shapes = {"q": (6.0, [1, QUERIES, HEADS, DIM]), "k": (1.0, [1, KEYS, 1, DIM]), "v": (1.0, [1, KEYS, 1, DIM])}
    header, data = {}, b""
    for name, (deviation, shape) in shapes.items():
        count = shape[1] * shape[2] * shape[3]
        begin = len(data)
        data += b"".join(struct.pack("<f", random.gauss(0, deviation))[2:] for _ in range(count))
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data)


def read(path: str) -> tuple[int, ...]:
    """The words of the result `out`."""
    data = pathlib.Path(path).read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    begin, end = json.loads(data[8 : 8 + length])["out"]["data_offsets"]
    return struct.unpack(f"<{(end - begin) // 2}H", data[8 + length + begin : 8 + length + end])


def compare(one: str, other: str) -> None:
    """Prints which part of the elements of even and of odd rows differs."""
    differing = [0, 0]
    for at, (x, y) in enumerate(zip(read(one), read(other), strict=True)):
        differing[at // (HEADS * DIM) % 2] += x != y
    for name, count in zip(("even", "odd"), differing):
        part = count / (QUERIES * HEADS * DIM // 2)
        print(f"{name}: {'nearly none' if part < 0.06 else 'some' if part < 0.5 else 'most'} ({100 * part:.2f} %)")


if __name__ == "__main__":
    make(sys.argv[2]) if sys.argv[1] == "make" else compare(sys.argv[2], sys.argv[3])
