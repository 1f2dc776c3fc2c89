"""varlen_attn, with the signature of torch.nn.attention.varlen's."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .._core import Error
from . import _checks
from ._calls import call

#: What its users call arrays.
_CALLED = {"q_offsets": "cu_seq_q", "kv_offsets": "cu_seq_k", "used_keys": "seqused_k"}


def used_keys(name: str, given: dict[str, Tensor | None], used: Tensor) -> dict[str, Tensor | None]:
    """How many keys of each sequence count, and where its first query then stands: the last one at the last of them."""
    q_offsets = given["q_offsets"]
    assert q_offsets is not None
    _checks.tensor(name, used, q_offsets)
    if used.dim() != 1 or used.shape[0] != q_offsets.shape[0] - 1 or used.dtype != torch.int32:
        wanted = f"int32 of shape [{q_offsets.shape[0] - 1}]"
        raise Error(f"argument '{name}': expected {wanted}, got {used.dtype} of {list(used.shape)} [S11]")
    return {"used_keys": used, "first_rows": used - q_offsets.diff().to(torch.int32)}


def varlen_attn(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    cu_seq_q: Tensor,
    cu_seq_k: Tensor | None,
    max_q: int | None = None,
    max_k: int | None = None,
    *,
    return_aux: Any = None,
    scale: float | None = None,
    window_size: tuple[int, int] = (-1, -1),
    enable_gqa: bool = False,
    seqused_k: Tensor | None = None,
    block_table: Tensor | None = None,
    num_splits: int | None = None,
) -> Any:
    """Attention of packed [T, H, D] tensors by cumulative lengths, on CPUs too, with gradients.

    window_size: (-1, 0) is causal, with the last query at the last key. seqused_k: how many keys of each sequence count. The
    greatest lengths and num_splits say nothing that a kernel here has to know: a row never depends on other sequences.
    return_aux: what has `lse`; a tuple with the LSE, [H, T].
    """
    _checks.inputs(("query", "key", "value"), (query, key, value), "T, H, D")
    _checks.grouped(("query", "key"), query, key, 1, enable_gqa)
    if block_table is not None:
        raise Error("block_table: expected None, since keys in pages are not read yet")
    if scale is not None:
        scale = _checks.number("scale", scale, "a number above 0 or None", "S1", least=1e-37)
    if return_aux is not None and not hasattr(return_aux, "lse"):
        raise TypeError(f"return_aux: expected an AuxRequest, got {type(return_aux).__name__}")
    given: dict[str, Tensor | None] = _checks.pair_of_offsets(("cu_seq_q", "cu_seq_k"), cu_seq_q, cu_seq_k, query)
    align = "bottom_right"
    if seqused_k is not None:
        given |= used_keys("seqused_k", given, seqused_k)
        align = "top_left"
    window = _checks.sides("window_size", window_size)
    out, lse = call(query, key, value, given, _CALLED, scale=scale, window=window, align=align)
    return (out, lse) if getattr(return_aux, "lse", False) else out
