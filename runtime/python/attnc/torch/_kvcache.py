"""flash_attn_with_kvcache, with the signature of FlashAttention's: decoding with keys and values of earlier tokens."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .._core import Error
from . import _checks
from ._calls import call, in_words_of, prepare
from ._direct import are_flags, are_numbers, is_plain, remember, run
from ._flash import _cap
from ._tf32 import rounds

#: What its users call arrays.
_CALLED = {"slopes": "alibi_slopes", "page_table": "block_table", "key_value_seq_lengths": "cache_seqlens"}


def flash_attn_with_kvcache(
    q: Tensor, k_cache: Tensor, v_cache: Tensor, k: Tensor | None = None, v: Tensor | None = None,
    rotary_cos: Tensor | None = None, rotary_sin: Tensor | None = None, cache_seqlens: int | Tensor | None = None,
    cache_batch_idx: Tensor | None = None, cache_leftpad: Tensor | None = None, block_table: Tensor | None = None,
    softmax_scale: float | None = None, causal: bool = False, window_size: tuple[int, int] = (-1, -1), softcap: float = 0.0,
    rotary_interleaved: bool = True, alibi_slopes: Tensor | None = None, num_splits: int = 0,
    return_softmax_lse: bool = False,
) -> Any:  # fmt: skip
    """Attention of [B, S, H, D] queries with a cache, whose last query stands at the last key of its sequence. No gradients.

    k_cache, v_cache: [batch of the cache, S, H, D], or with block_table [pages, rows, H, D]: the table [B, pages of a sequence]
    names those of each sequence. cache_seqlens: how many keys each has. k, v: new ones, [B, S, H, D], which are written to the
    cache behind those, and count. cache_batch_idx: the entry of the cache that belongs to each sequence. Queries and keys are
    rotated before the call. num_splits says nothing that a kernel here has to know. return_softmax_lse: a tuple with the
    LSE, [B, H, S].
    """
    key: Any = None
    if k is None and v is None and rotary_cos is None and rotary_sin is None and cache_leftpad is None and alibi_slopes is None:
        key, inputs = _key(q, k_cache, v_cache, cache_seqlens, block_table, softmax_scale, causal, window_size, softcap)
        try:
            results = None if key is None or cache_batch_idx is not None else run(key, inputs)
        except Error as error:
            raise in_words_of(_CALLED, error) from error
        if results is not None and (return_softmax_lse is True or return_softmax_lse is False):
            return results if return_softmax_lse else results[0]
    paged = block_table is not None
    _checks.inputs(("q", "k_cache", "v_cache"), (q, k_cache, v_cache), "B, S, H, D", paged=paged or cache_batch_idx is not None)
    for name, given, instead in (
        ("rotary_cos", rotary_cos, "rotate queries and keys before"), ("rotary_sin", rotary_sin, "rotate queries and keys before"),
        ("cache_leftpad", cache_leftpad, "caches begin with their first key"),
    ):  # fmt: skip
        if given is not None:
            raise Error(f"argument '{name}': expected None: {instead}")
    _checks.flag("rotary_interleaved", rotary_interleaved)
    _checks.size("num_splits", num_splits)
    with_lse = _checks.flag("return_softmax_lse", return_softmax_lse)
    batch, rows = q.shape[0], k_cache.shape[1]
    table = _table(q, k_cache, v_cache, block_table, cache_batch_idx)
    lengths = _lengths(q, cache_seqlens, batch)
    if (k is None) != (v is None):
        missing = "v" if v is None else "k"
        raise Error(f"argument '{missing}': expected new keys and values, or none of both")
    if k is not None and v is not None:
        if lengths is None:
            raise Error("argument 'cache_seqlens': expected how many keys each sequence has, since there are new ones, got None")
        _checks.inputs(("q", "k", "v"), (q, k, v), "B, S, H, D")
        _write(k_cache, v_cache, k, v, lengths, table, rows)
        lengths = lengths + k.shape[1]
    given = {"slopes": alibi_slopes, "page_table": table, "key_value_seq_lengths": lengths}
    options = {
        "scale": _checks.scale("softmax_scale", softmax_scale), "causal": _checks.flag("causal", causal),
        "window": _checks.sides("window_size", window_size), "softcap": _cap(softcap),
    }  # fmt: skip
    if key is not None and cache_batch_idx is None:
        remember(key, prepare(q, k_cache, v_cache, given, _CALLED, **options).text, q)
    out, lse = call(q, k_cache, v_cache, given, _CALLED, **options)
    return (out, lse) if with_lse else out


def _key(q: Any, k_cache: Any, v_cache: Any, lengths: Any, table: Any, scale: Any, causal: Any, window: Any, cap: Any) -> Any:
    """What the kernel of a call is known by, and what that takes; None where checks come first."""
    inputs = tuple(tensor for tensor in (q, k_cache, v_cache, lengths, table) if tensor is not None)
    if not are_numbers(scale, window, cap) or not are_flags(causal) or not is_plain(*inputs):
        return None, inputs
    kinds = tuple((tensor.shape, tensor.dtype) for tensor in inputs)
    return ("kvcache", kinds, lengths is None, table is None, scale, causal, window, cap, rounds(q)), inputs


def _table(q: Tensor, k_cache: Tensor, v_cache: Tensor, block_table: Any, cache_batch_idx: Any) -> Tensor | None:
    """The table of pages. An entry of a cache without pages is one page, where entries have to be looked up."""
    batch = q.shape[0]
    if block_table is not None:
        if cache_batch_idx is not None:
            raise Error("argument 'cache_batch_idx': expected None, since block_table names the pages of each sequence")
        return _checks.pages("block_table", block_table, "k_cache", q, k_cache, v_cache, batch)
    if cache_batch_idx is None:
        return None
    entries = _checks.lengths("cache_batch_idx", _checks.integers("cache_batch_idx", cache_batch_idx, q), q, batch, "S19")
    return _checks.pages("cache_batch_idx", entries[:, None], "k_cache", q, k_cache, v_cache, batch)


def _lengths(q: Tensor, cache_seqlens: Any, batch: int) -> Tensor | None:
    """How many keys of each sequence the cache holds; None for all that it has room for."""
    if cache_seqlens is None or isinstance(cache_seqlens, Tensor):
        return None if cache_seqlens is None else _checks.lengths("cache_seqlens", cache_seqlens, q, batch)
    _checks.size("cache_seqlens", cache_seqlens)
    return torch.full((batch,), int(cache_seqlens), dtype=torch.int32, device=q.device)


@torch.no_grad()
def _write(
    k_cache: Tensor, v_cache: Tensor, k: Tensor, v: Tensor, lengths: Tensor, table: Tensor | None, rows: int
) -> None:
    """Writes new keys and values behind those of each sequence."""
    positions = lengths.long()[:, None] + torch.arange(k.shape[1], device=k.device)
    if table is None:
        pages = torch.arange(k.shape[0], device=k.device)[:, None].expand_as(positions)
    else:
        # A row that the table has no page for is refused by the index, and on a GPU by its own assertion.
        pages = table.long().gather(1, positions // rows)
        positions = positions % rows
    k_cache[pages, positions] = k
    v_cache[pages, positions] = v
