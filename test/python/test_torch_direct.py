"""Calls that are known: they go round the dispatcher of torch, and give what calls through it give."""

import pytest
import torch
from torch_reference import DEVICE as DEVICE

import attnc
from attnc.torch import _ops, create_block_mask, flash_attn_func, flex_attention

B, SQ, SK, H, HK, D = 2, 21, 29, 4, 2, 16
torch.manual_seed(0)
q, k, v = torch.randn(B, SQ, H, D), torch.randn(B, SK, HK, D), torch.randn(B, SK, HK, 24)


def test_calls_without_the_dispatcher(monkeypatch):
    """The same call again goes to the kernel at once, and is right for whatever lies differently."""
    ran = []
    operator = _ops._launch
    monkeypatch.setattr(_ops, "_launch", lambda *inputs: (ran.append(1), operator(*inputs)))
    wanted = [flash_attn_func(q, k, v, causal=True), flex_attention(*(x.transpose(1, 2) for x in (q, k, v)), enable_gqa=True)]
    heads_first = [x.transpose(1, 2).contiguous() for x in (q, k, v)]
    flex_attention(*heads_first, enable_gqa=True)
    ran.clear()
    out = flash_attn_func(q, k, v, causal=True)
    assert not ran and (out == wanted[0]).all()
    out, lse = flex_attention(*heads_first, enable_gqa=True, return_lse=True)
    assert not ran and out.is_contiguous() and lse.shape == (B, H, SQ)
    torch.testing.assert_close(out, wanted[1])
    # Another layout, other contents, gradients and modes.
    apart = [torch.stack([x, x], dim=-1)[..., 0] for x in (q, k, v)]
    assert (flash_attn_func(*apart, causal=True) == wanted[0]).all()
    across = [x.transpose(1, 2).contiguous().transpose(1, 2) for x in (q, k, v)]
    assert (flash_attn_func(*across, causal=True) == wanted[0]).all()
    assert not (flash_attn_func(q + 1, k, v * 2, causal=True) == wanted[0]).all()
    assert flash_attn_func(q.clone().requires_grad_(), k, v, causal=True).requires_grad
    assert flash_attn_func(*(x.to("meta") for x in (q, k, v)), causal=True).shape == wanted[0].shape
    with pytest.raises(attnc.Error, match="'query' is, got one on meta"):
        flash_attn_func(q, k.to("meta"), v, causal=True)
    with pytest.raises(attnc.Error, match="argument 'key': expected 4 heads"):
        flex_attention(*heads_first)


def _by_flex(q, k, v):
    return flex_attention(q, k, v, enable_gqa=True, return_lse=True)


def _by_masked_flex(q, k, v, mask=create_block_mask(lambda b, h, i, j: i >= j, None, None, 1, 1)):
    return flex_attention(q, k, v, block_mask=mask, enable_gqa=True, return_lse=True)


@pytest.mark.parametrize("call", ["flash", "flex", "masked flex"])
@pytest.mark.parametrize("layout", ["rows", "heads", "apart"])
def test_gradients_without_the_dispatcher(call, layout, monkeypatch):
    """Once a call with gradients is known, neither it nor its backward asks for an operator, and nothing else changes."""
    kinds = {"flash": lambda *x: (flash_attn_func(*x, causal=True),), "flex": _by_flex, "masked flex": _by_masked_flex}
    inputs = [x.clone() for x in (q, k, v)]
    if call != "flash":
        inputs = [x.transpose(1, 2) for x in inputs]
    if layout == "heads":
        inputs = [x.transpose(1, 2).contiguous().transpose(1, 2) for x in inputs]
    if layout == "apart":
        inputs = [torch.stack([x, x], dim=-1)[..., 0] for x in inputs]
    inputs = [x.detach().requires_grad_() for x in inputs]

    def run():
        torch.manual_seed(3)
        results = kinds[call](*inputs)
        loss = sum((result * torch.randn(result.shape)).sum() for result in results)
        return [*results, *torch.autograd.grad(loss, inputs)]

    with torch.enable_grad():
        ran = []
        wanted = run()
        monkeypatch.setattr(_ops, "_launch", lambda *given, launch=_ops._launch: (ran.append(1), launch(*given)))
        found = run()
        for ours, first in zip(found, wanted, strict=True):
            assert ours.shape == first.shape and torch.allclose(ours, first, atol=1e-6)
        assert not ran or layout == "apart"
        # The gradients of each of the results alone, and where nobody wants any.
        results = kinds[call](*inputs)
        for result in results:
            torch.autograd.grad(result.sum(), inputs[:2], retain_graph=True)
        with torch.no_grad():
            assert not kinds[call](*inputs)[0].requires_grad
        torch.use_deterministic_algorithms(True)
        try:
            again = run()
        finally:
            torch.use_deterministic_algorithms(False)
        for ours, first in zip(again, wanted, strict=True):
            assert torch.allclose(ours, first, atol=1e-6)
        (gradient,) = torch.autograd.grad(results[0].square().sum(), inputs[0], create_graph=True)
        with pytest.raises(RuntimeError, match="once_differentiable"):
            gradient.sum().backward()
