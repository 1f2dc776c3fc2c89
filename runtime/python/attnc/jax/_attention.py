"""The functions that users call."""

from __future__ import annotations

import logging
import operator
from typing import Any

import jax
from jax import numpy as jnp

from .._core import Error
from .._options import ARRAYS, Options
from ._call import attend, weights_of
from ._configs import PLATFORMS, schedules_of
from ._mask import MaskInfo

_told: set[str] = set()


def _remark(name: str, text: str) -> None:
    """Says something once."""
    if name not in _told:
        _told.add(name)
        logging.getLogger("attnc").warning(text)


def _attend(q: Any, k: Any, v: Any, given: dict[str, Any], **options: Any) -> Any:
    """The output and the LSE; `given` are the arrays that are there."""
    bias, rows, columns = given.get("bias"), q.shape[1], k.shape[1]
    if bias is not None:
        wholes = ("batch entries", q.shape[0]), ("heads", q.shape[2]), ("queries", rows), ("keys", columns)
        for axis, ((word, whole), size) in enumerate(zip(wholes, bias.shape, strict=True)):
            if size not in (1, whole) and (axis < 2 or size < whole):
                raise Error(f"argument 'bias': expected 1 or {whole} for the {word}, got {size}")
        if bias.shape[2] > rows or bias.shape[3] > columns:
            # A table for longer sequences: gradients are of what is read.
            given = {**given, "bias": bias[:, :, :rows, :columns]}
    names = tuple(name for name in ARRAYS if given.get(name) is not None)
    return attend(Options(names, **options), q, k, v, *(given[name] for name in names))


def _window(sliding_window: Any) -> tuple[int, int] | None:
    if sliding_window is None:
        return None
    wanted = f"sliding_window: expected a number of 0 or more, or two of them, got {sliding_window!r} [S5]"
    try:
        given = sliding_window if isinstance(sliding_window, (tuple, list)) else (sliding_window, sliding_window)
        sides = tuple(operator.index(side) for side in given)
    except TypeError:
        raise Error(wanted) from None
    if len(sides) != 2 or min(sides) < 0:
        raise Error(wanted)
    return sides  # type: ignore[return-value]


def _cap(logits_soft_cap: Any) -> float | None:
    if logits_soft_cap is None:
        return None
    if not isinstance(logits_soft_cap, (int, float)) or not logits_soft_cap > 0:
        raise Error(f"logits_soft_cap: expected a number above 0, got {logits_soft_cap!r} [S4]")
    return float(logits_soft_cap)


def _dropout(probability: float, seed: Any) -> dict[str, Any]:
    if not isinstance(probability, (int, float)) or not 0 <= probability <= 1:
        raise Error(f"dropout_prob: expected a number from 0 to 1, got {probability!r} [S9]")
    if not probability:
        return {"dropout": 0.0, "seed": 0}
    try:
        return {"dropout": float(probability), "seed": operator.index(seed)}
    except TypeError:
        raise Error(f"dropout_seed: expected an integer, got {type(seed).__name__}") from None


#: What masks of ejkernel hold, with an underline before it where it is not made when it is asked for.
_HELD = ("attention_mask", "q_segment_ids", "kv_segment_ids")


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
    """The mask and the segments of a call. A mask info is attnc's or ejkernel's: its dense mask counts, and its segments
    where it has none."""
    if mask_info is not None:
        for name, array in (("attention_mask", attention_mask), ("q_segment_ids", q_segment_ids)):
            if array is not None:
                raise Error(f"mask_info and {name} are both given: expected one of them")
        held = [getattr(mask_info, f"_{name}" if hasattr(mask_info, f"_{name}") else name, None) for name in _HELD]
        if all(array is None for array in held):
            raise Error(f"mask_info: expected a MaskInfo with a mask or ids of segments, got {type(mask_info).__name__}")
        attention_mask, q_segment_ids, kv_segment_ids = held if held[0] is None else (held[0], None, None)
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
    (softmax_aux) join each row's softmax once, packed sequences (cum_seqlens_q and _k) lie in one batch entry, a window of W
    is (W, W), rows that keep no key are 0. Logits are float32, whatever `precision` and `logits_dtype` say. cfg: a
    FlashAttentionConfig, of which schedules are taken; `platform` chooses nothing: the device of the program decides.
    mesh, in_specs, out_specs: a shard_map over batch entries and heads; without in_specs, shardings are XLA's.
    """
    if not normalize_output:
        raise Error("normalize_output=False is not there: outputs are divided by the sum of their weights")
    if platform not in (None, *PLATFORMS):
        raise Error(f"platform: expected one of {', '.join(PLATFORMS)}, got {platform!r}")
    if platform not in (None, "auto") or getattr(cfg, "fwd_params", None) is not None:
        _remark("cfg", "platforms and block sizes are for other kernels, and mean nothing here")
    _check_arrays(query, key, value)
    given, options = _call_of(
        query, key, bias, softmax_aux, mask_info, attention_mask, q_segment_ids, kv_segment_ids, cum_seqlens_q, cum_seqlens_k
    )
    options |= {
        "scale": softmax_scale, "causal": causal, "window": _window(sliding_window), "softcap": _cap(logits_soft_cap),
        **_dropout(dropout_prob, dropout_seed), **schedules_of(cfg),
    }  # fmt: skip
    if in_specs is not None or out_specs is not None:
        return _sharded(query, key, value, given, options, mesh, in_specs, out_specs, return_lse)
    out, lse = _attend(query, key, value, given, **options)
    return (out, lse) if return_lse else out


def _check_arrays(query: Any, key: Any, value: Any) -> None:
    for name, array in (("query", query), ("key", key), ("value", value)):
        if not hasattr(array, "shape") or not hasattr(array, "dtype"):
            raise TypeError(f"argument '{name}': expected an array, got {type(array).__name__}")


def _call_of(
    query: Any, key: Any, bias: Any, softmax_aux: Any, mask_info: Any, attention_mask: Any, q_segment_ids: Any,
    kv_segment_ids: Any, cum_seqlens_q: Any = None, cum_seqlens_k: Any = None,
) -> tuple[dict[str, Any], dict[str, Any]]:  # fmt: skip
    """The arrays of a call, and what of a mask is compiled in."""
    given = _mask_arrays(mask_info, attention_mask, q_segment_ids, kv_segment_ids)
    given |= {"bias": _dense("bias", bias), "softmax_aux": softmax_aux}
    given |= _packed(query, key, cum_seqlens_q, cum_seqlens_k, given["q_segment_ids"] is not None)
    return given, {"rules": mask_info.rules if isinstance(mask_info, MaskInfo) else ()}


def _sharded(
    query: Any, key: Any, value: Any, given: dict[str, Any], options: Any, mesh: Any, in_specs: Any, out_specs: Any,
    return_lse: bool,
) -> Any:  # fmt: skip
    """The call inside of a shard_map. in_specs: of queries, keys and values; a bias, masks and sinks follow the queries."""
    if mesh is None:
        raise Error("mesh: expected a mesh with in_specs and out_specs, got None")
    if in_specs is None or out_specs is None or len(in_specs) < 3:
        raise Error("mesh: expected in_specs for queries, keys and values at least, and out_specs")
    if return_lse:
        raise Error("mesh: the LSE is not returned here; call it inside of jax.shard_map")
    specs = [(*(spec or ()), None, None, None, None)[:4] for spec in in_specs[:3]]
    for name, spec in zip(("query", "key", "value"), specs, strict=True):
        if spec[1] is not None or spec[3] is not None:
            raise Error(f"in_specs: expected a split of '{name}' by batch entries and heads alone, got {jax.P(*spec)}")
    if options["dropout"]:
        raise Error("dropout_prob: expected 0 with in_specs, since what is dropped is chosen by the batch entry and the head")
    batch, _, heads, _ = specs[0]
    # Dimensions of size 1 serve all.
    axes = {"b": batch, "h": heads}
    names = [name for name in ARRAYS if given.get(name) is not None]
    for name in names:
        shape = given[name].shape
        dims = "bhij" if name in ("bias", "mask") else "bi" if name != "softmax_aux" else "hn"[-len(shape) :]
        specs.append(tuple(axes.get(dim) if size != 1 else None for dim, size in zip(dims, shape, strict=True)))

    def local(q: Any, k: Any, v: Any, *arrays: Any) -> Any:
        return _attend(q, k, v, dict(zip(names, arrays, strict=True)), **options)[0]

    in_specs = tuple(jax.P(*spec) for spec in specs)
    mapped = jax.shard_map(local, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=False)
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
    dtype: Any = jnp.bfloat16,
    softmax_dtype: Any = None,
    dropout_prob: float = 0.0,
    causal: bool = False,
    sliding_window: int | tuple[int, int] | None = None,
) -> tuple[jax.Array, jax.Array]:
    """The output and the weights [B, H, Sq, Sk], of [B, S, H, D] arrays, with the surface of ejkernel's attention.

    dtype: what queries, keys and values are cast to; None leaves them. init_bias: called where there is neither a bias nor a
    mask. Weights are those that values are multiplied by, after dropout; a program that does not use them computes none
    under jit. They have no gradients.
    """
    if bias is None and mask_info is None and attention_mask is None and init_bias is not None:
        bias = init_bias()
    _check_arrays(query, key, value)
    if dtype is not None:
        query, key, value = (array.astype(dtype) for array in (query, key, value))
    given, options = _call_of(query, key, bias, softmax_aux, mask_info, attention_mask, None, None)
    seed = _seed_of(dropout_rng) if dropout_prob and not deterministic else None
    options |= {
        "scale": softmax_scale, "causal": causal, "window": _window(sliding_window), "softcap": _cap(logits_soft_cap),
        **_dropout(0.0 if deterministic else dropout_prob, seed),
    }  # fmt: skip
    out, _ = _attend(query, key, value, given, **options)
    names = tuple(name for name in ARRAYS if given.get(name) is not None)
    return out, weights_of(Options(names, **options), query, key, *(given[name] for name in names))


def _seed_of(key: Any) -> int:
    """The seed of a key of JAX."""
    if key is None:
        raise Error("dropout_rng: expected a key of JAX with deterministic=False, got None")
    if isinstance(key, jax.core.Tracer):
        raise Error("dropout_rng: expected a key that is known when the program is traced; a seed is part of the program")
    return int(jax.random.bits(key, dtype="uint32"))


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
