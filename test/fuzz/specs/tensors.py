"""Reads and writes .safetensors files; bf16 arrays are held as `Bf16`, which numpy has no type for."""

from __future__ import annotations

import json
import pathlib
import struct

import numpy as np

_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I8": "<i1", "BOOL": "?", "BF16": "<u2"}
_ELEMENTS = {"f64": "F64", "f32": "F32", "f16": "F16", "bf16": "BF16", "i64": "I64", "index": "I64", "i32": "I32",
             "i8": "I8", "i1": "BOOL"}


def encode(value: np.ndarray, element: str) -> np.ndarray:
    """`value`, which the type `element` holds exactly, as it lies in memory."""
    if element == "bf16":
        single = np.ascontiguousarray(value, dtype=np.float32)
        return (single.view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    if element == "i1":
        return np.asarray(value) != 0
    return np.asarray(value).astype(np.dtype(_TYPES[_ELEMENTS[element]]))


def decode(raw: np.ndarray, name: str) -> np.ndarray:
    if name == "BF16":
        return (raw.astype(np.uint32) << np.uint32(16)).view(np.float32)
    if name == "BOOL":
        return -raw.astype(np.int64)
    return raw if raw.dtype.kind == "f" else raw.astype(np.int64)


def write(path: pathlib.Path, tensors: dict[str, tuple[str, np.ndarray]]) -> None:
    """Writes arrays with their element types by name."""
    header, chunks, offset = {}, [], 0
    for name, (element, value) in tensors.items():
        data = np.ascontiguousarray(encode(value, element))
        chunks.append(data.tobytes())
        header[name] = {"dtype": _ELEMENTS[element], "shape": list(np.shape(value)), "data_offsets": [offset, offset + data.nbytes]}
        offset += data.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.writelines(chunks)


def read(path: pathlib.Path) -> dict[str, np.ndarray]:
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    tensors = {}
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        raw = np.frombuffer(data[8 + length + begin : 8 + length + end], dtype=np.dtype(_TYPES[entry["dtype"]]))
        tensors[name] = decode(raw.reshape(entry["shape"]), entry["dtype"])
    return tensors
