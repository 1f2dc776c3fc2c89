"""Trains a transformer block on a CPU, in numpy and attnc: attention and its gradients are kernels of block.mlir.

    export PYTHONPATH=build/release/python
    .venv/bin/python docs/examples/training/train_block.py [--steps 200] [--attention plain]

The block reads characters of attnc's licence and says which comes next. `--attention plain` takes attention and its
gradients by their formulas in numpy: losses are the same, step by step.
"""

from __future__ import annotations

import argparse
import functools
import pathlib

import numpy as np

import attnc

HERE = pathlib.Path(__file__).parent
LICENCE = HERE.parents[2] / "LICENSE"
HEADS, HEAD_DIM, BUCKETS, LENGTH, BATCH = 4, 16, 32, 64, 8
WIDTH = HEADS * HEAD_DIM

Array = np.ndarray
Weights = dict[str, Array]


# --- Attention --------------------------------------------------------------------------------------------------------


class Compiled:
    """Attention by attnc: one kernel for the results, and one for the gradients."""

    def __init__(self) -> None:
        text = (HERE / "block.mlir").read_text()
        self.forward = attnc.compile(text, name="block.mlir")
        self.backward = attnc.compile(text, name="block.mlir", backward=True)

    def run(self, q: Array, k: Array, v: Array, table: Array) -> tuple[Array, tuple]:
        """The output, and what its gradients are computed from."""
        out, lse = self.forward(q, k, v, table)
        return out, (q, k, v, table, out, lse)

    def differentiate(self, saved: tuple, d_out: Array) -> tuple[Array, Array, Array, Array]:
        """The gradients of queries, keys, values and the table. The LSE is no part of the loss."""
        *inputs, out, lse = saved
        return self.backward(*inputs, out, lse, d_out, np.zeros_like(lse))


class Plain:
    """The same by the formulas, with whole matrices of weights."""

    @staticmethod
    @functools.cache
    def distances(length: int) -> tuple[Array, Array]:
        rows = np.arange(length)
        distance = rows[:, None] - rows
        return np.clip(distance, 0, BUCKETS - 1), distance >= 0

    def run(self, q: Array, k: Array, v: Array, table: Array) -> tuple[Array, tuple]:
        bucket, keep = self.distances(q.shape[1])
        logits = np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(np.float32(HEAD_DIM)) + table[bucket].transpose(2, 0, 1)
        weights = softmax(np.where(keep, logits, -np.inf))
        return np.einsum("bhij,bjhd->bihd", weights, v), (q, k, v, weights)

    def differentiate(self, saved: tuple, d_out: Array) -> tuple[Array, Array, Array, Array]:
        q, k, v, weights = saved
        d_weights = np.einsum("bihd,bjhd->bhij", d_out, v)
        d_logits = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))
        d_table = np.zeros((BUCKETS, HEADS), np.float32)
        np.add.at(d_table, self.distances(q.shape[1])[0], d_logits.sum(axis=0).transpose(1, 2, 0))
        scaled = d_logits / np.sqrt(np.float32(HEAD_DIM))
        return (np.einsum("bhij,bjhd->bihd", scaled, k), np.einsum("bhij,bihd->bjhd", scaled, q),
                np.einsum("bhij,bihd->bjhd", weights, d_out), d_table)


# --- The block --------------------------------------------------------------------------------------------------------


def softmax(x: Array) -> Array:
    x = np.exp(x - x.max(axis=-1, keepdims=True))
    return x / x.sum(axis=-1, keepdims=True)


def normalise(x: Array, gain: Array) -> tuple[Array, tuple]:
    scale = 1 / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-5)
    return x * scale * gain, (x, scale, gain)


def normalise_backward(saved: tuple, d: Array) -> tuple[Array, Array]:
    """The gradients of the input and the gain."""
    x, scale, gain = saved
    inner = d * gain
    d_x = scale * (inner - x * scale**2 * (inner * x).mean(axis=-1, keepdims=True))
    return d_x, (d * x * scale).reshape(-1, x.shape[-1]).sum(axis=0)


def initialise(vocabulary: int, rng: np.random.Generator) -> Weights:
    def matrix(rows: int, columns: int) -> Array:
        return (rng.standard_normal((rows, columns)) / np.sqrt(rows)).astype(np.float32)

    return {
        "embedding": matrix(vocabulary, WIDTH) * np.float32(np.sqrt(vocabulary) * 0.1),
        "qkv": matrix(WIDTH, 3 * WIDTH), "project": matrix(WIDTH, WIDTH), "table": np.zeros((BUCKETS, HEADS), np.float32),
        "up": matrix(WIDTH, 4 * WIDTH), "down": matrix(4 * WIDTH, WIDTH), "head": matrix(WIDTH, vocabulary),
        **{name: np.ones(WIDTH, np.float32) for name in ("norm1", "norm2", "norm3")},
    }


def loss_and_gradients(w: Weights, tokens: Array, attention: Compiled | Plain) -> tuple[float, Weights]:
    """The mean loss of each token given those before it, and its gradients. tokens: [batch, length + 1]."""
    inputs, wanted = tokens[:, :-1], tokens[:, 1:]
    d: Weights = {}

    # Forward.
    x0 = w["embedding"][inputs]
    y1, norm1 = normalise(x0, w["norm1"])
    split = (y1 @ w["qkv"]).reshape(*inputs.shape, 3, HEADS, HEAD_DIM)
    q, k, v = (split[:, :, part] for part in range(3))
    mixed, saved = attention.run(q, k, v, w["table"])
    mixed = mixed.reshape(*inputs.shape, WIDTH)
    x1 = x0 + mixed @ w["project"]
    y2, norm2 = normalise(x1, w["norm2"])
    hidden = y2 @ w["up"]
    active = np.maximum(hidden, 0)
    x2 = x1 + active @ w["down"]
    y3, norm3 = normalise(x2, w["norm3"])
    probabilities = softmax(y3 @ w["head"])
    chosen = np.take_along_axis(probabilities, wanted[..., None], axis=-1)
    loss = float(-np.log(chosen).mean())

    # Backward: d_x is the gradient of x.
    flat = lambda a: a.reshape(-1, a.shape[-1])
    d_logits = probabilities
    np.put_along_axis(d_logits, wanted[..., None], chosen - 1, axis=-1)
    d_logits /= np.float32(wanted.size)
    d["head"] = flat(y3).T @ flat(d_logits)
    d_x2, d["norm3"] = normalise_backward(norm3, d_logits @ w["head"].T)
    d["down"] = flat(active).T @ flat(d_x2)
    d_hidden = (d_x2 @ w["down"].T) * (hidden > 0)
    d["up"] = flat(y2).T @ flat(d_hidden)
    d_y2, d["norm2"] = normalise_backward(norm2, d_hidden @ w["up"].T)
    d_x1 = d_x2 + d_y2
    d["project"] = flat(mixed).T @ flat(d_x1)
    d_mixed = (d_x1 @ w["project"].T).reshape(q.shape)
    d_q, d_k, d_v, d["table"] = attention.differentiate(saved, d_mixed)
    d_split = np.stack([d_q, d_k, d_v], axis=2).reshape(*inputs.shape, 3 * WIDTH)
    d["qkv"] = flat(y1).T @ flat(d_split)
    d_y1, d["norm1"] = normalise_backward(norm1, d_split @ w["qkv"].T)
    d["embedding"] = np.zeros_like(w["embedding"])
    np.add.at(d["embedding"], inputs, d_x1 + d_y1)
    return loss, d


def train(steps: int, attention: Compiled | Plain, seed: int = 0) -> tuple[list[float], Weights]:
    """The losses of `steps` steps of Adam, and the weights that they lead to."""
    rng = np.random.default_rng(seed)
    letters, text = np.unique(np.frombuffer(LICENCE.read_bytes(), np.uint8), return_inverse=True)
    weights = initialise(len(letters), rng)
    means, squares = ({name: np.zeros_like(value) for name, value in weights.items()} for _ in range(2))
    losses = []
    for step in range(1, steps + 1):
        starts = rng.integers(0, len(text) - LENGTH - 1, BATCH)
        loss, gradients = loss_and_gradients(weights, text[starts[:, None] + np.arange(LENGTH + 1)], attention)
        losses.append(loss)
        for name, gradient in gradients.items():
            means[name] += np.float32(0.1) * (gradient - means[name])
            squares[name] += np.float32(0.01) * (gradient**2 - squares[name])
            mean, square = means[name] / np.float32(1 - 0.9**step), squares[name] / np.float32(1 - 0.99**step)
            weights[name] -= np.float32(3e-3) * mean / (np.sqrt(square) + np.float32(1e-8))
    return losses, weights


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=200, help="steps to train (default: 200)")
    parser.add_argument("--attention", choices=("attnc", "plain"), default="attnc", help="whose attention (default: attnc)")
    options = parser.parse_args()
    losses, weights = train(options.steps, Compiled() if options.attention == "attnc" else Plain())
    for first in range(0, len(losses), max(1, len(losses) // 10)):
        print(f"step {first + 1:5}  loss {losses[first]:.4f}")
    print(f"step {len(losses):5}  loss {losses[-1]:.4f}")
    print("bias of the nearest 8 keys, by head:")
    for head, row in enumerate(weights["table"][:8].T):
        print(f"  {head}: " + " ".join(f"{number:+.2f}" for number in row))


if __name__ == "__main__":
    main()
