"""attnc.torch for FlashAttention's and ejkernel's users, against the formulas in float64."""

import re
import types

import pytest
import torch
import torch_reference

import attnc
from attnc.torch import (
    flash_attention,
    flash_attn_func,
    flash_attn_kvpacked_func,
    flash_attn_qkvpacked_func,
    flash_attn_varlen_func,
    flash_attn_varlen_kvpacked_func,
    flash_attn_varlen_qkvpacked_func,
    varlen_attn,
)
from attnc.torch._calls import prepare

B, SQ, SK, H, HK, D = 2, 21, 29, 4, 2, 16
torch.manual_seed(0)
q, k, v = torch.randn(B, SQ, H, D), torch.randn(B, SK, HK, D), torch.randn(B, SK, HK, 24)
bias = torch.randn(B, H, SQ, SK)
mask = torch.rand(B, 1, SQ, SK) < 0.6
sinks = torch.randn(H, 2)
slopes = torch.rand(H)
q_ids, kv_ids = (torch.randint(-1, 2, (B, rows)).sort(dim=1).values for rows in (SQ, SK))
same = ((q_ids[:, :, None] == kv_ids[:, None]) & (q_ids[:, :, None] >= 0))[:, None]


def check(call, reference, *inputs):
    """Holds the results of a call and its gradients against those of a reference, which returns the LSE as well."""
    inputs = [tensor.clone().requires_grad_() for tensor in inputs]
    (out, lse), (wanted, wanted_lse) = call(*inputs), reference(*inputs)
    torch.testing.assert_close(out.double(), wanted, atol=3e-5, rtol=0)
    torch.testing.assert_close(lse.double(), wanted_lse.reshape(lse.shape), atol=1e-4, rtol=0)
    weights = torch.cos(wanted.detach() * 9)
    finite = wanted_lse.isfinite()
    ours = torch.autograd.grad((out * weights).sum() + lse[finite.reshape(lse.shape)].sum(), inputs)
    theirs = torch.autograd.grad((wanted * weights).sum() + wanted_lse[finite].sum(), inputs)
    for gradient, expected in zip(ours, theirs, strict=True):
        torch.testing.assert_close(gradient.double(), expected.double(), atol=3e-4, rtol=0)


#: Keywords of flash_attention, and what they mean.
CASES = {
    "plain": ({}, {}),
    "causal": (dict(causal=True), dict(causal=True)),
    "scale": (dict(softmax_scale=0.5), dict(scale=0.5)),
    "window": (dict(sliding_window=5), dict(window=(5, 5))),
    "cap": (dict(logits_soft_cap=2.0, causal=True), dict(softcap=2.0, causal=True)),
    "bias under a cap": (dict(bias=bias, logits_soft_cap=2.0), dict(bias=bias, softcap=2.0)),
    "broadcast bias": (dict(bias=bias[:1, :, :1]), dict(bias=bias[:1, :, :1])),
    "mask": (dict(attention_mask=mask), dict(keep=mask)),
    "mask of integers": (dict(attention_mask=mask[:, 0].int()), dict(keep=mask)),
    "segments": (dict(q_segment_ids=q_ids, kv_segment_ids=kv_ids), dict(keep=same)),
    "mask info": (dict(mask_info=types.SimpleNamespace(attention_mask=mask)), dict(keep=mask)),
    "sinks of all heads": (dict(softmax_aux=sinks[0]), dict(sinks=sinks[:1].expand(H, 2))),
}


@pytest.mark.parametrize("name", CASES)
def test_flash_attention(name):
    options, meaning = CASES[name]
    check(
        lambda q, k, v: flash_attention(q, k, v, **options, return_lse=True),
        lambda q, k, v: torch_reference.attention(q, k, v, **meaning), q, k, v,
    )  # fmt: skip


def test_gradient_of_sinks():
    check(
        lambda q, s: flash_attention(q, k, v, softmax_aux=s, causal=True, return_lse=True),
        lambda q, s: torch_reference.attention(q, k, v, sinks=s, causal=True), q, sinks,
    )  # fmt: skip


#: Which dimensions of a bias [B, H, Sq, Sk] have one element for all.
SHARED = {"nothing": (), "batch": (0,), "heads": (1,), "queries": (0, 2), "keys": (1, 3), "all but the heads": (0, 2, 3)}


@pytest.mark.parametrize("name", SHARED)
def test_gradient_of_a_bias(name):
    learned = bias[tuple(slice(0, 1) if dim in SHARED[name] else slice(None) for dim in range(4))]
    check(
        lambda q, b: flash_attention(q, k, v, b, logits_soft_cap=3.0, causal=True, return_lse=True),
        lambda q, b: torch_reference.attention(q, k, v, bias=b, softcap=3.0, causal=True), q, learned,
    )  # fmt: skip


def test_gradient_of_a_bias_with_sinks():
    check(
        lambda q, b, s: flash_attention(q, k, v, b, softmax_aux=s, return_lse=True),
        lambda q, b, s: torch_reference.attention(q, k, v, bias=b, sinks=s), q, bias[:1], sinks,
    )  # fmt: skip
    # Of three dimensions, spread by strides of 0, in a type of its own.
    wide = bias[:1, :1].to(torch.bfloat16).requires_grad_()
    out = flash_attention(q, k, v, wide[0].expand(B, SQ, SK))
    wanted, _ = torch_reference.attention(q, k, v, bias=wide)
    ours, theirs = (torch.autograd.grad(result.square().sum(), wide)[0] for result in (out, wanted))
    assert ours.dtype == torch.bfloat16
    torch.testing.assert_close(ours, theirs, atol=3e-3, rtol=2e-2)


def test_gradient_of_slopes():
    for learned in (slopes, torch.stack([slopes, -slopes]), slopes[None]):
        check(
            lambda q, s: flash_attn_func(q, k, v, alibi_slopes=s, softcap=3.0, causal=True, return_attn_probs=True)[:2],
            lambda q, s: torch_reference.attention(q, k, v, slopes=s, softcap=3.0, causal=True), q, learned,
        )  # fmt: skip


FLASH = {
    "plain": ({}, {}),
    "causal": (dict(causal=True), dict(causal=True)),
    "left side": (dict(window_size=(4, -1)), dict(window=(4, None))),
    "both sides": (dict(window_size=(4, 2), softmax_scale=0.3), dict(window=(4, 2), scale=0.3)),
    "ALiBi after a cap": (
        dict(alibi_slopes=slopes, softcap=3.0, causal=True),
        dict(slopes=slopes, softcap=3.0, causal=True),
    ),
    "ALiBi of each entry": (dict(alibi_slopes=torch.stack([slopes, -slopes])), dict(slopes=torch.stack([slopes, -slopes]))),
}


@pytest.mark.parametrize("name", FLASH)
def test_flash_attn_func(name):
    options, meaning = FLASH[name]
    check(
        lambda q, k, v: flash_attn_func(q, k, v, **options, deterministic=True, return_attn_probs=True)[:2],
        lambda q, k, v: torch_reference.attention(q, k, v, **meaning), q, k, v,
    )  # fmt: skip


def test_the_same_gradients_in_every_run():
    """Both ways of asking, whose kernels differ on GPUs alone."""
    one, other = (prepare(q, k, v, {}, window=None, dropout=0.0, causal=True, softcap=None, scale=None, deterministic=same) for same in (True, False))
    assert one.text == other.text
    assert " attributes {attn.deterministic} {" in one.backward_text
    assert one.backward_text.replace(" attributes {attn.deterministic}", "") == other.backward_text

    def gradients(**options):
        tensors = [tensor.clone().requires_grad_() for tensor in (q, k, v)]
        flash_attn_func(*tensors, causal=True, **options).float().square().sum().backward()
        return [tensor.grad for tensor in tensors]

    wanted = gradients(deterministic=True)
    torch.use_deterministic_algorithms(True)
    try:
        found = gradients()
    finally:
        torch.use_deterministic_algorithms(False)
    assert all(torch.equal(left, right) for left, right in zip(wanted, found, strict=True))


def test_packed_into_one():
    wanted = flash_attn_func(k, k, v[..., :D], causal=True)
    torch.testing.assert_close(flash_attn_qkvpacked_func(torch.stack([k, k, v[..., :D]], 2), causal=True), wanted)
    torch.testing.assert_close(flash_attn_kvpacked_func(k, torch.stack([k, v[..., :D]], 2), causal=True), wanted)


@pytest.mark.parametrize("compiles", [False, True])
def test_packed_by_lengths_into_one(compiles):
    torch._dynamo.reset()
    torch.manual_seed(0)
    rows, lengths = torch.randn(3, 31, 4, D, requires_grad=True), torch.tensor([0, 12, 31], dtype=torch.int32)
    options = dict(causal=True, window_size=(9, 0), softcap=5.0, alibi_slopes=torch.rand(4), return_attn_probs=True)

    def check(function, *inputs):
        function = torch.compile(function, backend="aot_eager", fullgraph=True) if compiles else function
        out, lse, _ = function(*inputs, **options)
        torch.testing.assert_close((out, lse), wanted[:2])
        torch.testing.assert_close(torch.autograd.grad(out.square().sum(), rows), gradients)

    wanted = flash_attn_varlen_func(*rows, lengths, lengths, 19, 19, **options)
    gradients = torch.autograd.grad(wanted[0].square().sum(), rows, retain_graph=True)
    check(flash_attn_varlen_qkvpacked_func, rows.transpose(0, 1), lengths, 19)
    check(flash_attn_varlen_kvpacked_func, rows[0], rows[1:].transpose(0, 1), lengths, lengths, 19, 19)


def test_outputs_are_normalized():
    """Whatever is asked for, as ejkernel has it."""
    assert torch.equal(flash_attention(q, k, v, normalize_output=False), flash_attention(q, k, v))


QUERIES, KEYS = [0, 5, 5, 20], [0, 9, 12, 27]
cu_q, cu_k = torch.tensor(QUERIES, dtype=torch.int32), torch.tensor(KEYS, dtype=torch.int32)
packed = torch.randn(20, H, D), torch.randn(27, HK, D), torch.randn(27, HK, 24)


def one_by_one(q, k, v, used=None, **meaning):
    """Attention of each sequence."""
    outs, lses = [], []
    for place, (a, b) in enumerate(zip(QUERIES, QUERIES[1:])):
        first, last = KEYS[place], KEYS[place + 1] if used is None else KEYS[place] + used[place]
        given = {name: value[place : place + 1] if name == "slopes" and value.dim() == 2 else value for name, value in meaning.items()}
        out, lse = torch_reference.attention(q[None, a:b], k[None, first:last], v[None, first:last], **given)
        outs.append(out[0])
        lses.append(lse[0])
    return torch.cat(outs), torch.cat(lses, dim=1)


@pytest.mark.parametrize("name", ["causal", "both sides", "ALiBi after a cap"])
def test_varlen_func(name):
    options, meaning = FLASH[name]
    check(
        lambda q, k, v: flash_attn_varlen_func(q, k, v, cu_q, cu_k, 15, 15, **options, return_attn_probs=True)[:2],
        lambda q, k, v: one_by_one(q, k, v, **meaning), *packed,
    )  # fmt: skip


@pytest.mark.parametrize("slopes", [slopes, torch.rand(3, H)])
def test_gradient_of_slopes_of_packed_sequences(slopes):
    options = dict(causal=True, return_attn_probs=True)
    check(
        lambda q, s: flash_attn_varlen_func(q, *packed[1:], cu_q, cu_k, alibi_slopes=s, **options)[:2],
        lambda q, s: one_by_one(q, *packed[1:], slopes=s, causal=True), packed[0], slopes,
    )  # fmt: skip


def test_packed_sequences():
    def call(q, k, v):
        return flash_attention(q, k, v, None, cu_q, cu_k, causal=True, sliding_window=(6, 0), return_lse=True)

    check(call, lambda q, k, v: one_by_one(q, k, v, causal=True, window=(6, 0)), *packed)
    out, lse = call(*(tensor[None] for tensor in packed))
    wanted, wanted_lse = call(*packed)
    assert (out[0] == wanted).all() and (lse[0] == wanted_lse).all()


AUX = types.SimpleNamespace(lse=True)


def test_varlen_attn():
    check(
        lambda q, k, v: varlen_attn(q, k, v, cu_q, cu_k, 15, 15, window_size=(-1, 0), enable_gqa=True, return_aux=AUX),
        lambda q, k, v: one_by_one(q, k, v, causal=True), *packed,
    )  # fmt: skip
    used = torch.tensor([7, 3, 11], dtype=torch.int32)
    for window in ((-1, 0), (-1, -1), (3, 0)):
        sides = tuple(None if side < 0 else side for side in window)
        check(
            lambda q, k, v: varlen_attn(
                q, k, v, cu_q, cu_k, window_size=window, enable_gqa=True, seqused_k=used, return_aux=AUX, num_splits=1
            ),
            lambda q, k, v: one_by_one(q, k, v, used.tolist(), window=sides), *packed,
        )  # fmt: skip
    assert varlen_attn(*packed, cu_q, cu_k, enable_gqa=True).shape == (20, H, 24)
    assert varlen_attn(*packed, cu_q, cu_k, torch.tensor(15), enable_gqa=True).shape == (20, H, 24)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_short_types(dtype):
    out = flash_attn_func(*(tensor.to(dtype) for tensor in (q, k, v)), causal=True)
    assert out.dtype == dtype
    torch.testing.assert_close(out.double(), torch_reference.attention(q, k, v, causal=True)[0], atol=3e-2, rtol=0)


def test_dropout():
    def attend(seed):
        torch.manual_seed(seed)
        return flash_attn_func(q, k, v, dropout_p=0.5)

    assert (attend(1) == attend(1)).all() and (attend(1) != attend(2)).any()
    assert (flash_attention(q, k, v, dropout_prob=0.5, dropout_seed=3) == flash_attention(q, k, v, dropout_prob=0.5, dropout_seed=3)).all()
    mean = sum(attend(seed) for seed in range(64)) / 64
    whole = flash_attn_func(q, k, v)
    assert (mean - whole).abs().mean() < 0.1 < (attend(1) - whole).abs().mean()
    # What is dropped is the same for gradients: a loss that is linear in the values has them as slopes.
    values = v.clone().requires_grad_()
    out = flash_attention(q, k, values, dropout_prob=0.5, dropout_seed=3)
    (slope,) = torch.autograd.grad(out.sum(), values)
    torch.testing.assert_close((slope * v).sum(), out.sum().detach(), rtol=1e-4, atol=1e-3)


def test_another_length_has_the_same_spec():
    from attnc.torch._calls import prepare

    texts = {
        prepare(torch.zeros(b, i, H, D), *[torch.zeros(b, j, HK, D)] * 2, {"bias": torch.zeros(1, H, i, j)}, causal=True).text
        for b, i, j in ((2, 5, 7), (3, 64, 64), (4, 2, 100))
    }
    assert len(texts) == 1


def test_compiled():
    def attend(q, k, v):
        out = flash_attn_func(q * 2, k, v, causal=True, window_size=(8, 0), alibi_slopes=slopes)
        return out + flash_attention(q, k, v, bias, logits_soft_cap=3.0)

    def learned(q, k, v, slopes, bias):
        out = flash_attn_func(q, k, v, causal=True, alibi_slopes=slopes)
        return out + flash_attention(q, k, v, bias * 2, logits_soft_cap=3.0)

    for function, inputs in ((attend, (q, k, v)), (learned, (q, k, v, slopes, bias))):
        check_compiled(function, inputs)


def test_compiled_for_any_length():
    """Sizes that are symbols from the start: lengths and the batch stay so."""
    from torch._dynamo.testing import CompileCounterWithBackend

    def attend(q, k, v):
        out = flash_attn_func(q, k, v, causal=True, window_size=(8, 0), alibi_slopes=slopes)
        return out + flash_attention(q, k, v, softmax_aux=sinks)

    def packed(q, k, v):
        ends = torch.tensor([0, 3, q.shape[0]], dtype=torch.int32, device=q.device)
        return varlen_attn(q, k, v, ends, ends, q.shape[0], q.shape[0], window_size=(-1, 0))

    for function, shape in ((attend, lambda n: (2, n)), (packed, lambda n: (n,))):
        torch._dynamo.reset()
        counter = CompileCounterWithBackend("aot_eager")
        compiled = torch.compile(function, backend=counter, fullgraph=True, dynamic=True)
        for length in (21, 34, 55):
            torch.manual_seed(length)
            inputs = [torch.randn(*shape(length), H, D, requires_grad=True) for _ in range(3)]
            out, wanted = compiled(*inputs), function(*inputs)
            torch.testing.assert_close(out, wanted)
            ours, theirs = (torch.autograd.grad(result.square().sum(), inputs) for result in (out, wanted))
            for gradient, expected in zip(ours, theirs, strict=True):
                torch.testing.assert_close(gradient, expected)
            # Numbers that are no tensors make Dynamo begin again, before anything runs.
            first = counter.frame_count if length == 21 else first
        assert counter.frame_count == first


def check_compiled(function, inputs):
    compiled = torch.compile(function, backend="aot_eager", fullgraph=True)
    inputs = [tensor.clone().requires_grad_() for tensor in inputs]
    out, wanted = compiled(*inputs), function(*inputs)
    torch.testing.assert_close(out, wanted)
    ours, theirs = (torch.autograd.grad(result.square().sum(), inputs) for result in (out, wanted))
    for gradient, expected in zip(ours, theirs, strict=True):
        torch.testing.assert_close(gradient, expected)


def test_compiled_programs_draw_seeds_anew():
    def attend(q):
        return flash_attn_func(q, k, v, dropout_p=0.5)

    compiled = torch.compile(attend, backend="aot_eager", fullgraph=True)

    def drawn(call):
        torch.manual_seed(5)
        return call(q)

    assert (drawn(compiled) == drawn(attend)).all() and (compiled(q) != compiled(q)).any()


CONFIG = types.SimpleNamespace(platform="auto", backend="any")
REFUSED = {
    "no slopes": (lambda: flash_attn_func(q, k, v, alibi_slopes=[1.0]), "argument 'alibi_slopes': expected a tensor, got list"),
    "no bias": (lambda: flash_attention(q, k, v, [1.0]), "argument 'bias': expected a tensor, got list"),
    "no packed tensor": (lambda: flash_attn_kvpacked_func(q, 3), "argument 'kv': expected a tensor, got int"),
    "rank": (lambda: flash_attn_func(q[0], k, v), "argument 'q': expected 4 dimensions, [B, S, H, D], got 3"),
    "rank there": (lambda: flash_attention(q[0], k, v), "argument 'query': expected 4 dimensions, [B, S, H, D], got 3"),
    "packed rank": (lambda: flash_attn_varlen_func(q, k, v, cu_q, cu_k), "argument 'q': expected 3 dimensions, [T, H, D], got 4"),
    "type": (lambda: flash_attn_func(q.cpu().numpy(), k, v), "argument 'q': expected a tensor, got ndarray"),
    "no query": (lambda: flash_attention(None, k, v), "argument 'query': expected a tensor, got NoneType"),
    "dtype": (lambda: flash_attn_func(q, k.half(), v), "argument 'k': expected torch.float32, as 'q' has, got torch.float16"),
    "float64": (lambda: flash_attn_func(q.double(), k.double(), v.double()), "argument 'q': expected float32, float16 or bfloat16"),
    "heads": (lambda: flash_attn_func(q, k[:, :, :1].repeat(1, 1, 3, 1), v), "divides the 4 of 'q', got 3 [S10]"),
    "heads of values": (lambda: flash_attn_func(q, k, v[:, :, :1]), "argument 'v': expected 2 heads, got 1"),
    "keys": (lambda: flash_attn_func(q, k, v[:, 1:]), "argument 'v': expected 29 keys, got 28"),
    "batch": (lambda: flash_attn_func(q, k[:1], v[:1]), "argument 'k': expected 2 batch entries, got 1"),
    "head dim": (lambda: flash_attn_func(q, v, v), "argument 'k': expected 16 for the head dim, got 24"),
    "great head dim": (
        lambda: flash_attn_func(*[torch.zeros(1, 2, 2, 264)] * 3),
        "argument 'q': expected a number from 1 to 256 for the head dim, got 264 [S14]",
    ),
    "no head dim": (lambda: flash_attn_func(q, k, v[..., :0]), "argument 'v': expected a number from 1 to 256 for the head dim, got 0"),
    "slopes of no entries": (
        lambda: flash_attn_func(q[:1], k[:1], v[:1], alibi_slopes=torch.ones(3, H)),
        "argument 'alibi_slopes': expected 1 for the batch entries, got 3",
    ),
    "dropout": (lambda: flash_attn_func(q, k, v, dropout_p=1.5), "dropout_p: expected a number from 0 to 1, got 1.5 [S9]"),
    "dropout by a flag": (lambda: flash_attn_func(q, k, v, dropout_p=True), "dropout_p: expected a number from 0 to 1, got True [S9]"),
    "window": (lambda: flash_attn_func(q, k, v, window_size=(-2, 0)), "window_size: expected two numbers of 0 or more, or -1 for all, got -2"),
    "one side": (lambda: flash_attn_func(q, k, v, window_size=3), "window_size: expected two numbers of 0 or more, or -1 for all, got 3"),
    "cap": (lambda: flash_attn_func(q, k, v, softcap=-1.0), "softcap: expected a number of 0 or more, where 0 is none, got -1.0 [S4]"),
    "no cap": (lambda: flash_attn_func(q, k, v, softcap="x"), "softcap: expected a number of 0 or more, where 0 is none, got 'x' [S4]"),
    "causal": (lambda: flash_attn_func(q, k, v, causal="yes"), "causal: expected True or False, got 'yes'"),
    "deterministic": (lambda: flash_attn_func(q, k, v, deterministic=2), "deterministic: expected True or False, got 2"),
    "return_attn_probs": (lambda: flash_attn_func(q, k, v, return_attn_probs=[]), "return_attn_probs: expected True or False, got []"),
    "slopes": (lambda: flash_attn_func(q, k, v, alibi_slopes=slopes.half()), "alibi_slopes': expected float32 of [H] or [B, H]"),
    "number of slopes": (lambda: flash_attn_func(q, k, v, alibi_slopes=slopes[:3]), "argument 'alibi_slopes': expected 1 or 4 for the heads, got 3"),
    "place of slopes": (lambda: flash_attn_func(q, k, v, alibi_slopes=slopes.to("meta")), "argument 'alibi_slopes': expected a tensor on"),
    "scale": (lambda: flash_attn_func(q, k, v, softmax_scale="x"), "softmax_scale: expected a finite number or None, got 'x' [S18]"),
    "no scale": (lambda: flash_attn_func(q, k, v, softmax_scale=float("nan")), "softmax_scale: expected a finite number or None, got nan"),
    "offsets": (lambda: flash_attn_varlen_func(*packed, cu_q.long(), cu_k, 1, 1), "argument 'cu_seqlens_q': expected int32 of shape [batch + 1]"),
    "number of offsets": (lambda: flash_attn_varlen_func(*packed, cu_q, cu_k[1:], 1, 1), "argument 'cu_seqlens_k': expected 4 elements"),
    "pages": (lambda: flash_attn_varlen_func(*packed, cu_q, cu_k, 1, 1, block_table=cu_q), "argument 'k': expected 4 dimensions, [P, rows, H, D], got 3"),
    "greatest length": (lambda: flash_attn_varlen_func(*packed, cu_q, cu_k, "x"), "max_seqlen_q: expected a number of 0 or more, got 'x'"),
    "greatest length of keys": (lambda: varlen_attn(*packed, cu_q, cu_k, 15, -1, enable_gqa=True), "max_k: expected a number of 0 or more, got -1"),
    "splits": (lambda: varlen_attn(*packed, cu_q, cu_k, enable_gqa=True, num_splits=1.5), "num_splits: expected a number of 0 or more, got 1.5"),
    "grouped heads": (lambda: varlen_attn(*packed, cu_q, cu_k), "argument 'key': expected 4 heads, as 'query' has, or enable_gqa=True, got 2"),
    "flag of groups": (lambda: varlen_attn(*packed, cu_q, cu_k, enable_gqa="yes"), "enable_gqa: expected True or False, got 'yes'"),
    "no offsets": (lambda: varlen_attn(*packed, cu_q, None, enable_gqa=True), "argument 'cu_seq_k': expected a tensor, got NoneType"),
    "used keys": (lambda: varlen_attn(*packed, cu_q, cu_k, enable_gqa=True, seqused_k=cu_q), "argument 'seqused_k': expected int32 of shape [3]"),
    "no used keys": (lambda: varlen_attn(*packed, cu_q, cu_k, enable_gqa=True, seqused_k=3), "argument 'seqused_k': expected a tensor, got int"),
    "negative scale": (lambda: varlen_attn(*packed, cu_q, cu_k, enable_gqa=True, scale=-1.0), "scale: expected a number above 0 or None, got -1.0"),
    "other results": (lambda: varlen_attn(*packed, cu_q, cu_k, enable_gqa=True, return_aux=True), "return_aux: expected an AuxRequest, got bool"),
    "bias": (lambda: flash_attention(q, k, v, bias[0, 0]), "argument 'bias': expected [B, H, Sq, Sk], got 2 dimensions"),
    "bias of integers": (lambda: flash_attention(q, k, v, bias.int()), "argument 'bias': expected float32, float16 or bfloat16, got torch.int32"),
    "size of a bias": (lambda: flash_attention(q, k, v, bias[..., 1:]), "argument 'bias': expected 1 or 29 for the keys, got 28"),
    "size of a mask": (lambda: flash_attention(q, k, v, attention_mask=mask[..., 1:]), "argument 'attention_mask': expected 1 or 29 for the keys"),
    "mask of floats": (lambda: flash_attention(q, k, v, attention_mask=bias), "argument 'attention_mask': expected bool or integers, got torch.float32"),
    "seed": (lambda: flash_attention(q, k, v, dropout_prob=0.5), "dropout_seed: expected an integer of 64 bits, got None [S9]"),
    "great seed": (lambda: flash_attention(q, k, v, dropout_prob=0.5, dropout_seed=2**63), "dropout_seed: expected an integer of 64 bits, got 922"),
    "sliding window": (lambda: flash_attention(q, k, v, sliding_window=-1), "sliding_window: expected a number of 0 or more"),
    "no window": (lambda: flash_attention(q, k, v, sliding_window="x"), "sliding_window: expected a number of 0 or more, or two of them, got 'x' [S5]"),
    "soft cap": (lambda: flash_attention(q, k, v, logits_soft_cap=0.0), "logits_soft_cap: expected a number above 0, got 0.0"),
    "no soft cap": (lambda: flash_attention(q, k, v, logits_soft_cap="x"), "logits_soft_cap: expected a number above 0, got 'x' [S4]"),
    "causal there": (lambda: flash_attention(q, k, v, causal=1), "causal: expected True or False, got 1"),
    "return_lse": (lambda: flash_attention(q, k, v, return_lse=None), "return_lse: expected True or False, got None"),
    "platform": (lambda: flash_attention(q, k, v, platform="x"), "platform: expected one of auto, triton, pallas, cuda, xla, cpu, nvptx, nvrtc, got 'x'"),
    "config": (lambda: flash_attention(q, k, v, cfg=3), "cfg: expected a configuration of ejkernel or None, got 3"),
    "logits": (lambda: flash_attention(q, k, v, logits_dtype="x"), "logits_dtype: expected a type of floats, torch.float32 say, got 'x'"),
    "mesh": (lambda: flash_attention(q, k, v, mesh=object()), "mesh: expected none, since tensors of torch say themselves how they are split: call it with DTensors"),
    "specs": (lambda: flash_attention(q, k, v, in_specs=(None,)), "in_specs: expected none, since tensors of torch say themselves"),
    "no such argument": (lambda: flash_attention(q, k, v, casual=True), "flash_attention() got an unexpected keyword argument 'casual'"),
    "one half of segments": (lambda: flash_attention(q, k, v, q_segment_ids=q_ids), "q_segment_ids and kv_segment_ids: expected both or neither"),
    "segments of floats": (
        lambda: flash_attention(q, k, v, q_segment_ids=q_ids.float(), kv_segment_ids=kv_ids),
        "argument 'q_segment_ids': expected integers, got torch.float32",
    ),
    "two masks": (lambda: flash_attention(q, k, v, mask_info=AUX, attention_mask=mask), "mask_info and attention_mask are both given"),
    "a mask and ids": (lambda: flash_attention(q, k, v, mask_info=AUX, kv_segment_ids=mask), "mask_info and kv_segment_ids are both given"),
    "no mask": (lambda: flash_attention(q, k, v, mask_info=AUX), "mask_info: expected what has attention_mask"),
    "one half of offsets": (lambda: flash_attention(q, k, v, None, cu_q), "cum_seqlens_q and cum_seqlens_k: expected both or neither"),
    "two entries": (lambda: flash_attention(q, k, v, None, cu_q, cu_k), "expected one batch entry with cum_seqlens_q, got 2 [S11]"),
    "bias and offsets": (lambda: flash_attention(q[:1], k[:1], v[:1], bias, cu_q, cu_k), "cum_seqlens_q and bias are both given"),
    "sinks": (lambda: flash_attention(q, k, v, softmax_aux=sinks[1:]), "argument 'softmax_aux': expected [n] or [4, n], got [3, 2] [S6]"),
    "sinks of integers": (lambda: flash_attention(q, k, v, softmax_aux=sinks.int()), "argument 'softmax_aux': expected float32, float16 or bfloat16"),
    "normalize": (lambda: flash_attention(q, k, v, normalize_output=0), "normalize_output: expected True or False, got 0"),
    "packed keys": (lambda: flash_attn_kvpacked_func(q, k), "argument 'kv': expected [B, S, 2, H, D], got [2, 29, 2, 16]"),
    "all packed": (lambda: flash_attn_qkvpacked_func(k), "argument 'qkv': expected [B, S, 3, H, D], got [2, 29, 2, 16]"),
    "packed keys of lengths": (
        lambda: flash_attn_varlen_kvpacked_func(q[0], q, cu_q, cu_k), "argument 'kv': expected [T, 2, H, D], got [2, 21, 4, 16]"
    ),
    "all packed of lengths": (
        lambda: flash_attn_varlen_qkvpacked_func(torch.stack([k[0]] * 3, 1), cu_q.long()),
        "argument 'cu_seqlens': expected int32 of shape [batch + 1], got torch.int64",
    ),
    "type of what is packed": (
        lambda: flash_attn_qkvpacked_func(torch.stack([k, k, k], 2).double()),
        "argument 'qkv': expected float32, float16 or bfloat16, got torch.float64",
    ),
}  # fmt: skip
if torch_reference.DEVICE == "cpu":
    # What tensors hold is looked at on CPUs alone.
    REFUSED["last offset"] = (lambda: flash_attn_varlen_func(*packed, cu_q, cu_k - 1, 1, 1), "'cu_seqlens_k'")
    REFUSED["last offset of varlen_attn"] = (lambda: varlen_attn(*packed, cu_q, cu_k - 1, enable_gqa=True), "'cu_seq_k'")
    REFUSED["last offset there"] = (lambda: flash_attention(*packed, None, cu_q, cu_k - 1), "'cum_seqlens_k'")
    REFUSED["used keys that are not there"] = (
        lambda: varlen_attn(*packed, cu_q, cu_k, enable_gqa=True, seqused_k=cu_k.diff() + 1),
        "argument 'seqused_k': expected a number from 0 to the",
    )


def test_numbers_of_numpy():
    """And of tensors without dimensions, and configurations of other libraries."""
    numpy = pytest.importorskip("numpy")
    wanted = flash_attn_func(q, k, v, causal=True, window_size=(4, 0), softmax_scale=0.5, softcap=3.0)
    for number, integer, flag in (
        (numpy.float32, numpy.int64, numpy.bool_), (lambda x: torch.tensor(x, device="cpu"),) * 3,
    ):  # fmt: skip
        out = flash_attn_func(
            q, k, v, causal=flag(True), window_size=(integer(4), integer(0)), softmax_scale=number(0.5), softcap=number(3.0)
        )
        assert torch.equal(out, wanted)
        options = dict(sliding_window=(integer(4), 0), softmax_scale=number(0.5), logits_soft_cap=number(3.0), cfg=CONFIG)
        assert torch.equal(flash_attention(q, k, v, causal=flag(True), platform="triton", mesh=None, **options), wanted)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    call, message = REFUSED[name]
    with pytest.raises((attnc.Error, TypeError), match=re.escape(message)):
        call()
