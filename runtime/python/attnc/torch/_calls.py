"""Calls that are told what to compute by options and not by functions."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import torch
from torch import Tensor

from .._core import Error
from .._options import ARRAYS, Options, trace
from .._trace.spec import deterministic
from ._dtensor import has_dtensor, on_mesh
from ._ops import Call, attend, wants_gradient


class _Stand(NamedTuple):
    """What a spec has to know of a tensor."""

    shape: tuple[int, ...]
    dtype: str

    @property
    def ndim(self) -> int:
        return len(self.shape)


#: Sizes of the batch, the queries and the keys that texts are made with; they are no part of them.
_SIZES = {"b": 5, "i": 7, "j": 11}
_AXES = {
    "bias": "bhij", "mask": "bhij", "slopes": "bh", "q_segment_ids": "bi", "kv_segment_ids": "bj", "q_positions": "bi",
    "kv_positions": "bj", "first_rows": "b", "used_keys": "b", "q_lengths": "b", "kv_lengths": "b",
}  # fmt: skip


#: What scores read of these: gradients of sinks are there anyway.
_LEARNED = ("bias", "slopes")


@functools.lru_cache(maxsize=1024)
def _cached_text(
    options: tuple[Any, ...], dtypes: tuple[str, ...], heads: tuple[int, int], dims: tuple[int, int],
    shapes: tuple[tuple[int, ...], ...],
) -> tuple[str, str, tuple[str, ...], tuple[str, ...]]:  # fmt: skip
    """The texts of a spec and of that of its gradients, the names of its tensors and of those that have gradients.

    options: of `Options`. shapes: of the arrays, in sizes of `_SIZES`.
    """
    told = Options(*options)
    b, i, j = _SIZES["b"], _SIZES["i"], _SIZES["j"]
    query, key, value = (i, heads[0], dims[0]), (j, heads[1], dims[0]), (j, heads[1], dims[1])
    lead = () if told.packed else (b,)
    tensors = [_Stand((*lead, *shape), dtypes[0]) for shape in (query, key, value)]
    arrays = [_Stand(shape, dtype) for shape, dtype in zip(shapes, dtypes[1:], strict=True)]
    traced = trace(told, *tensors, *arrays)
    return traced.text, traced.backward_text, traced.names, traced.differentiated


def _fixed(value: Any) -> Any:
    """A number that texts name, or a tuple with such. Where torch.compile has a symbol, this decides that there is a program
    for each number: a symbol has no text of its own."""
    if not torch.compiler.is_dynamo_compiling() or value is None or isinstance(value, bool):
        return value
    if isinstance(value, tuple):
        return tuple(_fixed(item) for item in value)
    return int(f"{value}") if isinstance(value, int) else float(f"{value}") if isinstance(value, float) else value


@torch.compiler.assume_constant_result
def _text(*facts: Any) -> tuple[str, str, tuple[str, ...], tuple[str, ...]]:
    """The same. torch.compile runs this, and looks at the result alone; behind a cache it would look inside."""
    return _cached_text(*facts)


def _shape_of(name: str, array: Tensor, sizes: dict[str, int]) -> tuple[int, ...]:
    """The sizes of an array, by the axes of the problem that it lies along. Raises where they do not go together."""
    if name in ("q_offsets", "kv_offsets"):
        return (_SIZES["b"] + 1,)
    if name == "softmax_aux":
        if array.dim() not in (1, 2) or (array.dim() == 2 and array.shape[0] != sizes["h"]):
            raise Error(f"argument 'softmax_aux': expected [n] or [{sizes['h']}, n], got {list(array.shape)} [S6]")
        return tuple(_fixed(size) for size in array.shape)
    axes = _AXES[name][-array.dim() :] if name == "slopes" else _AXES[name]
    if array.dim() != len(axes):
        raise Error(f"argument '{name}': expected {len(axes)} dimensions, got {array.dim()}")
    shape = []
    for axis, size in zip(axes, array.shape, strict=True):
        if size == sizes[axis]:
            shape.append(_SIZES[axis] if axis in _SIZES else _fixed(sizes[axis]))
        elif size == 1:
            shape.append(1)
        else:
            word = {"b": "batch entries", "h": "heads", "i": "queries", "j": "keys"}[axis]
            raise Error(f"argument '{name}': expected 1 or {sizes[axis]} for the {word}, got {size}")
    return tuple(shape)


def check_tensors(query: Any, key: Any, value: Any, layout: str) -> None:
    """Raises where queries, keys and values do not go together. layout: "B, S, H, D", say."""
    rank = layout.count(",") + 1
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"argument '{name}': expected a tensor, got {type(tensor).__name__}")
        if tensor.dim() != rank:
            raise Error(f"argument '{name}': expected {rank} dimensions, [{layout}], got {tensor.dim()}")
        if tensor.device != query.device:
            raise Error(f"argument '{name}': expected a tensor on {query.device}, as 'query' is, got one on {tensor.device}")
        if tensor.dtype != query.dtype:
            raise Error(f"argument '{name}': expected {query.dtype}, as 'query' has, got {tensor.dtype}")
    if query.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise Error(f"argument 'query': expected float32, float16 or bfloat16, got {query.dtype}")
    heads, key_heads = query.shape[-2], key.shape[-2]
    if key_heads == 0 or heads % key_heads != 0:
        raise Error(f"argument 'key': expected a number of heads that divides the {heads} of 'query', got {key_heads} [S10]")
    for name, tensor, axis, word, wanted in (
        ("key", key, -1, "for the head dim", query.shape[-1]), ("value", value, -2, "heads", key_heads),
        ("value", value, -3, "keys", key.shape[-3]),
    ):  # fmt: skip
        if tensor.shape[axis] != wanted:
            raise Error(f"argument '{name}': expected {wanted} {word}, got {tensor.shape[axis]}")
    if rank == 4:
        for name, tensor in (("key", key), ("value", value)):
            if tensor.shape[0] != query.shape[0]:
                raise Error(f"argument '{name}': expected {query.shape[0]} batch entries, got {tensor.shape[0]}")


def prepare(query: Tensor, key: Tensor, value: Tensor, given: dict[str, Tensor | None], **options: Any) -> Call:
    """The spec of [B, S, H, D] tensors, or of [T, H, D] with `q_offsets`. `given`: arrays that may be there."""
    same_bits = options.pop("deterministic", False)
    names = tuple(name for name in ARRAYS if given.get(name) is not None)
    arrays: list[Tensor] = [given[name] for name in names]  # type: ignore[misc]
    seed = options.pop("seed", 0)
    wants = wants_gradient()
    learned = [name for name, array in zip(names, arrays, strict=True) if wants is not None and wants(array)]
    # Numbers of defaults are symbols as well.
    for option, default in (("scale", None), ("window", None), ("softcap", None), ("dropout", 0.0)):
        options[option] = _fixed(options.get(option, default))
    told = Options(names, **options, learned=tuple(name for name in learned if name in _LEARNED))
    sizes = {"h": query.shape[-2], "i": query.shape[-3], "j": key.shape[-3]}
    sizes["b"] = arrays[names.index("q_offsets")].shape[0] - 1 if told.packed else query.shape[0]
    for name, array in zip(names, arrays, strict=True):
        if not isinstance(array, Tensor):
            raise TypeError(f"argument '{name}': expected a tensor, got {type(array).__name__}")
        if array.device != query.device:
            raise Error(f"argument '{name}': expected a tensor on {query.device}, as 'query' is, got one on {array.device}")
    # By text: a spec is the same for tensors of every size.
    text, backward_text, order, differentiated = _text(
        tuple(told),
        tuple(str(tensor.dtype).rpartition(".")[2] for tensor in (query, *arrays)),
        (_fixed(query.shape[-2]), _fixed(key.shape[-2])),
        (_fixed(query.shape[-1]), _fixed(value.shape[-1])),
        tuple(_shape_of(name, array, sizes) for name, array in zip(names, arrays, strict=True)),
    )
    held = dict(zip(names, arrays, strict=True))
    captured = tuple(held["softmax_aux" if name == "sinks" else name] for name in order)
    if same_bits:
        backward_text = deterministic(backward_text)
    return Call(text, backward_text, order, captured, (seed,) if told.dropout else (), differentiated)


def call(query: Tensor, key: Tensor, value: Tensor, given: dict[str, Tensor | None], **options: Any) -> tuple[Tensor, Tensor]:
    """The output and the LSE of [B, S, H, D] tensors, or of [T, H, D] with `q_offsets`. `given`: arrays that may be there."""
    names = [name for name, array in given.items() if array is not None]
    arrays: list[Tensor] = [given[name] for name in names]  # type: ignore[misc]
    if not has_dtensor((query, key, value, *arrays)):
        return _call(query, key, value, given, options)

    def local(query: Tensor, key: Tensor, value: Tensor, *arrays: Tensor) -> tuple[Tensor, Tensor]:
        return _call(query, key, value, dict(zip(names, arrays, strict=True)), dict(options))

    packed = "q_offsets" in names
    # Batch entries of packed sequences share a dimension, and what is dropped is chosen by the batch entry and the head.
    split = "" if options.get("dropout") else "h" if packed else "bh"
    lead = "" if packed else "b"
    layouts = [f"{lead}ihd", f"{lead}jgd", f"{lead}jge"]
    for name, array in zip(names, arrays, strict=True):
        layouts.append("hn"[-array.dim() :] if name == "softmax_aux" else _AXES.get(name, "t")[-array.dim() :])
    results = [f"{lead}ihe", f"{lead}hi"]
    out, lse = on_mesh(local, (query, key, value, *arrays), layouts, results, split)
    return out, lse


def _call(
    query: Tensor, key: Tensor, value: Tensor, given: dict[str, Tensor | None], options: dict[str, Any]
) -> tuple[Tensor, Tensor]:
    prepared = prepare(query, key, value, given, **options)
    if query.dim() == 3:
        return attend(query, key, value, prepared)
    # [B, H, S, D], as operators have it.
    query, key, value = (tensor.transpose(1, 2) for tensor in (query, key, value))
    out, lse = attend(query, key, value, prepared)
    return out.transpose(1, 2), lse
