"""The block masks of attnc.torch: lists of blocks, slices, and what masks tell, as torch's own have it."""

import pytest
import torch
from flex_mods import COUNTS, DEVICE, INDICES, SIZES, SK, SQ, B, H, causal, plain, sliding_window, tensors
from torch.nn.attention import flex_attention as torchs
from torch.nn.attention.experimental._paged_attention import PagedAttention

import attnc
import attnc.torch
from attnc.torch import BlockMask, _block_mask, create_block_mask, create_mask, flex_attention
from attnc.torch._block_mask import mask_mod_of


def test_masks_of_torch():
    q, k, v = tensors()
    mask = torchs.and_masks(causal, sliding_window)
    theirs = torchs.create_block_mask(mask, B, H, SQ, SK, device=DEVICE, BLOCK_SIZE=16)
    out = flex_attention(q, k, v, block_mask=theirs)
    torch.testing.assert_close(out.double(), plain(q, k, v, mask=mask)[0], atol=3e-5, rtol=0)


@pytest.mark.parametrize("compiles", [False, True])
def test_pages_of_torch(compiles):
    """Functions that torch makes of the user's, and of tables of pages that it holds."""
    torch._dynamo.reset()
    length, rows, count = 32, 16, 8
    q, k, v = (torch.randn(B, H, length, 16) for _ in range(3))
    pages = PagedAttention(count, rows, B, device=DEVICE)
    for entry in range(B):
        pages.reserve(torch.tensor(entry), torch.tensor(length))
    caches = [torch.zeros(1, H, count * rows, 16) for _ in range(2)]
    positions = torch.arange(length, dtype=torch.int32).expand(B, length)
    pages.assign(torch.arange(B, dtype=torch.int32), positions, k, v, *caches)
    logical = torchs.create_block_mask(causal, B, 1, length, length, device=DEVICE, BLOCK_SIZE=rows)
    mask = pages.convert_logical_block_mask(logical, kv_len=torch.tensor([length, 20]))
    score = pages.get_score_mod(lambda s, b, h, i, j: s + 0.1 * (i - j))
    attend = torch.compile(flex_attention, backend="aot_eager", fullgraph=True) if compiles else flex_attention

    def kept(b, h, i, j):
        return (i >= j) & (j < torch.tensor([length, 20])[b])

    out = attend(q, *caches, score, mask)
    wanted = plain(q, k, v, lambda s, b, h, i, j: s + 0.1 * (i - j), kept)[0]
    torch.testing.assert_close(out.double(), wanted, atol=3e-5, rtol=0)


#: What COUNTS and INDICES list, as a table.
LISTED = torch.tensor([[[0, 1, 0], [1, 0, 1], [1, 1, 0]], [[0, 0, 0], [1, 0, 0], [1, 1, 1]]]).bool()
FULL_COUNTS = torch.tensor([[[1, 0, 1]]], dtype=torch.int32)
FULL_INDICES = torch.tensor([[[[2, 0, 0], [0, 0, 0], [2, 0, 0]]]], dtype=torch.int32)
FULL = torch.tensor([[0, 0, 1], [0, 0, 0], [0, 0, 1]]).bool()


def listed(b, h, i, j):
    return LISTED[b, i // 16, j // 16]


def full(b, h, i, j):
    return FULL[i // 16, j // 16]


OF_BLOCKS = {
    "blocks alone": ((COUNTS, INDICES), {}, listed),
    "and a function": ((COUNTS, INDICES), dict(mask_mod=causal), lambda *at: listed(*at) & causal(*at)),
    "and full ones": (
        (COUNTS, INDICES, FULL_COUNTS, FULL_INDICES), dict(mask_mod=causal),
        lambda *at: full(*at) | (listed(*at) & causal(*at)),
    ),
    "of every head": (
        (COUNTS.expand(B, H, 3), INDICES.expand(B, H, 3, 3)), dict(mask_mod=causal), lambda *at: listed(*at) & causal(*at),
    ),
    "one of each row": (
        (torch.ones(1, 1, 3, dtype=torch.int32), INDICES[:1, :, :, :1]), {},
        lambda b, h, i, j: INDICES[0, 0, i // 16, 0] == j // 16,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_BLOCKS)
@pytest.mark.parametrize("way", ["as it is", "compiled", "compiled inside", "moved"])
def test_masks_of_blocks(name, way):
    """What is listed counts, and of full blocks the function is not asked."""
    blocks, options, kept = OF_BLOCKS[name]
    q, k, v = tensors()
    mask = BlockMask.from_kv_blocks(*blocks, **SIZES, **options)
    attend = flex_attention
    if way == "moved":
        mask = mask.to(DEVICE)
        assert type(mask) is BlockMask
    if way == "compiled":
        torch._dynamo.reset()
        attend = torch.compile(flex_attention, backend="aot_eager", fullgraph=True)
    if way == "compiled inside":
        torch._dynamo.reset()
        make = lambda q, k, v, block_mask: flex_attention(  # noqa: E731
            q, k, v, block_mask=BlockMask.from_kv_blocks(*blocks, **SIZES, **options)
        )
        attend = torch.compile(make, backend="aot_eager", fullgraph=True)
    out, wanted = attend(q, k, v, block_mask=mask), plain(q, k, v, mask=kept)[0]
    torch.testing.assert_close(out.double(), wanted, atol=3e-5, rtol=0)
    ours, theirs = (torch.autograd.grad(result.square().sum(), (q, k, v)) for result in (out, wanted))
    for gradient, expected in zip(ours, theirs, strict=True):
        torch.testing.assert_close(gradient.double(), expected.double(), atol=3e-4, rtol=3e-4)


def test_masks_of_blocks_of_torch():
    """Where they cannot be those that torch finds in the function itself, blocks count as well."""
    q, k, v = tensors()
    for name in ("blocks alone", "and a function"):
        blocks, options, kept = OF_BLOCKS[name]
        out = flex_attention(q, k, v, block_mask=torchs.BlockMask.from_kv_blocks(*blocks, **SIZES, **options))
        torch.testing.assert_close(out.double(), plain(q, k, v, mask=kept)[0], atol=3e-5, rtol=0)
    theirs = torchs.create_block_mask(causal, None, None, SQ, SK, device=DEVICE, BLOCK_SIZE=16)
    assert mask_mod_of(theirs, q, k) is causal


def test_masks_whose_blocks_are_changed():
    """As long as a mask lives, other blocks may be written to it."""
    q, k, v = (tensor.detach() for tensor in tensors())
    mask = BlockMask.from_kv_blocks(COUNTS.clone(), INDICES, **SIZES)
    for _ in range(2):
        kept = torch.arange(3) < mask.kv_num_blocks[..., None]
        table = torch.zeros(B, 1, 3, 100).bool().scatter(3, INDICES.long(), kept)
        out = flex_attention(q, k, v, block_mask=mask)
        wanted, _ = plain(q, k, v, mask=lambda b, h, i, j: table[b, 0, i // 16, j // 16])
        torch.testing.assert_close(out.double(), wanted, atol=3e-5, rtol=0)
        mask.kv_num_blocks.copy_(torch.tensor([[[2, 1, 0]], [[1, 1, 2]]]))


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("of_blocks", [False, True])
def test_slices_of_masks(compiled, of_blocks):
    """As programs that make one token after another take them: the rows of a block, and a function that knows the place."""
    q, k, v = (tensor.detach() for tensor in tensors())
    blocks, options, kept = OF_BLOCKS["and full ones"]
    mask = create_block_mask(causal, None, None, SQ, SK, BLOCK_SIZE=16)
    if of_blocks:
        mask = BlockMask.from_kv_blocks(*blocks, **SIZES, **options)

    def attend(q, k, v, start):
        part = mask[:, :, start // 16]
        part.mask_mod = lambda b, h, i, j: causal(b, h, i + start[0], j)
        part.seq_lengths = (q.shape[2], SK)
        return flex_attention(q, k, v, block_mask=part)

    torch._dynamo.reset()
    call = torch.compile(attend, backend="aot_eager", fullgraph=True) if compiled else attend
    wanted = plain(q, k, v, mask=kept if of_blocks else causal)[0]
    # Blocks count rows from where they begin.
    for first in (0, 32) if of_blocks else (3, 20):
        out = call(q[:, :, first : first + 8], k, v, torch.tensor([first]))
        torch.testing.assert_close(out.double(), wanted[:, :, first : first + 8], atol=3e-5, rtol=0)


#: Masks for other lengths than those of the calls, and whether torch makes them.
OTHER_LENGTHS = {
    "fewer": lambda make: make(SQ - 16, SK - 16), "fewer queries": lambda make: make(SQ - 16, SK),
    "more": lambda make: make(2 * SQ, 2 * SK), "more keys": lambda make: make(SQ, SK + 16),
    "adjusted": lambda make: make(SQ, SK)._adjust(SQ, SK - 16), "rows of a slice": lambda make: rows_of(make, SK + 16),
    "moved": lambda make: make(SQ, SK + 16).to(DEVICE),
}  # fmt: skip
THESE_LENGTHS = {
    "the same": lambda make: make(SQ, SK), "adjusted": lambda make: make(2 * SQ, 2 * SK)._adjust(SQ, SK),
    "adjusted and moved": lambda make: make(2 * SQ, 2 * SK)._adjust(SQ, SK).to(DEVICE),
    "rows of a slice": lambda make: rows_of(make, SK),
}  # fmt: skip


def rows_of(make, keys):
    """A slice that is given what it needs."""
    part = make(2 * SQ, keys)[:, :, :1]
    part.mask_mod, part.seq_lengths = causal, (SQ, keys)
    return part


@pytest.mark.parametrize("library", [attnc.torch, torchs], ids=["attnc", "torch"])
@pytest.mark.parametrize("compiled", [False, True])
def test_masks_are_for_their_lengths(library, compiled):
    """As torch has it: what a function keeps for other lengths may be something else than what was meant."""
    q, k, v = (tensor.detach() for tensor in tensors())
    make = lambda queries, keys: library.create_block_mask(  # noqa: E731
        causal, None, None, queries, keys, device=DEVICE, BLOCK_SIZE=16
    )
    wanted = plain(q, k, v, mask=causal)[0]
    attend = flex_attention
    if compiled:
        torch._dynamo.reset()
        attend = torch.compile(flex_attention, backend="aot_eager")
    for name, change in THESE_LENGTHS.items():
        if library is torchs and name == "rows of a slice":
            # Its blocks count.
            continue
        torch.testing.assert_close(attend(q, k, v, block_mask=change(make)).double(), wanted, atol=3e-5, rtol=0)
    for change in OTHER_LENGTHS.values():
        with pytest.raises(attnc.Error, match=f"block_mask: expected one of {SQ} queries and {SK} keys, got one of "):
            attend(q, k, v, block_mask=change(make))


@pytest.mark.parametrize("compiled", [False, True])
def test_adjusted_masks_of_whole_blocks(compiled, monkeypatch):
    """As torch 2.11 has them: a mask that it has adjusted says that it is for whole blocks, and no other does."""
    q, k, v = (tensor.detach() for tensor in tensors())
    attend = flex_attention
    if compiled:
        torch._dynamo.reset()
        attend = torch.compile(flex_attention, backend="aot_eager")

    def rounded(queries, keys):
        made = torchs.create_block_mask(causal, None, None, queries, keys, device=DEVICE, BLOCK_SIZE=16)
        tables = made.kv_num_blocks, made.kv_indices, made.full_kv_num_blocks, made.full_kv_indices
        return torchs.BlockMask.from_kv_blocks(*tables, BLOCK_SIZE=16, mask_mod=causal)

    monkeypatch.setattr(_block_mask, "_ROUNDED", True)
    assert rounded(SQ, SK).seq_lengths == (48, 48)
    wanted = plain(q, k, v, mask=causal)[0]
    torch.testing.assert_close(attend(q, k, v, block_mask=rounded(SQ, SK)).double(), wanted, atol=3e-5, rtol=0)
    for mask in (rounded(SQ - 16, SK), rounded(SQ + 16, SK), rounded(SQ, SK + 1), BlockMask.from_kv_blocks(COUNTS, INDICES, BLOCK_SIZE=16)):
        with pytest.raises(attnc.Error, match=f"block_mask: expected one of {SQ} queries and {SK} keys, got one of "):
            attend(q, k, v, block_mask=mask)
    monkeypatch.setattr(_block_mask, "_ROUNDED", False)
    with pytest.raises(attnc.Error, match=f"block_mask: expected one of {SQ} queries and {SK} keys, got one of 48 and 48"):
        flex_attention(q, k, v, block_mask=rounded(SQ, SK))


def test_adjusted_masks_of_blocks():
    """They are for the lengths that they were adjusted to, whatever torch's own say."""
    q, k, v = (tensor.detach() for tensor in tensors())
    full = torch.full((1, 1, 3), 3, dtype=torch.int32), torch.arange(3, dtype=torch.int32).expand(1, 1, 3, 3).contiguous()
    mask = BlockMask.from_kv_blocks(*full, BLOCK_SIZE=16, mask_mod=causal)._adjust(SQ, SK)
    assert type(mask) is BlockMask and mask.seq_lengths == (SQ, SK)
    torch.testing.assert_close(flex_attention(q, k, v, block_mask=mask).double(), plain(q, k, v, mask=causal)[0], atol=3e-5, rtol=0)


def test_what_masks_tell():
    """Blocks are torch's own, made when they are asked for."""
    ours = create_block_mask(sliding_window, B, None, SQ, SK, BLOCK_SIZE=(16, 8), device=DEVICE)
    theirs = torchs.create_block_mask(sliding_window, B, None, SQ, SK, BLOCK_SIZE=(16, 8), device=DEVICE)
    assert isinstance(ours, torchs.BlockMask) and ours.BLOCK_SIZE == (16, 8)
    changes = (
        lambda mask: mask, lambda mask: mask[0], lambda mask: mask[:, :, 1:], lambda mask: mask[1, 0, torch.tensor([2, 0])],
        lambda mask: mask.to(DEVICE), lambda mask: mask._adjust(20, 24),
    )  # fmt: skip
    for change in changes:
        one, other = change(ours), change(theirs)
        assert one.shape == other.shape and one.seq_lengths == other.seq_lengths and one.numel() == other.numel()
        assert one.sparsity() == other.sparsity() and str(one) == str(other) and repr(one)
        assert torch.equal(one.to_dense(), other.to_dense())
        for item, expected in zip(one.as_tuple()[:-1], other.as_tuple()[:-1], strict=True):
            assert torch.equal(item, expected) if isinstance(item, torch.Tensor) else item == expected
    # torch takes them as well.
    q, k, v = (tensor.detach() for tensor in tensors())
    torch.testing.assert_close(torchs.flex_attention(q, k, v, block_mask=ours), flex_attention(q, k, v, block_mask=ours))


def test_block_masks_cost_nothing():
    mask = create_block_mask(causal, None, None, 1 << 30, 1 << 30, device="cuda", BLOCK_SIZE=(128, 64), _compile=True)
    assert isinstance(mask, BlockMask) and mask.mask_mod is causal and mask.shape == (1, 1, 1 << 30, 1 << 30)
    moved = mask.to("cpu")
    assert moved.mask_mod is causal and moved.shape == mask.shape and repr(moved) == repr(mask) and "causal" in repr(mask)
    assert mask.numel() == 1 << 60 and not hasattr(mask, "no_such_thing")
    assert torch.equal(create_mask(causal, 1, 1, 4, 4, device=DEVICE)[0, 0], torch.ones(4, 4).tril().bool())
