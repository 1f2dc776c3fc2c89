"""The block of docs/examples/training: gradients and losses against attention by its formulas."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "docs/examples/training"))

import train_block  # noqa: E402

STEPS = 25


def test_gradients():
    rng = np.random.default_rng(1)
    weights = train_block.initialise(40, rng)
    weights["table"] = rng.standard_normal(weights["table"].shape).astype(np.float32)
    tokens = rng.integers(0, 40, (3, 50))
    loss, gradients = train_block.loss_and_gradients(weights, tokens, train_block.Compiled())
    wanted_loss, wanted = train_block.loss_and_gradients(weights, tokens, train_block.Plain())
    assert abs(loss - wanted_loss) < 1e-5
    assert gradients.keys() == wanted.keys() == weights.keys()
    for name, gradient in wanted.items():
        np.testing.assert_allclose(gradients[name], gradient, atol=1e-4 * np.abs(gradient).max(), err_msg=name)


def test_losses_fall_as_those_of_plain_attention():
    losses, weights = train_block.train(STEPS, train_block.Compiled())
    wanted, _ = train_block.train(STEPS, train_block.Plain())
    np.testing.assert_allclose(losses, wanted, atol=1e-2)
    assert losses[-1] < losses[0] - 1.5
    assert np.abs(weights["table"]).max() > 0.01
