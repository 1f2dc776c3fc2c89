"""varlen_attn, with the signature of torch.nn.attention.varlen's."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .._core import Error
from ._calls import call, check_tensors
from ._flash import pair_of_offsets, sides


def used_keys(name: str, given: dict[str, Tensor | None], used: Tensor) -> dict[str, Tensor | None]:
    """How many keys of each sequence count, and where its first query then stands: the last one at the last of them."""
    q_offsets = given["q_offsets"]
    assert q_offsets is not None
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
    check_tensors(query, key, value, "T, H, D")
    if not enable_gqa and query.shape[1] != key.shape[1]:
        raise Error(f"argument 'key': expected {query.shape[1]} heads, as 'query' has, or enable_gqa=True, got {key.shape[1]}")
    if block_table is not None:
        raise Error("block_table: expected None, since keys in pages are not read yet")
    if scale is not None and not scale > 0:
        raise Error(f"scale: expected a number above 0, got {scale!r} [S1]")
    given: dict[str, Tensor | None] = pair_of_offsets(("cu_seq_q", "cu_seq_k"), cu_seq_q, cu_seq_k, query)
    align = "bottom_right"
    if seqused_k is not None:
        given |= used_keys("seqused_k", given, seqused_k)
        align = "top_left"
    out, lse = call(query, key, value, given, scale=scale, window=sides("window_size", window_size), align=align)
    return (out, lse) if getattr(return_aux, "lse", False) else out
