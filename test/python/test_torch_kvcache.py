"""What flash_attn_with_kvcache writes: new keys and values, behind those that are there, and nothing where a call is refused."""

import re

import pytest
import torch
from torch_reference import DEVICE as DEVICE

import attnc
from attnc.torch import _calls, _kvcache, flash_attn_with_kvcache

B, H, HK, D, DV, ROWS, PAGES = 2, 4, 2, 16, 24, 8, 6
torch.manual_seed(0)
q = torch.randn(B, 2, H, D)
k, v = torch.randn(B, 2, HK, D), torch.randn(B, 2, HK, DV)
table = torch.tensor([[4, 1], [0, 3]], dtype=torch.int32)


def counts(*numbers):
    return torch.tensor(numbers, dtype=torch.int32)


def caches(entries=B):
    return torch.zeros(entries, ROWS, HK, D), torch.zeros(entries, ROWS, HK, DV)


def rows_of(*written):
    """The rows of caches that are not 0."""
    return [cache.abs().sum((2, 3)).nonzero().tolist() for cache in written]


NEW = dict(k=k, v=v, cache_seqlens=counts(3, 0), causal=True)
IN_PAGES = {**NEW, "block_table": table}
#: Calls with new keys that are refused: what differs from one that is not, and what the message says.
REFUSED = {
    "length below 0": ({**NEW, "cache_seqlens": counts(3, -1)}, "argument 'cache_seqlens': expected lengths from 0 to 6, so that a cache of 8 has room for 2 more, got -1 at index 1 [S11]"),
    "one row below 0": ({**NEW, "cache_seqlens": counts(-2, 0)}, "got -2 at index 0"),
    "full cache": ({**NEW, "cache_seqlens": counts(3, 8)}, "argument 'cache_seqlens': expected lengths from 0 to 6"),
    "room for one": ({**NEW, "cache_seqlens": counts(7, 0)}, "got 7 at index 0"),
    "full cache by a number": ({**NEW, "cache_seqlens": 7}, "argument 'cache_seqlens': expected lengths from 0 to 6, so that a cache of 8 has room for 2 more, got 7 [S11]"),
    "number of more than 32 bits": ({**NEW, "cache_seqlens": 2**40}, "argument 'cache_seqlens': expected lengths from 0 to 6"),
    "full pages": ({**IN_PAGES, "cache_seqlens": counts(15, 0)}, "argument 'cache_seqlens': expected lengths from 0 to 14"),
    "page below 0": ({**IN_PAGES, "block_table": table - 1}, "argument 'block_table': expected pages from 0 to 5 where a sequence has keys, got -1 at index [1, 0] [S19]"),
    "no page": ({**IN_PAGES, "block_table": table + 2}, "argument 'block_table': expected pages from 0 to 5 where a sequence has keys, got 6 at index [0, 0] [S19]"),
    "no entry": ({**NEW, "cache_batch_idx": counts(0, 6)}, "argument 'cache_batch_idx': expected entries of the cache from 0 to 5 where a sequence has keys, got 6 at index 1 [S19]"),
    "entry of 64 bits": ({**NEW, "cache_batch_idx": torch.tensor([0, 2**32])}, "got 4294967296 at index 1"),
    "causal": ({**NEW, "causal": "x"}, "causal: expected True or False, got 'x'"),
    "window": ({**NEW, "window_size": 3}, "window_size: expected two numbers"),
    "scale": ({**NEW, "softmax_scale": "x"}, "softmax_scale: expected a finite number"),
    "cap": ({**NEW, "softcap": -1.0}, "softcap: expected a number of 0 or more"),
    "slopes": ({**NEW, "alibi_slopes": torch.rand(3)}, "argument 'alibi_slopes': expected 1 or 4 for the heads, got 3"),
    "heads": ({**NEW, "k": k[:, :, :1], "v": v[:, :, :1]}, "argument 'k': expected 2 heads, as 'k_cache' has, got 1"),
    "head dim of values": ({**NEW, "v": v[..., :16]}, "argument 'v': expected 24 for the head dim, as 'v_cache' has, got 16"),
    "more than there is room for": ({**NEW, "k": k.repeat(1, 5, 1, 1), "v": v.repeat(1, 5, 1, 1)}, "argument 'k': expected 8 new rows or fewer, for which the cache has room, got 10"),
}  # fmt: skip
#: What lies on a GPU is not read.
OF_CONTENTS = {
    "length below 0", "one row below 0", "full cache", "room for one", "full pages", "page below 0", "no page", "no entry",
    "entry of 64 bits",
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_has_written_nothing(name):
    options, message = REFUSED[name]
    if name in OF_CONTENTS and q.is_cuda:
        pytest.skip("what lies on a GPU is not read")
    written = caches(PAGES if "block_table" in options or "cache_batch_idx" in options else B)
    with pytest.raises(attnc.Error, match=re.escape(message)):
        flash_attn_with_kvcache(q, *written, **options)
    assert rows_of(*written) == [[], []]


def test_expanded_caches_are_refused():
    key, value = caches()
    with pytest.raises(attnc.Error, match="argument 'v_cache': expected memory for each element, since new rows are written"):
        flash_attn_with_kvcache(q, key, value[:, :1].expand(value.shape), **NEW)
    assert rows_of(key, value) == [[], []]


def test_entries_without_new_keys():
    if not q.is_cuda:
        # What lies on a GPU is not read.
        with pytest.raises(attnc.Error, match="argument 'cache_batch_idx': expected entries of the cache from 0 to 5 .* got 9 at index 1"):
            flash_attn_with_kvcache(q, *caches(PAGES), cache_seqlens=3, cache_batch_idx=torch.tensor([0, 9]))
    # Of a sequence without keys the entry may be anything.
    flash_attn_with_kvcache(q, *caches(PAGES), cache_seqlens=counts(3, 0), cache_batch_idx=torch.tensor([0, 9]))


def test_full_to_the_last_row():
    written = caches()
    flash_attn_with_kvcache(q, *written, **{**NEW, "cache_seqlens": counts(6, 0)})
    assert rows_of(*written) == [[[0, 6], [0, 7], [1, 0], [1, 1]]] * 2
    written = caches(PAGES)
    flash_attn_with_kvcache(q, *written, **{**IN_PAGES, "cache_seqlens": counts(14, 7)})
    assert rows_of(*written) == [[[0, 7], [1, 6], [1, 7], [3, 0]]] * 2


@pytest.mark.parametrize("name", ["new", "in pages", "of entries", "without new ones", "odd head dims"])
def test_each_call_is_prepared_once(name, monkeypatch):
    """Where nothing has to be padded; and what is computed is what two calls compute, of which one writes."""
    options = {
        "new": NEW, "in pages": IN_PAGES, "of entries": {**NEW, "cache_batch_idx": counts(4, 1)}, "odd head dims": NEW,
        "without new ones": dict(cache_seqlens=counts(3, 5), alibi_slopes=torch.rand(H)),
    }[name]  # fmt: skip
    torch.manual_seed(3)
    dims = (D - 3, DV - 3) if name == "odd head dims" else (D, DV)
    entries = PAGES if "block_table" in options or "cache_batch_idx" in options else B
    written = [torch.randn(entries, ROWS, HK, dim) for dim in dims]
    query, options = q[..., : dims[0]], {**options}
    if "k" in options:
        options |= {"k": k[..., : dims[0]], "v": v[..., : dims[1]]}
    count, prepare = [], _kvcache.prepare
    for module in (_kvcache, _calls):
        monkeypatch.setattr(module, "prepare", lambda *inputs, **options: count.append(1) or prepare(*inputs, **options))
    out = flash_attn_with_kvcache(query, *written, **options)
    assert len(count) == (2 if name == "odd head dims" else 1)
    if "k" in options:
        options["cache_seqlens"] = options["cache_seqlens"] + options.pop("k").shape[1]
        del options["v"]
    torch.testing.assert_close(flash_attn_with_kvcache(query, *written, **options), out)


@pytest.mark.parametrize("lengths", [(3, 0), (-1, 3), (7, 8), (0, 9)])
def test_compiled(lengths):
    """A program does not look at lengths; the kernel refuses them, and then nothing has been written either."""
    compiled = torch.compile(flash_attn_with_kvcache, backend="aot_eager", fullgraph=True)
    written = caches()
    inputs = {**NEW, "cache_seqlens": counts(*lengths)}
    if lengths == (3, 0) or q.is_cuda:
        compiled(q, *written, **inputs)
        fitting = [[n, at + row] for n, at in enumerate(lengths) for row in range(2) if 0 <= at + row < ROWS]
        assert rows_of(*written) == [fitting, fitting]
        return
    with pytest.raises(attnc.Error, match="seq_?len.*expected lengths from 0 to 8"):
        compiled(q, *written, **inputs)
    assert rows_of(*written) == [[], []]


@pytest.mark.parametrize("seed", range(40))
def test_rows_that_do_not_fit_are_left_out(seed):
    """As it is on GPUs: no other row of the cache is touched, wherever the lengths and the pages point."""
    torch.manual_seed(seed)
    cache, new = torch.randn(PAGES, ROWS, HK, D), torch.randn(3, 3, HK, D)
    pages = torch.randperm(3 * PAGES)[:9].view(3, 3) - PAGES
    positions = torch.randint(-3, ROWS + 3, (3, 3))
    fits = (pages >= 0) & (pages < PAGES) & (positions >= 0) & (positions < ROWS) & (seed % 8 > 0)
    wanted = cache.clone()
    for n, row in fits.nonzero().tolist():
        wanted[pages[n, row], positions[n, row]] = new[n, row]
    _kvcache._write_what_fits(cache, new, pages, positions, fits)
    assert torch.equal(cache, wanted)
