"""Products of float32 by TF32, as torch's settings say, against the formulas in float64."""

import pytest
import torch
from torch_reference import DEVICE, attention

from attnc.torch import flash_attn_func, flex_attention
from attnc.torch._calls import prepare
from attnc.torch._ops import trace_call

torch.manual_seed(0)
q, k, v = (torch.randn(2, 70, 4, 64, device=DEVICE) for _ in range(3))
q_h, k_h, v_h = (tensor.transpose(1, 2) for tensor in (q, k, v))


@pytest.fixture(params=["float32_matmul_precision", "allow_tf32", "fp32_precision"])
def allowed(request):
    """One of torch's ways to allow it; the setting before comes back."""
    matmul = torch.backends.cuda.matmul
    if request.param == "float32_matmul_precision":
        torch.set_float32_matmul_precision("high")
    elif request.param == "allow_tf32":
        matmul.allow_tf32 = True
    elif hasattr(matmul, "fp32_precision"):
        matmul.fp32_precision = "tf32"
    else:
        pytest.skip("this torch has one setting")
    yield
    if hasattr(matmul, "fp32_precision"):
        matmul.fp32_precision = "ieee"
    torch.set_float32_matmul_precision("highest")


def text_of_flex():
    return trace_call(q_h, k_h, v_h, None, None, None).text


def error_of(out):
    return (out.double() - attention(q, k, v, causal=True)[0]).abs().max().item()


def is_rounded(error):
    """Whether an error is one of TF32; on CPUs products are exact in any case."""
    return error > 2e-5 if DEVICE == "cuda" else error < 3e-6


def test_texts_ask_for_it(allowed):
    assert "attributes {attn.tf32} {" in text_of_flex()
    assert "attributes {attn.tf32} {" in prepare(q, k, v, {}, causal=True).text
    both = prepare(q, k, v, {}, causal=True, deterministic=True)
    assert "attributes {attn.deterministic, attn.tf32} {" in both.backward_text
    assert "tf32" not in prepare(q.half(), k.half(), v.half(), {}, causal=True).text


def test_by_default_products_are_exact():
    assert "tf32" not in text_of_flex()
    assert error_of(flash_attn_func(q, k, v, causal=True)) < 3e-6


def test_a_setting_counts_from_the_next_call_on(allowed):
    # What calls like this one are known by has to tell the two apart.
    for _ in range(2):
        assert is_rounded(error_of(flash_attn_func(q, k, v, causal=True)))
    torch.set_float32_matmul_precision("highest")
    if hasattr(torch.backends.cuda.matmul, "fp32_precision"):
        torch.backends.cuda.matmul.fp32_precision = "ieee"
    for _ in range(2):
        assert error_of(flash_attn_func(q, k, v, causal=True)) < 3e-6


def test_gradients_round_as_well(allowed):
    inputs = [tensor.clone().requires_grad_() for tensor in (q, k, v)]
    weights = torch.cos(torch.arange(q.numel(), device=DEVICE).reshape(q.shape).double())
    ours = torch.autograd.grad((flash_attn_func(*inputs, causal=True) * weights).sum(), inputs)
    theirs = torch.autograd.grad((attention(*inputs, causal=True)[0] * weights).sum(), inputs)
    for gradient, expected in zip(ours, theirs, strict=True):
        torch.testing.assert_close(gradient.double(), expected.double(), atol=1e-2, rtol=0)
        assert is_rounded((gradient.double() - expected.double()).abs().max().item())


def test_compiled_programs_follow(allowed):
    compiled = torch.compile(lambda *inputs: flex_attention(*inputs), fullgraph=True)
    wanted = attention(q, k, v)[0]
    assert is_rounded((compiled(q_h, k_h, v_h).transpose(1, 2).double() - wanted).abs().max().item())
