"""Calls with their gradients in CUDA graphs, and on streams that are not the default one."""

import gc

import pytest
import torch
from torch.nn.attention import activate_flash_attention_impl, restore_flash_attention_impl
from torch.nn.functional import scaled_dot_product_attention
from torch_reference import DEVICE

from attnc.torch import BlockMask, create_block_mask, flash_attention, flash_attn_func, flex_attention, varlen_attn

pytestmark = pytest.mark.skipif(DEVICE == "cpu", reason="there are neither graphs nor streams on a CPU")

B, S, H, HK, D = 2, 160, 4, 2, 64
document = torch.arange(S) // 48
offsets = torch.tensor([0, S, 2 * S], dtype=torch.int32)


@pytest.fixture(autouse=True)
def collected():
    """Graphs of earlier tests are gone: CUDA ends a capture during which one is freed."""
    gc.collect()


def heads_first(attend):
    def call(q, k, v, *others):
        return attend(*(x.transpose(1, 2) for x in (q, k, v)), *others).transpose(1, 2)

    return call


def by_functions(q, k, v):
    mask = create_block_mask(lambda b, h, i, j: (i >= j) & (document[i] == document[j]), None, None, S, S)
    return flex_attention(q, k, v, lambda s, b, h, i, j: s - (i - j) / 16, mask, enable_gqa=True)


def by_learned(q, k, v, slopes, bias):
    def score(s, b, h, i, j):
        return s - slopes[1, h] * (i - j).abs() + bias[h, j]

    return flex_attention(q, k, v, score, enable_gqa=True)


def by_varlen(q, k, v):
    out = varlen_attn(*(x.flatten(0, 1) for x in (q, k, v)), offsets, offsets, S, S, window_size=(-1, 0), enable_gqa=True)
    return out.view(B, S, H, D)


#: Calls of [B, S, H, D] tensors, and the shapes of what else has gradients.
CALLS = {
    "flex": (heads_first(lambda q, k, v: flex_attention(q, k, v, enable_gqa=True)), ()),
    "flex with functions": (heads_first(by_functions), ()),
    "flex with what is learned": (heads_first(by_learned), ((2, H), (H, S))),
    "flash": (lambda q, k, v: flash_attn_func(q, k, v, causal=True), ()),
    "flash with a bias": (lambda q, k, v, bias: flash_attention(q, k, v, bias, logits_soft_cap=20.0), ((1, H, S, S),)),
    "varlen": (by_varlen, ()),
    "SDPA": (heads_first(lambda q, k, v: scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)), ()),
}


@pytest.fixture(autouse=True)
def activated():
    activate_flash_attention_impl("attnc")
    yield
    restore_flash_attention_impl()


def made(name, seed):
    """The inputs of a call, and the gradient of its output."""
    torch.manual_seed(seed)
    q, k, v = torch.randn(B, S, H, D), torch.randn(B, S, HK, D), torch.randn(B, S, HK, D)
    inputs = [q, k, v, *(torch.rand(shape) for shape in CALLS[name][1])]
    return [x.half().requires_grad_() for x in inputs], torch.randn(B, S, H, D).half()


def run(call, inputs, d_out):
    """The output and the gradients."""
    out = call(*inputs)
    return [out.detach(), *torch.autograd.grad(out, inputs, d_out)]


def check(found, wanted):
    for result, expected in zip(found, wanted, strict=True):
        torch.testing.assert_close(result, expected, atol=2e-2, rtol=2e-2)
        assert expected.abs().max() > 0.1


def fill(inputs, others):
    with torch.no_grad():
        for tensor, other in zip(inputs, others, strict=True):
            tensor.copy_(other)


def captured(function):
    """A graph of a function, after some calls of it, and the results that each replay writes."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            function()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = function()
    return graph, results


@pytest.mark.parametrize("name", CALLS)
def test_graphs(name):
    call = CALLS[name][0]
    inputs, d_out = made(name, 0)
    graph, results = captured(lambda: run(call, inputs, d_out))
    for seed in (1, 2):
        others, other_d_out = made(name, seed)
        fill([*inputs, d_out], [*others, other_d_out])
        graph.replay()
        check(results, run(call, others, other_d_out))


@pytest.mark.parametrize("name", CALLS)
def test_graphed_callables(name):
    call = CALLS[name][0]
    graphed = torch.cuda.make_graphed_callables(call, tuple(made(name, 0)[0]))
    for seed in (1, 2):
        inputs, d_out = made(name, seed)
        check(run(graphed, inputs, d_out), run(call, inputs, d_out))


@pytest.mark.parametrize("name", CALLS)
def test_other_streams(name):
    """What is written on a stream is read on it, after it was written, by the gradients too."""
    call = CALLS[name][0]
    inputs, d_out = made(name, 0)
    others, other_d_out = made(name, 1)
    # Kernels are there, and nothing else is on its way.
    run(call, inputs, d_out)
    wanted = run(call, others, other_d_out)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(100_000_000)
        fill([*inputs, d_out], [*others, other_d_out])
        found = run(call, inputs, d_out)
    stream.synchronize()
    check(found, wanted)


@pytest.mark.parametrize("name", ["flex with functions", "flex with what is learned", "flash"])
def test_compiled_into_graphs(name):
    call = CALLS[name][0]
    torch._dynamo.reset()
    compiled = torch.compile(call, mode="reduce-overhead", fullgraph=True)
    for seed in range(4):
        inputs, d_out = made(name, seed)
        torch.compiler.cudagraph_mark_step_begin()
        check([result.clone() for result in run(compiled, inputs, d_out)], run(call, inputs, d_out))


@pytest.mark.parametrize("name", ["flash", "SDPA"])
def test_each_replay_drops_others(name):
    """The seed is drawn by the GPU's generator, which graphs move on: what is dropped is not part of the graph."""

    def flash(q, k, v):
        return flash_attn_func(q, k, v, dropout_p=0.5)

    def sdpa(q, k, v):
        return heads_first(lambda q, k, v: scaled_dot_product_attention(q, k, v, dropout_p=0.5, enable_gqa=True))(q, k, v)

    call = flash if name == "flash" else sdpa
    inputs, d_out = made("flash", 0)
    graph, results = captured(lambda: run(call, inputs, d_out))
    seen = []
    for _ in range(3):
        graph.replay()
        out, _, _, d_v = (result.clone() for result in results)
        # Outputs are linear in the values: gradients drop what forward drops.
        torch.testing.assert_close((d_v.float() * inputs[2].float()).sum(), (out.float() * d_out.float()).sum(), atol=1.0, rtol=2e-2)
        seen.append(out)
    assert not torch.equal(seen[0], seen[1]) and not torch.equal(seen[1], seen[2])


def test_compiled_sdpa_drops():
    inputs, d_out = made("SDPA", 0)

    def attend(q, k, v):
        return heads_first(lambda q, k, v: scaled_dot_product_attention(q, k, v, dropout_p=0.5, enable_gqa=True))(q, k, v)

    torch._dynamo.reset()
    compiled = torch.compile(attend, fullgraph=True)
    first, second = run(compiled, inputs, d_out), run(compiled, inputs, d_out)
    assert not torch.equal(first[0], second[0])
    out, _, _, d_v = first
    torch.testing.assert_close((d_v.float() * inputs[2].float()).sum(), (out.float() * d_out.float()).sum(), atol=1.0, rtol=2e-2)


def test_first_call_in_a_capture():
    """Code is compiled and loaded while a graph is captured, which frameworks do without calls beforehand."""
    q, k, v = (x.detach() for x in made("flash", 0)[0])
    window = (37, 5)  # of no other test
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = flash_attn_func(q, k, v, window_size=window)
    graph.replay()
    check([out], [flash_attn_func(q, k, v, window_size=window)])


def test_blocks_that_change_between_replays():
    counts = torch.tensor([[[1, 2, 3]]], dtype=torch.int32)
    indices = torch.tensor([[[[0, 1, 2], [1, 0, 2], [2, 0, 1]]]], dtype=torch.int32)
    mask = BlockMask.from_kv_blocks(counts, indices, BLOCK_SIZE=64, seq_lengths=(S, S))
    q, k, v = (x.detach().transpose(1, 2) for x in made("flex", 0)[0])

    def attend():
        return flex_attention(q, k, v, block_mask=mask, enable_gqa=True)

    first = attend()
    graph, out = captured(attend)
    counts.copy_(torch.tensor([[[3, 1, 1]]]))
    graph.replay()
    wanted = attend()
    assert torch.equal(out, wanted) and not torch.equal(first, wanted)
