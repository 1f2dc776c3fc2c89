"""Gradients that score functions stop: detach(), torch.no_grad(), and functions with a derivative of their own."""

import types

import pytest
import torch
from flex_mods import SK, SQ, H, plain, tensors

import attnc
from attnc.torch import flex_attention
from attnc.torch._ops import trace_call

torch.manual_seed(3)
factors = torch.rand(H, requires_grad=True)
bias = torch.randn(H, SQ, SK, requires_grad=True)
halves = torch.rand(H).to(torch.bfloat16).requires_grad_()
plain_factors = torch.rand(H)


def computed_without(s, b, h, i, j):
    with torch.no_grad():
        factor = factors[h] * s
    return s + factor * factors[h]


def read_without(s, b, h, i, j):
    with torch.no_grad():
        row = torch.tanh(factors[h])
    return s + row


def copied_without(s, b, h, i, j):
    """What is not computed there keeps its gradient."""
    with torch.no_grad():
        copy, same = s.clone(), s
    return s + copy.clamp(max=1e9) * factors[h] + same * 0.5


STOPPED = {
    "score": lambda s, b, h, i, j: s + s.detach(),
    "twice": lambda s, b, h, i, j: s * (s.detach() * 0.1).detach(),
    "element": lambda s, b, h, i, j: s * factors[h].detach(),
    "array": lambda s, b, h, i, j: s * factors.detach()[h] + factors[h],
    "row": lambda s, b, h, i, j: s + bias.detach()[h, i, j] * factors[h],
    "straight through": lambda s, b, h, i, j: s + (s.round() - s).detach(),
    "both": lambda s, b, h, i, j: s * (factors[h] * s).detach() + bias[h, i, j],
    "function": lambda s, b, h, i, j: s + torch.detach(bias[h, i, j]) * factors[h],
    "condition": lambda s, b, h, i, j: torch.where(s.detach() > 0, s, 0.1 * s),
    "short type": lambda s, b, h, i, j: s * halves[h].detach() + halves.detach()[h] * s + halves[h],
    "computed under no_grad": computed_without,
    "read under no_grad": read_without,
    "copied under no_grad": copied_without,
}


def gradients(results, inputs):
    torch.manual_seed(2)
    return torch.autograd.grad(sum((result * torch.randn(result.shape)).sum() for result in results), inputs, allow_unused=True)


@pytest.mark.parametrize("compiles", [False, True])
@pytest.mark.parametrize("name", STOPPED)
def test_gradients_stop(name, compiles):
    torch._dynamo.reset()
    attend = torch.compile(flex_attention, backend="aot_eager", fullgraph=True) if compiles else flex_attention
    inputs = tensors()
    # The second call goes by what is known of the first.
    for _ in range(2):
        results, wanted = attend(*inputs, STOPPED[name], return_lse=True), plain(*inputs, STOPPED[name])
        for result, expected in zip(results, wanted, strict=True):
            torch.testing.assert_close(result.double(), expected, atol=1e-3, rtol=1e-3)
        learned = [*inputs, factors, bias, halves]
        for ours, theirs in zip(gradients(results, learned), gradients(wanted, learned), strict=True):
            assert (ours is None) == (theirs is None)
            if ours is not None:
                rtol = 1e-2 if ours.dtype == torch.bfloat16 else 2e-3
                torch.testing.assert_close(ours.double(), theirs.double(), atol=2e-3, rtol=rtol)


def test_one_forward_with_two_backwards():
    """Kernels that are known of one function are not those of another, whose results are the same."""
    inputs = tensors()
    for score in (lambda s, b, h, i, j: s + s, lambda s, b, h, i, j: s + s.detach(), lambda s, b, h, i, j: s.detach() + s.detach()):
        for _ in range(2):
            ours, theirs = (gradients(results, inputs[:1])[0] for results in (
                flex_attention(*inputs, score, return_lse=True), plain(*inputs, score)
            ))  # fmt: skip
            theirs = torch.zeros_like(ours) if theirs is None else theirs
            torch.testing.assert_close(ours, theirs.float(), atol=3e-4, rtol=1e-4)


def test_where_nothing_has_a_gradient():
    """There it is the same number, and the same kernel."""
    q, k, v = (tensor.detach() for tensor in tensors())

    def spec(score):
        return trace_call(q, k, v, score, None, None)

    same = spec(lambda s, b, h, i, j: s * plain_factors[h])
    assert spec(lambda s, b, h, i, j: s.detach() * plain_factors[h].detach()).backward_text == same.text
    assert attnc.jit(lambda s, b, h, i, j: s.detach() * 2.0)(q, q, q).shape == q.shape


class Doubled(torch.autograd.Function):
    """With a derivative of its own, which saves what it is given."""

    @staticmethod
    def forward(ctx, score):
        ctx.save_for_backward(score)
        return score * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 5


class Masked(torch.autograd.Function):
    """As FlexAttention's tests have it."""

    generate_vmap_rule = True

    @staticmethod
    def forward(score, mask):
        return torch.where(mask, score, -float("inf"))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.mark_non_differentiable(inputs[1])

    @staticmethod
    def backward(ctx, gradient):
        return gradient, None


class Unchanged(torch.autograd.Function):
    @staticmethod
    def forward(ctx, score):
        return score

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


applied = Doubled.apply
FUNCTIONS = {
    "doubled": (lambda s, b, h, i, j: Doubled.apply(s), lambda s, b, h, i, j: s * 2),
    "by its method": (lambda s, b, h, i, j: applied(s), lambda s, b, h, i, j: s * 2),
    "masked": (lambda s, b, h, i, j: Masked.apply(s, i >= j), lambda s, b, h, i, j: torch.where(i >= j, s, -float("inf"))),
    "unchanged": (lambda s, b, h, i, j: Unchanged.apply(s), lambda s, b, h, i, j: s),
    "learned": (lambda s, b, h, i, j: s + Doubled.apply(factors[h]), lambda s, b, h, i, j: s + factors[h] * 2),
}


@pytest.mark.parametrize("compiles", [False, True])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_with_derivatives(name, compiles):
    """Their forwards are traced; where a gradient would go through a backward, they are refused."""
    torch._dynamo.reset()
    attend = torch.compile(flex_attention, backend="aot_eager", fullgraph=True) if compiles else flex_attention
    score, same = FUNCTIONS[name]
    inputs = [tensor.detach() for tensor in tensors()]
    with torch.no_grad():
        torch.testing.assert_close(attend(*inputs, score), flex_attention(*inputs, same))
    if name != "learned":
        torch.testing.assert_close(attend(*inputs, score), flex_attention(*inputs, same))
    # Dynamo does not know what to do with `Masked`, and says so in words of its own.
    message = None if compiles and name == "masked" else "its backward would be dropped: gradients are"
    with pytest.raises(Exception, match=message):
        attend(*tensors(), score)


def test_functions_with_derivatives_of_other_modules():
    """Of what is not read by its own name torch runs the forward."""
    module = types.ModuleType("elsewhere")
    module.Masked, module.Unsaved = Masked, type("Unsaved", (Doubled,), {"forward": staticmethod(lambda ctx, score: score * 2)})
    inputs = tensors()
    with pytest.raises(attnc.TraceError, match="'Unsaved' is given what has a gradient, and its backward would be dropped"):
        flex_attention(*inputs, lambda s, b, h, i, j: module.Unsaved.apply(s))
    with torch.no_grad():
        out = flex_attention(*inputs, lambda s, b, h, i, j: module.Unsaved.apply(s))
        torch.testing.assert_close(out, flex_attention(*inputs, lambda s, b, h, i, j: s * 2))
        with pytest.raises(attnc.TraceError, match="read the class as a variable of the function"):
            flex_attention(*inputs, lambda s, b, h, i, j: module.Masked.apply(s, i >= j))
