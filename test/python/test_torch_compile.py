"""attnc.torch.flex_attention under torch.compile: one graph, the same results, and no compilation for other lengths."""

import pytest
import torch
from flex_mods import LEARNED, MASKS, SCORES, SK, SQ, B, D, H, causal, logits_of, plain
from torch._dynamo.testing import CompileCounterWithBackend

from attnc.torch import AuxRequest, create_block_mask, flex_attention


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()


def tensors(sq=SQ, sk=SK, heads=H):
    torch.manual_seed(1)
    sizes = ((B, H, sq, D), (B, heads, sk, D), (B, heads, sk, D))
    return [torch.randn(size).requires_grad_() for size in sizes]


def attention(q, k, v, score, mask):
    block_mask = None if mask is None else create_block_mask(mask, None, None, q.shape[2], k.shape[2])
    return flex_attention(q * 2, k, v, score, block_mask, enable_gqa=True) + 1


def check(function, inputs, *others, backend="aot_eager", **options):
    compiled = torch.compile(function, backend=backend, fullgraph=True, **options)
    out, wanted = compiled(*inputs, *others), function(*inputs, *others)
    torch.testing.assert_close(out, wanted)
    assert out.stride() == wanted.stride()
    ours, theirs = torch.autograd.grad(out.square().sum(), inputs), torch.autograd.grad(wanted.square().sum(), inputs)
    for gradient, expected in zip(ours, theirs, strict=True):
        torch.testing.assert_close(gradient, expected)
    return compiled


@pytest.mark.parametrize("name", MASKS)
def test_mask(name):
    check(lambda q, k, v: attention(q, k, v, None, MASKS[name]), tensors())


@pytest.mark.parametrize("name", SCORES)
def test_score(name):
    check(lambda q, k, v: attention(q, k, v, SCORES[name], None), tensors(heads=2))


def test_inductor():
    check(lambda q, k, v: attention(q, k, v, SCORES["soft cap"], MASKS["document"]), tensors(), backend="inductor")


def test_without_gradients():
    q, k, v = tensors()
    wanted, _ = plain(q * 2, k, v, SCORES["ALiBi"], causal)
    for mode in (torch.no_grad, torch.inference_mode):
        torch._dynamo.reset()
        compiled = torch.compile(attention, backend="aot_eager", fullgraph=True)
        with mode():
            out = compiled(q, k, v, SCORES["ALiBi"], causal)
        torch.testing.assert_close(out.double(), wanted + 1, atol=3e-5, rtol=0)


def test_auxiliary_results():
    def function(q, k, v):
        mask = create_block_mask(causal, None, None, SQ, SK)
        _, aux = flex_attention(q, k, v, SCORES["relative bias"], mask, return_aux=AuxRequest(lse=True, max_scores=True))
        return aux.lse, aux.max_scores

    inputs = tensors()
    lse, greatest = torch.compile(function, fullgraph=True, backend="aot_eager")(*inputs)
    wanted = logits_of(*inputs[:2], SCORES["relative bias"], causal)
    torch.testing.assert_close(lse.double(), wanted.logsumexp(-1), atol=3e-5, rtol=3e-5)
    torch.testing.assert_close(greatest.double(), wanted.amax(-1), atol=3e-6, rtol=3e-6)
    assert not greatest.requires_grad


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_one_projection(backend):
    """Queries, keys and values that lie in one tensor."""
    torch.manual_seed(1)
    x = torch.randn(B, SQ, 3, H, D, requires_grad=True)

    def function(x, attend=flex_attention, mask=create_block_mask(causal, None, None, SQ, SQ)):
        q, k, v = (tensor.transpose(1, 2) for tensor in x.unbind(2))
        return attend(q, k, v, SCORES["ALiBi"], mask)

    out = torch.compile(function, fullgraph=True, backend=backend)(x)
    wanted = function(x, lambda q, k, v, score, mask: plain(q, k, v, score, mask)[0], causal)
    torch.testing.assert_close(out.double(), wanted, atol=3e-5, rtol=3e-5)
    ours, theirs = (torch.autograd.grad(result.square().sum(), x)[0] for result in (out, wanted))
    torch.testing.assert_close(ours, theirs.float(), atol=3e-4, rtol=3e-4)


@pytest.mark.parametrize("learns", [False, True])
def test_results_lie_as_queries_do(learns):
    x = torch.randn(2, 6, 96, requires_grad=learns)

    def function(x):
        q, k, v = (part.view(2, 6, 2, 16).transpose(1, 2) for part in x.chunk(3, -1))
        return flex_attention(q, k, v).transpose(1, 2).view(2, 6, 32)

    torch.testing.assert_close(torch.compile(function, fullgraph=True, backend="aot_eager")(x), function(x))


def test_what_dynamo_does_not_trace():
    """Functions that do something besides are called between two graphs."""
    q, k, v = tensors()
    slopes, calls = torch.rand(H, requires_grad=True), []

    def score(s, b, h, i, j):
        calls.append(h)
        return s + slopes[h] * (i - j)

    def function(q, k, v, attend=flex_attention):
        return attend(q * 2, k, v, score) + 1

    with pytest.raises(Exception, match="Mutating a variable"):
        torch.compile(function, fullgraph=True, backend="aot_eager")(q, k, v)
    torch._dynamo.reset()
    out = torch.compile(function, backend="aot_eager")(q, k, v)
    wanted = function(q, k, v, lambda q, k, v, score: plain(q, k, v, score)[0])
    torch.testing.assert_close(out.double(), wanted, atol=3e-5, rtol=0)
    ours, theirs = (torch.autograd.grad(result.square().sum(), (slopes, q)) for result in (out, wanted))
    for gradient, expected in zip(ours, theirs, strict=True):
        torch.testing.assert_close(gradient, expected.float(), atol=3e-3, rtol=3e-4)


def views_inside(base):
    return base[0], base[1]


def views_outside(base, held={}):
    """The same two of each base, made before anything is compiled."""
    return held.setdefault(id(base), (base[0], base[1]))


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("views", [views_inside, views_outside])
@pytest.mark.parametrize("learns", [True, False])
def test_views_of_one_tensor(backend, views, learns):
    """And the tensor itself, which the mask reads."""
    q, k, v = tensors()
    base = torch.rand(2, H, requires_grad=learns)
    views(base)

    def function(q, k, v, attend=flex_attention, mask=lambda mask: create_block_mask(mask, None, None, SQ, SK)):
        first, second = views(base)
        score = lambda s, b, h, i, j: s * first[h] + second[h] * (i - j)  # noqa: E731
        return attend(q * 2, k, v, score, mask(lambda b, h, i, j: (i >= j) | (base[1, h] > 0.5))) + 1

    out = torch.compile(function, fullgraph=True, backend=backend)(q, k, v)
    wanted = function(q, k, v, lambda *inputs: plain(*inputs)[0], lambda mask: mask)
    torch.testing.assert_close(out.double(), wanted, atol=3e-5, rtol=0)
    inputs = (base, q) if learns else (q,)
    ours, theirs = (torch.autograd.grad(result.square().sum(), inputs) for result in (out, wanted))
    for gradient, expected in zip(ours, theirs, strict=True):
        torch.testing.assert_close(gradient, expected.float(), atol=3e-3, rtol=3e-4)


def test_functions_made_inside():
    def function(q, k, v, table, ids):
        def score(s, b, h, q_idx, kv_idx):
            return s + table[h, q_idx - kv_idx]

        def mask(b, h, q_idx, kv_idx):
            return (ids[b, q_idx] == ids[b, kv_idx]) & causal(b, h, q_idx, kv_idx)

        return attention(q, k, v, score, mask)

    inputs, ids = tensors(), torch.randint(0, 3, (B, SK))
    compiled = check(function, inputs, torch.randn(H, 2 * SK), ids)
    # Other contents, same program.
    other = (torch.randn(H, 2 * SK), 1 - ids)
    torch.testing.assert_close(compiled(*inputs, *other), function(*inputs, *other))


def test_other_lengths_compile_nothing():
    counter = CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(attention, backend=counter, fullgraph=True, dynamic=True)
    for sq, sk in ((40, 48), (17, 33), (100, 64)):
        q, k, v = tensors(sq, sk)
        out = compiled(q, k, v, None, causal)
        torch.testing.assert_close(out.double(), plain(q * 2, k, v, mask=causal)[0] + 1, atol=3e-5, rtol=0)
        out.sum().backward()
    assert counter.frame_count == 1


def test_integers_become_data():
    counter = CompileCounterWithBackend("aot_eager")

    @torch.compile(backend=counter, fullgraph=True)
    def function(q, k, v, window):
        return flex_attention(q, k, v, None, create_block_mask(lambda b, h, i, j: i - j < window, None, None, SQ, SK))

    q, k, v = tensors()
    for window in (3, 5, 9, 20):
        wanted, _ = plain(q, k, v, mask=lambda b, h, i, j: i - j < window)
        torch.testing.assert_close(function(q, k, v, window).double(), wanted, atol=3e-5, rtol=0)
    assert counter.frame_count == 2


def learned_attention(q, k, v, score, *learned):
    return attention(q, k, v, score(*learned), causal)


@pytest.mark.parametrize("name", LEARNED)
def test_learned(name):
    shapes, score = LEARNED[name]
    inputs = [*tensors(), *((torch.rand(shape) + 0.5).requires_grad_() for shape in shapes)]
    check(lambda q, k, v, *learned: learned_attention(q, k, v, score, *learned), inputs)


def test_learned_by_inductor():
    inputs = [*tensors(), (torch.rand(H) + 0.5).requires_grad_(), torch.rand(H, SK, requires_grad=True)]
    check(lambda q, k, v, *learned: learned_attention(q, k, v, LEARNED["two"][1], *learned), inputs, backend="inductor")


def test_learned_of_any_layout():
    def function(q, k, v, base, row):
        turned, spread = base.permute(2, 1, 0) * 2, row.expand(H, SQ, SK)
        return attention(q, k, v, lambda s, b, h, i, j: s * spread[h, i, j] + turned[h, i, j], None)

    check(function, [*tensors(), torch.rand(SK, SQ, H, requires_grad=True), torch.rand(H, 1, 1, requires_grad=True)])


def test_learned_tables_of_other_lengths():
    counter = CompileCounterWithBackend("aot_eager")
    table = torch.rand(H, 128, requires_grad=True)

    def function(q, k, v, score):
        return attention(q, k, v, score, causal)

    compiled = torch.compile(function, backend=counter, fullgraph=True, dynamic=True)
    for sq, sk in ((40, 48), (17, 33), (100, 64)):
        inputs = tensors(sq, sk)
        ours, theirs = (
            torch.autograd.grad(f(*inputs, lambda s, b, h, i, j: s * table[h, j]).square().sum(), table)[0] for f in (compiled, function)
        )
        torch.testing.assert_close(ours, theirs)
    assert counter.frame_count == 1


def test_learned_by_numbers_of_calls():
    """Rows that differ from call to call, of a table that is too long for a computed index."""
    counter = CompileCounterWithBackend("aot_eager")
    table = torch.rand(2000, H, requires_grad=True)

    def function(q, k, v, row):
        return attention(q, k, v, lambda s, b, h, i, j: s * table[row][h], causal)

    compiled = torch.compile(function, backend=counter, fullgraph=True)
    for row in (3, 5, 1999, 20):
        inputs = tensors()
        ours, theirs = (torch.autograd.grad(f(*inputs, row).square().sum(), table)[0] for f in (compiled, function))
        torch.testing.assert_close(ours, theirs)
        assert theirs[row].abs().min() > 0
    assert counter.frame_count == 2


class Learned(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.slopes = torch.nn.Parameter(torch.rand(H))
        self.fixed = torch.nn.Parameter(torch.rand(H), requires_grad=False)

    def forward(self, q, k, v):
        return flex_attention(q, k, v, lambda s, b, h, i, j: s * self.fixed[h] - self.slopes[h] * (i - j).abs())


def test_parameters():
    module, (q, k, v) = Learned(), tensors()
    compiled = torch.compile(module, backend="aot_eager", fullgraph=True)
    for run in (compiled, module):
        (run(q, k, v).square().sum() / 1e3).backward()
    ours = torch.autograd.grad(compiled(q, k, v).square().sum(), module.slopes)[0]
    theirs = torch.autograd.grad(module(q, k, v).square().sum(), module.slopes)[0]
    torch.testing.assert_close(ours, theirs)
    assert module.slopes.grad is not None and module.fixed.grad is None
    # Programs that need no gradients have none, be it the same module.
    with torch.no_grad():
        torch.testing.assert_close(compiled(q, k, v), module(q, k, v))


def test_tables_of_many_entries():
    def function(q, k, v, table):
        return flex_attention(q, k, v, lambda s, b, h, i, j: s + table[h, i - j + SK])

    inputs, table = tensors(), torch.randn(H, 2000, requires_grad=True)
    (wanted,) = torch.autograd.grad(function(*inputs, table).sum(), table)
    compiled = torch.compile(function, backend="aot_eager", fullgraph=True)
    (gradient,) = torch.autograd.grad(compiled(*inputs, table).sum(), table)
    torch.testing.assert_close(gradient, wanted)
    # They are added up in no order.
    torch.use_deterministic_algorithms(True)
    try:
        with pytest.raises(Exception, match="captured tensor 'table': expected, for attn.deterministic, a tensor that is always read"):
            torch.autograd.grad(compiled(*inputs, table).sum(), table)
    finally:
        torch.use_deterministic_algorithms(False)
