"""Wrong calls of attnc.jax: errors name the caller's argument, what was expected and what came."""

import re
import types

import jax
import numpy as np
import pytest
from jax import numpy as jnp
from jax.sharding import PartitionSpec as P

import attnc.jax
from attnc.jax import (
    Attention,
    AutotunePolicy,
    ConfigSelectorChain,
    Executor,
    FlashAttention,
    FlashAttentionConfig,
    FlashAttn,
    MaskInfo,
    OperationMetadata,
    Tuner,
)

B, SQ, SK, H, HK, D = 2, 33, 45, 4, 2, 16
q, k = jnp.zeros((B, SQ, H, D)), jnp.zeros((B, SK, HK, D))
bias, mask = jnp.zeros((B, H, SQ, SK)), jnp.ones((B, 1, SQ, SK), bool)
q_ids, kv_ids = jnp.zeros((B, SQ), jnp.int32), jnp.zeros((B, SK), jnp.int32)
segments = dict(q_segment_ids=q_ids, kv_segment_ids=kv_ids)
packed = dict(cum_seqlens_q=jnp.array([0, SQ]), cum_seqlens_k=jnp.array([0, SK]))
mesh = jax.make_mesh((1, 1), ("x", "y"), devices=jax.devices()[:1], axis_types=(jax.sharding.AxisType.Auto,) * 2)
spec = P("x", None, "y", None)
split = dict(mesh=mesh, in_specs=(spec, spec, spec), out_specs=spec)


def flash(query=q, key=k, value=k, *others, **options):
    return attnc.jax.flash_attention(query, key, value, *others, **options)


def one(**options):
    """Of one batch entry."""
    return flash(q[:1], k[:1], k[:1], **options)


def attend(**options):
    return attnc.jax.attention(q, k, k, **options)


def dot(*others, **options):
    return attnc.jax.dot_product_attention(q, k, k, *others, **options)


def like(array, *shape, dtype=None):
    return jnp.zeros(shape or array.shape, dtype or array.dtype)


#: What is called, and the message of the error.
CALLS = {
    # Queries, keys and values.
    "no array": (lambda: flash(3), "argument 'query': expected an array, got int"),
    "no array of keys": (lambda: flash(key=[1.0]), "argument 'key': expected an array, got list"),
    "no batch": (lambda: flash(q[0]), "argument 'query': expected 4 dimensions, [B, S, H, D], got 3"),
    "integers": (
        lambda: flash(q.astype(jnp.int32)), "argument 'query': expected float32, float16 or bfloat16, got int32",
    ),
    "two types": (
        lambda: flash(value=k.astype(jnp.bfloat16)), "argument 'value': expected float32, as 'query' has, got bfloat16",
    ),
    "heads": (
        lambda: flash(key=like(k, B, SK, 3, D)),
        "argument 'key': expected a number of heads that divides the 4 of 'query', got 3 [S10]",
    ),
    "no heads": (
        lambda: flash(key=k[:, :, :0]),
        "argument 'key': expected a number of heads that divides the 4 of 'query', got 0",
    ),
    "batch entries": (lambda: flash(value=k[:1]), "argument 'value': expected 2 batch entries, got 1"),
    "keys": (lambda: flash(value=k[:, :4]), "argument 'value': expected 45 keys, got 4"),
    "head dim": (lambda: flash(key=k[..., :8]), "argument 'key': expected 16 for the head dim, got 8"),
    "dot: dimensions": (
        lambda: attnc.jax.dot_product_attention(q[0, 0], k, k), "argument 'query': expected 4 dimensions, [B, S, H, D], got 2",
    ),
    # Numbers and words.
    "causal": (lambda: flash(causal="no"), "causal: expected True or False, got 'no'"),
    "causal of a number": (lambda: flash(causal=2), "causal: expected True or False, got 2"),
    "causal, traced": (
        lambda: jax.jit(lambda c: flash(causal=c))(True),
        "causal: expected True or False, got a value that is traced",
    ),
    "is_causal": (lambda: dot(is_causal=None), "is_causal: expected True or False, got None"),
    "return_lse": (lambda: flash(return_lse="yes"), "return_lse: expected True or False, got 'yes'"),
    "return_residual": (lambda: dot(return_residual=1), "return_residual: expected True or False, got 1"),
    "deterministic": (lambda: attend(deterministic=None), "deterministic: expected True or False, got None"),
    "normalize_output": (lambda: flash(normalize_output=None), "normalize_output: expected True or False, got None"),
    "softmax_scale": (lambda: flash(softmax_scale="x"), "softmax_scale: expected a finite number or None, got 'x' [S18]"),
    "softmax_scale of all": (
        lambda: flash(softmax_scale=jnp.ones(H)),
        "softmax_scale: expected a finite number or None, got an array of float32 [4] [S18]",
    ),
    "softmax_scale of all, traced": (
        lambda: jax.jit(lambda s: flash(softmax_scale=s))(jnp.ones(H)),
        "softmax_scale: expected a finite number or None, got a value that is traced [S18]",
    ),
    "NaN": (lambda: flash(softmax_scale=float("nan")), "softmax_scale: expected a finite number or None, got nan [S18]"),
    "too large": (lambda: dot(scale=1e300), "scale: expected a finite number or None, got 1e+300 [S18]"),
    **{
        f"cap of {cap!r}": (
            lambda cap=cap: flash(logits_soft_cap=cap), f"logits_soft_cap: expected a number above 0, got {cap!r} [S4]",
        )
        for cap in (0.0, -1.0, "x", True, float("inf"), float("nan"))
    },
    **{
        f"window of {window!r}": (
            lambda window=window: flash(sliding_window=window),
            f"sliding_window: expected a number of 0 or more, or two of them, got {window!r} [S5]",
        )
        for window in (-1, 1.5, "x", (1,), (1, 2, 3), (1, -1), (None, 3), True)
    },
    "local_window_size": (
        lambda: dot(local_window_size=-1),
        "local_window_size: expected a number of 0 or more, or two of them, got -1 [S5]",
    ),
    "dropout_prob": (
        lambda: flash(dropout_prob=2.0, dropout_seed=1),
        "dropout_prob: expected a number from 0 to 1, got 2.0 [S9]",
    ),
    "dropout_prob of text": (lambda: flash(dropout_prob="x"), "dropout_prob: expected a number from 0 to 1, got 'x' [S9]"),
    "cap, traced": (
        lambda: jax.jit(lambda cap: flash(logits_soft_cap=cap))(2.0),
        "logits_soft_cap: expected a number above 0, got a value that is traced [S4]",
    ),
    "long seed": (
        lambda: flash(dropout_prob=0.5, dropout_seed=2**63), f"dropout_seed: expected an integer of 64 bits, got {2**63} [S9]",
    ),
    "a key as seed": (
        lambda: flash(dropout_prob=0.5, dropout_seed=jax.random.key(0)),
        "dropout_seed: expected an integer of 64 bits, got a key of JAX: jax.random.bits(key) draws one [S9]",
    ),
    "seed of text": (lambda: flash(dropout_seed="x"), "dropout_seed: expected an integer of 64 bits, got 'x' [S9]"),
    "platform": (
        lambda: flash(platform="metal"),
        "platform: expected one of auto, triton, pallas, cuda, xla, cpu, nvptx, nvrtc, got 'metal'",
    ),
    "platform of a number": (lambda: flash(platform=3), "platform: expected one of auto, "),
    "implementation": (lambda: dot(implementation="mosaic"), "implementation: expected one of xla, cudnn, got 'mosaic'"),
    "precision": (
        lambda: flash(precision="nonsense"),
        "precision: expected a precision of JAX or its name, or two of them, got 'nonsense'",
    ),
    "precision of a number": (
        lambda: flash(precision=3),
        "precision: expected a precision of JAX or its name, or two of them, got 3",
    ),
    "three precisions": (
        lambda: flash(precision=("high",) * 3),
        "precision: expected a precision of JAX or its name, or two of them",
    ),
    "logits_dtype": (
        lambda: flash(logits_dtype=jnp.int32),
        "logits_dtype: expected float32, float16, bfloat16 or float64, got int32",
    ),
    "logits_dtype of text": (
        lambda: flash(logits_dtype="x"),
        "logits_dtype: expected float32, float16, bfloat16 or float64, got 'x'",
    ),
    "softmax_dtype": (
        lambda: attend(softmax_dtype=bool),
        "softmax_dtype: expected float32, float16, bfloat16 or float64, got bool",
    ),
    "dtype": (lambda: attend(dtype=jnp.int8), "dtype: expected float32, float16 or bfloat16, got int8"),
    "init_bias": (
        lambda: attend(init_bias=bias),
        "init_bias: expected a function without arguments, got an array of float32 [2, 4, 33, 45]",
    ),
    "probability of attention": (
        lambda: attend(dropout_prob=2, deterministic=False), "dropout_prob: expected a number from 0 to 1, got 2 [S9]",
    ),
    "no probability": (lambda: attend(dropout_prob="x"), "dropout_prob: expected a number from 0 to 1, got 'x' [S9]"),
    "dropout_rng": (
        lambda: attend(dropout_rng=3, dropout_prob=0.5, deterministic=False), "dropout_rng: expected a key of JAX, got 3",
    ),
    "cfg": (lambda: flash(cfg="fast"), "cfg: expected a FlashAttentionConfig, got 'fast'"),
    "cfg of a dict": (lambda: flash(cfg={"schedule": None}), "cfg: expected a FlashAttentionConfig, got dict"),
    "schedule": (lambda: FlashAttentionConfig(schedule=3), "schedule: expected '#attn.schedule<...>' or None, got 3"),
    "fwd_params": (lambda: FlashAttentionConfig(fwd_params=3), "fwd_params: expected FwdParams, got 3"),
    # Arrays that go with them.
    "bias of two dimensions": (
        lambda: flash(q, k, k, bias[0, 0]),
        "argument 'bias': expected [B, H, Sq, Sk], got 2 dimensions",
    ),
    "bias of integers": (
        lambda: flash(q, k, k, like(bias, dtype=jnp.int32)),
        "argument 'bias': expected float32, float16 or bfloat16, got int32",
    ),
    "bias of three": (
        lambda: flash(q, k, k, like(bias, 3, H, SQ, SK)),
        "argument 'bias': expected 1 or 2 for the batch entries, got 3",
    ),
    "bias of five heads": (
        lambda: flash(q, k, k, like(bias, B, 5, SQ, SK)),
        "argument 'bias': expected 1 or 4 for the heads, got 5",
    ),
    "short bias": (lambda: flash(q, k, k, bias[..., :2]), "argument 'bias': expected 1 or 45 for the keys, got 2"),
    "no bias": (lambda: flash(q, k, k, 1.0), "argument 'bias': expected an array, got float"),
    "short mask": (
        lambda: flash(attention_mask=mask[..., :3]),
        "argument 'attention_mask': expected 1 or 45 for the keys, got 3",
    ),
    "long mask": (
        lambda: flash(attention_mask=like(mask, B, 1, SK, SK)),
        "argument 'attention_mask': expected 1 or 33 for the queries, got 45",
    ),
    "mask of padding": (
        lambda: flash(attention_mask=kv_ids),
        "argument 'attention_mask': expected [B, H, Sq, Sk], got 2 dimensions",
    ),
    "mask of floats": (
        lambda: flash(attention_mask=mask * 1.0), "argument 'attention_mask': expected bool or integers, got float32",
    ),
    "mask of jax.nn": (lambda: dot(mask=mask.astype(jnp.int32)), "argument 'mask': expected bool, got int32"),
    "mask info": (
        lambda: flash(mask_info=MaskInfo(mask[..., :7])),
        "argument 'mask_info.attention_mask': expected 1 or 45 for the keys, got 7",
    ),
    "segments of a mask info": (
        lambda: attend(mask_info=MaskInfo.from_segments(kv_ids)),
        "argument 'mask_info.q_segment_ids': expected 1 or 33 for the queries, got 45",
    ),
    "array as mask info": (
        lambda: flash(mask_info=mask),
        "mask_info: expected a MaskInfo with a mask or ids of segments, got ArrayImpl",
    ),
    "empty mask info": (
        lambda: flash(mask_info=MaskInfo()),
        "mask_info: expected a MaskInfo with a mask or ids of segments, got MaskInfo",
    ),
    "two masks": (
        lambda: flash(mask_info=MaskInfo(mask), attention_mask=mask),
        "mask_info and attention_mask are both given: expected one of them",
    ),
    "mask info and ids": (
        lambda: flash(mask_info=MaskInfo(mask), kv_segment_ids=kv_ids),
        "mask_info and kv_segment_ids are both given: expected one of them",
    ),
    "one kind of ids": (
        lambda: flash(q_segment_ids=q_ids),
        "q_segment_ids and kv_segment_ids: expected both or neither, got one",
    ),
    "ids of floats": (
        lambda: flash(q_segment_ids=q_ids * 1.5, kv_segment_ids=kv_ids),
        "argument 'q_segment_ids': expected integers, got float32",
    ),
    "short ids": (
        lambda: flash(q_segment_ids=q_ids, kv_segment_ids=q_ids),
        "argument 'kv_segment_ids': expected 1 or 45 for the keys, got 33",
    ),
    "ids without a batch": (
        lambda: flash(q_segment_ids=q_ids[0], kv_segment_ids=kv_ids),
        "argument 'q_segment_ids': expected [B, Sq], got 1 dimensions",
    ),
    "sinks of integers": (
        lambda: flash(q, k, k, None, None, None, like(q, H, 1, dtype=jnp.int32)),
        "argument 'softmax_aux': expected float32, float16 or bfloat16, got int32",
    ),
    "sinks of three heads": (
        lambda: flash(softmax_aux=like(q, 3, 1)), "argument 'softmax_aux': expected [4, n] or [n], got [3, 1] [S6]",
    ),
    "one sink": (lambda: flash(softmax_aux=like(q)[0, 0, 0, 0]), "argument 'softmax_aux': expected [4, n] or [n], got [] [S6]"),
    "one kind of cum_seqlens": (
        lambda: one(cum_seqlens_q=packed["cum_seqlens_q"]),
        "cum_seqlens_q and cum_seqlens_k: expected both or neither, got one",
    ),
    "packed batch": (lambda: flash(**packed), "argument 'query': expected one batch entry with cum_seqlens_q, got 2 [S11]"),
    "packed segments": (
        lambda: one(**packed, q_segment_ids=q_ids[:1], kv_segment_ids=kv_ids[:1]),
        "segment ids are both given: expected one",
    ),
    "cum_seqlens of floats": (
        lambda: one(cum_seqlens_q=jnp.array([0.0, SQ]), cum_seqlens_k=packed["cum_seqlens_k"]),
        "argument 'cum_seqlens_q': expected integers, got float32",
    ),
    "no sequences": (
        lambda: one(cum_seqlens_q=jnp.array([0]), cum_seqlens_k=jnp.array([0])),
        "argument 'cum_seqlens_q': expected [sequences + 1], got [1] [S11]",
    ),
    "more keys than queries": (
        lambda: one(cum_seqlens_q=packed["cum_seqlens_q"], cum_seqlens_k=jnp.array([0, 3, SK])),
        "cum_seqlens_k: expected the shape of cum_seqlens_q, (2,), got (3,) [S11]",
    ),
    "query_seq_lengths": (
        lambda: dot(query_seq_lengths=jnp.zeros(5, jnp.int32)),
        "argument 'query_seq_lengths': expected 2 for the batch entries, got 5",
    ),
    "lengths of floats": (
        lambda: dot(key_value_seq_lengths=jnp.ones(B)), "argument 'key_value_seq_lengths': expected integers, got float32",
    ),
    "one length": (
        lambda: dot(query_seq_lengths=jnp.int32(3)), "argument 'query_seq_lengths': expected [B], got 0 dimensions",
    ),
    # Meshes.
    "mesh": (lambda: flash(mesh="x"), "mesh: expected a mesh of JAX, got 'x'"),
    "no mesh": (lambda: flash(**split | {"mesh": None}), "mesh: expected a mesh with in_specs and out_specs, got None"),
    "no out_specs": (
        lambda: flash(**split | {"out_specs": None}),
        "mesh: expected in_specs for queries, keys and values at least",
    ),
    "one spec": (
        lambda: flash(**split | {"in_specs": spec}),
        "in_specs: expected a tuple of those of queries, keys and values",
    ),
    "spec of text": (
        lambda: flash(**split | {"in_specs": (spec, "x", spec)}),
        "in_specs: expected a PartitionSpec of up to 4 dimensions, got 'x'",
    ),
    "long spec": (
        lambda: flash(**split | {"out_specs": P(*[None] * 5)}),
        "out_specs: expected a PartitionSpec of up to 4 dimensions",
    ),
    "axis": (lambda: flash(**split | {"in_specs": (P("z"), spec, spec)}), "in_specs: expected axes of the mesh, x, y, got 'z'"),
    "LSE of a mesh": (lambda: flash(**split, return_lse=True), "mesh: the LSE is not returned here"),
    # Operations.
    "metadata": (lambda: FlashAttn("x"), "metadata: expected an OperationMetadata, got 'x'"),
    "runtime_dtype": (
        lambda: FlashAttn(OperationMetadata(runtime_dtype=jnp.int32)),
        "runtime_dtype: expected float32, float16 or bfloat16, got int32",
    ),
    "operation": (lambda: FlashAttn()(q, 3, k), "argument 'key': expected an array, got int"),
    "mask of an operation": (
        lambda: FlashAttn()(q, k, k, attention_mask=mask[..., :3]),
        "argument 'attention_mask': expected 1 or 45 for the keys, got 3",
    ),
    "cfg of an executor": (
        lambda: Executor(ConfigSelectorChain())(FlashAttention(), q, k, k, _cfg="x"),
        "cfg: expected a FlashAttentionConfig, got 'x'",
    ),
    "places": (
        lambda: Attention().run(*[None] * 17, cfg=FlashAttentionConfig()), "expected at most 16 inputs by place, got 17",
    ),
    "policy": (
        lambda: AutotunePolicy(cache_miss_fallback="x"),
        "cache_miss_fallback: expected one of autotune, heuristics, got 'x'",
    ),
    "flag of a policy": (lambda: AutotunePolicy(allow_autotune=3), "allow_autotune: expected True or False, got 3"),
    "no measurement": (lambda: Tuner(iters=0), "iters: expected a number of 1 or more, got 0"),
    # Masks.
    "q_len": (
        lambda: MaskInfo.from_segments(q_ids).apply_kv_lengths(q_ids[:, 0], q_len=99),
        "q_len: expected a number above 0 and up to 33, got 99",
    ),
    "kv_lengths": (
        lambda: MaskInfo.from_segments(q_ids).apply_kv_lengths(jnp.ones(3), q_len=1),
        "kv_lengths: expected 2 integers, got an array of float32 [3]",
    ),
    "window of a mask": (
        lambda: MaskInfo(mask).apply_sliding_window("ab"),
        "sliding_window: expected a number of 0 or more, or two of them, got 'ab'",
    ),
    "chunk_size": (lambda: MaskInfo(mask).apply_chunked(2.5), "chunk_size: expected a number above 0, got 2.5"),
    "offset": (lambda: MaskInfo(mask).apply_chunked(2, offset="x"), "offset: expected an integer, got 'x'"),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_refused(name):
    call, message = CALLS[name]
    with pytest.raises((attnc.Error, TypeError, ValueError), match=re.escape(message)):
        call()


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="what arrays hold is looked at on CPUs alone")
@pytest.mark.parametrize("held", [[1, SQ], [0, 20, 10, SQ], [0, SQ + 1]])
def test_cumulative_lengths(held):
    wanted = "argument 'cum_seqlens_q': expected numbers from 0 up to at most 33, none below the one before it [S11]"
    with pytest.raises(attnc.Error, match=re.escape(wanted)):
        one(cum_seqlens_q=jnp.array(held), cum_seqlens_k=jnp.arange(len(held)))


#: What means nothing here, or the same as something else, and what it means.
ACCEPTED = {
    **{f"precision {value}": (dict(precision=value), {}) for value in (
        jax.lax.Precision.HIGHEST, "BF16_BF16_F32", ("high", "default"), jax.lax.DotAlgorithmPreset.F32_F32_F32,
    )},
    **{f"precision {value}": (dict(precision=value), dict(precision="tensorfloat32")) for value in (
        "high", (jax.lax.Precision.HIGH,) * 2,
    )},
    "logits_dtype": (dict(logits_dtype="bfloat16"), {}),
    "platform": (dict(platform="triton"), {}),
    "cfg of ejkernel": (dict(cfg=types.SimpleNamespace(platform="auto", backend="any", fwd_params=None)), {}),
    "mesh alone": (dict(mesh=mesh), {}),
    "numbers of numpy": (
        dict(softmax_scale=np.float32(0.5), sliding_window=np.int64(3), causal=np.bool_(True), logits_soft_cap=np.float16(2)),
        dict(softmax_scale=0.5, sliding_window=3, causal=True, logits_soft_cap=2.0),
    ),
    "numbers of JAX": (
        dict(softmax_scale=jnp.float32(0.5), sliding_window=(jnp.int32(3), 0)), dict(softmax_scale=0.5, sliding_window=(3, 0)),
    ),
    "everything in the window": (dict(sliding_window=2**70), {}),
    "list": (dict(sliding_window=[3, 1]), dict(sliding_window=(3, 1))),
    "arrays of numpy": (dict(attention_mask=np.asarray(mask), softmax_aux=np.zeros(2)), dict(softmax_aux=jnp.zeros(2))),
    "ids that serve all": (dict(q_segment_ids=q_ids[:1], kv_segment_ids=kv_ids[:1].astype(jnp.int8)), {}),
}  # fmt: skip


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name):
    given, meaning = ACCEPTED[name]
    query, key = jax.random.normal(jax.random.key(0), q.shape), jax.random.normal(jax.random.key(1), k.shape)
    np.testing.assert_array_equal(flash(query, key, key, **given), flash(query, key, key, **meaning))


def test_outputs_are_normalized():
    """Whatever is asked for, as ejkernel has it."""
    assert jnp.array_equal(flash(normalize_output=False), flash())
