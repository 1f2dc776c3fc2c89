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
    with pytest.raises(attnc.Error, match="'q' is, got one on meta"):
        flash_attn_func(q, k.to("meta"), v, causal=True)
    with pytest.raises(attnc.Error, match="argument 'key': expected 4 heads"):
        flex_attention(*heads_first)


def _by_flex(q, k, v):
    return flex_attention(q, k, v, enable_gqa=True, return_lse=True)


def _by_masked_flex(q, k, v, mask=create_block_mask(lambda b, h, i, j: i >= j, None, None, SQ, SK)):
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
        with pytest.raises(RuntimeError, match="no gradients of their own"):
            gradient.sum().backward()


@pytest.mark.parametrize("call", ["flash", "flex"])
@pytest.mark.parametrize("size", [H, SQ])
def test_checkpoints(call, size):
    """What is computed again for a checkpoint may go another way than the first time."""
    from torch.utils.checkpoint import checkpoint
    from torch.utils.flop_counter import FlopCounterMode

    function = flash_attn_func if call == "flash" else flex_attention
    torch.manual_seed(size)
    inputs = [torch.randn(1, size, H, 40, requires_grad=True) for _ in range(3)]
    if call == "flex":
        inputs = [x.detach().transpose(1, 2).requires_grad_() for x in inputs]
    first = checkpoint(function, *inputs, use_reentrant=False)
    found = [torch.autograd.grad(first.square().sum(), inputs)]
    found.append(torch.autograd.grad(function(*inputs).square().sum(), inputs))
    with FlopCounterMode(display=False):
        seen = checkpoint(function, *inputs, use_reentrant=False)
    found.append(torch.autograd.grad(seen.square().sum(), inputs))
    for others in found[1:]:
        for gradient, other in zip(found[0], others, strict=True):
            torch.testing.assert_close(gradient, other, atol=1e-5, rtol=1e-5)


def test_what_keys_do_not_know():
    x = [torch.randn(2, 5, 2, 16) for _ in range(3)]
    learning = [y.clone().requires_grad_() for y in x]
    for inputs in (x, learning):
        wanted = flash_attn_func(*inputs, window_size=(3, 0))
        assert torch.equal(flash_attn_func(*inputs, window_size=[3, 0]), wanted)
        assert torch.equal(flash_attn_func(*inputs, window_size=[3, 0]), wanted)
        # A sign that is applied when a tensor is read, and an option that is a tensor.
        negated = flash_attn_func(-inputs[0], *inputs[1:])
        for _ in range(2):
            torch.testing.assert_close(flash_attn_func(torch._neg_view(inputs[0]), *inputs[1:]), negated)
        flag = torch.tensor(True)
        flash_attn_func(*inputs, causal=flag)
        flag.fill_(False)
        assert torch.equal(flash_attn_func(*inputs, causal=flag), flash_attn_func(*inputs))
    # Keys and values of one batch entry for all.
    q, k, v = torch.randn(3, 2, 6, 16), torch.randn(1, 2, 6, 16), torch.randn(1, 2, 6, 16, requires_grad=True)
    outs = [flex_attention(q, k, v) for _ in range(3)]
    assert torch.equal(outs[0], outs[2])
    (gradient,) = torch.autograd.grad(outs[2].sum(), v)
    assert gradient.shape == v.shape


def test_gradients_of_signed_views():
    x = [torch.randn(2, 5, 2, 16, requires_grad=True) for _ in range(3)]
    d_out = torch.randn(2, 5, 2, 16)
    for _ in range(2):
        ours, theirs = (torch.autograd.grad(flash_attn_func(*x), x, d) for d in (torch._neg_view(d_out), -d_out))
        for gradient, expected in zip(ours, theirs, strict=True):
            torch.testing.assert_close(gradient, expected)


def test_traced_programs():
    x = [torch.randn(1, 2, 5, 16) for _ in range(3)]
    flex_attention(*x)
    traced = torch.jit.trace(lambda q, k, v: flex_attention(q, k, v) * 2, x, check_trace=False)
    others = [y * 3 for y in x]
    torch.testing.assert_close(traced(*others), flex_attention(*others) * 2)


@pytest.mark.parametrize("function", [flash_attn_func, flex_attention])
def test_second_derivatives_are_refused(function):
    x = [torch.randn(1, 4, 4, 16, requires_grad=True) for _ in range(3)]
    for _ in range(2):
        (gradient,) = torch.autograd.grad(function(*x).square().sum(), x[0], create_graph=True)
        with pytest.raises(RuntimeError, match="gradients of attention have no gradients of their own"):
            torch.autograd.grad(gradient.square().sum(), x[0])
        # What is linear in the output depends on queries all the same.
        (gradient,) = torch.autograd.grad(function(*x).sum(), x[0], create_graph=True)
        with pytest.raises(RuntimeError, match="gradients of attention have no gradients of their own"):
            torch.autograd.grad(gradient.sum(), x[0])
    known = [y.detach() for y in x]
    with pytest.raises(RuntimeError, match="jvp|forward"):
        torch.func.jvp(lambda q: function(q, *known[1:]), (known[0],), (torch.ones_like(known[0]),))


@pytest.mark.parametrize("function", [flash_attn_func, flex_attention])
def test_nothing_is_kept_without_a_backward(function):
    """Neither what a call saved nor its results outlive them."""
    import gc
    import weakref

    x = [torch.randn(1, 4, 4, 16, requires_grad=True) for _ in range(3)]
    for _ in range(2):
        y = [tensor * 1 for tensor in x]
        out = function(*y)
        kept = [weakref.ref(tensor) for tensor in (*y, out)]
        node = out.grad_fn
        while not type(node).__name__.startswith("_Attention"):
            node = node.next_functions[0][0]
        kept.append(weakref.ref(node))
        storage = weakref.ref(out.untyped_storage())
        del y, out, node
        gc.collect()
        assert not any(reference() for reference in (*kept, storage))
        # A result may be changed where nobody asks for gradients.
        function(*x).add_(1)
