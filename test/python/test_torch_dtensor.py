"""attnc.torch on DTensors over two processes, each with a GPU where there are two: what is split by batch entries and heads is
computed where it lies."""

import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
from torch.distributed.tensor.debug import CommDebugMode
from torch_reference import DEVICE

from attnc.torch import create_block_mask, flash_attention, flash_attn_func, flash_attn_varlen_func, flex_attention

B, S, H, HK, D = 2, 20, 4, 2, 16
KIND, BACKEND = ("cuda", "nccl") if DEVICE == "cuda" and torch.cuda.device_count() > 1 else ("cpu", "gloo")


def check(call, inputs, placements, may_talk=False, draws=False):
    """Holds the results and gradients of split tensors against those of whole ones, and counts what is sent meanwhile. draws: a
    seed, which is sent."""
    mesh = init_device_mesh(KIND, (2,))
    whole = [tensor.clone().requires_grad_() for tensor in inputs]
    split = [distribute_tensor(tensor, mesh, [place]).requires_grad_() for tensor, place in zip(inputs, placements)]
    wanted = call(*whole)
    with CommDebugMode() as sent:
        out = call(*split)
    if not may_talk:
        assert sent.get_total_counts() == draws, sent.get_comm_counts()
        assert out.placements[0].is_shard()
    torch.testing.assert_close(out.full_tensor(), wanted, atol=1e-5, rtol=0)
    with CommDebugMode() as sent:
        out.square().sum().backward()
    wanted.square().sum().backward()
    for ours, theirs in zip(split, whole):
        torch.testing.assert_close(ours.grad.full_tensor(), theirs.grad, atol=1e-4, rtol=0)


def check_plain(call, inputs, place, learned):
    """The same of a learned tensor that is no DTensor, and whole on each device."""
    mesh = init_device_mesh(KIND, (2,))
    split = [distribute_tensor(tensor, mesh, [place]) for tensor in inputs]
    ours, theirs = learned.clone().requires_grad_(), learned.clone().requires_grad_()
    call(*split, ours).square().sum().backward()
    call(*inputs, theirs).square().sum().backward()
    torch.testing.assert_close(ours.grad, theirs.grad, atol=1e-4, rtol=1e-4)
    # And of one that is.
    whole = distribute_tensor(learned, mesh, [Replicate()]).requires_grad_()
    call(*split, whole).square().sum().backward()
    torch.testing.assert_close(whole.grad.full_tensor(), theirs.grad, atol=1e-4, rtol=1e-4)


def drawn_alike(q, k, v):
    torch.manual_seed(5)
    return flash_attn_func(q, k, v, dropout_p=0.3, causal=True)


def check_drawn(call, inputs, place, rank):
    """Where devices have generators of unlike seeds: each time all of them drop what the first one alone would."""
    mesh = init_device_mesh(KIND, (2,))
    whole = [tensor.clone().requires_grad_() for tensor in inputs]
    split = [distribute_tensor(tensor, mesh, [place]).requires_grad_() for tensor in inputs]
    torch.manual_seed(7)
    wanted = [call(*whole) for _ in range(2)]
    torch.manual_seed(7 + rank)
    found = [call(*split) for _ in range(2)]
    # What is drawn after this is the same again.
    torch.manual_seed(0)
    for ours, theirs in zip(found, wanted):
        # Of what is whole, each device looks at its own.
        torch.testing.assert_close(ours.full_tensor(), theirs, atol=1e-5, rtol=0)
    assert (wanted[0] - wanted[1]).abs().max() > 0.1
    found[1].square().sum().backward()
    wanted[1].square().sum().backward()
    for ours, theirs in zip(split, whole):
        torch.testing.assert_close(ours.grad.full_tensor(), theirs.grad, atol=1e-4, rtol=0)


def run(rank, store):
    torch.set_default_device(KIND)
    if KIND == "cuda":
        torch.cuda.set_device(rank)
    dist.init_process_group(BACKEND, init_method=f"file://{store}", rank=rank, world_size=2)
    torch.manual_seed(0)
    q, k, v = torch.randn(B, S, H, D), torch.randn(B, S, HK, D), torch.randn(B, S, HK, D)
    sinks, bias = torch.randn(H, 2), torch.randn(B, H, S, S)
    slopes = torch.rand(H)
    for place, of_sinks in ((Shard(0), Replicate()), (Shard(2), Shard(0))):
        check(lambda q, k, v: flash_attn_func(q, k, v, causal=True), (q, k, v), [place] * 3)
        # What is whole follows the queries, and what all of a batch shares gets the sum of its gradients.
        check(
            lambda q, k, v, sinks: flash_attention(q, k, v, bias, None, None, sinks, causal=True), (q, k, v, sinks),
            [place, place, place, of_sinks],
        )  # fmt: skip
        check(lambda q, k, v: flash_attn_func(q, k, v, alibi_slopes=slopes), (q, k, v), [place] * 3)
        # What is learned has the sum of the gradients of all parts, be it a DTensor or not.
        check(lambda q, slopes: flash_attn_func(q, k, v, alibi_slopes=slopes), (q, slopes), [place, of_sinks])
        for shared in (bias[:1], bias[:, :1], bias[:1, :, :1]):
            check(lambda q, bias: flash_attention(q, k, v, bias), (q, shared), [place, Replicate()])
        check_plain(lambda q, k, v, bias: flash_attention(q, k, v, bias), (q, k, v), place, bias[:1])
    # A split sequence is gathered.
    check(lambda q, k, v: flash_attn_func(q, k, v, causal=True), (q, k, v), [Shard(1)] * 3, may_talk=True)
    # Heads that do not share out, too.
    one = k[:, :, :1]
    check(lambda q, k: flash_attn_func(q, k, k), (q, one), [Shard(2), Replicate()], may_talk=True)
    # And batch entries that do not.
    for entries in (1, 3):
        odd = [torch.randn(entries, S, heads, D) for heads in (H, HK, HK)]
        check(lambda q, k, v: flash_attn_func(q, k, v, causal=True), odd, [Shard(0)] * 3, may_talk=True)
        check(lambda q, k, v: flex_attention(q, k, v), [t.transpose(1, 2) for t in (odd[0], odd[0], odd[0])], [Shard(0)] * 3, may_talk=True)
    # What is dropped is the same as without a mesh, whatever part of it a device has.
    for seed in (1, -(2**40) - 3):
        for place in (Shard(0), Shard(2)):
            check(
                lambda q, k, v, seed=seed: flash_attention(q, k, v, dropout_prob=0.5, dropout_seed=seed), (q, k, v), [place] * 3
            )
    for place in (Shard(0), Shard(2)):
        check(drawn_alike, (q, k, v), [place] * 3, draws=True)
    for place in (Replicate(), Shard(0), Shard(2)):
        check_drawn(lambda q, k, v: flash_attn_func(q, k, v, dropout_p=0.3, causal=True), (q, k, v), place, rank)
    offsets = torch.tensor([0, 8, S], dtype=torch.int32)
    packed = [tensor[0] for tensor in (q, k, v)]
    for place in (Replicate(), Shard(1)):
        check_drawn(lambda q, k, v: flash_attn_varlen_func(q, k, v, offsets, offsets, S, S, 0.5), packed, place, rank)
    check(lambda q, k, v: flash_attn_varlen_func(q, k, v, offsets, offsets, S, S, causal=True), packed, [Shard(1)] * 3)

    def local(b, h, i, j):
        return (i >= j) & (i - j < 6)

    def of_heads(score, b, h, i, j):
        return score - slopes[h] * abs(i - j)

    mask = create_block_mask(local, None, None, S, S)
    flex = [tensor.transpose(1, 2) for tensor in (q, k, v)]
    for place in (Shard(0), Shard(1)):
        check(lambda q, k, v: flex_attention(q, k, v, None, mask, enable_gqa=True), flex, [place] * 3)
        # Functions that ask for the head have all heads.
        gate, table = torch.tensor(0.7), torch.rand(S, S)
        for learned, score in (
            (gate, lambda t: lambda s, b, h, i, j: s * t), (table, lambda t: lambda s, b, h, i, j: s + t[i, j]),
            (table.double(), lambda t: lambda s, b, h, i, j: s + t[i, j]),
        ):  # fmt: skip
            check_plain(lambda q, k, v, t: flex_attention(q, k, v, score(t), mask, enable_gqa=True), flex, place, learned)
        asks = place == Shard(1)
        check(lambda q, k, v: flex_attention(q, k, v, of_heads, mask, enable_gqa=True), flex, [place] * 3, may_talk=asks)
        for functions in ((), (of_heads, mask)):
            compiled = torch.compile(lambda q, k, v: flex_attention(q, k, v, *functions, enable_gqa=True), backend="aot_eager")
            check(compiled, flex, [place] * 3, may_talk=True)
    dist.destroy_process_group()


def test_two_processes():
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(run, (f"{folder}/store",), nprocs=2)
