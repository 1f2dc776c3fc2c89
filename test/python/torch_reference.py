"""Attention by its formulas in torch, in float64, with torch's own gradients: what tests hold results against."""

import os

import torch

#: Where tensors lie: ATTNC_TEST_DEVICE=cuda runs the tests of torch on a GPU.
DEVICE = os.environ.get("ATTNC_TEST_DEVICE", "cpu")
torch.set_default_device(DEVICE)


def attention(
    q, k, v, *, scale=None, bias=None, causal=False, window=(None, None), softcap=None, keep=None, sinks=None, slopes=None,
    shift=None,
):  # fmt: skip
    """The output and the LSE of [B, S, H, D] tensors. `keep` and `bias` are [B or 1, H or 1, Sq, Sk]; `shift`: where the
    first query stands, by default so that the last one stands at the last key."""
    q, k, v = (tensor.double() for tensor in (q, k, v))
    group = q.shape[2] // k.shape[2]
    k, v = (tensor.repeat_interleave(group, dim=2) for tensor in (k, v))
    logits = torch.einsum("bihd,bjhd->bhij", q, k) * (q.shape[-1] ** -0.5 if scale is None else scale)
    i = torch.arange(q.shape[1])[:, None] + (k.shape[1] - q.shape[1] if shift is None else shift)
    j = torch.arange(k.shape[1])
    if bias is not None:
        logits = logits + bias.double()
    if softcap:
        logits = softcap * torch.tanh(logits / softcap)
    if slopes is not None:
        logits = logits - slopes.double().reshape(-1, q.shape[2], 1, 1) * (i - j).abs()
    kept = torch.ones(q.shape[1], k.shape[1], dtype=torch.bool)
    if causal:
        kept = kept & (j <= i)
    if window[0] is not None:
        kept = kept & (i - j <= window[0])
    if window[1] is not None:
        kept = kept & (j - i <= window[1])
    kept = kept if keep is None else kept & keep
    logits = logits.masked_fill(~kept, -torch.inf)
    joined = logits
    if sinks is not None:
        extra = sinks.double().reshape(-1, 1, sinks.shape[-1]).expand(*logits.shape[:3], sinks.shape[-1])
        joined = torch.cat([logits, extra], dim=-1)
    lse = torch.logsumexp(joined, dim=-1)
    # Rows that keep nothing are 0.
    weights = torch.exp(logits - lse.nan_to_num(neginf=0.0)[..., None])
    return torch.einsum("bhij,bjhd->bihd", weights, v), lse
