"""scaled_dot_product_attention and torch's varlen_attn by attnc, once it is activated."""

import pytest
import torch
import torch_reference
from torch.nn.attention import (
    SDPBackend,
    activate_flash_attention_impl,
    current_flash_attention_impl,
    list_flash_attention_impls,
    restore_flash_attention_impl,
    sdpa_kernel,
    varlen,
)
from torch.nn.functional import scaled_dot_product_attention

import attnc.torch

B, H, S, D = 2, 4, 37, 16
torch.manual_seed(0)
q, k, v = torch.randn(3, B, H, S, D).unbind()
#: How often kernels of attnc ran.
ran = []


@pytest.fixture(autouse=True)
def activated(monkeypatch):
    from attnc.torch import _ops

    launch = _ops._launch
    ran.clear()
    monkeypatch.setattr(_ops, "_launch", lambda *inputs: (ran.append(1), launch(*inputs)))
    activate_flash_attention_impl("attnc")
    yield
    if current_flash_attention_impl() is not None:
        restore_flash_attention_impl()


def reference(q, k, v, **meaning):
    out, _ = torch_reference.attention(*(tensor.transpose(1, 2) for tensor in (q, k, v)), **meaning)
    return out.transpose(1, 2)


CASES = {
    "plain": ({}, {}),
    "causal": (dict(is_causal=True), dict(causal=True)),
    "scale": (dict(scale=0.4), dict(scale=0.4)),
    "mask": (dict(attn_mask=(mask := torch.rand(S, S) < 0.6)), dict(keep=mask)),
    "bias": (dict(attn_mask=(bias := torch.randn(B, 1, S, S))), dict(bias=bias)),
    "bias of heads": (dict(attn_mask=bias[:1].expand(B, H, S, S)), dict(bias=bias[:1])),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("size", [D, 20])
def test_scaled_dot_product_attention(name, size):
    options, meaning = CASES[name]
    inputs = [torch.nn.functional.pad(tensor, (0, size - D), value=0.3).requires_grad_() for tensor in (q, k, v)]
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        out = scaled_dot_product_attention(*inputs, **options)
    wanted = reference(*inputs, **meaning)
    torch.testing.assert_close(out.double(), wanted, atol=3e-5, rtol=0)
    ours, theirs = (torch.autograd.grad(result.square().sum(), inputs) for result in (out, wanted))
    for gradient, expected in zip(ours, theirs, strict=True):
        torch.testing.assert_close(gradient, expected, atol=3e-4, rtol=0)
    assert len(ran) == 2


LEARNED = {
    "whole": torch.randn(B, H, S, S),
    "rows and keys": torch.randn(S, S),
    "heads": torch.randn(H, 1, 1),
    "entries": torch.randn(B, 1, S, S),
    "keys": torch.randn(B, 1, 1, S),
}


@pytest.mark.parametrize("name", LEARNED)
@pytest.mark.parametrize("way", ["as it is", "spread", "one kernel", "compiled"])
def test_learned_bias(name, way):
    inputs = [*(tensor.clone().requires_grad_() for tensor in (q, k, v)), LEARNED[name].clone().requires_grad_()]

    def attend(q, k, v, bias):
        # A function of what is learned, as a bucketed bias is.
        mask = torch.sin(bias)
        if way == "spread":
            mask = mask.expand(B, H, S, S)
        if way == "one kernel":
            with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
                return scaled_dot_product_attention(q, k, v, mask)
        return scaled_dot_product_attention(q, k, v, mask)

    if way == "compiled":
        torch._dynamo.reset()
        out = torch.compile(attend, backend="aot_eager", fullgraph=True)(*inputs)
    else:
        out = attend(*inputs)
    wanted = reference(*inputs[:3], bias=torch.sin(inputs[3]))
    torch.testing.assert_close(out.double(), wanted, atol=3e-5, rtol=0)
    ours, theirs = (torch.autograd.grad(result.square().sum(), inputs) for result in (out, wanted))
    for gradient, expected in zip(ours, theirs, strict=True):
        assert gradient.shape == expected.shape and gradient.dtype == torch.float32
        torch.testing.assert_close(gradient, expected, atol=3e-4, rtol=1e-4)
    assert len(ran) == 2


def test_learned_bias_of_grouped_heads():
    pairs = torch.nn.functional.pad(k[:, :2], (0, 4), value=0.3), torch.nn.functional.pad(v[:, :2], (0, 4), value=0.3)
    bias = torch.randn(H, S, S, requires_grad=True)
    query = torch.nn.functional.pad(q, (0, 4), value=0.3)
    out = scaled_dot_product_attention(query, *pairs, bias, scale=0.3, enable_gqa=True)
    wanted = reference(query, *pairs, bias=bias, scale=0.3)
    ours, theirs = (torch.autograd.grad(result.square().sum(), bias)[0] for result in (out, wanted))
    torch.testing.assert_close(ours, theirs, atol=3e-4, rtol=1e-4)
    assert len(ran) == 2


def test_learned_bias_that_is_a_leaf_without_strides():
    bias = torch.randn(H, 1, 1).expand(B, H, S, S).detach().requires_grad_()
    out = scaled_dot_product_attention(q, k, v, bias)
    wanted = reference(q, k, v, bias=bias)
    ours, theirs = (torch.autograd.grad(result.square().sum(), bias)[0] for result in (out, wanted))
    torch.testing.assert_close(ours, theirs, atol=3e-4, rtol=1e-4)


def test_learned_bias_that_torch_takes():
    bias = torch.randn(S, S, requires_grad=True)
    with sdpa_kernel(SDPBackend.MATH):
        scaled_dot_product_attention(q, k, v, bias)
    # torch's memory-efficient kernel fails on GPUs where nothing but the mask has a gradient.
    with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):
        gradient = torch.func.grad(lambda bias: scaled_dot_product_attention(q, k, v, bias).square().sum())(bias.detach())
    assert not ran
    out = scaled_dot_product_attention(q, k, v, bias)
    assert ran
    (ours,) = torch.autograd.grad(out.square().sum(), bias)
    torch.testing.assert_close(ours, gradient, atol=3e-4, rtol=1e-4)
    ran.clear()
    restore_flash_attention_impl()
    with sdpa_kernel(SDPBackend.MATH):
        scaled_dot_product_attention(q, k, v, bias).sum().backward()
    assert not ran


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("causal", [True, False])
def test_short_types(dtype, causal):
    inputs = [tensor.to(dtype).requires_grad_() for tensor in (q, k, v)]
    out = scaled_dot_product_attention(*inputs, is_causal=causal)
    wanted = reference(*inputs, causal=causal)
    torch.testing.assert_close(out.double(), wanted, atol=2e-2, rtol=0)
    ours, theirs = (torch.autograd.grad(result.square().sum(), inputs) for result in (out, wanted))
    for gradient, expected in zip(ours, theirs, strict=True):
        torch.testing.assert_close(gradient, expected, atol=6e-2, rtol=2e-2)
    assert len(ran) == 2


@pytest.mark.skipif(torch_reference.DEVICE == "cpu", reason="torch drops nothing in one kernel on CPUs")
def test_dropout():
    identity = torch.eye(D, dtype=torch.float16).expand(B, H, D, D).clone().requires_grad_()
    inputs = [*(tensor[:, :, :D].half().requires_grad_() for tensor in (q, k)), identity]
    torch.manual_seed(7)
    out = scaled_dot_product_attention(*inputs, dropout_p=0.5)
    torch.manual_seed(7)
    assert (scaled_dot_product_attention(*inputs, dropout_p=0.5) == out).all()
    assert not (scaled_dot_product_attention(*inputs, dropout_p=0.5) == out).all()
    assert 0.4 < (out == 0).double().mean() < 0.6
    # The values are the identity, so that the output is what is left of the weights: gradients drop the same.
    upstream = torch.randn_like(out)
    (found,) = torch.autograd.grad(out, identity, upstream)
    torch.testing.assert_close(found.double(), out.double().transpose(2, 3) @ upstream.double(), atol=2e-2, rtol=2e-2)
    assert len(ran) == 4


def test_without_gradients():
    with torch.inference_mode():
        out = scaled_dot_product_attention(q, k, v, mask)
    torch.testing.assert_close(out.double(), reference(q, k, v, keep=mask), atol=3e-5, rtol=0)
    assert len(ran) == 1


def test_a_module():
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(32, 2, 64, dropout=0.0, batch_first=True)
    x = torch.randn(2, 10, 32)
    out = layer(x)
    assert ran
    restore_flash_attention_impl()
    torch.testing.assert_close(out, layer(x), atol=2e-5, rtol=0)


def test_others_go_on_to_torch():
    out = scaled_dot_product_attention(*(tensor.double() for tensor in (q, k, v)), is_causal=True)
    torch.testing.assert_close(out, reference(q, k, v, causal=True))
    assert not ran


def test_varlen_attn_of_torch():
    offsets = torch.tensor([0, 10, 10, S], dtype=torch.int32)
    inputs = [tensor[0].transpose(0, 1).contiguous().requires_grad_() for tensor in (q, k, v)]
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        out = varlen.varlen_attn(*inputs, offsets, offsets, S, S, window_size=(-1, 0))
    wanted = attnc.torch.varlen_attn(*inputs, offsets, offsets, window_size=(-1, 0))
    assert (out == wanted).all()
    ours, theirs = (torch.autograd.grad(result.square().sum(), inputs) for result in (out, wanted))
    for gradient, expected in zip(ours, theirs, strict=True):
        torch.testing.assert_close(gradient, expected)


def test_registered_and_restored():
    assert "attnc" in list_flash_attention_impls() and current_flash_attention_impl() == "attnc"
    restore_flash_attention_impl()
    halves = [tensor.half() for tensor in (q, k, v)]
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        scaled_dot_product_attention(*halves)
    assert not ran
    activate_flash_attention_impl("attnc")
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        scaled_dot_product_attention(*halves)
    assert ran


def traced_gradient():
    """Whether a compiled call has a gradient, and whether it takes attnc's kernel: of a mask that is learned, which torch has no
    kernel for."""
    from torch._dynamo.backends.common import aot_autograd

    torch._dynamo.reset()
    taken = []

    def record(graph, _):
        taken.extend(str(node.target) for node in graph.graph.nodes if node.op == "call_function")
        return graph

    def backend(graph, inputs):
        return aot_autograd(fw_compiler=record)(graph, inputs)

    bias = torch.zeros(S, S, requires_grad=True)
    given = q.clone().requires_grad_()
    call = torch.compile(lambda x: scaled_dot_product_attention(x, k, v, attn_mask=bias), backend=backend)
    call(given).sum().backward()
    return given.grad is not None and bias.grad is not None, "attnc.forward.default" in taken


def test_compiled_before_and_after():
    restore_flash_attention_impl()
    assert traced_gradient() == (True, False)
    activate_flash_attention_impl("attnc")
    assert traced_gradient() == (True, True)
    restore_flash_attention_impl()
    assert traced_gradient() == (True, False)


def test_scale_is_finite():
    with pytest.raises(attnc.Error, match="^scale: expected a finite number or None, got inf"):
        scaled_dot_product_attention(q, k, v, scale=float("inf"))
