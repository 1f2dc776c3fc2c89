"""attnc.jax on meshes of Explicit axes, those of jax.make_mesh by default: types say how results are split, as jax.nn's do."""

import contextlib
import os
import re

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"

import jax  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402
from jax import numpy as jnp  # noqa: E402
from jax.sharding import AxisType, NamedSharding  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402

import attnc.jax  # noqa: E402

if jax.device_count() < 4:
    pytest.skip("JAX was started with less than four devices", allow_module_level=True)

B, S, H, D = 4, 32, 8, 16
EXPLICIT = (AxisType.Explicit, AxisType.Explicit)
SPLIT = P("x", None, "y", None)
q, k, v = jax.random.normal(jax.random.key(0), (3, B, S, H, D))
bias = jax.random.normal(jax.random.key(1), (1, H, S, S))
ids = jnp.repeat(jnp.arange(4), S // 4)[None].repeat(B, 0)


def mesh_of(kinds):
    return jax.make_mesh((2, 2), ("x", "y"), devices=jax.devices()[:4], axis_types=kinds)


mesh = mesh_of(EXPLICIT)


@pytest.fixture(autouse=True)
def set_mesh(request):
    with contextlib.nullcontext() if hasattr(request.function, "sets_mesh") else jax.set_mesh(mesh):
        yield


def sets_mesh(test):
    """A test that sets a mesh itself, or none."""
    test.sets_mesh = True
    return test


def put(array, *spec, mesh=mesh):
    return jax.device_put(array, NamedSharding(mesh, P(*spec)))


def split_of(*arrays):
    return [put(array, *SPLIT) for array in arrays]


def spec_of(array):
    """The split in a type, with None for each dimension that is not split."""
    spec = jax.typeof(array).sharding.spec
    return (*spec, *[None] * (array.ndim - len(spec)))


def compiled(function, *inputs):
    """A program, and what devices send each other in it."""
    program = jax.jit(function).lower(*inputs).compile()
    sent = re.findall(r"all-gather|all-reduce|all-to-all|collective-permute|reduce-scatter", program.as_text())
    return program, set(sent)


def loss_of(function):
    return lambda *inputs: (function(*inputs) ** 2).sum()


def attend(q, k, v, bias=None):
    return attnc.jax.dot_product_attention(q, k, v, bias, is_causal=True)


def wanted(q, k, v, bias=None):
    return jax.nn.dot_product_attention(q, k, v, bias, is_causal=True)


def check(function, expected, inputs, whole, sends=(), places=(0, 1, 2)):
    """Values, types and what is sent, of gradients too. Types are those of the inputs."""
    out = function(*inputs)
    np.testing.assert_allclose(out, expected(*whole), atol=3e-5)
    assert spec_of(out) == spec_of(inputs[0])
    gradient = jax.grad(loss_of(function), places)
    theirs = jax.jit(jax.grad(loss_of(expected), places))(*whole)
    program, sent = compiled(gradient, *inputs)
    assert sent <= set(sends)
    for found in (gradient(*inputs), program(*inputs)):
        for place, ours, other in zip(places, found, theirs, strict=True):
            np.testing.assert_allclose(ours, other, atol=3e-4)
            assert spec_of(ours) == spec_of(inputs[place])


FUNCTIONS = {
    "dot_product_attention": attend,
    "flash_attention": lambda q, k, v: attnc.jax.flash_attention(q, k, v, causal=True),
    "attention": lambda q, k, v: attnc.jax.attention(q, k, v, dtype=None, causal=True)[0],
    "operation": lambda q, k, v: attnc.jax.FlashAttn()(q, k, v, causal=True).attention_outputs,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_batch_and_heads(name):
    check(FUNCTIONS[name], wanted, split_of(q, k, v), (q, k, v))
    program, sent = compiled(FUNCTIONS[name], *split_of(q, k, v))
    assert not sent and spec_of(program(*split_of(q, k, v))) == tuple(SPLIT)


def test_weights_and_lse():
    split = split_of(q, k, v)
    weights = attnc.jax.attention(*split, dtype=None, causal=True)[1]
    assert spec_of(weights) == ("x", "y", None, None)
    lse = attnc.jax.flash_attention(*split, return_lse=True)[1]
    assert spec_of(lse) == ("x", "y", None)
    residual = attnc.jax.dot_product_attention(*split, return_residual=True)[1]
    assert spec_of(residual) == ("x", None, "y")
    np.testing.assert_allclose(residual, lse.swapaxes(1, 2), atol=1e-6)


def test_fewer_key_heads():
    few = k[:, :, :2], v[:, :, :2]
    check(attend, wanted, split_of(q, *few), (q, *few))
    # One serves all: its gradient is a sum.
    one = k[:, :, :1], v[:, :, :1]
    check(attend, wanted, [*split_of(q), *(put(array, "x") for array in one)], (q, *one), ["all-reduce"])
    # Query heads that are split further than key heads are gathered, and split again.
    further = put(q, None, None, ("x", "y")), put(few[0], None, None, "x"), put(few[1])
    check(attend, wanted, further, (q, *few), ["all-gather", "all-reduce", "collective-permute", "all-to-all"])


def test_a_split_sequence_is_gathered():
    split = [put(array, "x", "y") for array in (q, k, v)]
    assert "all-gather" in compiled(attend, *split)[1]
    check(attend, wanted, split, (q, k, v), ["all-gather", "all-reduce", "collective-permute", "all-to-all"])


def test_one_sequence():
    """[T, N, H], without a batch."""
    whole = [array[0] for array in (q, k, v)]
    check(attend, wanted, [put(array, None, "y") for array in whole], whole)


@pytest.mark.parametrize("spec", [(None, "y"), ()])
def test_bias(spec):
    check(
        attend, wanted, [*split_of(q, k, v), put(bias, *spec)], (q, k, v, bias), ["all-reduce", *["all-gather"] * (not spec)],
        (0, 3),
    )  # fmt: skip


def test_masks():
    def packed(q, k, v, ends):
        return attnc.jax.flash_attention(q, k, v, None, ends, ends, causal=True)

    def segments(q, k, v, ids):
        return attnc.jax.flash_attention(q, k, v, q_segment_ids=ids, kv_segment_ids=ids)

    def dense(q, k, v, ids):
        return attnc.jax.flash_attention(q, k, v, attention_mask=attnc.jax.MaskInfo.from_segments(ids).attention_mask)

    for function in (segments, dense):
        found = jax.grad(loss_of(function))(*split_of(q, k, v), put(ids, "x"))
        np.testing.assert_allclose(found, jax.grad(loss_of(function))(q, k, v, ids), atol=1e-5)
        assert spec_of(found) == tuple(SPLIT)
    ends = jnp.array([0, 5, S])
    found = packed(*(put(array[:1], None, None, "y") for array in (q, k, v)), ends)
    np.testing.assert_allclose(found, packed(q[:1], k[:1], v[:1], ends), atol=1e-5)


def test_sinks():
    sinks = jax.random.normal(jax.random.key(2), (H, 2))

    def attend(q, k, v, sinks):
        return attnc.jax.flash_attention(q, k, v, None, None, None, sinks)

    gradient = jax.grad(loss_of(attend), 3)
    found = gradient(*split_of(q, k, v), put(sinks, "y"))
    np.testing.assert_allclose(found, gradient(q, k, v, sinks), atol=1e-4)
    assert spec_of(found) == ("y", None)


def test_dropout_is_the_same_when_split():
    def attend(q, k, v):
        return attnc.jax.flash_attention(q, k, v, dropout_prob=0.5, dropout_seed=7)

    check(attend, attend, split_of(q, k, v), (q, k, v))
    np.testing.assert_array_equal(attend(*split_of(q, k, v)), attend(q, k, v))


@pytest.mark.parametrize("spec", [(None, *SPLIT), ("x", None, None, "y"), ("x",), (("x", "y"),)])
def test_vmap(spec):
    """Also over a dimension that is split."""
    whole = [jnp.stack([array * (1 - 0.2 * step) for step in range(4)]) for array in (q, k, v)]
    check(jax.vmap(attend), jax.vmap(wanted), [put(array, *spec) for array in whole], whole)


def test_vmap_of_some():
    many = jnp.stack([q, q + 1])
    inputs = [put(many, "x", None, None, "y"), *(put(array, None, None, "y") for array in (k, v))]
    axes = (0, None, None)
    found = jax.vmap(attend, axes)(*inputs)
    np.testing.assert_allclose(found, jax.vmap(wanted, axes)(many, k, v), atol=3e-5)
    assert spec_of(found) == ("x", None, None, "y", None)

    # What arrays tell apart is computed one by one, and what is dropped is what each call drops.
    def masked(q, ids):
        return attnc.jax.flash_attention(q, q, q, q_segment_ids=ids, kv_segment_ids=ids, dropout_prob=0.5, dropout_seed=3)

    each = jnp.stack([ids, ids // 2])
    found = jax.jit(jax.vmap(masked))(inputs[0], put(each, "x"))
    np.testing.assert_allclose(found, jax.vmap(masked)(many, each), atol=1e-5)


@pytest.mark.parametrize("check_vma", [True, False])
def test_shard_map(check_vma):
    """Over all axes, and over one, where the other stays in types."""
    whole = q, k[:, :, :1], v[:, :, :1]
    split = [put(q, *SPLIT), *(put(array, "x") for array in whole[1:])]
    expected = jax.grad(loss_of(wanted), (0, 1))(*whole)
    specs = (SPLIT, P("x"), P("x"))
    over_all = jax.shard_map(attend, in_specs=specs, out_specs=SPLIT, check_vma=check_vma)
    over_x = jax.shard_map(attend, in_specs=(P("x"),) * 3, out_specs=P("x"), axis_names={"x"}, check_vma=check_vma)
    for function in (over_all, over_x):
        np.testing.assert_allclose(jax.jit(function)(*split), wanted(*whole), atol=3e-5)
        program, sent = compiled(jax.grad(loss_of(function), (0, 1)), *split)
        for ours, theirs in zip(program(*split), expected, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=3e-4)
        # Around a shard_map over some axes XLA gathers what the others split, in jax.nn's as well.
        assert function is over_x or "all-gather" not in sent


def test_loops():
    """Types go round, and what is saved for the gradient has them."""

    def layers(function):
        return lambda q, k, v: jax.lax.scan(lambda state, _: (function(state, k, v), None), q, None, length=2)[0]

    check(layers(attend), layers(wanted), split_of(q, k, v), (q, k, v))
    check(jax.checkpoint(attend), wanted, split_of(q, k, v), (q, k, v))


@sets_mesh
def test_types_without_a_mesh_that_is_set():
    program, sent = compiled(jax.grad(loss_of(attend)), *split_of(q, k, v))
    found = program(*split_of(q, k, v))
    np.testing.assert_allclose(found, jax.grad(loss_of(wanted))(q, k, v), atol=3e-4)
    assert spec_of(found) == spec_of(attend(*split_of(q, k, v))) == tuple(SPLIT) and not sent


@sets_mesh
@pytest.mark.parametrize("kinds", [EXPLICIT[:1] + (AxisType.Auto,), (AxisType.Auto,) + EXPLICIT[:1]])
def test_both_kinds_of_axes(kinds):
    both = mesh_of(kinds)
    split = [put(array, *SPLIT, mesh=both) for array in (q, k, v)]
    with jax.set_mesh(both):
        found = jax.grad(loss_of(attend))(*split)
        assert spec_of(found) == spec_of(split[0])
        np.testing.assert_allclose(found, jax.grad(loss_of(wanted))(q, k, v), atol=3e-4)


@sets_mesh
@pytest.mark.parametrize("kinds", [EXPLICIT, (AxisType.Auto, AxisType.Auto)])
def test_arrays_that_lie_on_no_mesh(kinds):
    """Though one is set, of which their program then knows nothing but the devices."""
    expected = jax.grad(loss_of(wanted))(q, k, v)
    with jax.set_mesh(mesh_of(kinds)):
        for function in (lambda function: function, jax.jit):
            np.testing.assert_allclose(function(attend)(q, k, v), wanted(q, k, v), atol=3e-5)
            np.testing.assert_allclose(function(jax.grad(loss_of(attend)))(q, k, v), expected, atol=3e-4)


@pytest.mark.parametrize("inputs", [split_of, lambda *arrays: list(arrays)])
def test_in_specs(inputs):
    """What lies otherwise is brought there."""
    for spec in (SPLIT, P("x"), P(None, None, ("x", "y"), None)):

        def flash(q, k, v, spec=spec):
            return attnc.jax.flash_attention(q, k, v, causal=True, mesh=mesh, in_specs=(spec,) * 3, out_specs=spec)

        np.testing.assert_allclose(flash(*inputs(q, k, v)), wanted(q, k, v), atol=3e-5)
        found = jax.jit(jax.grad(loss_of(flash)))(*inputs(q, k, v))
        np.testing.assert_allclose(found, jax.grad(loss_of(wanted))(q, k, v), atol=3e-4)


def test_head_dims_and_traced_scales():
    whole = [array[..., :10] for array in (q, k, v)]

    def scaled(function):
        return lambda q, k, v: function(q, k, v, scale=jnp.abs(q).max() * 0.1)

    ours, theirs = scaled(attnc.jax.dot_product_attention), scaled(jax.nn.dot_product_attention)
    check(ours, theirs, split_of(*whole), whole, ["all-reduce"])


@pytest.mark.parametrize("spec", [SPLIT, P("x"), P(None, "x", "y", None), P()])
def test_gradients_of_traced_scales(spec):
    """However the queries are split."""
    inputs = [put(array, *spec) for array in (q, k, v)]

    def scaled(function):
        return lambda q, k, v, scale: function(q, k, v, scale=scale, is_causal=True)

    ours, theirs = scaled(attnc.jax.dot_product_attention), scaled(jax.nn.dot_product_attention)
    places, scale = (0, 1, 2, 3), jnp.float32(0.3)
    np.testing.assert_allclose(jax.jit(ours)(*inputs, scale), theirs(q, k, v, scale), atol=3e-5)
    expected = jax.grad(loss_of(theirs), places)(q, k, v, scale)
    for function in (jax.grad(loss_of(ours), places), jax.jit(jax.grad(loss_of(ours), places))):
        for found, wanted in zip(function(*inputs, scale), expected, strict=True):
            np.testing.assert_allclose(found, wanted, atol=3e-4, rtol=1e-5)
