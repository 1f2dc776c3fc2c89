"""attnc.torch.flex_attention against the formulas in float64, forward and gradients."""

import functools

import pytest
import torch
from flex_mods import COUNTS, DEVICE, INDICES, MASKS, SCORES, SIZES, SK, SQ, B, H, causal, gradients, logits_of, plain, tensors
from torch.nn.attention import flex_attention as torchs

import attnc
import attnc.torch
from attnc.torch import (
    AuxRequest,
    BlockMask,
    and_masks,
    create_block_mask,
    flex_attention,
    noop_mask,
    or_masks,
)


def check(score=None, mask=None, heads=H, dtype=torch.float32, atol=3e-5, **options):
    inputs = tensors(heads, dtype)
    block_mask = None if mask is None else create_block_mask(mask, None, None, SQ, SK, device=DEVICE)
    results = flex_attention(*inputs, score, block_mask, enable_gqa=heads != H, return_lse=True, **options)
    wanted = plain(*inputs, score, mask, options.get("scale"))
    assert results[0].dtype == dtype and results[1].dtype == torch.float32
    for result, expected in zip(results, wanted, strict=True):
        torch.testing.assert_close(result.double(), expected, atol=atol, rtol=atol)
    for result, expected in zip(gradients(results, inputs), gradients(wanted, inputs), strict=True):
        torch.testing.assert_close(result.double(), expected.double(), atol=10 * atol, rtol=10 * atol)


@pytest.mark.parametrize("name", MASKS)
def test_mask(name):
    check(mask=MASKS[name])


@pytest.mark.parametrize("name", SCORES)
def test_score(name):
    check(score=SCORES[name])


@pytest.mark.parametrize("score", ["soft cap", "ALiBi", "bias of four"])
@pytest.mark.parametrize("mask", ["causal", "document"])
def test_score_and_mask(score, mask):
    check(SCORES[score], MASKS[mask])


def test_plain():
    check()


def test_grouped_heads():
    check(SCORES["ALiBi"], causal, heads=1)
    check(SCORES["ALiBi"], causal, heads=2)


def test_scale():
    check(mask=causal, scale=0.5)


@pytest.mark.parametrize(("dtype", "atol"), [(torch.float16, 5e-3), (torch.bfloat16, 3e-2)])
def test_short_types(dtype, atol):
    check(SCORES["soft cap"], causal, dtype=dtype, atol=atol)


def test_joined_masks():
    def both(b, h, q, kv):
        return causal(b, h, q, kv) & (MASKS["document"](b, h, q, kv) | (kv < 3))

    joined = and_masks(causal, or_masks(MASKS["document"], lambda b, h, q, kv: kv < 3))
    q, k, v = tensors()
    out = flex_attention(q, k, v, block_mask=create_block_mask(joined, B, None, SQ, SK))
    torch.testing.assert_close(out.double(), plain(q, k, v, mask=both)[0], atol=3e-5, rtol=0)
    out = flex_attention(q, k, v, block_mask=create_block_mask(noop_mask, B, None, SQ, SK))
    assert torch.equal(out, flex_attention(q, k, v))


def test_names_of_torch():
    assert set(torchs.__all__) <= set(attnc.torch.__all__)


def test_layout_is_that_of_the_query():
    q, k, v = (tensor.detach() for tensor in tensors(value_dim=8))
    assert flex_attention(q, k, v).stride() == (H * SQ * 8, SQ * 8, 8, 1)
    rows = q.transpose(1, 2).contiguous().transpose(1, 2).requires_grad_()
    out = flex_attention(rows, k, v)
    assert out.stride() == (H * SQ * 8, 8, H * 8, 1)
    (gradient,) = torch.autograd.grad(out.sum(), rows)
    assert gradient.stride() == rows.stride()


def test_any_strides():
    q, k, v = (tensor.detach() for tensor in tensors())
    wanted = flex_attention(q, k, v)
    turned = [tensor.transpose(-1, -2).contiguous().transpose(-1, -2) for tensor in (q, k, v)]
    assert torch.equal(flex_attention(*turned), wanted)
    assert torch.equal(flex_attention(q, k[:1].expand(B, -1, -1, -1), v), flex_attention(q, k[:1].repeat(B, 1, 1, 1), v))


def test_one_batch_of_keys():
    q, k, v = tensors()
    k, v = (tensor.detach()[:1].clone().requires_grad_() for tensor in (k, v))
    out = flex_attention(q, k, v)
    repeated = [tensor.detach().repeat(B, 1, 1, 1).requires_grad_() for tensor in (k, v)]
    wanted = flex_attention(q, *repeated)
    assert torch.equal(out, wanted)
    ours, theirs = torch.autograd.grad(out.sum(), (k, v)), torch.autograd.grad(wanted.sum(), repeated)
    for gradient, expected in zip(ours, theirs, strict=True):
        torch.testing.assert_close(gradient, expected.sum(0, keepdim=True))


def test_gradients_of_one_result():
    q, k, v = tensors()
    out, lse = flex_attention(q, k, v, return_lse=True)
    plain_out, plain_lse = plain(q, k, v)
    for result, wanted in ((out, plain_out), (lse, plain_lse)):
        for gradient, expected in zip(
            torch.autograd.grad(result.sum(), (q, k), retain_graph=True), torch.autograd.grad(wanted.sum(), (q, k), retain_graph=True), strict=True
        ):  # fmt: skip
            torch.testing.assert_close(gradient, expected.float(), atol=3e-4, rtol=3e-4)


def test_auxiliary_results():
    q, k, v = tensors()
    out, aux = flex_attention(q, k, v, return_aux=AuxRequest(lse=True))
    assert torch.equal(aux.lse, flex_attention(q, k, v, return_lse=True)[1]) and aux.max_scores is None
    assert torch.equal(out, flex_attention(q, k, v))
    out, aux = flex_attention(q, k, v, return_aux=AuxRequest(max_scores=True))
    assert aux.lse is None and not aux.max_scores.requires_grad and torch.equal(out, flex_attention(q, k, v))


@pytest.mark.parametrize("score", [None, *SCORES])
def test_greatest_scores(score):
    """Of each row, where some rows have no key, and under functions of every kind."""
    score = None if score is None else SCORES[score]
    q, k, v = tensors()

    def mask(b, h, q_idx, kv_idx):
        return (q_idx > 5) & (q_idx >= kv_idx)

    _, aux = flex_attention(q, k, v, score, create_block_mask(mask, None, None, SQ, SK), return_aux=AuxRequest(max_scores=True))
    wanted = logits_of(q, k, score, mask).amax(-1)
    torch.testing.assert_close(aux.max_scores.double(), wanted, atol=3e-6, rtol=3e-6)


@pytest.mark.parametrize("size", [1e-20, 1e-4, 30.0, 1e10, 1e20, 1e30])
def test_greatest_scores_of_any_size(size):
    q, k, v = tensors(heads=1)
    _, aux = flex_attention(q, k, v, scale=size, enable_gqa=True, return_aux=AuxRequest(max_scores=True))
    wanted = logits_of(q, k, scale=size).amax(-1)
    torch.testing.assert_close(aux.max_scores.double(), wanted, atol=1e-8, rtol=3e-6)


@pytest.mark.parametrize("far", [-1e30, 1e30, torch.finfo(torch.float32).min])
def test_greatest_of_scores_that_stand_for_a_mask(far):
    def score(s, b, h, q_idx, kv_idx):
        return torch.where(kv_idx <= q_idx - 2, s, far)

    q, k, v = tensors()
    _, aux = flex_attention(q, k, v, score, return_aux=AuxRequest(max_scores=True))
    torch.testing.assert_close(aux.max_scores.double(), logits_of(q, k, score).amax(-1), atol=1e-8, rtol=3e-6)


class Inner(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("slopes", torch.rand(H))

    def forward(self, h, distance):
        return self.slopes[h] * distance


class Outer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.tables = torch.nn.ParameterList([torch.nn.Parameter(torch.rand(H), requires_grad=False)])

    def score(self, s, b, h, q_idx, kv_idx):
        return s + self.inner(h, q_idx - kv_idx) - self.inner.slopes[h] + self.tables[0][h] * q_idx * 0.1


def test_modules_in_modules():
    outer, (q, k, v) = Outer(), tensors()
    torch.testing.assert_close(
        flex_attention(q, k, v, outer.score).double(), plain(q, k, v, outer.score)[0], atol=3e-5, rtol=0
    )
    torch.testing.assert_close(
        flex_attention(q, k, v, lambda s, b, h, i, j: outer.score(s, b, h, i, j)).double(),
        plain(q, k, v, outer.score)[0], atol=3e-5, rtol=0,
    )  # fmt: skip


class Module(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.randn(H, 8))
        self.size = 8

    def score(self, s, b, h, q_idx, kv_idx):
        return s + self.table[h, torch.clamp(q_idx - kv_idx, 0, self.size - 1)]

    def forward(self, q, k, v):
        return flex_attention(q, k, v, self.score)


def test_module():
    module, (q, k, v) = Module(), tensors()
    torch.testing.assert_close(module(q, k, v).double(), plain(q, k, v, module.score)[0], atol=3e-5, rtol=0)
    module.table.mul_(-2.0)
    torch.testing.assert_close(module(q, k, v).double(), plain(q, k, v, module.score)[0], atol=3e-5, rtol=0)


def test_partial_functions():
    q, k, v = tensors()
    mask = functools.partial(lambda size, b, h, q_idx, kv_idx: (q_idx - kv_idx).abs() < size, 5)
    out = flex_attention(q, k, v, block_mask=create_block_mask(mask, None, None, SQ, SK))
    torch.testing.assert_close(out.double(), plain(q, k, v, mask=mask)[0], atol=3e-5, rtol=0)


def test_another_length_compiles_nothing():
    from attnc import _jit

    table = torch.randn(H)
    before = None
    for sq, sk in ((40, 48), (7, 100), (1, 13)):
        q, k, v = tensors(sq=sq, sk=sk)
        flex_attention(q, k, v, lambda s, b, h, i, j: s * table[h], create_block_mask(causal, None, None, sq, sk)).sum().backward()
        count = len(_jit._kernels)
        assert before in (None, count)
        before = count


def test_refused():
    q, k, v = tensors()
    with pytest.raises(attnc.Error, match="argument 'query': expected 4 dimensions, .B, H, S, D., got 3"):
        flex_attention(q[0], k, v)
    with pytest.raises(attnc.Error, match="argument 'key': expected 4 heads, as 'query' has, or enable_gqa=True, got 2"):
        flex_attention(q, k[:, :2], v[:, :2])
    with pytest.raises(attnc.Error, match="argument 'key': expected a number of heads that divides the 4 of 'query', got 3"):
        flex_attention(q, k[:, :3], v[:, :3], enable_gqa=True)
    with pytest.raises(TypeError, match="block_mask: expected a BlockMask, got a function: create_block_mask takes it"):
        flex_attention(q, k, v, block_mask=causal)
    blocks = BlockMask.from_kv_blocks(COUNTS, INDICES, BLOCK_SIZE=16)
    with pytest.raises(attnc.Error, match="block_mask: expected one of 40 queries and 48 keys, got one of 48 and 48"):
        flex_attention(q, k, v, block_mask=blocks)
    with pytest.raises(attnc.Error, match="block_mask: expected kv_num_blocks of .B, H, blocks of queries. and indices of one"):
        flex_attention(q, k, v, block_mask=BlockMask.from_kv_blocks(COUNTS[0], INDICES[0], **SIZES))
    with pytest.raises(TypeError, match="block_mask: expected a BlockMask, got int"):
        flex_attention(q, k, v, block_mask=3)
    with pytest.raises(attnc.Error, match="kernel_options: there is no 'BLOCK_Z'"):
        flex_attention(q, k, v, kernel_options={"BLOCK_Z": 3})
    with pytest.raises(attnc.Error, match="argument 'value': expected 48 keys, got 47"):
        flex_attention(q, k, v[:, :, 1:])
    with pytest.raises(attnc.Error, match="argument 'key': expected 2 batch entries, got 3"):
        flex_attention(q, torch.cat([k, k[:1]]), v)
    with pytest.raises(attnc.Error, match="argument 'key': expected torch.float32, as 'query' has, got torch.float16"):
        flex_attention(q, k.half(), v)
    with pytest.raises(attnc.Error, match="enable_gqa: expected True or False, got 'yes'"):
        flex_attention(q, k, v, enable_gqa="yes")
    with pytest.raises(attnc.Error, match="return_lse: expected True or False, got 1"):
        flex_attention(q, k, v, return_lse=1)
    with pytest.raises(attnc.Error, match="scale: expected a finite number or None, got 'x'"):
        flex_attention(q, k, v, scale="x")
    with pytest.raises(attnc.Error, match="H: expected a number of 0 or more, got 'x'"):
        create_block_mask(causal, None, "x", SQ, SK)
    with pytest.raises(attnc.Error, match="KV_LEN: expected a number of 0 or more, got -1"):
        create_block_mask(causal, None, None, SQ, -1)
    with pytest.raises(attnc.Error, match="BLOCK_SIZE: expected a number above 0, or two of them, got 0"):
        create_block_mask(causal, None, None, SQ, SK, BLOCK_SIZE=0)
    with pytest.raises(TypeError, match="return_aux: expected an AuxRequest, got bool"):
        flex_attention(q, k, v, return_aux=True)
    with pytest.raises(TypeError, match="kernel_options: expected a dict, got int"):
        flex_attention(q, k, v, kernel_options=3)
    with pytest.raises(attnc.Error, match="return_lse and return_aux are both given"):
        flex_attention(q, k, v, return_lse=True, return_aux=AuxRequest(max_scores=True))
    with pytest.raises(attnc.Error, match="a slice of a block mask has no mask function: give it one, mask.mask_mod ="):
        flex_attention(q, k, v, block_mask=create_block_mask(causal, None, None, SQ, SK)[:, :, 0])
    nested = torch.nested.nested_tensor([x[0] for x in (q, k)], layout=torch.jagged)
    with pytest.raises(attnc.Error, match="argument 'key': expected a dense tensor, got a nested one: varlen_attn takes packed sequences"):
        flex_attention(q, nested, v)
    with pytest.raises(attnc.TraceError, match=r"write attnc.where\(condition, a, b\) for 'if'"):
        flex_attention(q, k, v, lambda s, b, h, i, j: s if i > j else -s)
    with pytest.raises(attnc.Error, match="argument 'q' requires grad, and a kernel by itself gives no gradients"):
        attnc.jit()(*(tensor.transpose(1, 2) for tensor in (q, k, v)))


def test_kernel_options_mean_nothing(caplog):
    q, k, v = tensors()
    out = flex_attention(q, k, v, kernel_options={"BLOCK_M": 64, "fwd_num_warps": 4, "PRESCALE_QK": True})
    assert torch.equal(out, flex_attention(q, k, v, kernel_options={"BLOCK_N": 32}))
    assert sum("kernel_options" in record.message for record in caplog.records) == 1


SPEC = """
func.func @plain(%q: tensor<?x?x4x16xbf16> {attn.name = "q"}, %k: tensor<?x?x4x16xbf16> {attn.name = "k"},
                 %v: tensor<?x?x4x16xbf16> {attn.name = "v"}) -> (tensor<?x?x4x16xbf16> {attn.name = "out"}) {
  %o = attn.forward %q, %k, %v
    : (tensor<?x?x4x16xbf16>, tensor<?x?x4x16xbf16>, tensor<?x?x4x16xbf16>) -> tensor<?x?x4x16xbf16>
  return %o : tensor<?x?x4x16xbf16>
}
"""


def test_kernels_take_tensors():
    kernel = attnc.compile(SPEC)
    q, k, v = (tensor.detach() for tensor in tensors(dtype=torch.bfloat16))
    rows = [tensor.transpose(1, 2) for tensor in (q, k, v)]
    out = kernel(*rows)
    assert type(out) is torch.Tensor and out.dtype == torch.bfloat16 and out.device == q.device
    torch.testing.assert_close(out.transpose(1, 2).double(), plain(q, k, v)[0], atol=3e-2, rtol=0)
    given = torch.empty_like(out)
    assert kernel(*rows, out=given) is given and torch.equal(given, out)
    with pytest.raises(attnc.Error, match="argument 'q': expected element type bf16, got f32"):
        kernel(rows[0].float(), *rows[1:])


def test_jit_takes_tensors():
    q, k, v = (tensor.detach() for tensor in tensors())
    out = attnc.jit(SCORES["ALiBi"], causal)(*(tensor.transpose(1, 2) for tensor in (q, k, v)))
    torch.testing.assert_close(out.transpose(1, 2).double(), plain(q, k, v, SCORES["ALiBi"], causal)[0], atol=3e-5, rtol=0)


@pytest.mark.skipif(DEVICE == "cpu", reason="there is no stream on a CPU")
def test_calls_go_to_the_current_stream():
    q, k, v = (tensor.detach() for tensor in tensors(sq=2048, sk=2048))
    wanted = flex_attention(q * 2, k, v)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(100_000_000)
        out = flex_attention(q * 2, k, v)
    stream.synchronize()
    assert torch.equal(out, wanted)


@pytest.mark.skipif(DEVICE == "cpu", reason="there are no graphs on a CPU")
def test_calls_are_captured_in_graphs():
    q, k, v = (tensor.detach() for tensor in tensors())
    wanted = flex_attention(q, k, v)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = flex_attention(q, k, v)
    out.zero_()
    graph.replay()
    assert torch.equal(out, wanted)


def test_operators():
    q, k, v = (tensor.detach() for tensor in tensors())
    from attnc.torch._ops import facts_of_tensors, wants_gradient
    from attnc._trace.spec import trace

    spec = trace(facts_of_tensors(q, k, v, None), None, causal, (B, SQ, SK)).text
    torch.library.opcheck(torch.ops.attnc.forward, (q, k, v, [], [], spec))
    out, lse = torch.ops.attnc.forward(q, k, v, [], [], spec)
    torch.library.opcheck(torch.ops.attnc.backward, (q, k, v, [], [], spec, out, lse, out, lse, []))

    from attnc.torch._calls import prepare

    # With a gradient of sinks, and packed.
    sinks, offsets = torch.randn(H, 1), torch.tensor([0, 10, SQ], dtype=torch.int32)
    q, k, v = (tensor[0].transpose(0, 1)[:SQ].contiguous() for tensor in (q, k, v))
    call = prepare(q, k, v, {"softmax_aux": sinks, "q_offsets": offsets, "kv_offsets": offsets})
    given = (q, k, v, list(call.captured), [], call.text)
    torch.library.opcheck(torch.ops.attnc.forward, given)
    out, lse = torch.ops.attnc.forward(*given)
    torch.library.opcheck(torch.ops.attnc.backward, (*given, out, lse, out, lse, [call.names.index("sinks")]))

    # And of captured tensors, one of them without dimensions.
    q, k, v = (tensor.detach() for tensor in tensors())
    slopes, factor = torch.rand(H, requires_grad=True), torch.tensor(0.5, requires_grad=True)
    traced = trace(
        facts_of_tensors(q, k, v, None), lambda s, b, h, i, j: s * factor + slopes[h] * i, None, (B, SQ, SK), wants_gradient()
    )
    given = (q, k, v, [tensor.detach() for tensor in traced.arrays], [])
    out, lse = torch.ops.attnc.forward(*given, traced.text)
    torch.library.opcheck(torch.ops.attnc.backward, (*given, traced.backward_text, out, lse, out, lse, [0, 1]))
