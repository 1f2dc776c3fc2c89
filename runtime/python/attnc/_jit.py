"""Attention from score and mask functions of Python."""

from __future__ import annotations

import collections
import threading
from typing import Any

from . import _frameworks
from ._context import context
from ._core import Error
from ._explanation import Explanation, check_texts
from ._frameworks import as_read, dtype_name
from ._kernel import Kernel, compile
from ._mods import MaskMod, ScoreMod
from ._trace.capture import Caller
from ._trace.spec import Facts, Traced, trace

#: Kernels by the text of their specs, the least recently used first. Each holds a few megabytes at most.
_kernels: collections.OrderedDict[tuple[str, bool, str | None, str | None], Kernel] = collections.OrderedDict()
_lock = threading.Lock()
_MOST_KERNELS = 1024


def kernel_of(text: str, backward: bool = False, target: str | None = None, schedule: str | None = None) -> Kernel:
    """The kernel of a spec, of which there is one in a process."""
    key = (text, backward, target, schedule)
    with _lock:
        kernel = _kernels.get(key)
        if kernel is not None:
            _kernels.move_to_end(key)
            return kernel
    kernel = compile(text, target, name="attention", schedule=schedule, backward=backward)
    with _lock:
        kernel = _kernels.setdefault(key, kernel)
        if len(_kernels) > _MOST_KERNELS:
            _kernels.popitem(last=False)
    return kernel


def facts_of(
    shapes: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]], dtypes: tuple[str, str, str], scale: Any, align: str,
    tf32: bool = False,
) -> Facts:  # fmt: skip
    """What is compiled in of [B, S, H, D] queries, keys and values. Raises where they do not go together."""
    for name, shape in zip("qkv", shapes, strict=True):
        if len(shape) != 4:
            raise Error(f"argument '{name}': expected rank 4, got {len(shape)}")
    query, key, value = shapes
    if dtypes[0] not in ("float32", "float16", "bfloat16"):
        raise Error(f"argument 'q': expected float32, float16 or bfloat16, got {dtypes[0]}")
    for name, dtype in zip("kv", dtypes[1:], strict=True):
        if dtype != dtypes[0]:
            raise Error(f"argument '{name}': expected {dtypes[0]}, as 'q' has, got {dtype}")
    if key[2] == 0 or query[2] % key[2] != 0:
        raise Error(f"argument 'k': expected a number of heads that divides the {query[2]} of 'q', got {key[2]} [S10]")
    for name, got, axis, wanted in (
        ("k", key[0], "batch entries", query[0]), ("v", value[0], "batch entries", query[0]),
        ("k", key[3], "for the head dim", query[3]), ("v", value[1], "keys", key[1]), ("v", value[2], "heads", key[2]),
    ):  # fmt: skip
        if got != wanted:
            raise Error(f"argument '{name}': expected {wanted} {axis}, got {got}")
    if scale is not None and not isinstance(scale, (int, float)):
        raise Error(f"scale: expected a number, got {type(scale).__name__}")
    # Under torch.compile sizes may be symbols: these are compiled in.
    heads = (int(query[2]), int(key[2]), int(query[3]), int(value[3]))
    rounds = tf32 and dtypes[0] == "float32"
    return Facts(dtypes[0], *heads, None if scale is None else float(scale), align, rounds)


class Attention:
    """What `jit` returns: attention of [B, S, H, D] queries, keys and values, in any framework."""

    def __init__(
        self, score_mod: ScoreMod | None, mask_mod: MaskMod | None, scale: float | None, align: str, target: str | None
    ) -> None:
        if align not in ("top_left", "bottom_right"):
            raise Error(f"align: expected 'top_left' or 'bottom_right', got {align!r}")
        self.score_mod = score_mod
        self.mask_mod = mask_mod
        self._scale = scale
        self._align = align
        self._target = target

    def _trace(self, q: Any, k: Any, v: Any) -> Traced:
        for name, value in zip("qkv", (q, k, v), strict=True):
            if not _frameworks.is_tensor(value):
                raise TypeError(f"argument '{name}': expected an array or a tensor, got {type(value).__name__}")
        shapes = (tuple(q.shape), tuple(k.shape), tuple(v.shape))
        facts = facts_of(shapes, (dtype_name(q), dtype_name(k), dtype_name(v)), self._scale, self._align)
        caller = Caller("torch" if _frameworks.is_torch(q) else "numpy")
        return trace(facts, self.score_mod, self.mask_mod, (shapes[0][0], shapes[0][1], shapes[1][1]), caller=caller)

    def explain(
        self, q: Any, k: Any, v: Any, *, shape: str | None = None, target: str | None = None, backward: bool = False
    ) -> Explanation:
        """What the compiler decides for such a call, or for its gradients: see `attnc.explain`."""
        check_texts(shape=shape, target=target)
        traced = self._trace(q, k, v)
        if shape is None:
            arrays = {"q": q, "k": k, "v": v, **dict(zip(traced.names, traced.arrays, strict=True))}
            dims = [(name, axis, size) for name, array in arrays.items() for axis, size in enumerate(array.shape or (1,))]
            shape = ",".join(f"{name}.{axis}={size}" for name, axis, size in dims)
        if target is None:
            target = self._target or ("cpu" if _frameworks.device_of(q)[0] == _frameworks.CPU else "nvptx")
        spec = context().read_spec(traced.text, "attention")
        return Explanation(*context().explain(spec, target, backward=backward, shape=shape))

    def spec(self, q: Any, k: Any, v: Any) -> str:
        """The text that a call with such arguments compiles."""
        return self._trace(q, k, v).text

    def __call__(self, q: Any, k: Any, v: Any, *, return_lse: bool = False, out: Any = None) -> Any:
        """The output, [B, Sq, Hq, Dv], and with return_lse the LSE, [B, Hq, Sq]."""
        traced = self._trace(q, k, v)
        kernel = kernel_of(traced.text, target=self._target)
        # An array without dimensions is a tensor of one element.
        read = (as_read(array) for array in traced.arrays)
        arrays = [array.reshape(1) if len(array.shape) == 0 else array for array in read]
        result = kernel(q, k, v, *arrays, *traced.numbers, out=out)
        return result if return_lse or out is not None else result[0]


def jit(
    score_mod: ScoreMod | None = None,
    mask_mod: MaskMod | None = None,
    *,
    scale: float | None = None,
    align: str = "top_left",
    target: str | None = None,
) -> Attention:
    """Attention with a score and a mask function, traced and compiled when it is called.

    score_mod(score, b, h, q_idx, kv_idx): what becomes of a logit. mask_mod(b, h, q_idx, kv_idx): whether the key is kept.
    They compute with operators, with functions of attnc, numpy and torch, and with elements of arrays that they read;
    arrays are data of each call, numbers are compiled in. Batch and lengths are free: another length compiles nothing.
    scale: of the logits; 1/sqrt(D) where there is none. align: where q_idx starts if there are more keys than queries:
    "top_left" at 0, "bottom_right" so that the last query stands at the last key.
    """
    return Attention(score_mod, mask_mod, scale, align, target)
