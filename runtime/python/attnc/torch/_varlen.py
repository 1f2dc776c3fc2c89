"""varlen_attn, with the signature of torch.nn.attention.varlen's."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .._core import Error
from . import _checks
from ._calls import call
from ._direct import is_read
from ._flash import in_pages

#: What its users call arrays.
_CALLED = {
    "q_offsets": "cu_seq_q", "kv_offsets": "cu_seq_k", "used_keys": "seqused_k", "page_table": "block_table",
    "key_value_seq_lengths": "seqused_k",
}  # fmt: skip


def used_keys(name: str, given: dict[str, Tensor | None], used: Tensor) -> dict[str, Tensor | None]:
    """How many keys of each sequence count, and where its first query then stands: the last one at the last of them."""
    q_offsets = given["q_offsets"]
    assert q_offsets is not None
    _checks.lengths(name, used, q_offsets, q_offsets.shape[0] - 1)
    k_offsets = given["kv_offsets"]
    if k_offsets is not None and is_read(used) and is_read(k_offsets):
        keys = k_offsets.diff()
        for place in ((used < 0) | (used > keys)).nonzero()[:1, 0].tolist():
            wanted = f"a number from 0 to the {int(keys[place])} keys of sequence {place}"
            raise Error(f"argument '{name}': expected {wanted}, got {int(used[place])} [S11]")
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

    window_size: (-1, 0) is causal, with the last query at the last key. seqused_k: how many keys of each sequence count; numbers
    of more than there are, are refused on CPUs alone, since what lies on a GPU is not read. The greatest lengths and num_splits say
    nothing that a kernel here has to know: a row never depends on other sequences. block_table: of the pages [P, rows, H, D] that
    keys and values then lie in, [batch, pages of a sequence]; seqused_k says how many keys count, or cu_seq_k does. They have no
    gradients. return_aux: what has `lse`; a tuple with the LSE, [H, T].
    """
    _checks.inputs(("query", "key", "value"), (query, key, value), "T, H, D", paged=block_table is not None)
    _checks.grouped(("query", "key"), query, key, -2, enable_gqa)
    for name, hint in (("max_q", max_q), ("max_k", max_k), ("num_splits", num_splits)):
        _checks.hint(name, hint)
    if scale is not None:
        scale = _checks.number("scale", scale, "a number above 0 or None", "S1", least=1e-37)
    if return_aux is not None and not hasattr(return_aux, "lse"):
        raise TypeError(f"return_aux: expected an AuxRequest, got {type(return_aux).__name__}")
    window = _checks.sides("window_size", window_size)
    align = "bottom_right"
    given: dict[str, Tensor | None]
    if block_table is not None and cu_seq_k is None:
        given = {"q_offsets": _checks.offsets("cu_seq_q", cu_seq_q, query)}
        if seqused_k is None:
            raise Error("argument 'seqused_k': expected how many keys of each sequence count, or cu_seq_k, got None [S11]")
    else:
        given = _checks.pair_of_offsets(("cu_seq_q", "cu_seq_k"), cu_seq_q, cu_seq_k, query)
    if block_table is not None:
        sequences = cu_seq_q.shape[0] - 1
        used = cu_seq_k.diff() if seqused_k is None else _checks.lengths("seqused_k", seqused_k, query, sequences)  # type: ignore[union-attr]
        given = in_pages(("block_table", "key"), block_table, query, key, value, given, used)
    elif seqused_k is not None:
        given |= used_keys("seqused_k", given, seqused_k)
        align = "top_left"
    out, lse = call(query, key, value, given, _CALLED, scale=scale, window=window, align=align)
    return (out, lse) if getattr(return_aux, "lse", False) else out
