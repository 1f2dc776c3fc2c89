"""The functions that users call."""

from __future__ import annotations

import logging
from typing import Any

import jax
from jax import numpy as jnp

from .._core import Error
from ._call import attend
from ._options import ARRAYS, Options

_told: set[str] = set()


def _remark(name: str, text: str) -> None:
    """Says something once."""
    if name not in _told:
        _told.add(name)
        logging.getLogger("attnc").warning(text)


def _attend(q: Any, k: Any, v: Any, given: dict[str, Any], **options: Any) -> Any:
    """The output and the LSE; `given` are the arrays that are there."""
    names = tuple(name for name in ARRAYS if given.get(name) is not None)
    return attend(Options(names, **options), q, k, v, *(given[name] for name in names))


def _window(sliding_window: Any) -> tuple[int, int] | None:
    if sliding_window is None:
        return None
    sides = (sliding_window, sliding_window) if isinstance(sliding_window, int) else tuple(sliding_window)
    if len(sides) != 2 or any(not isinstance(side, int) or side < 0 for side in sides):
        raise Error(f"sliding_window: expected a number of 0 or more, or two of them, got {sliding_window!r} [S5]")
    return sides


def _dropout(probability: float, seed: Any) -> dict[str, Any]:
    if not 0 <= probability <= 1:
        raise Error(f"dropout_prob: expected a number from 0 to 1, got {probability} [S9]")
    if probability and not isinstance(seed, int):
        raise Error(f"dropout_seed: expected an integer, got {type(seed).__name__}")
    return {"dropout": float(probability), "seed": seed or 0}


def _dense(name: str, array: Any) -> Any:
    """A bias or a mask with four dimensions."""
    if array is None:
        return None
    if array.ndim == 3:
        array = array[:, None]
    if array.ndim != 4:
        raise Error(f"argument '{name}': expected [B, H, Sq, Sk], got {array.ndim} dimensions")
    return array


def _mask_arrays(mask_info: Any, attention_mask: Any, q_segment_ids: Any, kv_segment_ids: Any) -> dict[str, Any]:
    """The mask and the segments of a call. What has `attention_mask`, `q_segment_ids` and `kv_segment_ids`, as masks of
    ejkernel do, is taken as they are."""
    if mask_info is not None:
        attention_mask = getattr(mask_info, "_attention_mask", getattr(mask_info, "attention_mask", None))
        q_segment_ids = getattr(mask_info, "_q_segment_ids", getattr(mask_info, "q_segment_ids", None))
        kv_segment_ids = getattr(mask_info, "_kv_segment_ids", getattr(mask_info, "kv_segment_ids", None))
    mask = _dense("attention_mask", attention_mask)
    if mask is not None and mask.dtype != jnp.bool_:
        mask = mask != 0
    if (q_segment_ids is None) != (kv_segment_ids is None):
        raise Error("q_segment_ids and kv_segment_ids: expected both or neither, got one")
    ids = [None if array is None else jnp.asarray(array, jnp.int32) for array in (q_segment_ids, kv_segment_ids)]
    return {"mask": mask, "q_segment_ids": ids[0], "kv_segment_ids": ids[1]}


def _packed(query: Any, key: Any, cum_q: Any, cum_k: Any, has_segments: bool) -> dict[str, Any]:
    """Sequences that lie one behind the other in one batch entry, as segments, and rows' positions in them: the last query
    of a sequence stands at its last key."""
    if cum_q is None and cum_k is None:
        return {}
    if has_segments:
        raise Error("cum_seqlens_q, cum_seqlens_k and segment ids are both given: expected one of them")
    if cum_q is None or cum_k is None:
        raise Error("cum_seqlens_q and cum_seqlens_k: expected both or neither, got one")
    if query.shape[0] != 1:
        raise Error(f"argument 'query': expected one batch entry with cum_seqlens_q, got {query.shape[0]} [S11]")
    if cum_q.ndim != 1 or cum_q.shape != cum_k.shape:
        raise Error(f"cum_seqlens_k: expected the shape of cum_seqlens_q, {cum_q.shape}, got {cum_k.shape} [S11]")

    def place(cumulative: Any, rows: int) -> tuple[Any, Any]:
        row = jnp.arange(rows)
        sequence = jnp.searchsorted(cumulative, row, side="right") - 1
        # What lies behind the last sequence belongs to none.
        return sequence, jnp.where(row < cumulative[-1], sequence, -1)

    q_sequence, q_ids = place(cum_q, query.shape[1])
    k_sequence, k_ids = place(cum_k, key.shape[1])
    longer = jnp.diff(cum_k) - jnp.diff(cum_q)
    q_positions = jnp.arange(query.shape[1]) - cum_q[q_sequence] + longer[q_sequence]
    k_positions = jnp.arange(key.shape[1]) - cum_k[k_sequence]
    named = {"q_segment_ids": q_ids, "kv_segment_ids": k_ids, "q_positions": q_positions, "kv_positions": k_positions}
    return {name: array[None].astype(jnp.int32) for name, array in named.items()}


def flash_attention(
    query: jax.Array,
    key: jax.Array,
    value: jax.Array,
    bias: jax.Array | None = None,
    cum_seqlens_q: jax.Array | None = None,
    cum_seqlens_k: jax.Array | None = None,
    softmax_aux: jax.Array | None = None,
    *,
    mask_info: Any = None,
    attention_mask: jax.Array | None = None,
    softmax_scale: float | None = None,
    dropout_prob: float = 0.0,
    causal: bool = False,
    dropout_seed: int | None = None,
    sliding_window: int | tuple[int, int] | None = None,
    logits_soft_cap: float | None = None,
    normalize_output: bool = True,
    precision: Any = None,
    logits_dtype: Any = jnp.float32,
    platform: str | None = None,
    q_segment_ids: jax.Array | None = None,
    kv_segment_ids: jax.Array | None = None,
    cfg: Any = None,
    mesh: Any = None,
    in_specs: Any = None,
    out_specs: Any = None,
    return_lse: bool = False,
) -> Any:
    """Attention of [B, S, H, D] arrays, with the surface of ejkernel's flash_attention.

    Where there are more keys than queries, the last query stands at the last key. The bias is added before the cap, sinks
    (softmax_aux) join each row's softmax once, packed sequences (cum_seqlens_q and _k) lie in one batch entry, a window of W is (W, W), rows that keep no key are 0. Logits are float32,
    whatever `precision` and `logits_dtype` say; `cfg` and `platform` choose nothing: the device of the program decides.
    mesh, in_specs, out_specs: as jax.shard_map takes them; without, shardings of batch and heads are XLA's.
    """
    if not normalize_output:
        raise Error("normalize_output=False is not there: outputs are divided by the sum of their weights")
    if cfg is not None or platform not in (None, "auto"):
        _remark("cfg", "cfg and platform are for other kernels, and mean nothing here")
    given = _mask_arrays(mask_info, attention_mask, q_segment_ids, kv_segment_ids)
    given |= {"bias": _dense("bias", bias), "softmax_aux": softmax_aux}
    given |= _packed(query, key, cum_seqlens_q, cum_seqlens_k, given["q_segment_ids"] is not None)
    options = {
        "scale": softmax_scale, "causal": causal, "window": _window(sliding_window), "softcap": logits_soft_cap,
        **_dropout(dropout_prob, dropout_seed),
    }  # fmt: skip
    if mesh is not None:
        return _sharded(query, key, value, given, options, mesh, in_specs, out_specs, return_lse)
    out, lse = _attend(query, key, value, given, **options)
    return (out, lse) if return_lse else out


def _sharded(
    query: Any, key: Any, value: Any, given: dict[str, Any], options: Any, mesh: Any, in_specs: Any, out_specs: Any, return_lse: bool
) -> Any:
    """The call inside of a shard_map. in_specs: of queries, keys, values, and the arrays that are there in their order."""
    names = [name for name in ARRAYS if given.get(name) is not None]
    if in_specs is None or out_specs is None or len(in_specs) < 3:
        raise Error("mesh: expected in_specs for queries, keys and values at least, and out_specs")
    if return_lse:
        raise Error("mesh: the LSE is not returned here; call it inside of jax.shard_map")
    specs = [*in_specs[:3], *(in_specs[3 + place] if len(in_specs) > 3 + place else jax.P() for place in range(len(names)))]
    specs = [jax.P() if spec is None else spec for spec in specs]

    def local(q: Any, k: Any, v: Any, *arrays: Any) -> Any:
        return _attend(q, k, v, dict(zip(names, arrays, strict=True)), **options)[0]

    mapped = jax.shard_map(local, mesh=mesh, in_specs=tuple(specs), out_specs=out_specs, check_vma=False)
    return mapped(query, key, value, *(given[name] for name in names))


def attention(
    query: jax.Array,
    key: jax.Array,
    value: jax.Array,
    bias: jax.Array | None = None,
    dropout_rng: jax.Array | None = None,
    softmax_aux: jax.Array | None = None,
    *,
    mask_info: Any = None,
    attention_mask: jax.Array | None = None,
    init_bias: Any = None,
    deterministic: bool = True,
    softmax_scale: float | None = None,
    logits_soft_cap: float | None = None,
    dtype: Any = None,
    softmax_dtype: Any = None,
    dropout_prob: float = 0.0,
    causal: bool = False,
    sliding_window: int | tuple[int, int] | None = None,
) -> Any:
    """Attention of [B, S, H, D] arrays, with the surface of ejkernel's attention, but for the weights, which no kernel
    here writes: the output alone. dtype: what queries, keys and values are cast to."""
    if bias is None and init_bias is not None:
        bias = init_bias()
    if dropout_prob and not deterministic:
        raise Error("dropout by a key of JAX is not taken: flash_attention has dropout_seed")
    if dtype is not None:
        query, key, value = (array.astype(dtype) for array in (query, key, value))
    return flash_attention(
        query, key, value, bias, None, None, softmax_aux, mask_info=mask_info, attention_mask=attention_mask,
        softmax_scale=softmax_scale, logits_soft_cap=logits_soft_cap, causal=causal, sliding_window=sliding_window,
    )  # fmt: skip


def dot_product_attention(
    query: jax.Array,
    key: jax.Array,
    value: jax.Array,
    bias: jax.Array | None = None,
    mask: jax.Array | None = None,
    *,
    scale: float | None = None,
    is_causal: bool = False,
    query_seq_lengths: jax.Array | None = None,
    key_value_seq_lengths: jax.Array | None = None,
    local_window_size: int | tuple[int, int] | None = None,
    implementation: str | None = None,
    return_residual: bool = False,
) -> Any:
    """Attention of [B, T, N, H] or [T, N, H] arrays, with the signature of jax.nn's. Query t stands at key t."""
    batched = query.ndim == 4
    if query.ndim not in (3, 4):
        raise Error(f"argument 'query': expected 3 or 4 dimensions, got {query.ndim}")
    if not batched:
        query, key, value = (array[None] for array in (query, key, value))

    def dense(name: str, array: Any) -> Any:
        return None if array is None else _dense(name, array[None] if array.ndim == 3 else array)

    given = {"bias": dense("bias", bias), "mask": dense("mask", mask)}
    for name, lengths in (("q_lengths", query_seq_lengths), ("kv_lengths", key_value_seq_lengths)):
        given[name] = None if lengths is None else jnp.asarray(lengths, jnp.int32)
    out, lse = _attend(
        query, key, value, given, scale=scale, causal=is_causal, window=_window(local_window_size), align="top_left"
    )
    # jax.nn has the LSE of a row where the row is.
    lse = lse.swapaxes(1, 2)
    if not batched:
        out, lse = out[0], lse[0]
    return (out, lse) if return_residual else out
