"""Writes a .safetensors file of deterministic tensors, without numpy.

make_safetensors.py FILE NAME:DTYPE:2x3x4 ...     element n is ((7 n) mod 13 - 6) / 8
make_safetensors.py FILE --hostile KIND           a file that must be refused
"""

import json
import struct
import sys

PACK = {"F32": "<f", "F64": "<d", "I32": "<i", "I64": "<q"}


def encode(dtype, value):
    if dtype == "BF16":  # the upper half; these values need no rounding
        return struct.pack("<f", value)[2:]
    if dtype == "F16":
        return struct.pack("<e", value)
    return struct.pack(PACK[dtype], value if dtype[0] == "F" else int(abs(value * 8)))


def write(path, header, data):
    text = json.dumps(header).encode() if isinstance(header, dict) else header
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def tensors(path, specs):
    header, data = {}, b""
    for spec in specs:
        name, dtype, dims = spec.split(":")
        shape = [int(size) for size in dims.split("x")] if dims else []
        count = 1
        for size in shape:
            count *= size
        begin = len(data)
        data += b"".join(encode(dtype, ((7 * n) % 13 - 6) / 8) for n in range(count))
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, len(data)]}
    write(path, header, data)


def hostile(path, kind):
    entry = {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}
    if kind == "length":  # a header longer than the file
        with open(path, "wb") as file:
            file.write(struct.pack("<Q", 1 << 60) + b"{}")
    elif kind == "json":
        write(path, b'{"q": {{{{', b"")
    elif kind == "offsets":
        write(path, {"q": dict(entry, data_offsets=[0, 1 << 40])}, b"\0" * 16)
    elif kind == "overflow":
        write(path, {"q": dict(entry, shape=[1 << 62, 1 << 62])}, b"\0" * 16)
    else:
        sys.exit("unknown kind")


if sys.argv[2] == "--hostile":
    hostile(sys.argv[1], sys.argv[3])
else:
    tensors(sys.argv[1], sys.argv[2:])
