"""Calls that are told what to compute by options and not by functions."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import torch
from torch import Tensor

from .._core import Error
from .._options import ARRAYS, Options, trace
from .._trace.spec import deterministic
from . import _checks
from ._dtensor import has_dtensor, on_mesh
from ._ops import Call, attend, padded, wants_gradient
from ._tf32 import rounds


class _Stand(NamedTuple):
    """What a spec has to know of a tensor."""

    shape: tuple[int, ...]
    dtype: str

    @property
    def ndim(self) -> int:
        return len(self.shape)


#: Sizes of the batch, the queries and the keys that texts are made with; they are no part of them.
_SIZES = {"b": 5, "i": 7, "j": 11, "pages": 13}
_AXES = {
    "bias": "bhij", "mask": "bhij", "slopes": "bh", "q_segment_ids": "bi", "kv_segment_ids": "bj", "first_rows": "b",
    "used_keys": "b", "key_value_seq_lengths": "b",
}  # fmt: skip


#: What scores read of these: gradients of sinks are there anyway.
_LEARNED = ("bias", "slopes")


@functools.lru_cache(maxsize=1024)
def _cached_text(
    options: tuple[Any, ...], dtypes: tuple[str, ...], heads: tuple[int, int], dims: tuple[int, int], page_rows: int,
    shapes: tuple[tuple[int, ...], ...],
) -> tuple[str, str, tuple[str, ...], tuple[str, ...]]:  # fmt: skip
    """The texts of a spec and of that of its gradients, the names of its tensors and of those that have gradients.

    options: of `Options`. page_rows: of the pages that keys lie in, or 0. shapes: of the arrays, in sizes of `_SIZES`.
    """
    told = Options(*options)
    b, i, j = _SIZES["b"], _SIZES["i"], _SIZES["j"]
    lead = () if told.packed else (b,)
    rows = (_SIZES["pages"], page_rows) if page_rows else (*lead, j)
    shapes_of_rows = (*lead, i, heads[0], dims[0]), (*rows, heads[1], dims[0]), (*rows, heads[1], dims[1])
    tensors = [_Stand(shape, dtypes[0]) for shape in shapes_of_rows]
    arrays = [_Stand(shape, dtype) for shape, dtype in zip(shapes, dtypes[1:], strict=True)]
    traced = trace(told, *tensors, *arrays)
    return traced.text, traced.backward_text, traced.names, traced.differentiated


def fixed(value: Any) -> Any:
    """A number that texts name, or a tuple with such. Where torch.compile has a symbol, this decides that there is a program
    for each number: a symbol has no text of its own."""
    if not torch.compiler.is_dynamo_compiling() or value is None or isinstance(value, bool):
        return value
    if isinstance(value, tuple):
        return tuple(fixed(item) for item in value)
    return int(f"{value}") if isinstance(value, int) else float(f"{value}") if isinstance(value, float) else value


@torch.compiler.assume_constant_result
def _text(*facts: Any) -> tuple[str, str, tuple[str, ...], tuple[str, ...]]:
    """The same. torch.compile runs this, and looks at the result alone; behind a cache it would look inside."""
    return _cached_text(*facts)


def _shape_of(name: str, called: str, array: Tensor, sizes: dict[str, int]) -> tuple[int, ...]:
    """The sizes of an array, by the axes of the problem that it lies along. Raises where they do not go together."""
    if name in ("q_offsets", "kv_offsets"):
        return (_SIZES["b"] + 1,)
    if name == "dropout_seed":
        return tuple(array.shape)
    if name == "page_table":
        return (_SIZES["b"], _SIZES["pages"])
    if name == "softmax_aux":
        if array.dim() not in (1, 2) or (array.dim() == 2 and array.shape[0] != sizes["h"]):
            raise Error(f"argument '{called}': expected [n] or [{sizes['h']}, n], got {list(array.shape)} [S6]")
        return tuple(fixed(size) for size in array.shape)
    axes = _AXES[name][-array.dim() :] if name == "slopes" else _AXES[name]
    if array.dim() != len(axes):
        raise Error(f"argument '{called}': expected {len(axes)} dimensions, got {array.dim()}")
    shape = []
    for axis, size in zip(axes, array.shape, strict=True):
        if size == sizes[axis]:
            shape.append(_SIZES[axis] if axis in _SIZES else fixed(sizes[axis]))
        elif size == 1:
            shape.append(1)
        else:
            word = {"b": "batch entries", "h": "heads", "i": "queries", "j": "keys"}[axis]
            wanted = "1" if sizes[axis] == 1 else f"1 or {sizes[axis]}"
            raise Error(f"argument '{called}': expected {wanted} for the {word}, got {size}")
    return tuple(shape)


def drawn_seed(probability: float, query: Tensor) -> Tensor | None:
    """The words of a seed, drawn where the queries lie: torch.manual_seed decides what is dropped, no GPU is waited for, and each
    replay of a graph draws anew. None where nothing is dropped."""
    if not probability:
        return None
    return torch.randint(-(2**31), 2**31, (4,), dtype=torch.int32, device=query.device)


def _words(seed: int, query: Tensor) -> Tensor:
    """The words of a seed of 64 bits, where the queries lie, without a copy from the host."""
    words = torch.zeros(4, dtype=torch.int32, device=query.device)
    for number, half in enumerate((seed, seed >> 32)):
        words[number] = (half + 2**31) % 2**32 - 2**31
    return words


def _as_read(name: str, array: Tensor) -> Tensor:
    """An array of a call as kernels take it. Gradients go back to its own type."""
    return array.float() if name in ("bias", "softmax_aux") and getattr(array, "dtype", None) is torch.float64 else array


def prepare(
    query: Tensor, key: Tensor, value: Tensor, given: dict[str, Tensor | None], called: dict[str, str] | None = None,
    **options: Any,
) -> Call:  # fmt: skip
    """The spec of [B, S, H, D] tensors, or of [T, H, D] with `q_offsets`; with `page_table`, keys and values are [P, rows, H, D].
    `given`: arrays that may be there. called: what the caller calls those that have another name there."""
    called = called or {}
    same_bits = options.pop("deterministic", False)
    names = tuple(name for name in ARRAYS if given.get(name) is not None)
    arrays: list[Tensor] = [_as_read(name, given[name]) for name in names]  # type: ignore[arg-type]
    seed = options.pop("seed", 0)
    wants = wants_gradient()
    learned = [name for name, array in zip(names, arrays, strict=True) if wants is not None and wants(array)]
    # Numbers of defaults are symbols as well.
    for option, default in (("scale", None), ("window", None), ("softcap", None), ("dropout", 0.0)):
        options[option] = fixed(options.get(option, default))
    told = Options(names, **options, tf32=rounds(query), learned=tuple(name for name in learned if name in _LEARNED))
    sizes = {"h": query.shape[-2], "i": query.shape[-3], "j": key.shape[-3]}
    page_rows = fixed(key.shape[1]) if told.paged else 0
    if told.paged:
        sizes["j"] = arrays[names.index("page_table")].shape[1] * page_rows
    sizes["b"] = arrays[names.index("q_offsets")].shape[0] - 1 if told.packed else query.shape[0]
    for name, array in zip(names, arrays, strict=True):
        _checks.tensor(called.get(name, name), array, query)
        if name in ("bias", "softmax_aux") and array.dtype not in _checks.FLOATS:
            raise Error(f"argument '{called.get(name, name)}': expected float32, float16 or bfloat16, got {array.dtype}")
    # By text: a spec is the same for tensors of every size.
    text, backward_text, order, differentiated = _text(
        tuple(told),
        tuple(str(tensor.dtype).rpartition(".")[2] for tensor in (query, *arrays)),
        (fixed(query.shape[-2]), fixed(key.shape[-2])),
        (fixed(query.shape[-1]), fixed(value.shape[-1])),
        page_rows,
        tuple(_shape_of(name, called.get(name, name), array, sizes) for name, array in zip(names, arrays, strict=True)),
    )
    held = dict(zip(names, arrays, strict=True))
    captured = tuple(held["softmax_aux" if name == "sinks" else name] for name in order)
    if same_bits:
        backward_text = deterministic(backward_text)
    numbers = (seed,) if told.dropout and "dropout_seed" not in names else ()
    return Call(text, backward_text, order, captured, numbers, differentiated)


def call(
    query: Tensor, key: Tensor, value: Tensor, given: dict[str, Tensor | None], called: dict[str, str] | None = None,
    **options: Any,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The output and the LSE of [B, S, H, D] tensors, or of [T, H, D] with `q_offsets`. The inputs are those of `prepare`."""
    columns = value.shape[-1]
    if (query.shape[-1] % 8 != 0 or columns % 8 != 0) and given.get("page_table") is None:
        scale = options.get("scale")
        options["scale"] = fixed(query.shape[-1]) ** -0.5 if scale is None else scale
        query, key, value = padded(query), padded(key), padded(value)
        out, lse = call(query, key, value, given, called, **options)
        return out[..., :columns], lse
    names = [name for name, array in given.items() if array is not None]
    arrays: list[Tensor] = [given[name] for name in names]  # type: ignore[misc]
    if not has_dtensor((query, key, value, *arrays)):
        return _call(query, key, value, given, called, options)
    if "page_table" in names:
        raise Error(f"argument '{(called or {}).get('page_table', 'page_table')}': expected tensors of one device, got DTensors")

    is_drawn = "dropout_seed" in names
    if options.get("dropout") and not is_drawn:
        # What a device drops depends on where its part begins, which a number in the text cannot say.
        names.append("dropout_seed")
        arrays.append(_words(options.pop("seed", 0), query))

    def local(query: Tensor, key: Tensor, value: Tensor, *arrays: Tensor) -> tuple[Tensor, Tensor]:
        return _call(query, key, value, dict(zip(names, arrays, strict=True)), called, dict(options))

    packed = "q_offsets" in names
    # Batch entries of packed sequences share a dimension.
    split = "h" if packed else "bh"
    lead = "" if packed else "b"
    layouts = [f"{lead}ihd", f"{lead}jgd", f"{lead}jge"]
    for name, array in zip(names, arrays, strict=True):
        layouts.append("hn"[-array.dim() :] if name == "softmax_aux" else _AXES.get(name, "t")[-array.dim() :])
    results = [f"{lead}ihe", f"{lead}hi"]
    seed = 3 + names.index("dropout_seed") if "dropout_seed" in names else None
    out, lse = on_mesh(local, (query, key, value, *arrays), layouts, results, split, seed, is_drawn)
    return out, lse


def _call(
    query: Tensor, key: Tensor, value: Tensor, given: dict[str, Tensor | None], called: dict[str, str] | None,
    options: dict[str, Any],
) -> tuple[Tensor, Tensor]:  # fmt: skip
    return call_prepared(query, key, value, prepare(query, key, value, given, called, **options), called)


def call_prepared(
    query: Tensor, key: Tensor, value: Tensor, prepared: Call, called: dict[str, str] | None = None
) -> tuple[Tensor, Tensor]:
    """The output and the LSE of tensors of one device, with head dims that kernels have, whose spec `prepare` has made."""
    # [B, H, S, D], as operators have it.
    query, key, value = (_turned(tensor) for tensor in (query, key, value))
    out, lse = _attend(query, key, value, prepared, called)
    return _turned(out), lse


def _turned(tensor: Tensor) -> Tensor:
    """Rows behind heads, or the other way round; packed ones as they are."""
    return tensor.transpose(1, 2) if tensor.dim() == 4 else tensor


def _attend(query: Tensor, key: Tensor, value: Tensor, prepared: Call, called: dict[str, str] | None) -> tuple[Tensor, Tensor]:
    """What kernels refuse, of gradients or of what offsets hold, has the caller's names too."""
    if not called or torch.compiler.is_compiling():
        return attend(query, key, value, prepared)
    try:
        return attend(query, key, value, prepared)
    except Error as error:
        raise in_words_of(called, error) from error


def in_words_of(called: dict[str, str], error: Error) -> Error:
    """The same error, with what the caller calls the arguments."""
    text = str(error)
    for name, theirs in called.items():
        text = text.replace(f"'{name}'", f"'{theirs}'")
    return Error(text)
