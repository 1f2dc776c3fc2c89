"""attnc.jax on one device, against the formulas in float64."""

import jax
import numpy as np
import plain
import pytest
from jax import numpy as jnp

import attnc
import attnc.jax

B, SQ, SK, H, HK, D = 2, 33, 45, 4, 2, 16
random = np.random.default_rng(0)
q = jnp.asarray(random.standard_normal((B, SQ, H, D), dtype=np.float32))
k, v = jnp.asarray(random.standard_normal((2, B, SK, HK, D), dtype=np.float32))
bias = jnp.asarray(random.standard_normal((B, H, SQ, SK), dtype=np.float32))
head_bias = jnp.asarray(random.standard_normal((1, H, 1, SK), dtype=np.float32))
mask = jnp.asarray(random.random((B, 1, SQ, SK)) < 0.6)
q_ids = jnp.asarray(np.sort(random.integers(-1, 3, (B, SQ)), axis=1), jnp.int32)
kv_ids = jnp.asarray(np.sort(random.integers(-1, 3, (B, SK)), axis=1), jnp.int32)
sinks = jnp.asarray(random.standard_normal((H, 2), dtype=np.float32))


def reference(q, k, v, *, bias=None, causal=False, window=None, softcap=None, keep=None, sinks=None, scale=None, shift=SK - SQ):
    """Attention by the formulas, in JAX, so that it has gradients."""
    k, v = (jnp.repeat(array, q.shape[2] // k.shape[2], axis=2) for array in (k, v))
    logits = jnp.einsum("bihd,bjhd->bhij", q, k, precision="highest") * (scale or q.shape[-1] ** -0.5)
    if bias is not None:
        logits = logits + bias
    if softcap is not None:
        logits = softcap * jnp.tanh(logits / softcap)
    i, j = jnp.arange(q.shape[1])[:, None] + shift, jnp.arange(k.shape[1])
    kept = jnp.ones((1, 1, q.shape[1], k.shape[1]), bool) if keep is None else keep
    if causal:
        kept = kept & (j <= i)
    if window is not None:
        kept = kept & (i - j <= window[0]) & (j - i <= window[1])
    logits = jnp.where(kept, logits, -jnp.inf)
    joined = logits
    if sinks is not None:
        extra = jnp.broadcast_to(sinks.reshape(-1, 1, sinks.shape[-1]), (*logits.shape[:3], sinks.shape[-1]))
        joined = jnp.concatenate([logits, extra], axis=-1)
    top = jax.lax.stop_gradient(jnp.maximum(joined.max(-1, keepdims=True), -1e30))
    total = jnp.exp(joined - top).sum(-1, keepdims=True)
    weights = jnp.exp(logits - top) / jnp.where(total == 0, 1, total)
    return jnp.einsum("bhij,bjhd->bihd", weights, v, precision="highest")


segments = dict(q_segment_ids=q_ids, kv_segment_ids=kv_ids)
same_segment = ((q_ids[:, :, None] == kv_ids[:, None]) & (q_ids[:, :, None] >= 0))[:, None]


class Info:
    """A mask as ejkernel's MaskInfo holds it."""

    def __init__(self, **held):
        self.__dict__.update(held)


#: Arguments of flash_attention before the '/', its keywords, and what they mean.
CASES = {
    "plain": ((), {}, {}),
    "causal": ((), dict(causal=True), dict(causal=True)),
    "scale": ((), dict(softmax_scale=0.5), dict(scale=0.5)),
    "window": ((), dict(sliding_window=5), dict(window=(5, 5))),
    "two windows": ((), dict(sliding_window=(7, 0)), dict(window=(7, 0))),
    "cap": ((), dict(logits_soft_cap=2.0, causal=True), dict(softcap=2.0, causal=True)),
    "bias": ((bias,), {}, dict(bias=bias)),
    "bias under a cap": ((bias,), dict(logits_soft_cap=2.0), dict(bias=bias, softcap=2.0)),
    "broadcast bias": ((head_bias,), dict(causal=True), dict(bias=head_bias, causal=True)),
    "mask": ((), dict(attention_mask=mask), dict(keep=mask)),
    "mask of integers": ((), dict(attention_mask=mask[:, 0].astype(jnp.int32)), dict(keep=mask)),
    "segments": ((), dict(causal=True, **segments), dict(causal=True, keep=same_segment)),
    "mask info": ((), dict(mask_info=Info(attention_mask=mask, **segments)), dict(keep=mask)),
    "mask info of segments": ((), dict(mask_info=Info(attention_mask=None, **segments)), dict(keep=same_segment)),
    "sinks": ((None, None, None, sinks), dict(causal=True), dict(sinks=sinks, causal=True)),
    "sinks of all heads": ((None, None, None, sinks[0]), {}, dict(sinks=jnp.tile(sinks[0], (H, 1)))),
}


@pytest.mark.parametrize("name", CASES)
def test_flash_attention(name):
    others, options, meaning = CASES[name]
    wanted = reference(q, k, v, **meaning)
    np.testing.assert_allclose(attnc.jax.flash_attention(q, k, v, *others, **options), wanted, atol=3e-5)

    def loss(function):
        return lambda *inputs: (function(*inputs) * jnp.cos(wanted * 9)).sum()

    ours = jax.jit(jax.grad(loss(lambda *inputs: attnc.jax.flash_attention(*inputs, *others, **options)), (0, 1, 2)))(q, k, v)
    theirs = jax.grad(loss(lambda *inputs: reference(*inputs, **meaning)), (0, 1, 2))(q, k, v)
    for gradient, expected in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(gradient, expected, atol=3e-4)


def test_packed_sequences():
    queries, keys = [0, 5, 5, 20, 30], [0, 9, 12, 27, 45]
    options = dict(causal=True, sliding_window=(6, 0))

    def packed(q, k, v):
        cumulative = dict(cum_seqlens_q=jnp.array(queries, jnp.uint8), cum_seqlens_k=np.array(keys))
        return attnc.jax.flash_attention(q[:1], k[:1], v[:1], **options, **cumulative)

    def one_by_one(q, k, v):
        outs = []
        for a, b, c, d in zip(queries, queries[1:], keys, keys[1:]):
            if a < b:
                outs.append(reference(q[:1, a:b], k[:1, c:d], v[:1, c:d], causal=True, window=(6, 0), shift=d - c - (b - a)))
        # Rows behind the last sequence are 0.
        return jnp.concatenate([*outs, jnp.zeros_like(q[:1, queries[-1] :])], axis=1)

    np.testing.assert_allclose(jax.jit(packed)(q, k, v), one_by_one(q, k, v), atol=3e-5)
    ours, theirs = (jax.grad(lambda *x: (f(*x) ** 2).sum(), (0, 1, 2))(q, k, v) for f in (packed, one_by_one))
    for gradient, expected in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(gradient, expected, atol=3e-4)


def test_gradient_of_sinks():
    ours = jax.grad(lambda s: (attnc.jax.flash_attention(q, k, v, None, None, None, s) ** 2).sum())(sinks)
    theirs = jax.grad(lambda s: (reference(q, k, v, sinks=s) ** 2).sum())(sinks)
    np.testing.assert_allclose(ours, theirs, atol=3e-4)


#: Which dimensions of a bias [B, H, Sq, Sk] have one element for all.
SHARED = {
    "nothing": (), "batch": (0,), "heads": (1,), "batch and heads": (0, 1), "queries": (0, 2), "keys": (0, 3),
    "all but the heads": (0, 2, 3), "all": (0, 1, 2, 3),
}  # fmt: skip


@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16])
def test_gradient_of_a_bias(name, dtype):
    learned = bias[tuple(slice(0, 1) if dim in SHARED[name] else slice(None) for dim in range(4))].astype(dtype)
    # A cap, so that what is added to all logits of a row has a gradient too.
    options = dict(logits_soft_cap=3.0, causal=True)

    def loss(function):
        return lambda *inputs: (function(*inputs) * jnp.cos(bias[:, :, :, :D].swapaxes(1, 2) * 9)).sum()

    def ours(q, k, v, b):
        return attnc.jax.flash_attention(q, k, v, b, **options)

    def theirs(q, k, v, b):
        return reference(q, k, v, bias=b.astype(jnp.float32), softcap=3.0, causal=True)

    found = jax.jit(jax.grad(loss(ours), (0, 1, 2, 3)))(q, k, v, learned)
    wanted = jax.grad(loss(theirs), (0, 1, 2, 3))(q, k, v, learned)
    assert found[3].dtype == dtype and found[3].shape == learned.shape and abs(wanted[3]).max() > 1e-2
    for gradient, expected in zip(found, wanted, strict=True):
        np.testing.assert_allclose(gradient.astype(np.float32), expected.astype(np.float32), atol=3e-4, rtol=1e-2)


def test_gradient_of_a_bias_for_longer_sequences():
    table = jnp.pad(bias[:1], ((0, 0), (0, 0), (0, 5), (0, 3)))

    def loss(function):
        return jax.grad(lambda b: (function(b) ** 2).sum())(table)

    ours = loss(lambda b: attnc.jax.flash_attention(q, k, v, b))
    np.testing.assert_allclose(ours, loss(lambda b: reference(q, k, v, bias=b[:, :, :SQ, :SK])), atol=3e-4)


def test_a_bias_for_longer_sequences():
    table = jnp.pad(bias, ((0, 0), (0, 0), (0, 5), (0, 3)))
    for found, wanted in zip(*(attnc.jax.attention(q, k, v, b, dtype=None) for b in (table, bias)), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("shape", [(H, SQ, SK), (SQ, SK), (SK,)])
def test_dimensions_that_jax_nn_adds(shape):
    given = dict(bias=jnp.broadcast_to(bias[0, 0], (H, SQ, SK))[0] if len(shape) == 2 else jnp.zeros(shape))
    given["mask"] = jnp.broadcast_to(mask[0, 0], (H, SQ, SK)) if len(shape) == 3 else jnp.ones(shape, bool)
    wanted = jax.nn.dot_product_attention(q, k, v, **given)
    np.testing.assert_allclose(attnc.jax.dot_product_attention(q, k, v, **given), wanted, atol=3e-5)


def test_gradient_of_a_bias_of_other_functions():
    def sums(function):
        return jax.grad(lambda b: (function(b) ** 2).sum())(bias)

    wanted = sums(lambda b: reference(q, k, v, bias=b))
    np.testing.assert_allclose(sums(lambda b: attnc.jax.attention(q, k, v, b, dtype=None)[0]), wanted, atol=3e-4)
    np.testing.assert_allclose(sums(lambda b: attnc.jax.dot_product_attention(q, k, v, b)), wanted, atol=3e-4)


def test_a_bias_that_is_not_learned_costs_nothing(monkeypatch):
    """Neither where others are differentiated by the same program afterwards."""
    from attnc.jax import _call

    texts = []
    bind = _call._bind

    def seen(options, traced, backward, *others):
        texts.append(traced.backward_text if backward else "")
        return bind(options, traced, backward, *others)

    monkeypatch.setattr(_call, "_bind", seen)

    def program(scale):
        # What a program was traced for before is not traced again, and this test sees what is traced.
        return jax.jit(lambda q, b: (attnc.jax.flash_attention(q, k, v, b, softmax_scale=scale) ** 2).sum())

    first = program(0.3)
    wanted = jax.grad(lambda q, b: (reference(q, k, v, bias=b, scale=0.3) ** 2).sum(), (0, 1))(q, bias)
    for turn, (number, is_learned) in enumerate(((0, False), (1, True), (0, False), (1, True))):
        texts.clear()
        found = jax.grad(first, number)(q, bias)
        np.testing.assert_allclose(found, wanted[number], atol=3e-4)
        found = jax.grad(jax.checkpoint(first), number)(q, bias)
        np.testing.assert_allclose(found, wanted[number], atol=3e-4)
        assert all(("attn.requires_grad" in text) == is_learned for text in texts if text) and (any(texts) or turn > 1)
    texts.clear()
    second = program(0.4)
    jax.grad(lambda q: second(q + 1, jax.lax.stop_gradient(bias * q[0, 0, 0, 0])))(q)
    assert any(texts) and not any("attn.requires_grad" in text for text in texts)


def test_lse():
    out, lse = attnc.jax.flash_attention(q, k, v, causal=True, return_lse=True)
    wanted, wanted_lse = plain.attention(q, k, v, mask=lambda b, h, i, j: j <= i + SK - SQ)
    np.testing.assert_allclose(out, wanted, atol=3e-5)
    np.testing.assert_allclose(lse, wanted_lse, atol=1e-4)
    ours = jax.grad(lambda q: attnc.jax.flash_attention(q, k, v, return_lse=True)[1].sum())(q)
    assert jnp.isfinite(ours).all() and abs(ours).max() > 0.1


@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float16])
def test_short_types(dtype):
    out = attnc.jax.flash_attention(*(array.astype(dtype) for array in (q, k, v)), causal=True)
    assert out.dtype == dtype
    np.testing.assert_allclose(out.astype(np.float32), reference(q, k, v, causal=True), atol=3e-2)


def test_dropout():
    def attend(seed, probability=0.5):
        return attnc.jax.flash_attention(q, k, v, dropout_prob=probability, dropout_seed=seed)

    np.testing.assert_array_equal(attend(1), attend(1))
    assert abs(attend(1) - attend(2)).max() > 0.1
    assert abs(attend(1) - attend(1, 0.0)).max() > 0.1
    # The mean over seeds is what there is without.
    mean = sum(attend(seed) for seed in range(64)) / 64
    assert abs(mean - attend(0, 0.0)).mean() < 0.1 < abs(attend(1) - attend(0, 0.0)).mean()


def test_attention():
    def weights(**meaning):
        # The weights are what identity matrices as values give.
        eye = jnp.broadcast_to(jnp.eye(SK)[None, :, None], (B, SK, HK, SK))
        return jnp.moveaxis(reference(q, k, eye, **meaning), 1, 2)

    meaning = dict(sinks=sinks, causal=True, softcap=3.0)
    out, found = attnc.jax.attention(q, k, v, None, None, sinks, causal=True, logits_soft_cap=3.0, dtype=None)
    np.testing.assert_allclose(out, reference(q, k, v, **meaning), atol=3e-5)
    np.testing.assert_allclose(found, weights(**meaning), atol=3e-5)
    out, found = attnc.jax.attention(q, k, v, init_bias=lambda: bias)
    assert out.dtype == found.dtype == jnp.bfloat16
    np.testing.assert_allclose(found.astype(np.float32), weights(bias=bias), atol=2e-2)

    def loss(q):
        return attnc.jax.attention(q, k, v, mask_info=Info(attention_mask=mask), dtype=None)[0].sum()

    np.testing.assert_allclose(jax.grad(loss)(q), jax.grad(lambda q: reference(q, k, v, keep=mask).sum())(q), atol=3e-4)
    with pytest.raises(attnc.Error, match="gradients of attention's weights are not computed"):
        jax.grad(lambda q: attnc.jax.attention(q, k, v, dtype=None)[1].sum())(q)


def test_attention_drops_by_a_key():
    def attend(key, **options):
        return attnc.jax.attention(q, k, v, None, key, dropout_prob=0.5, dtype=None, **options)

    (out, dropped), (_, whole) = (attend(jax.random.key(3), deterministic=flag) for flag in (False, True))
    kept = dropped != 0
    assert 0.4 < kept.mean() < 0.6
    np.testing.assert_allclose(dropped, jnp.where(kept, 2 * whole, 0), atol=3e-5)
    np.testing.assert_allclose(out, jnp.einsum("bhij,bjhd->bihd", dropped, jnp.repeat(v, 2, axis=2)), atol=3e-5)
    assert (attend(jax.random.key(4), deterministic=False)[1] != dropped).any()
    with pytest.raises(attnc.Error, match="dropout_rng: expected a key of JAX with deterministic=False, got None"):
        attend(None, deterministic=False)
    traced = jax.jit(lambda key: attend(key, deterministic=False)[1])
    np.testing.assert_array_equal(traced(jax.random.key(3)), dropped)
    np.testing.assert_array_equal(traced(jax.random.key(4)) != 0, attend(jax.random.key(4), deterministic=False)[1] != 0)


@pytest.mark.parametrize(("seed", "traced"), [(5, jnp.int32(5)), (-5, jnp.int32(-5)), (2**32 - 5, jnp.uint32(2**32 - 5))])
def test_seeds_may_be_traced(seed, traced):
    """A program has one kernel for all seeds, which draws of a number what it draws of an array."""
    count = 0

    def attend(seed, q=q):
        nonlocal count
        count += 1
        return attnc.jax.flash_attention(q, k, v, dropout_prob=0.5, dropout_seed=seed)

    program = jax.jit(attend)
    np.testing.assert_array_equal(program(traced), attend(seed))
    calls = count
    assert abs(program(traced + 1) - program(traced)).max() > 0.1 and count == calls
    # The kernel of the gradients drops what forward drops: the output is linear in the values.
    values = jax.grad(lambda v: attnc.jax.flash_attention(q, k, v, dropout_prob=0.5, dropout_seed=traced).sum())(v)
    np.testing.assert_allclose((values * v).sum(), attend(seed).sum(), rtol=1e-4)


def test_vmap_drops_alike():
    """As of any function: what is mapped over is what would be computed of each by itself."""
    many = jnp.stack([q, q + 1, q - 1])

    def attend(q, seed):
        return attnc.jax.flash_attention(q, k, v, dropout_prob=0.5, dropout_seed=seed)

    np.testing.assert_array_equal(jax.vmap(attend, (0, None))(many, 3), jnp.stack([attend(one, 3) for one in many]))
    seeds = jnp.arange(3)
    found = jax.vmap(attend)(many, seeds)
    np.testing.assert_array_equal(found, jnp.stack([attend(one, seed) for one, seed in zip(many, seeds)]))


DOT = {
    "plain": {},
    "causal": dict(is_causal=True),
    "bias and mask": dict(bias=bias, mask=mask),
    "scale": dict(scale=0.3),
    "lengths": dict(query_seq_lengths=jnp.array([20, 33]), key_value_seq_lengths=jnp.array([45, 7])),
    "window": dict(local_window_size=(4, 2)),
}


@pytest.mark.parametrize("name", DOT)
def test_dot_product_attention(name):
    options = DOT[name]
    out = attnc.jax.dot_product_attention(q, k, v, **options)
    wanted = jax.nn.dot_product_attention(q, k, v, **options)
    if "query_seq_lengths" in options:
        # Rows behind a length are 0 here.
        rows = jnp.arange(SQ)[None, :] < options["query_seq_lengths"][:, None]
        wanted = jnp.where(rows[..., None, None], wanted, 0)
    np.testing.assert_allclose(out, wanted, atol=3e-5)


def test_one_batch_entry():
    out, residual = attnc.jax.dot_product_attention(q[0], k[0], v[0], is_causal=True, return_residual=True)
    np.testing.assert_allclose(out, jax.nn.dot_product_attention(q[0], k[0], v[0], is_causal=True), atol=3e-5)
    assert residual.shape == (SQ, H)


def test_rows_without_keys_are_zero():
    out = attnc.jax.flash_attention(q, k, v, attention_mask=jnp.zeros((B, 1, SQ, SK), bool))
    assert (out == 0).all()


VMAPS = {
    "everything": ((0, 0, 0), {}),
    "queries alone": ((0, None, None), {}),
    "with a bias of heads": ((0, 0, 0), dict(bias=head_bias)),
    "with a bias of batch entries": ((0, 0, None), dict(bias=bias)),
}


@pytest.mark.parametrize("name", VMAPS)
def test_vmap(name):
    axes, options = VMAPS[name]
    inputs = [array if axis is None else jnp.stack([array, array[::-1] * 0.5, -array]) for array, axis in zip((q, k, v), axes)]

    def loss(function):
        mapped = jax.vmap(lambda *inputs: function(*inputs, **options, is_causal=True), axes)
        return lambda *inputs: (mapped(*inputs) ** 2).sum(), mapped

    (ours_loss, ours), (theirs_loss, theirs) = loss(attnc.jax.dot_product_attention), loss(jax.nn.dot_product_attention)
    np.testing.assert_allclose(ours(*inputs), theirs(*inputs), atol=3e-5)
    gradients = jax.jit(jax.grad(ours_loss, (0, 1, 2)))(*inputs), jax.grad(theirs_loss, (0, 1, 2))(*inputs)
    for gradient, expected in zip(*gradients, strict=True):
        np.testing.assert_allclose(gradient, expected, atol=3e-4)


def test_vmap_over_heads():
    heads = jnp.moveaxis(q, 2, 0)[:, :, :, None], jnp.moveaxis(k, 2, 0).repeat(2, 0)[:, :, :, None]
    out = jax.vmap(lambda q, k: attnc.jax.dot_product_attention(q, k, k))(*heads)
    wanted = jax.nn.dot_product_attention(q, k, k)
    np.testing.assert_allclose(jnp.moveaxis(out[:, :, :, 0], 0, 2), wanted, atol=3e-5)


def test_vmap_sums_sinks_of_each_batch():
    queries = jnp.stack([q, q * 2])

    def loss(function):
        return lambda s: (jax.vmap(lambda q: function(q, s))(queries) ** 2).sum()

    ours = jax.grad(loss(lambda q, s: attnc.jax.flash_attention(q, k, v, None, None, None, s)))(sinks)
    theirs = jax.grad(loss(lambda q, s: reference(q, k, v, sinks=s)))(sinks)
    np.testing.assert_allclose(ours, theirs, atol=3e-4)


@pytest.mark.parametrize("axes", [(0, None), (None, 0), (0, 0)])
@pytest.mark.parametrize("shared", [(), (0,)])
def test_vmap_sums_a_bias_of_each_batch(axes, shared):
    learned = bias[:1] if shared else bias
    inputs = [array if axis is None else jnp.stack([array, array[::-1] * 0.5, -array]) for array, axis in zip((q, learned), axes)]

    def loss(function):
        return lambda *inputs: (jax.vmap(lambda q, b: function(q, k, v, b), axes)(*inputs) ** 2).sum()

    ours = jax.jit(jax.grad(loss(attnc.jax.flash_attention), (0, 1)))(*inputs)
    theirs = jax.grad(loss(lambda q, k, v, b: reference(q, k, v, bias=b)), (0, 1))(*inputs)
    for gradient, expected in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(gradient, expected, atol=1e-3)


def test_scan_over_layers():
    tables = jnp.stack([bias[:1], bias[1:] * 0.3])

    def loss(function):
        def layer(x, table):
            return function(x, k, v, table) + x, None

        return lambda tables: (jax.lax.scan(jax.checkpoint(layer), q, tables)[0] ** 2).sum()

    ours = jax.jit(jax.grad(loss(attnc.jax.flash_attention)))(tables)
    np.testing.assert_allclose(ours, jax.grad(loss(lambda q, k, v, b: reference(q, k, v, bias=b)))(tables), atol=1e-3)


def test_another_length_has_the_same_spec():
    from attnc._options import Options, trace

    texts = {
        trace(Options((), causal=True), jnp.zeros((b, i, H, D)), *[jnp.zeros((b, j, HK, D))] * 2).text
        for b, i, j in ((1, 5, 7), (3, 64, 64), (2, 1, 100))
    }
    assert len(texts) == 1


@pytest.mark.skipif(jax.default_backend() == "cpu", reason="of GPUs, whose programs XLA records as graphs")
def test_training_steps_on_a_gpu():
    """One program, run again with other arrays: what its graphs hold is given anew."""

    def step(attend):
        def loss(tables, sinks, x):
            def layer(x, table):
                return x + attend(x, x[:, :, :HK], x[:, :, :HK], table, sinks), None

            return (jax.lax.scan(jax.checkpoint(layer), x, tables)[0] ** 2).sum()

        return jax.jit(jax.value_and_grad(loss, (0, 1, 2)))

    def ours(q, k, v, table, sinks):
        return attnc.jax.flash_attention(q, k, v, table, None, None, sinks, causal=True, logits_soft_cap=5.0)

    def theirs(q, k, v, table, sinks):
        return reference(q, k, v, bias=table, sinks=sinks, causal=True, softcap=5.0, shift=0)

    ours, theirs = step(ours), step(theirs)
    learned = jnp.stack([bias[:1, :, :, :SQ] * factor for factor in (1.0, 0.5, -1.0)]), sinks
    # Graphs are recorded when a program has run some times, and then given other addresses.
    for turn in range(6):
        x = (q if turn % 2 else -q[::-1]) * (1 + turn) / 4
        found, wanted = (jax.tree.leaves(train(*learned, x)) for train in (ours, theirs))
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-3 * abs(other).max())
        learned = tuple(array - 1e-2 * gradient for array, gradient in zip(learned, found[1:], strict=False))


@pytest.mark.skipif(jax.default_backend() == "cpu", reason="of GPUs")
def test_kernels_take_no_arrays_of_gpus():
    with pytest.raises(attnc.Error, match="arrays of JAX on a GPU are taken by attnc.jax"):
        attnc.jit()(q, k, v)


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="arrays of CPUs")
def test_kernels_take_arrays():
    out = attnc.jit(mask_mod=lambda b, h, i, j: i >= j)(q, k, v)
    assert isinstance(out, jax.Array)
    np.testing.assert_allclose(out, attnc.jax.dot_product_attention(q, k, v, is_causal=True), atol=3e-5)
    slopes = jnp.arange(H, dtype=jnp.bfloat16)
    out = attnc.jit(lambda s, b, h, i, j: s - slopes[h] * abs(i - j) / 8)(q, k, v)
    wanted, _ = plain.attention(q, k, v, score=lambda s, b, h, i, j: s - np.asarray(slopes, np.float64)[h] * abs(i - j) / 8)
    np.testing.assert_allclose(out, wanted, atol=3e-5)
    with pytest.raises(attnc.Error, match="an input is traced by JAX, and a kernel by itself takes arrays with values alone"):
        jax.jit(attnc.jit())(q, k, v)
    with pytest.raises(attnc.Error, match="argument 'out': arrays of JAX cannot be written to"):
        attnc.jit()(q, k, v, out=(q, q))


def test_functions_of_jax_in_traced_functions():
    with pytest.raises(attnc.TraceError, match="test_jax.py:[0-9]+: functions of jax.numpy take arrays alone: write attnc.where"):
        attnc.jit(lambda s, b, h, i, j: jnp.tanh(s))(q, k, v)


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="what arrays hold is looked at on CPUs alone")
def test_faults_of_a_launch_are_errors_of_the_program():
    lengths = jnp.array([SK + 1, 3])
    with pytest.raises(Exception, match="attnc: .*'key_value_seq_lengths'"):
        jax.block_until_ready(attnc.jax.dot_product_attention(q, k, v, key_value_seq_lengths=lengths))
