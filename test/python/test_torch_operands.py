"""What torch's attention takes beside the sizes and types that kernels have: other head dims, autocast, numbers that change."""

import pytest
import torch
from torch_reference import DEVICE

from attnc.torch import AuxRequest, flash_attention, flash_attn_func, flash_attn_varlen_func, flex_attention

B, H, S = 2, 3, 37
torch.set_default_device(DEVICE)


def causal_bias(score, b, h, q_idx, kv_idx):
    return torch.where(q_idx >= kv_idx, score + 0.1 * (q_idx - kv_idx), -float("inf"))


def plain(q, k, v, scale=None):
    """Attention of [B, H, S, D] tensors with that score."""
    places = torch.arange(S)
    distance = places[:, None] - places[None]
    scores = q @ k.transpose(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale) + 0.1 * distance
    return scores.masked_fill(distance < 0, -float("inf")).softmax(-1) @ v


@pytest.mark.parametrize("dims", [(13, 13), (20, 64), (64, 20), (121, 121), (1, 3)])
def test_head_dims(dims):
    torch.manual_seed(0)
    q, k = torch.randn(2, B, H, S, dims[0]).requires_grad_().unbind()
    v = torch.randn(B, H, S, dims[1]).requires_grad_()
    compiled = torch.compile(lambda q, k, v: flex_attention(q, k, v, causal_bias), backend="aot_eager", fullgraph=True)
    for call in (lambda q, k, v: flex_attention(q, k, v, causal_bias), compiled):
        out, wanted = call(q, k, v), plain(q, k, v)
        torch.testing.assert_close(out, wanted, atol=1e-5, rtol=0)
        for ours, theirs in zip(torch.autograd.grad(out.square().sum(), (q, k, v)), torch.autograd.grad(wanted.square().sum(), (q, k, v))):
            torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)
    rows = [tensor.detach().transpose(1, 2) for tensor in (q, k, v)]
    wanted = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)
    torch.testing.assert_close(flash_attn_func(*rows, causal=True), wanted, atol=1e-5, rtol=0)
    torch.testing.assert_close(flash_attention(*rows, causal=True), wanted, atol=1e-5, rtol=0)
    offsets = torch.tensor([0, S], dtype=torch.int32)
    packed = flash_attn_varlen_func(*(tensor[0] for tensor in rows), offsets, offsets, S, S, causal=True)
    torch.testing.assert_close(packed, wanted[0], atol=1e-5, rtol=0)


def test_results_of_other_head_dims():
    q = torch.randn(B, H, S, 13)
    out, found = flex_attention(q, q, q, return_aux=AuxRequest(lse=True, max_scores=True))
    scores = q @ q.transpose(-1, -2) * 13**-0.5
    torch.testing.assert_close(found.lse, scores.logsumexp(-1), atol=1e-4, rtol=0)
    torch.testing.assert_close(found.max_scores, scores.amax(-1), atol=1e-4, rtol=0)
    assert out.shape == q.shape


@pytest.mark.parametrize("compiles", [False, True])
def test_autocast(compiles):
    """Queries and keys that rotary tables of float32 were multiplied with."""
    call = torch.compile(flex_attention, backend="aot_eager") if compiles else flex_attention
    q, v = torch.randn(B, H, S, 16), torch.randn(B, H, S, 16, dtype=torch.bfloat16)
    with torch.autocast(DEVICE, torch.bfloat16):
        out = call(q, q, v)
    assert out.dtype == torch.bfloat16
    torch.testing.assert_close(out, flex_attention(q.bfloat16(), q.bfloat16(), v))
    with torch.autocast(DEVICE, torch.bfloat16):
        assert call(q, q, q).dtype == torch.bfloat16


@pytest.mark.parametrize("learns", [False, True])
def test_numbers_that_change_under_compile(learns):
    torch._dynamo.reset()
    q = torch.randn(B, H, S, 16, requires_grad=learns)
    scaled = torch.compile(lambda q, scale: flex_attention(q, q, q, causal_bias, scale=scale), backend="aot_eager", fullgraph=True)
    capped = torch.compile(lambda q, cap: flex_attention(q, q, q, lambda s, b, h, i, j: cap * torch.tanh(s / cap)), backend="aot_eager")
    for number in (0.5, 0.7, 0.9):
        torch.testing.assert_close(scaled(q, number), plain(q, q, q, number), atol=1e-5, rtol=0)
        scores = number * torch.tanh(q @ q.transpose(-1, -2) / 4 / number)
        torch.testing.assert_close(capped(q, number), scores.softmax(-1) @ q, atol=1e-5, rtol=0)
