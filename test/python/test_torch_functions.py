"""Functions and methods of torch in score and mask functions, against torch on tensors of float64."""

import pytest
import torch
from flex_mods import SK, SQ, B, H, causal, gradients, plain, tensors
from torch.nn import functional

import attnc
from attnc.torch import and_masks, create_block_mask, flex_attention, or_masks

torch.manual_seed(4)
table = torch.rand(H)
distances = torch.tensor([0, 3, 5])
short = torch.tensor([1, 0, 1, 0], dtype=torch.uint8)
truths = torch.rand(H) < 0.5
third = torch.tensor(1 / 3)

SCORES = {
    "where of a method": lambda s, b, h, i, j: s.where(i >= j, -5.0),
    "where of a method, by keywords": lambda s, b, h, i, j: s.where(condition=i >= j, other=table[h] * s),
    "where of a tensor": lambda s, b, h, i, j: third.where(i >= j, s),
    "where of a tensor that is made there": lambda s, b, h, i, j: torch.tensor(0.25).where(i >= j, s),
    "where of an array of bools": lambda s, b, h, i, j: torch.where(truths[h], s, 0.5),
    "masked_fill": lambda s, b, h, i, j: s.masked_fill(i >= j, 0.5),
    "rsub": lambda s, b, h, i, j: torch.rsub(s, table[h], alpha=0.5),
    "sub": lambda s, b, h, i, j: s.sub(table[h], alpha=2),
    "lerp": lambda s, b, h, i, j: s.lerp(table[h].to(s.dtype), 0.25),
    "powers": lambda s, b, h, i, j: s * 2.0 ** (-h) + (s**2).pow(0.5),
    "float_power": lambda s, b, h, i, j: s + torch.float_power(i + 1, -1),
    "clamp": lambda s, b, h, i, j: s.clamp(-0.5, max=0.5) + torch.clamp(s, min=table[h]),
    "relu": lambda s, b, h, i, j: functional.relu(s) + torch.relu(s - 1),
    "logaddexp": lambda s, b, h, i, j: torch.logaddexp(s, table[h]) + s.logaddexp(s),
    "logsigmoid": lambda s, b, h, i, j: functional.logsigmoid(30 * s),
    "selu": lambda s, b, h, i, j: functional.selu(s),
    "celu": lambda s, b, h, i, j: functional.celu(s, alpha=0.7),
    "softsign": lambda s, b, h, i, j: functional.softsign(s),
    "tanhshrink": lambda s, b, h, i, j: functional.tanhshrink(s),
    "hardswish": lambda s, b, h, i, j: functional.hardswish(4 * s),
    "hardsigmoid": lambda s, b, h, i, j: functional.hardsigmoid(4 * s),
    "expit": lambda s, b, h, i, j: torch.special.expit(s),
    "heaviside": lambda s, b, h, i, j: s * torch.heaviside(s.detach(), torch.tensor(0.5, dtype=s.dtype)),
    "addcmul": lambda s, b, h, i, j: torch.addcmul(s, s, table[h], value=0.5) + s.addcmul(s, s),
    "addcdiv": lambda s, b, h, i, j: torch.addcdiv(s, s, table[h] + 1, value=0.5),
    "isin": lambda s, b, h, i, j: torch.where(torch.isin(i - j, distances), s, 0.25),
    "isin, inverted": lambda s, b, h, i, j: torch.where(torch.isin(i - j, distances, invert=True), s, 0.25),
}


def check(score=None, mask=None):
    inputs = tensors()
    block_mask = None if mask is None else create_block_mask(mask, None, None, SQ, SK)
    results, wanted = flex_attention(*inputs, score, block_mask, return_lse=True), plain(*inputs, score, mask)
    for result, expected in zip(results, wanted, strict=True):
        torch.testing.assert_close(result.double(), expected, atol=1e-4, rtol=1e-4)
    for result, expected in zip(gradients(results, inputs), gradients(wanted, inputs), strict=True):
        torch.testing.assert_close(result.double(), expected.double(), atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("name", SCORES)
def test_score(name):
    check(SCORES[name])


@pytest.mark.parametrize("name", ["where of a method", "where of a tensor", "relu", "logsigmoid", "isin"])
def test_score_under_compile(name):
    torch._dynamo.reset()
    inputs, score = tensors(), SCORES[name]
    out = torch.compile(flex_attention, backend="aot_eager", fullgraph=True)(*inputs, score)
    torch.testing.assert_close(out, flex_attention(*inputs, score))


def test_conditions_of_uint8():
    """torch takes them still, and warns."""
    q, k, v = tensors()
    out = flex_attention(q, k, v, lambda s, b, h, i, j: torch.where(short[h], s, 0.5))
    same = flex_attention(q, k, v, lambda s, b, h, i, j: torch.where(short[h] != 0, s, 0.5))
    assert torch.equal(out, same)


def test_functions_of_infinities():
    """Where nothing is added to nothing, there is nothing."""
    q, k, v = (tensor.detach() for tensor in tensors())

    def score(s, b, h, i, j):
        dropped = torch.where(i >= j, s, -torch.inf)
        return torch.logaddexp(dropped, dropped)

    out = flex_attention(q, k, v, score)
    torch.testing.assert_close(out, flex_attention(q, k, v, block_mask=create_block_mask(causal, None, None, SQ, SK)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_types_of_values(dtype):
    """Those that torch's functions see when nothing is compiled: scores are computed in float32."""
    floats = torch.float32

    def score(s, b, h, i, j):
        kinds = [value.dtype for value in (s, i, i >= j, s + i, i / 2, table[h], table)]
        assert kinds == [floats, torch.int64, torch.bool, floats, floats, floats, floats]
        return torch.where(i >= j, s, torch.finfo(s.dtype).min) + i.to(s.dtype) * 0

    q, k, v = (tensor.detach().to(dtype) for tensor in tensors())
    out = flex_attention(q, k, v, score)
    torch.testing.assert_close(out, flex_attention(q, k, v, block_mask=create_block_mask(causal, None, None, SQ, SK)))
    attnc.jit(score)(*(tensor.transpose(1, 2) for tensor in (q, k, v)))


def test_masks_of_no_masks():
    q, k, v = (tensor.detach() for tensor in tensors())
    for joined, wanted in ((and_masks(), flex_attention(q, k, v)), (or_masks(), torch.zeros_like(q))):
        mask = create_block_mask(joined, B, H, SQ, SK)
        assert torch.equal(flex_attention(q, k, v, block_mask=mask), wanted)
        assert mask.to_dense().bool().all() == wanted.any()
    check(mask=or_masks(and_masks(causal), or_masks()))


def select(s, b, h, i, j):
    return torch.select(s, 0, 0)


REFUSED = {
    "a condition of numbers": (lambda s, b, h, i, j: torch.where(i - j, s, 0.0), r"expected a bool: compare it, as \(x != 0\) does"),
    "a condition of floats": (lambda s, b, h, i, j: s.where(s, 0.0), "the condition of 'where' is a number, expected a bool"),
    "a mask of numbers": (lambda s, b, h, i, j: s.masked_fill(i - j, 0.0), "the mask of 'masked_fill' is a number, expected a bool"),
    "select": (select, "'select' takes a list of conditions"),
    "in place": (lambda s, b, h, i, j: s.add_(1), r"x.add_: a traced value cannot be changed in place.*: write x = x.add\(…\)"),
    "inplace": (lambda s, b, h, i, j: functional.relu(s, inplace=True), "leave inplace=True out, and go on with what the function"),
    "a tensor made inside": (lambda s, b, h, i, j: s + torch.tensor([1.0, 2.0])[h], "make .* outside of it"),
    "a range made inside": (lambda s, b, h, i, j: s + torch.arange(SQ)[i], "make .* an array that the function makes outside of it"),
    "a whole tensor": (lambda s, b, h, i, j: s + table.exp()[h], "computed of the whole array is computed before, outside of the"),
    "a whole tensor by a function": (lambda s, b, h, i, j: s + torch.exp(table)[h], "is computed before, outside of the function"),
    "a method of a class": (lambda s, b, h, i, j: torch.Tensor.exp(s), r"torch.Tensor.exp takes tensors alone: write x.exp\(\)"),
    "isin of a table": (lambda s, b, h, i, j: s * torch.isin(i, torch.zeros(2, 2)), "'isin': expected up to 64 numbers"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    score, message = REFUSED[name]
    with pytest.raises(attnc.TraceError, match=message) as caught:
        flex_attention(*tensors(), score)
    assert caught.value.filename == __file__ and caught.value.lineno == score.__code__.co_firstlineno + (name == "select")


@pytest.mark.parametrize("name", ["in place", "a condition of numbers", "a whole tensor"])
def test_refused_under_compile(name):
    """At the line of the function too."""
    torch._dynamo.reset()
    score, message = REFUSED[name]
    if name == "a condition of numbers":
        message = "Dynamo failed to run FX node|expected predicate to be bool"
    with pytest.raises(Exception, match=message) as caught:
        torch.compile(flex_attention, backend="aot_eager", fullgraph=True)(*tensors(), score)
    if name != "a condition of numbers":
        assert f"TraceError: {__file__}:{score.__code__.co_firstlineno}: " in str(caught.value)
