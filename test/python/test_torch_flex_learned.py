"""Gradients of what flex_attention's functions read, against the formulas in float64."""

import pytest
import torch
from flex_mods import LEARNED, MASKS, SK, SQ, H, causal, gradients, plain, tensors

import attnc
from attnc.torch import create_block_mask, flex_attention


def check_learned(shapes, score, mask=None, dtype=torch.float32, rows=torch.float32, atol=3e-5, sq=SQ, sk=SK):
    """Holds the gradients of what a score reads, score(*tensors), against those of the formulas. rows: the type of queries."""
    inputs = tensors(dtype=rows, sq=sq, sk=sk)
    torch.manual_seed(3)
    learned = [(torch.rand(shape) + 0.5).to(dtype).requires_grad_() for shape in shapes]
    block_mask = None if mask is None else create_block_mask(mask, None, None, sq, sk)
    results = flex_attention(*inputs, score(*learned), block_mask, return_lse=True)
    wanted = plain(*inputs, score(*(tensor.double() for tensor in learned)), mask)
    for result, expected in zip(results, wanted, strict=True):
        torch.testing.assert_close(result.double(), expected, atol=atol, rtol=atol)
    found, expected = (gradients(pair, [*inputs, *learned]) for pair in (results, wanted))
    for tensor, ours, theirs in zip([*inputs, *learned], found, expected, strict=True):
        assert ours.dtype == tensor.dtype and ours.shape == tensor.shape and ours.device == tensor.device
        torch.testing.assert_close(ours.double(), theirs.double(), atol=10 * atol, rtol=10 * atol)
        assert theirs.abs().max() > 1e-3


@pytest.mark.parametrize("name", LEARNED)
def test_learned(name):
    check_learned(*LEARNED[name])


@pytest.mark.parametrize(("dtype", "atol"), [(torch.float16, 5e-3), (torch.bfloat16, 3e-2)])
def test_learned_tensors_of_short_types(dtype, atol):
    for name in ("ALiBi", "bias of three", "gate"):
        check_learned(*LEARNED[name], dtype=dtype, atol=atol / 10)
        check_learned(*LEARNED[name], rows=dtype, atol=atol)
    check_learned(*LEARNED["bias of four"], dtype=dtype, rows=dtype, atol=atol)


def test_learned_with_a_mask():
    for name in ("temperature of heads", "bias of four", "bias of keys"):
        check_learned(*LEARNED[name], mask=MASKS["document, causal"])


def test_learned_by_queries_and_keys():
    check_learned([(SK,)], lambda t: lambda s, b, h, i, j: s + t[i] * t[j] - t[j], sq=SK)
    # One query: its table has one element, which is read by no coordinate.
    check_learned([(1,), (SK,)], lambda t, u: lambda s, b, h, i, j: s * t[i] + u[j], sq=1)


def test_learned_under_two_names():
    def score(t):
        other, view = t, t[:]
        return lambda s, b, h, i, j: (s + t[h]) * other[h] + view[h]

    check_learned([(H,)], score)
    q, k, v = (tensor.detach() for tensor in tensors())
    table = torch.rand(H, requires_grad=True)

    def twice(attend):
        out = attend(q, k, v, lambda s, b, h, i, j: s * table[h])
        return torch.autograd.grad(attend(out, k, v, lambda s, b, h, i, j: s + table[h] * j).sum(), table)[0]

    first = twice(flex_attention)
    torch.testing.assert_close(first, twice(lambda *inputs: plain(*inputs)[0].float()), atol=3e-4, rtol=3e-4)
    # The same again, now that all is known.
    assert torch.equal(twice(flex_attention), first)


def test_learned_in_no_order():
    """Elements that any query and key may read are added up in no order, which is refused where one is asked for."""
    inputs, table = tensors(), torch.ones(2000, H, requires_grad=True)
    torch.use_deterministic_algorithms(True)
    try:
        out = flex_attention(*inputs, lambda s, b, h, i, j: s + table[i - j + SK, h])
        with pytest.raises(attnc.Error, match="captured tensor 'table': expected, for attn.deterministic, a tensor that is always read"):
            out.sum().backward()
    finally:
        torch.use_deterministic_algorithms(False)


def test_learned_views():
    q, k, v = tensors()
    base = torch.rand(SK, SQ, 2, H, requires_grad=True)
    row = torch.rand(H, 1, 1, requires_grad=True)

    def loss(attend):
        turned, apart, spread = base[:, :, 1].permute(2, 1, 0), base[:, 0, 0, :].t(), row.expand(H, SQ, SK)
        out = attend(q, k, v, lambda s, b, h, i, j: s * spread[h, i, j] + turned[h, i, j] * apart[h, j])
        return torch.autograd.grad(out.square().sum(), (base, row, q))

    ours, theirs = loss(flex_attention), loss(lambda *inputs: plain(*inputs)[0])
    for gradient, expected in zip(ours, theirs, strict=True):
        torch.testing.assert_close(gradient, expected.float(), atol=3e-4, rtol=3e-4)


def test_numbers_as_indices():
    """What is remembered of a function holds for whatever its tensor holds, and wherever that lies."""
    q, k, v = tensors()
    table = torch.nn.Parameter(torch.rand(3, H))

    def score(s, b, h, i, j):
        return s * table[2, h] + table[0][h]

    for _ in range(2):
        out, wanted = flex_attention(q, k, v, score), plain(q, k, v, score)[0]
        ours, theirs = (torch.autograd.grad(result.square().sum(), table)[0] for result in (out, wanted))
        torch.testing.assert_close(ours, theirs.float(), atol=3e-4, rtol=3e-4)
        assert theirs[1].eq(0).all()
        with torch.no_grad():
            torch.testing.assert_close(flex_attention(q, k, v, score).double(), wanted, atol=3e-5, rtol=0)
        table.data = torch.rand(3, H)
    for learns in (True, False):
        table.requires_grad_(learns)
        with pytest.raises(attnc.TraceError, match="captured array 'table': dimension 0 has 3 elements, and is indexed by -4"):
            flex_attention(q, k, v, lambda s, b, h, i, j: s + table[-4, h])


def test_learned_and_not():
    """What is not learned costs nothing, and tensors may begin and cease to be learned."""
    from attnc.torch import _ops

    q, k, v = tensors()
    table = torch.rand(H)

    def score(s, b, h, i, j):
        return s * table[h]

    def has_gradient():
        out = flex_attention(q, k, v, score)
        torch.testing.assert_close(out.double(), plain(q, k, v, score)[0], atol=3e-5, rtol=0)
        return out.requires_grad and "attn.requires_grad" in out.grad_fn.spec

    assert not has_gradient()
    table.requires_grad_()
    assert has_gradient()
    with torch.no_grad():
        assert not has_gradient()
    assert has_gradient()
    before = len(_ops._launches)
    table.requires_grad_(False)
    assert not has_gradient()
    assert len(_ops._launches) == before


def test_learned_tensors_alone():
    q, k, v = (tensor.detach() for tensor in tensors())
    table = torch.rand(H, requires_grad=True)
    out = flex_attention(q, k, v, lambda s, b, h, i, j: s * table[h])
    out.sum().backward()
    assert table.grad.shape == (H,) and q.grad is None


def test_masks_have_no_gradients():
    q, k, v = tensors()
    table = torch.randn(SK, requires_grad=True)
    mask = create_block_mask(lambda b, h, i, j: table[j] > 0, None, None, SQ, SK)
    (gradient,) = torch.autograd.grad(flex_attention(q, k, v, None, mask).sum(), table, allow_unused=True)
    assert gradient is None
    # Where a score reads it as well, it has that of the score.
    out = flex_attention(q, k, v, lambda s, b, h, i, j: s + table[j], mask)
    wanted, _ = plain(q, k, v, lambda s, b, h, i, j: s + table[j], mask.mask_mod)
    ours, theirs = (torch.autograd.grad(result.square().sum(), table)[0] for result in (out, wanted))
    torch.testing.assert_close(ours, theirs.float(), atol=3e-4, rtol=3e-4)


class Learned(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.slopes = torch.nn.Parameter(torch.rand(H))
        self.temperature = torch.nn.Parameter(torch.rand(H) + 0.5)

    def score(self, s, b, h, i, j):
        return s * self.temperature[h] - self.slopes[h] * abs(i - j)

    def forward(self, q, k, v):
        return flex_attention(q, k, v, self.score, create_block_mask(causal, None, None, SQ, SK))


def test_parameters_are_trained():
    module, (q, k, v) = Learned(), tensors()
    target = flex_attention(q, k, v).detach()
    optimizer = torch.optim.SGD(module.parameters(), lr=1.0)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = (module(q, k, v) - target).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses == sorted(losses, reverse=True)


@pytest.mark.parametrize("dynamic", [None, True])
def test_tables_of_other_sizes_are_compiled_anew(dynamic):
    """The sizes of what is learned are part of a spec, and no symbols."""

    q = tensors()[0].detach()

    def attend(q, table):
        return flex_attention(q, q, q, lambda s, b, h, i, j: s + table[(j - i).clamp(-2, 2) + 2])

    torch._dynamo.reset()
    compiled = torch.compile(attend, fullgraph=True, backend="aot_eager", dynamic=dynamic)
    for size in (5, 6, 9):
        table = torch.randn(size, requires_grad=True)
        out, wanted = compiled(q, table), attend(q, table)
        torch.testing.assert_close(out, wanted)
        ours, theirs = (torch.autograd.grad(result.square().sum(), table)[0] for result in (out, wanted))
        torch.testing.assert_close(ours, theirs)
