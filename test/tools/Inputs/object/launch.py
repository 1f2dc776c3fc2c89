"""launch.py OBJECT RUNTIME: launches the shared object of tiny.mlir by ctypes, and compares with attention by hand."""

import ctypes
import math
import random
import sys
from array import array

S, H, D = 5, 2, 8
scale = 0.25


class Tensor(ctypes.Structure):
    _fields_ = [("address", ctypes.c_uint64), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("sizes", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64))]


class Content(ctypes.Union):
    _fields_ = [("tensor", Tensor), ("real", ctypes.c_double)]


class Value(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("reserved", ctypes.c_int32), ("content", Content)]


class Launch(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("values", ctypes.POINTER(Value)), ("num_values", ctypes.c_size_t),
                ("value_size", ctypes.c_size_t), ("stream", ctypes.c_void_p), ("workspace", ctypes.c_uint64)]


def tensor(data, sizes):
    value = Value(kind=0)
    value.content.tensor = Tensor(data.buffer_info()[0], 0, len(sizes), (ctypes.c_int64 * len(sizes))(*sizes), None)
    return value


# Whoever starts the program says where the library is, or has it open already.
ctypes.CDLL(sys.argv[2], ctypes.RTLD_GLOBAL)
kernel = ctypes.CDLL(sys.argv[1])
kernel.tiny_launch.restype = ctypes.c_void_p

random.seed(1)
q = array("f", [random.gauss(0, 1) for _ in range(S * H * D)])
k, v = (array("f", [random.gauss(0, 1) for _ in range(S * D)]) for _ in range(2))
out, lse = array("f", bytes(4 * S * H * D)), array("f", bytes(4 * H * S))
values = (Value * 6)(tensor(q, [1, S, H, D]), tensor(k, [1, S, 1, D]), tensor(v, [1, S, 1, D]), Value(kind=2),
                     tensor(out, [1, S, H, D]), tensor(lse, [1, H, S]))
values[3].content.real = scale
launch = Launch(ctypes.sizeof(Launch), values, 6, ctypes.sizeof(Value), None, 0)
assert kernel.tiny_launch(ctypes.byref(launch)) is None

worst = 0
for i in range(S):
    for h in range(H):
        logits = [scale * sum(q[(i * H + h) * D + d] * k[j * D + d] for d in range(D)) for j in range(i + 1)]
        total = sum(math.exp(x) for x in logits)
        worst = max(worst, abs(lse[h * S + i] - math.log(total)))
        for d in range(D):
            expected = sum(math.exp(x) / total * v[j * D + d] for j, x in enumerate(logits))
            worst = max(worst, abs(out[(i * H + h) * D + d] - expected))
print("right" if worst < 1e-5 else "off by %g" % worst)
