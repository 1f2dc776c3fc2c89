"""flash_attn_with_kvcache, with the signature of FlashAttention's: decoding with keys and values of earlier tokens."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .._core import Error
from . import _checks
from ._calls import call, call_prepared, in_words_of, prepare
from ._direct import are_flags, are_numbers, is_plain, is_read, remember, run
from ._dtensor import has_dtensor
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
    cache behind those, and count. A call that is refused has written nothing. Lengths and pages on a GPU are not read for that:
    what they have no room for is not written. cache_batch_idx: the entry of the cache that belongs to each sequence. Queries and
    keys are rotated before the call. num_splits says nothing that a kernel here has to know. return_softmax_lse: a tuple with the
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
    for name, value, instead in (
        ("rotary_cos", rotary_cos, "rotate queries and keys before"), ("rotary_sin", rotary_sin, "rotate queries and keys before"),
        ("cache_leftpad", cache_leftpad, "caches begin with their first key"),
    ):  # fmt: skip
        if value is not None:
            raise Error(f"argument '{name}': expected None: {instead}")
    _checks.flag("rotary_interleaved", rotary_interleaved)
    _checks.size("num_splits", num_splits)
    with_lse = _checks.flag("return_softmax_lse", return_softmax_lse)
    options = {
        "scale": _checks.scale("softmax_scale", softmax_scale), "causal": _checks.flag("causal", causal),
        "window": _checks.sides("window_size", window_size), "softcap": _cap(softcap),
    }  # fmt: skip
    table = _table(q, k_cache, v_cache, block_table, cache_batch_idx)
    room = k_cache.shape[1] * (1 if table is None else table.shape[1])
    count = _check_new(q, k_cache, v_cache, k, v, cache_seqlens, table, room)
    lengths = _lengths(q, cache_seqlens, count, room)
    called = _CALLED if cache_batch_idx is None else {**_CALLED, "page_table": "cache_batch_idx"}
    known = _are_known(lengths, cache_seqlens, count, room) & _has_pages(table, cache_batch_idx, lengths, count, k_cache)
    given: dict[str, Tensor | None] = {"slopes": alibi_slopes, "page_table": table, "key_value_seq_lengths": lengths}
    # Whatever is wrong with what is left is found before anything is written.
    prepared = prepare(q, k_cache, v_cache, given, called, **options)
    is_as_prepared = q.shape[-1] % 8 == 0 and v_cache.shape[-1] % 8 == 0
    if key is not None and cache_batch_idx is None and is_as_prepared:
        remember(key, prepared.text, q)
    if k is not None and v is not None and lengths is not None:
        _write(k_cache, v_cache, k, v, lengths, table, room, known)
        # One that is none stays so.
        longer = lengths + count if known else torch.where(lengths < 0, lengths, lengths + count)
        given["key_value_seq_lengths"] = longer
        prepared = prepared.with_captured("key_value_seq_lengths", longer)
    if is_as_prepared and not has_dtensor((q, k_cache, v_cache, alibi_slopes, lengths)):
        out, lse = call_prepared(q, k_cache, v_cache, prepared, called)
    else:
        out, lse = call(q, k_cache, v_cache, given, called, **options)
    return (out, lse) if with_lse else out


def _key(q: Any, k_cache: Any, v_cache: Any, lengths: Any, table: Any, scale: Any, causal: Any, window: Any, cap: Any) -> Any:
    """What the kernel of a call is known by, and what that takes; None where checks come first."""
    inputs = (q, k_cache, v_cache, *(tensor for tensor in (lengths, table) if tensor is not None))
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
    _checks.lengths("cache_batch_idx", _checks.integers("cache_batch_idx", cache_batch_idx, q), q, batch, "S19")
    # One of 64 bits that is no entry is none of 32 either.
    entries = cache_batch_idx.long().clamp(-1, k_cache.shape[0]).to(torch.int32)
    return _checks.pages("cache_batch_idx", entries[:, None], "k_cache", q, k_cache, v_cache, batch)


def _check_new(
    q: Tensor, k_cache: Tensor, v_cache: Tensor, k: Any, v: Any, cache_seqlens: Any, table: Tensor | None, room: int
) -> int:
    """How many new keys there are of each sequence. Raises where they do not go with the cache."""
    if k is None and v is None:
        return 0
    if k is None or v is None:
        missing = "v" if v is None else "k"
        raise Error(f"argument '{missing}': expected new keys and values, or none of both")
    if cache_seqlens is None:
        raise Error("argument 'cache_seqlens': expected how many keys each sequence has, since there are new ones, got None")
    _checks.inputs(("q", "k", "v"), (q, k, v), "B, S, H, D")
    for name, got, wanted, word in (
        ("k", k.shape[2], k_cache.shape[2], "heads, as 'k_cache' has"),
        ("v", v.shape[3], v_cache.shape[3], "for the head dim, as 'v_cache' has"),
    ):  # fmt: skip
        if got != wanted:
            raise Error(f"argument '{name}': expected {wanted} {word}, got {got}")
    if k.shape[1] > room:
        raise Error(f"argument 'k': expected {room} new rows or fewer, for which the cache has room, got {k.shape[1]} [S18]")
    for name, cache in (("k_cache", k_cache), ("v_cache", v_cache)):
        if any(stride == 0 and size > 1 for stride, size in zip(cache.stride(), cache.shape, strict=True)):
            raise Error(f"argument '{name}': expected memory for each element, since new rows are written, got an expanded tensor")
    if table is not None and has_dtensor((q, k_cache, v_cache, k, v)):
        raise Error("argument 'k_cache': expected tensors of one device, since they lie in pages, got DTensors")
    return int(k.shape[1])


def _lengths(q: Tensor, cache_seqlens: Any, count: int, room: int) -> Tensor | None:
    """How many keys of each sequence the cache holds; None for all that it has room for."""
    batch = q.shape[0]
    if cache_seqlens is None or isinstance(cache_seqlens, Tensor):
        return None if cache_seqlens is None else _checks.lengths("cache_seqlens", cache_seqlens, q, batch)
    _checks.size("cache_seqlens", cache_seqlens)
    if cache_seqlens > room - count:
        raise _no_room(int(cache_seqlens), count, room)
    return torch.full((batch,), int(cache_seqlens), dtype=torch.int32, device=q.device)


def _no_room(length: int, count: int, room: int, place: str = "") -> Error:
    """The error of a length that the cache has no room for."""
    rows = f", so that a cache of {room} has room for {count} more" if count else ""
    return Error(f"argument 'cache_seqlens': expected lengths from 0 to {room - count}{rows}, got {length}{place} [S11]")


def _are_known(lengths: Tensor | None, cache_seqlens: Any, count: int, room: int) -> bool:
    """Whether lengths are looked at, and right; raises where they are wrong. Those of calls without new keys are the kernel's
    to check."""
    if lengths is None or not isinstance(cache_seqlens, Tensor):
        return True
    if count == 0 or not is_read(lengths):
        return False
    wrong = ((lengths < 0) | (lengths > room - count)).nonzero()
    if wrong.shape[0]:
        place = int(wrong[0])
        raise _no_room(int(lengths[place]), count, room, f" at index {place}")
    return True


def _has_pages(table: Tensor | None, cache_batch_idx: Tensor | None, lengths: Tensor | None, count: int, k_cache: Tensor) -> bool:
    """Whether entries of a table for rows that are there are looked at, and right; raises where they are wrong. Pages of calls
    without new keys are the kernel's to check."""
    if table is None:
        return True
    if not is_read(table) or not (lengths is None or is_read(lengths)) or (count == 0 and cache_batch_idx is None):
        return False
    pages, rows = k_cache.shape[:2]
    wrong = (table < 0) | (table >= pages)
    if lengths is not None:
        wrong &= torch.arange(table.shape[1], device=table.device) * rows < (lengths + count)[:, None]
    found = wrong.nonzero()
    if found.shape[0]:
        sequence, place = (int(number) for number in found[0])
        name, what, got = "block_table", "pages", f"{int(table[sequence, place])} at index [{sequence}, {place}]"
        if cache_batch_idx is not None:
            name, what, got = "cache_batch_idx", "entries of the cache", f"{int(cache_batch_idx[sequence])} at index {sequence}"
        raise Error(f"argument '{name}': expected {what} from 0 to {pages - 1} where a sequence has keys, got {got} [S19]")
    return True


@torch.no_grad()
def _write(
    k_cache: Tensor, v_cache: Tensor, k: Tensor, v: Tensor, lengths: Tensor, table: Tensor | None, room: int, known: bool
) -> None:
    """Writes new keys and values behind those of each sequence. known: there is room for all of them. Where that is not known,
    those that there is none for are left out, and on a CPU, where the kernel then refuses the call, all are."""
    pages_of_cache, rows = k_cache.shape[:2]
    if k.numel() == 0 or k_cache.numel() == 0:
        return
    positions = lengths.long()[:, None] + torch.arange(k.shape[1], device=k.device)
    fits = (positions >= 0) & (positions < room)
    if table is None:
        pages = torch.arange(k.shape[0], device=k.device)[:, None].expand_as(positions)
    else:
        pages = table.long().gather(1, (positions // rows).clamp(0, table.shape[1] - 1))
        positions = positions % rows
        fits = fits & (pages >= 0) & (pages < pages_of_cache)
    for cache, new in ((k_cache, k), (v_cache, v)):
        if known:
            cache[pages, positions] = new
        else:
            _write_what_fits(cache, new, pages, positions, fits & fits.all() if fits.is_cpu else fits)


def _write_what_fits(cache: Tensor, new: Tensor, pages: Tensor, positions: Tensor, fits: Tensor) -> None:
    """Writes new rows, [B, S, H, D], to their pages and positions, all [B, S], where they fit.

    In the place of a row that does not fit the first one that does is written again, so that nobody has to wait for the number
    of those that do. Where none fits, it is what is there already.
    """
    fits = fits.flatten()
    source = torch.where(fits, torch.arange(fits.shape[0], device=fits.device), fits.int().argmax())
    pages = pages.flatten()[source].clamp(0, cache.shape[0] - 1)
    positions = positions.flatten()[source].clamp(0, cache.shape[1] - 1)
    cache[pages, positions] = torch.where(fits.any(), new.flatten(0, 1)[source], cache[pages, positions])
