"""Masks as ids of segments, and ids as masks: rows and keys of one id, 0 or more, see each other."""

from __future__ import annotations

from typing import Any

import jax
from jax import numpy as jnp


def segment_ids_to_mask(segment_ids: Any, dtype: Any = jnp.bool_, return_separate_masks: bool = False) -> Any:
    """The mask [B, 1, Sq, Sk] of ids [B, S], or of a pair of them for queries and keys. An id below 0 is padding.

    return_separate_masks: also which queries, [B, Sq], and which keys, [B, Sk], are none, before the mask.
    """
    q_ids, kv_ids = segment_ids if isinstance(segment_ids, tuple) else (segment_ids, segment_ids)
    q_valid, kv_valid = q_ids >= 0, kv_ids >= 0
    mask = (q_ids[:, :, None] == kv_ids[:, None, :]) & q_valid[:, :, None] & kv_valid[:, None, :]
    mask = mask[:, None].astype(dtype)
    return (q_valid.astype(dtype), kv_valid.astype(dtype), mask) if return_separate_masks else mask


def segment_ids_to_qkv_masks(q_segment_ids: Any, kv_segment_ids: Any = None, dtype: Any = jnp.bool_) -> Any:
    """Which queries and which keys are no padding, and the mask [B, 1, Sq, Sk]."""
    pair = (q_segment_ids, q_segment_ids if kv_segment_ids is None else kv_segment_ids)
    return segment_ids_to_mask(pair, dtype, return_separate_masks=True)


def _ids_of_equal_rows(rows: Any) -> Any:
    """A number for each row of a mask, equal where rows are; -1 where a row keeps nothing."""
    count = rows.shape[0]
    bytes = jnp.packbits(rows, axis=-1)
    equal = (bytes[:, None] == bytes[None]).all(-1)
    first = jnp.where(equal, jnp.arange(count), count).min(-1)
    kept = rows.any(-1)
    starts = kept & (first == jnp.arange(count))
    return jnp.where(kept, (jnp.cumsum(starts) - 1)[first], -1).astype(jnp.int32)


def mask_to_segment_ids(mask: Any, per_head: bool = False) -> Any:
    """Ids of queries and keys from a mask [Sq, Sk], [B, Sq, Sk] or [B, H, Sq, Sk]: equal where rows, or columns, are.

    per_head: ids for each head, [B, H, S], in place of those of what all heads keep.
    """
    mask = mask.astype(jnp.bool_)
    if mask.ndim == 4 and not per_head:
        mask = mask.all(axis=1)
    if mask.ndim not in (2, 3, 4):
        raise ValueError(f"mask: expected 2, 3 or 4 dimensions, got {mask.ndim}")

    def one(mask: Any) -> tuple[Any, Any]:
        return _ids_of_equal_rows(mask), _ids_of_equal_rows(mask.T)

    for _ in range(mask.ndim - 2):
        one = jax.vmap(one)
    return one(mask)


def positions_of(segment_ids: Any, padding: int) -> Any:
    """The place of each element in its run of equal ids, counted from 0; `padding` where the id is below 0."""
    places = jnp.arange(segment_ids.shape[-1])
    before = jnp.concatenate([jnp.full_like(segment_ids[..., :1], -2), segment_ids[..., :-1]], axis=-1)
    starts = jax.lax.cummax(jnp.where(segment_ids != before, places, 0), axis=segment_ids.ndim - 1)
    return jnp.where(segment_ids < 0, padding, places - starts).astype(jnp.int32)
