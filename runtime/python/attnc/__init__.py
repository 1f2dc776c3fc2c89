"""attnc: attention kernels, compiled from what you write, for NVIDIA GPUs and CPUs.

compile: the kernel of a spec, a function of numpy arrays, torch tensors, or whatever has DLPack's methods.
jit: attention from a score and a mask function of Python.
explain: what the compiler decided for either, and why.
"""

from . import _core
from ._context import configure
from ._core import Error
from ._explain import explain
from ._explanation import Explanation
from ._jit import Attention, jit
from ._kernel import Kernel, compile
from ._mods import (
    and_masks,
    cos,
    exp,
    exp2,
    floor,
    log,
    log2,
    maximum,
    minimum,
    noop_mask,
    or_masks,
    rsqrt,
    sin,
    sqrt,
    tanh,
    to_float,
    to_int,
    where,
)
from ._trace.errors import TraceError

__version__ = _core.version()

__all__ = [
    "Attention", "Error", "Explanation", "Kernel", "TraceError", "and_masks", "compile", "configure", "cos", "exp",
    "exp2", "explain", "floor", "jit", "log", "log2", "maximum", "minimum", "noop_mask", "or_masks", "rsqrt", "sin",
    "sqrt", "tanh", "to_float", "to_int", "where",
]  # fmt: skip
