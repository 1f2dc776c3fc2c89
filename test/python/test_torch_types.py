"""Captured tensors of types that kernels have not: float64 has gradients of its own type, and integers are read as they are."""

import pytest
import torch
from flex_mods import DEVICE, SK, SQ, B, H, causal, gradients, plain, tensors

from attnc.torch import create_block_mask, flash_attention, flex_attention

torch.manual_seed(5)
INTEGERS = {
    torch.int16: (-(2**15), 2**15), torch.uint8: (200, 256), torch.uint16: (2**15, 2**16), torch.uint32: (2**31, 2**32),
}  # fmt: skip


def compiled(score, mask=None):
    torch._dynamo.reset()
    return torch.compile(lambda q, k, v: flex_attention(q, k, v, score, mask), backend="aot_eager", fullgraph=True)


@pytest.mark.parametrize("compiles", [False, True])
def test_float64_with_gradients(compiles):
    """Read by heads, by queries and keys, by a number, by a computed index, and as a number; a part of a longer table."""
    inputs = tensors()
    shapes = (H,), (B, 1, SQ, SK), (3, H), (2 * SK,), (), (2 * SK,)
    slopes, bias, rows, relative, factor, long = (torch.rand(shape, dtype=torch.float64) for shape in shapes)
    learned = slopes, bias, rows, relative, factor, long

    def score(s, b, h, i, j):
        near = relative[i - j + SK] + long[j] - slopes[h] * (i - j).abs()
        return s * factor * rows[1, h] + bias[b, 0, i, j] + near

    for tensor in learned:
        tensor.requires_grad_()
    call = compiled(score) if compiles else lambda q, k, v: flex_attention(q, k, v, score)
    out, wanted = call(*inputs), plain(*inputs, score)[0]
    torch.testing.assert_close(out.double(), wanted, atol=3e-5, rtol=0)
    found, expected = (gradients((result,), [*inputs, *learned]) for result in (out, wanted))
    for tensor, ours, theirs in zip([*inputs, *learned], found, expected, strict=True):
        assert ours.dtype == tensor.dtype and ours.shape == tensor.shape
        torch.testing.assert_close(ours.double(), theirs.double(), atol=3e-4, rtol=3e-4)
        assert theirs.abs().max() > 1e-3


@pytest.mark.parametrize("compiles", [False, True])
@pytest.mark.parametrize("kind", INTEGERS, ids=str)
def test_integers(kind, compiles):
    low, high = INTEGERS[kind]
    q, k, v = (tensor.detach() for tensor in tensors())
    table = torch.randint(low, high, (H, SK)).to(kind)

    def of(table):
        def score(s, b, h, i, j):
            # None wraps.
            return s + (table[h, i] + table[h, j]) * (1.0 / high)

        return score

    call = compiled(of(table)) if compiles else lambda q, k, v: flex_attention(q, k, v, of(table))
    for _ in range(2):
        out = call(q, k, v)
        torch.testing.assert_close(out.double(), plain(q, k, v, of(table.double()))[0], atol=3e-5, rtol=0)
        # Other numbers in the same tensor.
        table[:, ::2] = low


@pytest.mark.parametrize("compiles", [False, True])
def test_masks(compiles):
    """Ids of documents of 16 bits, and flags of 8."""
    q, k, v = (tensor.detach() for tensor in tensors())
    ids, kept = torch.randint(0, 4, (SK,), dtype=torch.int16).sort().values, (torch.rand(SK) < 0.8).to(torch.uint8)

    def mask(b, h, i, j):
        return (ids[i] == ids[j]) & (kept[j] > 0)

    block_mask = create_block_mask(mask, None, None, SQ, SK)
    call = compiled(None, block_mask) if compiles else lambda q, k, v: flex_attention(q, k, v, None, block_mask)
    torch.testing.assert_close(call(q, k, v).double(), plain(q, k, v, mask=mask)[0], atol=3e-5, rtol=0)


def test_changes_are_seen():
    """In place, by another tensor in the variable's place, and by another type."""
    q, k, v = (tensor.detach() for tensor in tensors())
    table = torch.rand(H, dtype=torch.float64)

    def score(s, b, h, i, j):
        return s * table[h]

    def check():
        torch.testing.assert_close(flex_attention(q, k, v, score).double(), plain(q, k, v, score)[0], atol=3e-5, rtol=0)

    check()
    table += 1
    check()
    table = torch.rand(H, dtype=torch.float64)
    check()
    table.data = torch.randint(1, 5, (H,), dtype=torch.uint8)
    check()
    # Once its gradient is wanted.
    table = torch.rand(H, dtype=torch.float64)
    check()
    table.requires_grad_()
    flex_attention(q, k, v, score).sum().backward()
    assert table.grad.dtype == torch.float64 and table.grad.abs().max() > 1e-3
    with torch.no_grad():
        table.mul_(2)
        check()


def test_a_parameter_of_a_module_of_doubles():
    class Slopes(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.slopes = torch.nn.Parameter(torch.rand(H))

        def forward(self, q, k, v):
            return flex_attention(q, k, v, lambda s, b, h, i, j: s - self.slopes[h] * (i - j).abs(), block_mask=mask)

    mask = create_block_mask(causal, None, None, SQ, SK)
    q, k, v = tensors()
    module = Slopes().double()
    module(q, k, v).square().sum().backward()
    wanted = plain(q, k, v, lambda s, b, h, i, j: s - module.slopes[h] * (i - j).abs(), causal)[0]
    (expected,) = torch.autograd.grad(wanted.square().sum(), (module.slopes,))
    torch.testing.assert_close(module.slopes.grad, expected, atol=1e-4, rtol=1e-4)


def test_biases_and_sinks_of_doubles():
    q, k, v = (tensor.detach().transpose(1, 2) for tensor in tensors())
    bias = torch.randn(B, 1, SQ, SK, dtype=torch.float64, requires_grad=True)
    sinks = torch.randn(H, 2, dtype=torch.float64, requires_grad=True)
    out = flash_attention(q, k, v, bias, softmax_aux=sinks)
    found = torch.autograd.grad(out.square().sum(), (bias, sinks))
    single = [tensor.detach().float().requires_grad_() for tensor in (bias, sinks)]
    wanted = flash_attention(q, k, v, single[0], softmax_aux=single[1])
    torch.testing.assert_close(out, wanted)
    for ours, theirs in zip(found, torch.autograd.grad(wanted.square().sum(), single), strict=True):
        assert ours.dtype == torch.float64 and ours.device.type == DEVICE
        torch.testing.assert_close(ours.float(), theirs)


def test_numbers_on_the_host():
    """Floats that differ from call to call are tensors of the CPU in programs of some versions of torch, wherever queries lie."""
    from attnc._trace.capture import Trace
    from attnc.torch._compiled import _as_input

    known = Trace({"%b": B, "%h": H, "%i": SQ, "%j": SK}, SQ)
    for value, device in ((torch.tensor(0.5, device="cpu"), "meta"), (torch.rand(3, device="cpu"), "cpu")):
        captured = _as_input(known, "l_cap_", value, torch.device("meta"))
        assert captured.device.type == device and captured.dtype == value.dtype
