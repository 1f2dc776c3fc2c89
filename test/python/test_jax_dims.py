"""What jax.nn and ejkernel take of attnc.jax's calls beside what kernels have: any head dim, traced scales, no seed."""

import jax
import numpy as np
import pytest
from jax import numpy as jnp

import attnc
import attnc.jax

random = np.random.default_rng(0)


def arrays(dim, value_dim=None, dtype="float32"):
    q = jnp.asarray(random.standard_normal((2, 24, 4, dim)), dtype)
    k = jnp.asarray(random.standard_normal((2, 24, 2, dim)), dtype)
    v = jnp.asarray(random.standard_normal((2, 24, 2, value_dim or dim)), dtype)
    return q, k, v


@pytest.mark.parametrize("scale", [None, 0.3])
@pytest.mark.parametrize("dim", [1, 20, 33, 100])
def test_head_dims(dim, scale):
    """The scale is that of the head dim that was given."""
    inputs = arrays(dim)

    def ours(*inputs):
        return attnc.jax.dot_product_attention(*inputs, scale=scale, is_causal=True, return_residual=True)

    def theirs(*inputs):
        return jax.nn.dot_product_attention(*inputs, scale=scale, is_causal=True, return_residual=True)

    for found, wanted in zip(ours(*inputs), theirs(*inputs), strict=True):
        np.testing.assert_allclose(found, wanted, atol=3e-5)
    places = (0, 1, 2)
    found = jax.grad(lambda *inputs: (ours(*inputs)[0] ** 2).sum(), places)(*inputs)
    wanted = jax.grad(lambda *inputs: (theirs(*inputs)[0] ** 2).sum(), places)(*inputs)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, atol=3e-4)
    for out in (
        attnc.jax.flash_attention(*inputs, softmax_scale=scale, causal=True),
        attnc.jax.attention(*inputs, softmax_scale=scale, causal=True, dtype=None)[0],
        jax.vmap(lambda *one: attnc.jax.flash_attention(*one, softmax_scale=scale, causal=True))(*(x[None] for x in inputs))[0],
    ):
        np.testing.assert_allclose(out, theirs(*inputs)[0], atol=3e-5)


def test_head_dims_of_values():
    q, k, v = arrays(12, 20)
    out, weights = attnc.jax.attention(q, k, v, dtype=None, causal=True)
    assert out.shape == (2, 24, 4, 20)
    np.testing.assert_allclose(out, jnp.einsum("bhij,bjhd->bihd", weights, v.repeat(2, 2), precision="highest"), atol=3e-5)


@pytest.mark.parametrize("dim", [0, 257])
def test_head_dims_that_no_kernel_has(dim):
    q, k, v = arrays(16)
    wanted = f"expected a head dim from 1 to 256, got {dim}"
    long = jnp.zeros((2, 24, 4, dim))
    for function in (attnc.jax.dot_product_attention, attnc.jax.flash_attention, attnc.jax.attention):
        with pytest.raises(attnc.Error, match=f"argument 'query': {wanted}"):
            function(long, long, long)
        with pytest.raises(attnc.Error, match=f"argument 'value': {wanted}"):
            function(q, k, long[:, :, :2])


#: The functions with a scale of their own name.
SCALED = {
    "dot_product_attention": lambda q, k, v, scale: attnc.jax.dot_product_attention(q, k, v, scale=scale),
    "flash_attention": lambda q, k, v, scale: attnc.jax.flash_attention(q, k, v, softmax_scale=scale),
    "attention": lambda q, k, v, scale: attnc.jax.attention(q, k, v, softmax_scale=scale, dtype=None)[0],
    "over a mesh": lambda q, k, v, scale: attnc.jax.flash_attention(
        q, k, v, softmax_scale=scale, in_specs=(jax.P("x"),) * 3, out_specs=jax.P("x"),
        mesh=jax.make_mesh((1,), ("x",), devices=jax.devices()[:1], axis_types=(jax.sharding.AxisType.Auto,)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SCALED)
@pytest.mark.parametrize("dim", [16, 20])
def test_traced_scales(name, dim):
    inputs, attend = arrays(dim), SCALED[name]

    def wanted(q, k, v, scale):
        return jax.nn.dot_product_attention(q, k, v, scale=scale)

    compiled = jax.jit(attend)
    for scale in (0.3, -1.0, 0.0, 2):
        np.testing.assert_allclose(compiled(*inputs, scale), wanted(*inputs, scale), atol=3e-5)
    places = (0, 1, 2, 3)
    found = jax.grad(lambda *inputs: (attend(*inputs) ** 2).sum(), places)(*inputs, 0.3)
    expected = jax.grad(lambda *inputs: (wanted(*inputs) ** 2).sum(), places)(*inputs, 0.3)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-3, rtol=1e-5)
    scales = jnp.array([0.1, 0.5])
    found = jax.vmap(attend, (None, None, None, 0))(*inputs, scales)
    np.testing.assert_allclose(found, jnp.stack([wanted(*inputs, scale) for scale in scales]), atol=3e-5)


def test_the_usual_scale_rounds_nothing():
    inputs = arrays(64, dtype="bfloat16")
    compiled = jax.jit(SCALED["flash_attention"])
    np.testing.assert_array_equal(compiled(*inputs, 64**-0.5), attnc.jax.flash_attention(*inputs))


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("dim", [64, 20])
def test_traced_scales_round_no_queries(dtype, dim):
    """Logits are those of a scale that is a number, and so are gradients."""
    inputs, bias = arrays(dim, dtype=dtype), jnp.asarray(random.standard_normal((1, 4, 24, 24)), "float32")

    def attend(q, k, v, bias, scale):
        return attnc.jax.flash_attention(q, k, v, bias, softmax_scale=scale, logits_soft_cap=5.0, causal=True, return_lse=True)

    def loss(*inputs):
        out, lse = attend(*inputs)
        return (out.astype("float32") ** 2).sum() + lse.sum()

    found, wanted = jax.jit(attend)(*inputs, bias, 0.37), attend(*inputs, bias, 0.37)
    np.testing.assert_allclose(found[1], wanted[1], atol=3e-6, rtol=3e-6)
    np.testing.assert_allclose(*(np.asarray(out[0], np.float32) for out in (found, wanted)), atol=1e-2)
    places = (0, 1, 2, 3)
    wanted = jax.grad(loss, places)(*inputs, bias, 0.37)
    for program in (jax.jit(jax.grad(loss, places)), jax.jit(jax.grad(loss, (*places, 4)))):
        for one, other in zip(program(*inputs, bias, 0.37), wanted, strict=False):
            one, other = (np.asarray(gradient, np.float32) for gradient in (one, other))
            np.testing.assert_allclose(one, other, atol=float(jnp.finfo(dtype).eps) * np.abs(other).max())


@pytest.mark.parametrize("scale", [0.3, -0.5, 0.0, 1e-5])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_gradients_of_scales(dtype, scale):
    inputs = arrays(24, dtype=dtype)
    singles = [array.astype("float32") for array in inputs]

    def loss(attend, inputs):
        return lambda scale: (attend(*inputs, scale=scale, is_causal=True).astype("float32") ** 2).sum()

    found = jax.jit(jax.grad(loss(attnc.jax.dot_product_attention, inputs)))(scale)
    wanted = jax.grad(loss(jax.nn.dot_product_attention, singles))(scale)
    np.testing.assert_allclose(found, wanted, rtol=2e-4 if dtype == "float32" else 2e-2)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("of_scale", [False, True])
def test_what_a_kernel_adds_up_for_scales(of_scale, dtype, monkeypatch):
    """Nothing, but for float16, which has too little room."""
    from attnc.jax import _call

    texts, bind, inputs = [], _call._bind, arrays(24, dtype=dtype)

    def seen(options, traced, backward, *others):
        texts.append(traced.backward_text if backward else "")
        return bind(options, traced, backward, *others)

    monkeypatch.setattr(_call, "_bind", seen)
    loss = jax.jit(lambda q, scale: (attnc.jax.flash_attention(q, *inputs[1:], softmax_scale=scale) ** 2).sum())
    jax.grad(loss, (0, 1) if of_scale else 0)(inputs[0], 0.3)
    assert any(texts)
    assert all(("attn.requires_grad" in text) == (of_scale and dtype == "float16") for text in texts if text)


def test_one_kernel_for_all_scales():
    traces = []

    @jax.jit
    def attend(q, k, v, scale):
        traces.append(scale)
        return attnc.jax.flash_attention(q, k, v, softmax_scale=scale)

    inputs = arrays(16)
    found = [attend(*inputs, scale) for scale in (0.1, 0.5)]
    assert len(traces) == 1 and abs(found[0] - found[1]).max() > 1e-2


def test_weights_of_a_traced_scale():
    q, k, v = arrays(20)
    found = jax.jit(lambda scale: attnc.jax.attention(q, k, v, softmax_scale=scale, dtype=None)[1])(0.4)
    np.testing.assert_allclose(found, attnc.jax.attention(q, k, v, softmax_scale=0.4, dtype=None)[1], atol=1e-5)


def test_no_seed_is_seed_0():
    """As ejkernel has it."""
    q, k, v = arrays(16)
    found = attnc.jax.flash_attention(q, k, v, dropout_prob=0.1, softmax_scale=0.125)
    for seed, same in ((0, True), (1, False)):
        other = attnc.jax.flash_attention(q, k, v, dropout_prob=0.1, softmax_scale=0.125, dropout_seed=seed)
        assert bool((found == other).all()) == same
    operation = attnc.jax.FlashAttn(attnc.jax.OperationMetadata(softmax_scale=0.125))
    np.testing.assert_array_equal(operation(q, k, v, dropout_prob=0.1).attention_outputs, found)


def test_biases_and_sinks_of_doubles():
    """They are read as float32, and their gradients are of 64 bits."""
    q, k, v = arrays(16)
    bias, sinks = random.standard_normal((2, 1, 24, 24)), random.standard_normal((4, 2))

    def loss(bias, sinks):
        return (attnc.jax.flash_attention(q, k, v, bias, softmax_aux=sinks) ** 2).sum()

    wanted = jax.grad(loss, (0, 1))(jnp.asarray(bias, jnp.float32), jnp.asarray(sinks, jnp.float32))
    with jax.enable_x64(True):
        for function in (jax.grad(loss, (0, 1)), jax.jit(jax.grad(loss, (0, 1)))):
            for found, expected in zip(function(jnp.asarray(bias), jnp.asarray(sinks)), wanted, strict=True):
                assert found.dtype == jnp.float64
                np.testing.assert_allclose(found, expected, atol=1e-5)
