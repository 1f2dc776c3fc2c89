"""Products of float32 by TF32, as precisions of JAX say."""

import jax
import numpy as np
import pytest
from jax import numpy as jnp

import attnc
import attnc.jax


@pytest.mark.parametrize("precision, rounds", [
    (None, False), ("default", False), ("highest", False), ("bfloat16", False), (jax.lax.Precision.HIGH, True),
    ("high", True), ("tensorfloat32", True), ("TF32_TF32_F32", True), (("high", "highest"), False), (("high",) * 2, True),
])  # fmt: skip
def test_products_round_as_precision_says(precision, rounds):
    assert attnc.jax._checks.precision(precision) == rounds
    inputs = [jnp.asarray(np.random.default_rng(number).standard_normal((1, 40, 2, 64)), jnp.float32) for number in range(3)]
    out = attnc.jax.flash_attention(*inputs, precision=precision)
    text = attnc._options.trace(attnc._options.Options((), tf32=rounds), *inputs).text
    assert ("attributes {attn.tf32} {" in text) == rounds
    scores = jnp.einsum("bihd,bjhd->bhij", *inputs[:2], precision="highest") / 8
    wanted = jnp.einsum("bhij,bjhd->bihd", jax.nn.softmax(scores), inputs[2], precision="highest")
    error = abs(out - wanted).max()
    assert error > 2e-5 if rounds and jax.default_backend() == "gpu" else error < 3e-6


def test_a_default_precision_counts():
    with jax.default_matmul_precision("tensorfloat32"):
        assert attnc.jax._checks.precision(None)
        assert not attnc.jax._checks.precision("highest")
    assert not attnc.jax._checks.precision(None)
