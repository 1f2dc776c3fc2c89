"""attnc.jax.MaskInfo: what masks say, against plain arrays, and what attention makes of them."""

import re

import jax
import numpy as np
import pytest
from jax import numpy as jnp

import attnc
from attnc.jax import MaskInfo, flash_attention, mask_to_segment_ids, segment_ids_to_mask, segment_ids_to_qkv_masks

B, S, H, D = 2, 12, 2, 16
ids = jnp.array([[0, 0, 0, 1, 1, 2, 2, 2, 2, 5, -1, -1], [3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1]], jnp.int32)
padding = jnp.array([[1] * 9 + [0] * 3, [1] * 4 + [0] * 8], jnp.int32)
random = np.random.default_rng(0)
q, k, v = jnp.asarray(random.standard_normal((3, B, S, H, D), dtype=np.float32))
row, column = np.arange(S)[:, None], np.arange(S)
same = np.asarray((ids[:, None, :, None] == ids[:, None, None]) & (ids >= 0)[:, None, :, None])
both = np.asarray((padding[:, None, :, None] & padding[:, None, None]) != 0)
dense = random.random((B, 1, S, S)) < 0.5
types = jnp.array([[0, 0, 1, 1, 1, 0, 0, 2, 2, 2, 0, 0], [1] * 6 + [0] * 6])
same_type = np.asarray((types[:, None, :, None] == types[:, None, None]) & (types != 0)[:, None, :, None])

#: A mask, and what it keeps.
CASES = {
    "segments": (MaskInfo.from_segments(ids), same),
    "padding": (MaskInfo.from_segments(padding, is_attn_mask=True), both),
    "mask of padding": (MaskInfo.from_attention_mask(padding), both),
    "dense": (MaskInfo.from_attention_mask(dense), dense),
    "dense, without heads": (MaskInfo.from_attention_mask(dense[:, 0].astype(np.int32)), dense),
    "nothing but sizes": (MaskInfo.dynamic_init(input_ids=ids), np.ones((B, 1, S, S), bool)),
    "causal": (MaskInfo.from_segments(ids).apply_causal(), same & (column <= row)),
    "causal, moved": (MaskInfo.from_attention_mask(dense).apply_causal(2), dense & (column <= row + 2)),
    "causal, moved by entry": (
        MaskInfo.from_segments(ids).apply_causal(jnp.array([0, 3])),
        same & (column <= row + np.array([0, 3])[:, None, None, None]),
    ),
    "window": (MaskInfo.from_segments(ids).apply_sliding_window(2), same & (abs(row - column) <= 2)),
    "two sides": (
        MaskInfo.from_segments(ids).apply_sliding_window((3, 1), offset=1),
        same & (column >= row + 1 - 3) & (column <= row + 1 + 1),
    ),
    "chunks": (MaskInfo.from_segments(ids).apply_chunked(4), same & (row // 4 == column // 4) & (column <= row)),
    "all together": (
        MaskInfo.from_segments(padding, is_attn_mask=True).apply_causal().apply_sliding_window((4, 0)),
        both & (column <= row) & (row - column <= 4),
    ),
    "types": (MaskInfo.from_segments(ids).apply_causal().apply_token_type_ids(types), (same & (column <= row)) | same_type),
    "types alone": (MaskInfo.from_segments(ids).apply_token_type_ids(types, combine="replace"), same_type),
    "types as well": (MaskInfo.from_segments(ids).apply_token_type_ids(types, combine="intersect"), same & same_type),
}


@pytest.mark.parametrize("name", CASES)
def test_mask(name):
    info, keeps = CASES[name]
    np.testing.assert_array_equal(info.attention_mask, np.broadcast_to(keeps, (B, 1, S, S)))
    assert info.shape == (B, S, S) and info.is_self_attention()
    assert (info.create_bias(jnp.bfloat16) == jnp.where(keeps, 0, jnp.finfo(jnp.bfloat16).min)).all()


@pytest.mark.parametrize("name", ["dense", "causal", "causal, moved by entry", "all together", "types"])
def test_attention(name):
    info, keeps = CASES[name]
    wanted = flash_attention(q, k, v, attention_mask=jnp.asarray(keeps))
    np.testing.assert_allclose(flash_attention(q, k, v, mask_info=info), wanted, atol=3e-5)
    # A mask is an argument of a program as arrays are.
    found = jax.jit(lambda info: flash_attention(q, k, v, mask_info=info))(info)
    np.testing.assert_allclose(found, wanted, atol=3e-5)


def test_rules_count_rows_from_the_first():
    info = MaskInfo.from_segments(ids[:, :5], ids).apply_causal(3).apply_sliding_window((4, 4))
    keeps = info.attention_mask
    assert keeps.shape == (B, 1, 5, S) and keeps[0, 0, 3, 4] and not keeps[0, 0, 0, 4]
    out = flash_attention(q[:, :5], k, v, mask_info=info)
    np.testing.assert_allclose(out, flash_attention(q[:, :5], k, v, attention_mask=keeps), atol=3e-5)


def test_rules_are_no_tables():
    from attnc._options import Options, trace

    info = MaskInfo.from_segments(ids).apply_causal()
    text = trace(Options(("q_segment_ids", "kv_segment_ids"), rules=info.rules), q, k, v, ids, ids).text
    assert "tensor<?x?xi32>" in text and "xi1>" not in text


def test_segments():
    np.testing.assert_array_equal(segment_ids_to_mask(ids), same)
    q_mask, kv_mask, mask = segment_ids_to_qkv_masks(ids[:, :3], ids, jnp.float32)
    assert mask.dtype == jnp.float32 and mask.shape == (B, 1, 3, S)
    np.testing.assert_array_equal(kv_mask, ids >= 0)
    np.testing.assert_array_equal(q_mask, ids[:, :3] >= 0)
    for given in (same, same[:, 0], same[0, 0]):
        found = mask_to_segment_ids(jnp.asarray(given))
        # Ids are numbered as they come.
        np.testing.assert_array_equal(segment_ids_to_mask(tuple(array.reshape(-1, S) for array in found)), given.reshape(-1, 1, S, S))
    assert mask_to_segment_ids(jnp.asarray(same.repeat(2, 1)), per_head=True)[0].shape == (B, 2, S)


def test_positions():
    rows, keys = MaskInfo.from_segments(ids).get_or_compute_positions()
    np.testing.assert_array_equal(rows[0], [0, 1, 2, 0, 1, 0, 1, 2, 3, 0, -1, -1])
    np.testing.assert_array_equal(keys[1], [0, 1, *range(9), 2**31 - 1])
    info = MaskInfo.from_segments(padding, is_attn_mask=True)
    np.testing.assert_array_equal(info.q_position_ids[1], [0, 1, 2, 3] + [3] * 8)
    np.testing.assert_array_equal(info.get_qkv_masks()[0], padding != 0)


def test_lengths_of_keys():
    info = MaskInfo.from_segments(jnp.zeros((B, S), jnp.int32)).apply_causal()
    lengths = jnp.array([7, 12])
    found = info.apply_kv_lengths(lengths, q_len=3).attention_mask
    for entry, length in enumerate((7, 12)):
        np.testing.assert_array_equal(found[entry, 0], ((column <= row) & (column < length))[length - 3 : length])
    found = info.apply_kv_lengths(lengths, q_len=1, sliding_window=4)
    assert found.shape == (B, 1, 4) and found.attention_mask.all() and found.kv_segment_ids.shape == (B, 4)


def test_numbers_of_numpy():
    """They stay rules, as Python's numbers do."""
    info = MaskInfo.from_segments(ids)
    found = info.apply_causal(np.int64(1)).apply_sliding_window(np.int32(3), offset=np.int8(1)).apply_chunked(jnp.int32(4))
    assert found.rules == info.apply_causal(1).apply_sliding_window(3, offset=1).apply_chunked(4).rules
    np.testing.assert_allclose(
        flash_attention(q, k, v, mask_info=found), flash_attention(q, k, v, attention_mask=found.attention_mask), atol=3e-5
    )


def test_windows_of_decoding():
    info = MaskInfo.from_segments(ids)
    found = info.apply_sliding_window((3, 0), mode="decode", index=jnp.array([5, 9])).attention_mask
    keeps = same & (column <= row) & (row - column <= 3)
    np.testing.assert_array_equal(found[0, 0, 0], keeps[0, 0, 5, 2:6])
    np.testing.assert_array_equal(found[1, 0, 0], keeps[1, 0, 9, 6:10])
    np.testing.assert_array_equal(info.apply_sliding_window((3, 0), mode="prefill").attention_mask, keeps[..., -4:])


def test_random():
    info = MaskInfo.from_random(2, 50, 60, sparsity=0.8, seed=1)
    assert info.shape == (2, 50, 60) and 0.15 < info.attention_mask.mean() < 0.25
    assert (info.attention_mask == MaskInfo.from_random(2, 50, 60, sparsity=0.8, seed=1).attention_mask).all()


def test_shardings():
    mesh = jax.make_mesh((1, 1), ("dp", "tp"))
    info = MaskInfo.from_attention_mask(dense, batch_axis_name="dp")
    assert info.get_shardings(mesh=mesh).attention_mask == jax.P("dp", "tp", None, None)
    with pytest.raises(ValueError, match="mesh: expected an axis 'fsdp', got dp, tp"):
        MaskInfo.from_segments(ids).get_shardings(mesh=mesh)
    assert MaskInfo.get_empty_sharding() == (None,) * 5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MaskInfo().attention_mask, "the MaskInfo is empty"),
        (lambda: MaskInfo().apply_causal(), "the MaskInfo is empty"),
        (lambda: MaskInfo.dynamic_init(), "expected one of mask_info, input_ids, inputs_embeds and attention_mask, got none"),
        (lambda: MaskInfo.from_segments(ids[0]), "q_segment_ids: expected 2 dimensions, [B, S], got 1"),
        (lambda: MaskInfo.from_attention_mask(ids[0]), "attention_mask: expected 2, 3 or 4 dimensions, got 1"),
        (lambda: MaskInfo.from_random(1, 2, sparsity=2.0), "sparsity: expected a number from 0 to 1, got 2.0"),
        (lambda: MaskInfo.from_segments(ids).apply_sliding_window(-1), "sliding_window: expected a number of 0 or more"),
        (lambda: MaskInfo.from_segments(ids).apply_sliding_window(1, mode="decode"), "index: expected the row of the query"),
        (lambda: MaskInfo.from_segments(ids).apply_sliding_window(1, mode="x"), "mode: expected 'default', 'decode' or"),
        (lambda: MaskInfo.from_segments(ids).apply_chunked(0), "chunk_size: expected a number above 0, got 0"),
        (lambda: MaskInfo.from_segments(ids).apply_kv_lengths(ids[:, 0]), "q_len: expected the number of queries to keep"),
        (lambda: MaskInfo.from_segments(ids).apply_token_type_ids(types, combine="x"), "combine: expected 'union'"),
        (lambda: MaskInfo.from_segments(ids).apply_token_type_ids(types, zero_policy="x"), "zero_policy: expected 'q'"),
        (lambda: MaskInfo.from_segments(ids).apply_token_type_ids(types[0]), "token_type_ids: expected [B, S] for one B"),
        (lambda: mask_to_segment_ids(jnp.ones(3)), "mask: expected 2, 3 or 4 dimensions, got 1"),
    ],
)
def test_refused(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call()


def test_no_kernel_for_an_empty_mask():
    with pytest.raises(attnc.Error, match="mask_info: expected a MaskInfo with a mask or ids of segments, got MaskInfo"):
        flash_attention(q, k, v, mask_info=MaskInfo())
