"""attnc.torch with keys in pages, and with a cache of them, against the formulas in float64."""

import re

import pytest
import torch
import torch_reference

import attnc
from attnc.torch import flash_attn_varlen_func, flash_attn_with_kvcache, varlen_attn

B, SQ, H, HK, D, DV = 3, 4, 4, 2, 32, 24
PAGES, ROWS, ENTRIES = 40, 16, 9
torch.manual_seed(0)
q = torch.randn(B, SQ, H, D)
k_cache, v_cache = torch.randn(PAGES, ROWS, HK, D), torch.randn(PAGES, ROWS, HK, DV)
table = torch.randperm(PAGES)[: B * ENTRIES].view(B, ENTRIES).int()
lengths = torch.tensor([100, 7, ENTRIES * ROWS], dtype=torch.int32)
slopes = torch.rand(H)


def rows_of(cache, pages=table):
    """The rows of each sequence, one behind the other."""
    return cache[pages.long()].flatten(1, 2)


def expected(query, key, value, counts, **meaning):
    """The output and the LSE of each sequence, whose last query stands at the last of so many keys."""
    results = [
        torch_reference.attention(query[n : n + 1], key[n : n + 1, :count], value[n : n + 1, :count], **meaning)
        for n, count in enumerate(counts)
    ]
    return tuple(torch.cat(parts) for parts in zip(*results, strict=True))


def check(got, wanted):
    for found, expected in zip(got, wanted, strict=True):
        torch.testing.assert_close(found.double(), expected.reshape(found.shape), atol=3e-5, rtol=0)


CASES = {
    "plain": ({}, {}),
    "causal": (dict(causal=True), dict(causal=True)),
    "window": (dict(causal=True, window_size=(20, 0)), dict(window=(20, 0))),
    "cap": (dict(softcap=2.0), dict(softcap=2.0)),
    "scale": (dict(softmax_scale=0.5, num_splits=3), dict(scale=0.5)),
    "alibi": (dict(alibi_slopes=slopes), dict(slopes=slopes)),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("paged", [True, False])
def test_cache(name, paged):
    options, meaning = CASES[name]
    key, value = rows_of(k_cache), rows_of(v_cache)
    caches = (k_cache, v_cache) if paged else (key, value)
    # The second call goes by what is known of the first.
    for _ in range(2):
        got = flash_attn_with_kvcache(
            q, *caches, cache_seqlens=lengths, block_table=table if paged else None, return_softmax_lse=True, **options
        )
        check(got, expected(q, key, value, lengths.tolist(), **meaning))


def test_whole_cache():
    key, value = rows_of(k_cache), rows_of(v_cache)
    check([flash_attn_with_kvcache(q, k_cache, v_cache, block_table=table)], expected(q, key, value, [ENTRIES * ROWS] * B)[:1])
    check([flash_attn_with_kvcache(q, key, value, cache_seqlens=50)], expected(q, key, value, [50] * B)[:1])


@pytest.mark.parametrize("paged", [True, False])
def test_new_keys_are_written_behind_the_others(paged):
    key_cache, value_cache = (k_cache.clone(), v_cache.clone()) if paged else (rows_of(k_cache), rows_of(v_cache))
    new_keys, new_values = torch.randn(B, SQ, HK, D), torch.randn(B, SQ, HK, DV)
    before = torch.tensor([96, 0, 13], dtype=torch.int32)
    got = flash_attn_with_kvcache(
        q, key_cache, value_cache, new_keys, new_values, cache_seqlens=before, block_table=table if paged else None, causal=True
    )
    key, value = (rows_of(key_cache), rows_of(value_cache)) if paged else (key_cache, value_cache)
    for n, count in enumerate(before.tolist()):
        assert torch.equal(key[n, count : count + SQ], new_keys[n])
        assert torch.equal(value[n, :count], rows_of(v_cache)[n, :count])
    check([got], expected(q, key, value, [count + SQ for count in before.tolist()], causal=True)[:1])


def test_entries_of_a_cache():
    key, value = torch.randn(5, 64, HK, D), torch.randn(5, 64, HK, DV)
    entries = torch.tensor([4, 0, 2])
    got = flash_attn_with_kvcache(q, key, value, cache_seqlens=50, cache_batch_idx=entries, causal=True)
    check([got], expected(q, key[entries], value[entries], [50] * B, causal=True)[:1])


def packed(call):
    """Queries of three sequences, the second without any."""
    counts, offsets = (3, 0, 9), torch.tensor([0, 3, 3, 12], dtype=torch.int32)
    query = torch.randn(12, H, D)
    out, lse = call(query, offsets)
    key, value, begin = rows_of(k_cache), rows_of(v_cache), 0
    for n, count in enumerate(counts):
        used = lengths[n]
        part = query[None, begin : begin + count], key[n : n + 1, :used], value[n : n + 1, :used]
        wanted, wanted_lse = torch_reference.attention(*part, causal=True)
        check([out[begin : begin + count], lse[:, begin : begin + count]], (wanted[0], wanted_lse[0]))
        begin += count


def test_packed_queries():
    keys = torch.nn.functional.pad(lengths.cumsum(0), (1, 0)).int()
    packed(lambda query, offsets: flash_attn_varlen_func(
        query, k_cache, v_cache, offsets, keys, 9, 144, causal=True, return_attn_probs=True, block_table=table)[:2])  # fmt: skip
    aux = attnc.torch.AuxRequest(lse=True)
    packed(lambda query, offsets: varlen_attn(
        query, k_cache, v_cache, offsets, None, window_size=(-1, 0), enable_gqa=True, seqused_k=lengths, block_table=table,
        return_aux=aux))  # fmt: skip


def test_compiled():
    @torch.compile(fullgraph=True, backend="aot_eager", dynamic=True)
    def decode(query, key, value, pages, counts):
        return flash_attn_with_kvcache(query, key, value, cache_seqlens=counts, block_table=pages, causal=True)

    got = decode(q, k_cache, v_cache, table, lengths)
    check([got], expected(q, rows_of(k_cache), rows_of(v_cache), lengths.tolist(), causal=True)[:1])


def test_entries_that_nobody_needs_may_hold_anything():
    odd = table.clone()
    for n, count in enumerate(lengths.tolist()):
        odd[n, -(-count // ROWS) :] = torch.iinfo(torch.int32).max
    got = flash_attn_with_kvcache(q, k_cache, v_cache, cache_seqlens=lengths, block_table=odd)
    check([got], expected(q, rows_of(k_cache), rows_of(v_cache), lengths.tolist())[:1])


def in_pages(**options):
    return flash_attn_with_kvcache(q, k_cache, v_cache, cache_seqlens=lengths, block_table=table, **options)


offsets = torch.tensor([0, 4, 8, 12], dtype=torch.int32)
#: Calls that are refused, and what the message says.
REFUSED = {
    "table of int64": (lambda: flash_attn_with_kvcache(q, k_cache, v_cache, block_table=table.long()), "'block_table': expected int32"),
    "table of others": (lambda: flash_attn_with_kvcache(q, k_cache, v_cache, block_table=table[:2]), "'block_table': expected int32 of shape [3,"),
    "no page": (lambda: flash_attn_with_kvcache(q, k_cache, v_cache, block_table=table + PAGES), "'block_table': expected pages from 0 to 39"),
    "too long": (lambda: flash_attn_with_kvcache(q, k_cache, v_cache, cache_seqlens=lengths + 99, block_table=table), "'cache_seqlens': expected lengths from 0 to 144"),
    "gradients": (lambda: flash_attn_with_kvcache(q.clone().requires_grad_(), k_cache, v_cache, block_table=table), "have no gradients"),
    "rotation": (lambda: in_pages(rotary_cos=slopes), "'rotary_cos': expected None"),
    "left padding": (lambda: in_pages(cache_leftpad=lengths), "'cache_leftpad': expected None"),
    "both": (lambda: in_pages(cache_batch_idx=lengths), "'cache_batch_idx': expected None"),
    "keys alone": (lambda: in_pages(k=q[:, :, :HK]), "argument 'v': expected new keys and values"),
    "new without lengths": (lambda: flash_attn_with_kvcache(q, k_cache, v_cache, q[:, :, :HK], q[:, :, :HK], block_table=table), "'cache_seqlens': expected how many"),
    "values of other pages": (lambda: flash_attn_with_kvcache(q, k_cache, v_cache[:, :8], block_table=table), "'v_cache': expected 16 rows of a page"),
    "packed keys": (lambda: varlen_attn(q[0], k_cache[0], v_cache[0], offsets, None, enable_gqa=True, block_table=table), "'key': expected 4 dimensions"),
    "no lengths": (lambda: varlen_attn(q.flatten(0, 1), k_cache, v_cache, offsets, None, enable_gqa=True, block_table=table), "'seqused_k': expected how many keys"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    call, message = REFUSED[name]
    if name in ("no page", "too long") and q.is_cuda:
        pytest.skip("what lies on a GPU is not read")
    with pytest.raises(attnc.Error, match=re.escape(message)):
        call()
