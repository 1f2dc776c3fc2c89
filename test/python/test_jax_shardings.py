"""attnc.jax on four devices, or two GPUs: what is split by batch entries and heads is computed where it lies."""

import os
import re

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"

import jax  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402
from jax import numpy as jnp  # noqa: E402
from jax.sharding import NamedSharding  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402

import attnc.jax  # noqa: E402

if jax.device_count() < 2:
    pytest.skip("JAX was started with one device", allow_module_level=True)

B, SQ, SK, D = 4, 33, 45, 16
# Of two devices, heads are split, and batch entries are not.
SHAPE = (2, 2) if jax.device_count() >= 4 else (1, 2)
mesh = jax.make_mesh(SHAPE, ("x", "y"), devices=jax.devices()[: SHAPE[0] * SHAPE[1]], axis_types=(jax.sharding.AxisType.Auto,) * 2)
random = np.random.default_rng(0)


def arrays(heads, key_heads):
    q = jnp.asarray(random.standard_normal((B, SQ, heads, D), dtype=np.float32))
    k, v = jnp.asarray(random.standard_normal((2, B, SK, key_heads, D), dtype=np.float32))
    bias = jnp.asarray(random.standard_normal((1, heads, SQ, SK), dtype=np.float32))
    return q, k, v, bias


def put(array, *spec):
    return jax.device_put(array, NamedSharding(mesh, P(*spec)))


def check_sent(wanted, function, *inputs):
    """What devices send each other: on two devices at most that."""
    text = function.lower(*inputs).compile().as_text()
    found = set(re.findall(r"all-gather|all-reduce|all-to-all|collective-permute|reduce-scatter", text))
    assert found == set(wanted) if SHAPE[0] > 1 else found <= set(wanted)


def attend(q, k, v, bias):
    return attnc.jax.dot_product_attention(q, k, v, bias, is_causal=True)


def wanted(q, k, v, bias):
    return jax.nn.dot_product_attention(q, k, v, bias, is_causal=True)


@pytest.mark.parametrize(("heads", "key_heads"), [(4, 4), (8, 4), (8, 2)])
def test_batch_and_heads_gather_nothing(heads, key_heads):
    q, k, v, bias = arrays(heads, key_heads)
    split = [put(array, "x", None, "y") for array in (q, k, v)]
    split_bias = put(bias, None, "y")
    forward = jax.jit(attend)
    check_sent([], forward, *split, split_bias)
    out = forward(*split, split_bias)
    assert out.sharding.is_equivalent_to(NamedSharding(mesh, P("x", None, "y")), 4)
    np.testing.assert_allclose(out, wanted(q, k, v, bias), atol=3e-5)

    gradient = jax.jit(jax.grad(lambda q, k, v, bias: (attend(q, k, v, bias) ** 2).sum(), (0, 1, 2)))
    check_sent([], gradient, *split, split_bias)
    expected = jax.grad(lambda q, k, v: (wanted(q, k, v, bias) ** 2).sum(), (0, 1, 2))(q, k, v)
    for ours, theirs in zip(gradient(*split, split_bias), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=3e-4)


def test_one_key_head():
    q, k, v, bias = arrays(4, 1)
    inputs = put(q, "x", None, "y"), put(k, "x"), put(v, "x"), put(bias, None, "y")
    forward = jax.jit(attend)
    check_sent([], forward, *inputs)
    np.testing.assert_allclose(forward(*inputs), wanted(q, k, v, bias), atol=3e-5)


def test_a_split_sequence_is_gathered():
    q, k, v, bias = arrays(4, 4)
    q, k, v, bias = q[:, :32], k[:, :44], v[:, :44], bias[:, :, :32, :44]
    inputs = put(q, "x", "y"), put(k, "x", "y"), put(v, "x", "y"), bias
    forward = jax.jit(attend)
    check_sent(["all-gather"], forward, *inputs)
    np.testing.assert_allclose(forward(*inputs), wanted(q, k, v, bias), atol=3e-5)


@pytest.mark.parametrize(("batch", "heads"), [("x", "y"), (None, "y"), (("x", "y"), None), (None, ("y", "x"))])
def test_dropout_is_the_same_when_split(batch, heads):
    """Each device says where its batch entries and heads begin, and gathers nothing for that."""
    q, k, v, _ = arrays(8, 4)

    def attend(q, k, v, seed):
        return attnc.jax.flash_attention(q, k, v, dropout_prob=0.5, dropout_seed=seed)

    seed = jnp.int32(7)
    forward = jax.jit(attend)
    gradient = jax.jit(jax.grad(lambda *arrays: (attend(*arrays, seed) ** 2).sum(), (0, 1, 2)))
    split = [put(array, batch, None, heads) for array in (q, k, v)]
    check_sent([], forward, *split, seed)
    check_sent([], gradient, *split)
    np.testing.assert_array_equal(forward(*split, seed), forward(q, k, v, seed))
    for found, wanted in zip(gradient(*split), gradient(q, k, v)):
        np.testing.assert_allclose(found, wanted, atol=1e-5)
    spec = P(batch, None, heads, None)
    mapped = attnc.jax.flash_attention(
        q, k, v, dropout_prob=0.5, dropout_seed=7, mesh=mesh, in_specs=(spec, spec, spec), out_specs=spec
    )
    np.testing.assert_array_equal(mapped, forward(q, k, v, seed))


def test_query_heads_split_further_than_key_heads():
    """Gradients of key heads are sums over all of their query heads."""
    q, k, v, _ = arrays(4, 2)

    def loss(q, k, v):
        return (attnc.jax.flash_attention(q, k, v, causal=True) ** 2).sum()

    gradient = jax.jit(jax.grad(loss, (0, 1, 2)))
    for axes in (("x", "y"), "y"):
        for found, wanted in zip(gradient(put(q, None, None, axes), k, v), gradient(q, k, v)):
            np.testing.assert_allclose(found, wanted, atol=1e-4)


def test_sinks():
    q, k, v, _ = arrays(4, 4)
    sinks = jnp.asarray(random.standard_normal((4, 1), dtype=np.float32))
    split = [put(array, "x", None, "y") for array in (q, k, v)]

    def loss(q, k, v, sinks):
        return (attnc.jax.flash_attention(q, k, v, None, None, None, sinks) ** 2).sum()

    gradient = jax.jit(jax.grad(loss, 3))
    np.testing.assert_allclose(gradient(*split, put(sinks, "y")), gradient(q, k, v, sinks), atol=1e-5)
    check_sent(["all-reduce"], gradient, *split, put(sinks, "y"))
    np.testing.assert_allclose(gradient(*split, sinks[0]), gradient(q, k, v, sinks[0]), atol=1e-4)


#: Dimensions of a bias [B, H, Sq, Sk] that have one element for all, and how what is left is split over the mesh.
SHARED = {
    "batch": ((0,), (None, "y")),
    "heads": ((1,), ("x",)),
    "nothing": ((), ("x", "y")),
    "batch and heads": ((0, 1), ()),
    "queries": ((0, 2), (None, "y")),
    "all but the heads": ((0, 2, 3), (None, "y")),
    "all": ((0, 1, 2, 3), ()),
}


@pytest.mark.parametrize(("heads", "key_heads"), [(4, 4), (8, 2)])
@pytest.mark.parametrize("name", SHARED)
def test_gradients_of_what_parts_share_are_summed(name, heads, key_heads):
    shared, of_bias = SHARED[name]
    q, k, v, _ = arrays(heads, key_heads)
    bias = jnp.asarray(random.standard_normal((B, heads, SQ, SK), dtype=np.float32))
    bias = bias[tuple(slice(0, 1) if dim in shared else slice(None) for dim in range(4))]
    split = [*(put(array, "x", None, "y") for array in (q, k, v)), put(bias, *of_bias)]

    def loss(q, k, v, bias):
        return (attnc.jax.flash_attention(q, k, v, bias, logits_soft_cap=3.0) ** 2).sum()

    def plain(q, k, v, bias):
        keys = jnp.repeat(k, heads // key_heads, 2)
        logits = jnp.einsum("bihd,bjhd->bhij", q, keys, precision="highest") * D**-0.5 + bias
        weights = jax.nn.softmax(3.0 * jnp.tanh(logits / 3.0))
        return (jnp.einsum("bhij,bjhd->bihd", weights, jnp.repeat(v, heads // key_heads, 2), precision="highest") ** 2).sum()

    gradient = jax.jit(jax.grad(loss, (0, 1, 2, 3)))
    found, expected = gradient(*split), jax.grad(plain, (0, 1, 2, 3))(q, k, v, bias)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=5e-4)
    assert abs(expected[3]).max() > 1e-2
    # Nothing is gathered, and nothing is summed that each part has for itself.
    check_sent(([] if not shared else ["all-reduce"]), gradient, *split)
    # Batch entries over all devices, and a bias that lies otherwise than the queries.
    across = [*(put(array, ("x", "y")) for array in (q, k, v)), put(bias, *of_bias)]
    for ours, theirs in zip(gradient(*across), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=5e-4)


def test_gradients_inside_of_shard_map():
    q, k, v, bias = arrays(4, 4)
    specs = (P("x", None, "y"), P("x", None, "y"), P("x", None, "y"), P(None, "y"))

    def loss(q, k, v, bias):
        return (attend(q, k, v, bias) ** 2).sum()

    expected = jax.grad(lambda *inputs: (wanted(*inputs) ** 2).sum(), (0, 1, 2, 3))(q, k, v, bias)
    for check_vma in (False, True):
        mapped = jax.shard_map(attend, mesh=mesh, in_specs=specs, out_specs=specs[0], check_vma=check_vma)
        whole = jax.grad(lambda *inputs: (mapped(*inputs) ** 2).sum(), (0, 1, 2, 3))
        for function in (whole, jax.jit(whole)):
            for ours, theirs in zip(function(q, k, v, bias), expected, strict=True):
                np.testing.assert_allclose(ours, theirs, atol=3e-4)
        # Where the bias is a constant, too.
        constant = jax.grad(lambda q: (mapped(q, k, v, bias) ** 2).sum())
        for function in (constant, jax.jit(constant)):
            np.testing.assert_allclose(function(q), expected[0], atol=3e-4)
    # A gradient inside of it is that of each part.
    inner = jax.shard_map(
        lambda *inputs: jax.lax.psum(jax.grad(loss, 3)(*inputs), "x"), mesh=mesh, in_specs=specs, out_specs=specs[3],
        check_vma=False,
    )  # fmt: skip
    for function in (inner, jax.jit(inner)):
        np.testing.assert_allclose(function(q, k, v, bias), expected[3], atol=3e-4)


def test_mesh():
    q, k, v, bias = arrays(8, 4)
    spec = P("x", None, "y", None)
    out = attnc.jax.flash_attention(
        q[:, :, :, :], k[:, :SQ], v[:, :SQ], bias[:, :, :, :SQ], causal=True, mesh=mesh,
        in_specs=(spec, spec, spec, P(None, "y")), out_specs=spec,
    )  # fmt: skip
    np.testing.assert_allclose(out, wanted(q, k[:, :SQ], v[:, :SQ], bias[:, :, :, :SQ]), atol=3e-5)


def test_gradients_with_a_mesh():
    q, k, v, bias = arrays(8, 4)
    sinks = jnp.asarray(random.standard_normal((8, 2), dtype=np.float32))
    spec = P("x", None, "y", None)

    def loss(bias, sinks, **options):
        return (attnc.jax.flash_attention(q, k, v, bias, None, None, sinks, causal=True, **options) ** 2).sum()

    ours = jax.grad(lambda *inputs: loss(*inputs, mesh=mesh, in_specs=(spec, spec, spec), out_specs=spec), (0, 1))(bias, sinks)
    for gradient, expected in zip(ours, jax.grad(loss, (0, 1))(bias, sinks), strict=True):
        np.testing.assert_allclose(gradient, expected, atol=1e-4)


def test_mesh_splits_what_belongs_to_the_queries():
    q, k, v, bias = arrays(8, 4)
    sinks = jnp.asarray(random.standard_normal((8, 2), dtype=np.float32))
    info = attnc.jax.MaskInfo.from_segments(jnp.zeros((B, SQ), jnp.int32), jnp.zeros((B, SK), jnp.int32))
    spec = P("x", None, "y", None)
    # As EasyDeL has them: for a bias, cumulative lengths and sinks as well, None where there is none.
    specs = (spec, spec, spec, P(None, "y"), P(None), P(None), P("y"))
    options = dict(mask_info=info.apply_causal())
    out = attnc.jax.flash_attention(q, k, v, bias, None, None, sinks, **options, mesh=mesh, in_specs=specs, out_specs=spec)
    np.testing.assert_allclose(out, attnc.jax.flash_attention(q, k, v, bias, None, None, sinks, **options), atol=1e-5)
    with pytest.raises(attnc.Error, match="in_specs: expected a split of 'query' by batch entries and heads alone"):
        attnc.jax.flash_attention(q, k, v, mesh=mesh, in_specs=(P("x", "y"), spec, spec), out_specs=spec)
    with pytest.raises(attnc.Error, match="mesh: expected a mesh with in_specs and out_specs, got None"):
        attnc.jax.flash_attention(q, k, v, in_specs=(spec, spec, spec), out_specs=spec)


def test_mesh_splits_keys_as_queries():
    """Otherwise query heads of a device would meet key heads of others."""
    q, k, v, _ = arrays(8, 4)
    spec, batch, heads = P("x", None, "y", None), P("x"), P(None, None, ("y",))

    def flash(k, v, *in_specs, out_specs=spec):
        return attnc.jax.flash_attention(q, k, v, causal=True, mesh=mesh, in_specs=in_specs, out_specs=out_specs)

    for specs in ((spec, batch, spec), (spec, spec, batch), (heads, spec, heads), (batch, None, batch)):
        if SHAPE[0] == 1 and specs[0] is not spec:
            continue
        name = "value" if specs[1] == spec == specs[0] else "key"
        with pytest.raises(attnc.Error, match=f"in_specs: expected a split of '{name}' as 'query' has"):
            flash(k, v, *specs)
    with pytest.raises(attnc.Error, match="out_specs: expected the split of 'query'"):
        flash(k, v, spec, spec, spec, out_specs=P())
    # The same in other words; and one key head, which all have.
    for k, v, other in ((k, v, P(("x",), None, ("y",))), (k[:, :, :1], v[:, :, :1], batch)):
        whole = attnc.jax.flash_attention(q, k, v, causal=True)
        np.testing.assert_allclose(flash(k, v, spec, other, other), whole, atol=1e-5)


def test_weights_gather_nothing():
    q, k, v, bias = arrays(4, 4)
    split = [put(array, "x", None, "y") for array in (q, k, v)]
    weights = jax.jit(lambda q, k, v, bias: attnc.jax.attention(q, k, v, bias, dtype=None, causal=True)[1])
    check_sent([], weights, *split, put(bias, None, "y"))
    np.testing.assert_allclose(weights(*split, bias), weights(q, k, v, bias), atol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("check_vma", [False, True])
def test_gradients_of_traced_scales(check_vma, dtype):
    """A sum over all devices, be it a kernel's or a product of queries and their gradients."""
    q, k, v, _ = (array.astype(dtype) for array in arrays(8, 4))

    def attend(q, k, v, scale):
        return attnc.jax.dot_product_attention(q, k, v, scale=scale)

    def loss(function):
        return jax.jit(jax.grad(lambda *inputs: (function(*inputs).astype("float32") ** 2).sum(), (0, 1, 2, 3)))

    expected = loss(attend)(q, k, v, 0.3)
    spec = P("x", None, "y", None)
    mapped = jax.shard_map(attend, mesh=mesh, in_specs=(spec, spec, spec, P()), out_specs=spec, check_vma=check_vma)
    split = [put(array, *spec) for array in (q, k, v)]
    for found in (loss(attend)(*split, 0.3), loss(mapped)(q, k, v, jnp.float32(0.3))):
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=2e-3 if dtype == "float16" else 3e-5)
