"""What callers give, checked where they give it: an error names their argument, what was expected and what came."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .. import _checks as shared
from .._core import Error

#: Types that kernels compute with.
FLOATS = (torch.float32, torch.float16, torch.bfloat16)


def said(value: Any) -> str:
    """A value as messages show it."""
    if isinstance(value, Tensor):
        return f"a tensor of {value.dtype} {list(value.shape)}"
    return shared.said(value)


def _plain(value: Any) -> Any:
    """A number without an array around it."""
    is_number = isinstance(value, (int, float, str)) or getattr(value, "shape", None) != ()
    return value if is_number or not hasattr(value, "item") else value.item()


_shared = shared.Checks(_plain, said, (int, torch.SymInt))
flag, integer, number, scale, cap = _shared.flag, _shared.integer, _shared.number, _shared.scale, _shared.cap
window, probability, choice = _shared.window, _shared.probability, _shared.choice


def side(name: str, value: Any) -> int | None:
    """A side of a window as FlashAttention has it: -1 is all of it, here None."""
    found = integer(value)
    if found is None or found < -1:
        raise Error(f"{name}: expected two numbers of 0 or more, or -1 for all, got {said(value)} [S5]")
    return None if found == -1 else min(found, shared.FAR)


def sides(name: str, value: Any) -> tuple[int | None, int | None] | None:
    """A window as FlashAttention has it: (-1, -1) is none."""
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise Error(f"{name}: expected two numbers of 0 or more, or -1 for all, got {said(value)} [S5]")
    left, right = (side(name, item) for item in value)
    return None if left is None and right is None else (left, right)


def seed(name: str, value: Any) -> int:
    found = integer(value)
    if found is None or not -(2**63) <= found < 2**63:
        raise Error(f"{name}: expected an integer of 64 bits, got {said(value)} [S9]")
    return found


def size(name: str, value: Any) -> None:
    found = integer(value)
    if found is None or found < 0:
        raise Error(f"{name}: expected a number of 0 or more, got {said(value)}")


def hint(name: str, value: Any) -> None:
    """What others' kernels have to know of sizes: a number of 0 or more, also as a tensor, whose number is not asked for."""
    is_tensor = isinstance(value, Tensor) and value.numel() == 1 and not value.is_floating_point() and not value.is_complex()
    if value is not None and not is_tensor:
        size(name, value)


def device(name: str, value: Any) -> None:
    """A device of torch, which need not be there; None for any."""
    if isinstance(value, (torch.device, type(None))) or torch.compiler.is_compiling():
        return
    try:
        torch.device(value)
    except (RuntimeError, TypeError, ValueError):
        raise Error(f"{name}: expected a device of torch or None, got {said(value)}") from None


#: What JAX calls precisions and algorithms, and the types that it has for them.
_PRECISIONS = {
    "default", "fastest", "high", "highest", "bfloat16", "bfloat16_3x", "tensorfloat32", "float32", "DEFAULT",
    "ANY_F8_ANY_F8_F32", "ANY_F8_ANY_F8_F32_FAST_ACCUM", "ANY_F8_ANY_F8_ANY", "ANY_F8_ANY_F8_ANY_FAST_ACCUM", "F16_F16_F16",
    "F16_F16_F32", "BF16_BF16_BF16", "BF16_BF16_F32", "BF16_BF16_F32_X3", "BF16_BF16_F32_X6", "BF16_BF16_F32_X9",
    "TF32_TF32_F32", "TF32_TF32_F32_X3", "F32_F32_F32", "F64_F64_F64",
}  # fmt: skip
_TYPES_OF_PRECISIONS = ("Precision", "DotAlgorithm", "DotAlgorithmPreset")


def precision(value: Any) -> None:
    """Raises unless JAX takes it, as attnc.jax does: None, a precision or a name of one, a pair of them, or an algorithm."""
    for part in value if isinstance(value, (tuple, list)) and len(value) == 2 else (value,):
        # Dynamo of some versions cannot ask a type for its module, which nobody has to for these.
        if part is None or (isinstance(part, str) and part in _PRECISIONS):
            continue
        kind = type(part)
        if kind.__module__.partition(".")[0] != "jax" or kind.__name__ not in _TYPES_OF_PRECISIONS:
            raise Error(f"precision: expected a precision of JAX or its name, or two of them, got {said(value)}")


# --- Tensors -------------------------------------------------------------------------------------------------------------


def tensor(name: str, value: Any, query: Any = None) -> Tensor:
    """A tensor that lies where queries do."""
    if not isinstance(value, Tensor):
        raise TypeError(f"argument '{name}': expected a tensor, got {type(value).__name__}")
    if value.is_nested:
        raise Error(f"argument '{name}': expected a dense tensor, got a nested one: varlen_attn takes packed sequences")
    if value.layout is not torch.strided:
        raise Error(f"argument '{name}': expected a dense tensor, got one of {value.layout}: to_dense() makes it one")
    if query is not None and value.device != query.device:
        raise Error(f"argument '{name}': expected a tensor on {query.device}, as queries are, got one on {value.device}")
    return value


def captured(name: str, value: Any, query: Tensor) -> Tensor:
    """A tensor that a score or mask function reads."""
    if not isinstance(value, Tensor):
        raise Error(f"captured array '{name}': expected a tensor of torch, got {type(value).__name__}")
    if value.layout is not torch.strided:
        raise Error(f"captured array '{name}': expected a dense tensor, got one of {value.layout}: to_dense() makes it one")
    if value.device != query.device:
        raise Error(f"captured array '{name}': expected a tensor on {query.device}, as queries are, got one on {value.device}")
    return value


#: Where rows and heads stand in layouts.
_PLACES = {"B, S, H, D": (1, 2), "B, H, S, D": (2, 1), "T, H, D": (0, 1)}


def inputs(
    names: tuple[str, str, str], tensors: tuple[Any, Any, Any], layout: str, one_batch: bool = False, paged: bool = False
) -> None:
    """Raises where queries, keys and values do not go together. layout: "B, S, H, D", say. one_batch: keys and values of one
    batch entry serve all. paged: they lie in pages."""
    rows, heads = _PLACES[layout]
    last = max(rows, heads) + 1
    query, key, value = tensors
    layouts = (layout, *(2 * ["P, rows, H, D"] if paged else 2 * [layout]))
    for name, given, wanted in zip(names, tensors, layouts, strict=True):
        tensor(name, given)
        if given.dim() != wanted.count(",") + 1:
            raise Error(f"argument '{name}': expected {wanted.count(',') + 1} dimensions, [{wanted}], got {given.dim()}")
        if given.device != query.device:
            raise Error(f"argument '{name}': expected a tensor on {query.device}, as '{names[0]}' is, got one on {given.device}")
        if given.dtype != query.dtype:
            raise Error(f"argument '{name}': expected {query.dtype}, as '{names[0]}' has, got {given.dtype}")
    if query.dtype not in FLOATS:
        raise Error(f"argument '{names[0]}': expected float32, float16 or bfloat16, got {query.dtype}")
    q, k, v = query.shape, key.shape, value.shape
    # From the end, where layouts of keys in pages are the same.
    head = heads - last - 1
    if k[head] == 0 or q[head] % k[head] != 0:
        wanted = f"a number of heads that divides the {q[head]} of '{names[0]}'"
        raise Error(f"argument '{names[1]}': expected {wanted}, got {k[head]} [S10]")
    sizes = [(names[1], k[-1], q[-1], "for the head dim"), (names[2], v[head], k[head], "heads")]
    if paged:
        sizes += [(names[2], v[0], k[0], "pages"), (names[2], v[1], k[1], "rows of a page")]
    else:
        sizes.append((names[2], v[rows], k[rows], "keys"))
    if last == 3 and not paged:
        batches = (q[0], 1) if one_batch else (q[0],)
        sizes += [(name, got, q[0], "batch entries") for name, got in ((names[1], k[0]), (names[2], v[0])) if got not in batches]
    for name, got, wanted, word in sizes:
        if got != wanted:
            raise Error(f"argument '{name}': expected {wanted} {word}, got {got}")
    for name, width in ((names[0], q[-1]), (names[2], v[-1])):
        # Others are padded. Pages are not: they would all be copied.
        if not 1 <= width <= 256 or (paged and width % 8 != 0):
            wanted = "a multiple of 8 from 8" if paged else "a number from 1"
            raise Error(f"argument '{name}': expected {wanted} to 256 for the head dim, got {width} [S14]")


def grouped(names: tuple[str, str], query: Tensor, key: Tensor, dim: int, enable_gqa: Any) -> None:
    """Raises where queries share keys and nobody has said so."""
    if not flag("enable_gqa", enable_gqa) and query.shape[dim] != key.shape[dim]:
        heads, key_heads = query.shape[dim], key.shape[dim]
        raise Error(f"argument '{names[1]}': expected {heads} heads, as '{names[0]}' has, or enable_gqa=True, got {key_heads}")


def integers(name: str, value: Any, query: Tensor) -> Tensor:
    found = tensor(name, value, query)
    if found.dtype.is_floating_point or found.dtype.is_complex or found.dtype == torch.bool:
        raise Error(f"argument '{name}': expected integers, got {found.dtype}")
    return found.to(torch.int32)


def offsets(name: str, value: Any, query: Tensor) -> Tensor:
    """Cumulative lengths of packed sequences."""
    found = tensor(name, value, query)
    if found.dim() != 1 or found.shape[0] < 1 or found.dtype != torch.int32:
        raise Error(f"argument '{name}': expected int32 of shape [batch + 1], got {found.dtype} of {list(found.shape)} [S11]")
    return found


def lengths(name: str, value: Any, query: Tensor, sequences: int, rule: str = "S11") -> Tensor:
    """How many rows of each sequence count."""
    found = tensor(name, value, query)
    if found.dim() != 1 or found.shape[0] != sequences or found.dtype != torch.int32:
        raise Error(f"argument '{name}': expected int32 of shape [{sequences}], got {found.dtype} of {list(found.shape)} [{rule}]")
    return found


def pages(name: str, table: Any, key_name: str, query: Tensor, key: Tensor, value: Tensor, sequences: int) -> Tensor:
    """The table of the pages that keys and values lie in."""
    found = tensor(name, table, query)
    if found.dim() != 2 or found.shape[0] != sequences or found.dtype != torch.int32:
        wanted = f"int32 of shape [{sequences}, pages of a sequence]"
        raise Error(f"argument '{name}': expected {wanted}, got {found.dtype} of {list(found.shape)} [S19]")
    if key.shape[1] == 0:
        raise Error(f"argument '{key_name}': expected pages of 1 row or more, got {list(key.shape)} [S19]")
    if torch.is_grad_enabled() and (query.requires_grad or key.requires_grad or value.requires_grad):
        raise Error(f"argument '{name}': keys in pages have no gradients; call under torch.no_grad() [S19]")
    return found


def pair_of_offsets(names: tuple[str, str], q: Any, k: Any, query: Tensor) -> dict[str, Tensor | None]:
    """Cumulative lengths of queries and keys."""
    found = offsets(names[0], q, query), offsets(names[1], k, query)
    if found[0].shape != found[1].shape:
        wanted, got = (given.shape[0] for given in found)
        raise Error(f"argument '{names[1]}': expected {wanted} elements, as '{names[0]}' has, got {got} [S11]")
    return {"q_offsets": found[0], "kv_offsets": found[1]}
