"""Attention by its formulas in numpy, in float64: what results are held against."""

import numpy as np


def attention(q, k, v, *, score=None, mask=None, scale=None):
    """`out` and `lse` of [B, S, H, D] arrays. `score` and `mask` are functions of arrays: score(s, b, h, i, j)."""
    q, k, v = (np.asarray(array, dtype=np.float64) for array in (q, k, v))
    group = q.shape[2] // k.shape[2]
    k, v = k.repeat(group, axis=2), v.repeat(group, axis=2)
    logits = np.einsum("bihd,bjhd->bhij", q, k) * (q.shape[-1] ** -0.5 if scale is None else scale)
    places = np.ogrid[tuple(slice(0, size) for size in logits.shape)]
    if score is not None:
        logits = score(logits, *places)
    if mask is not None:
        logits = np.where(mask(*places), logits, -np.inf)
    top = logits.max(axis=-1, keepdims=True)
    weights = np.exp(logits - np.where(np.isfinite(top), top, 0))
    total = weights.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = (np.where(np.isfinite(top), top, 0) + np.log(total))[..., 0]
    out = np.einsum("bhij,bjhd->bihd", weights / np.where(total == 0, 1, total), v)
    return out, lse
