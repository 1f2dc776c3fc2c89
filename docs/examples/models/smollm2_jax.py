"""SmolLM2 135M in JAX, with attention by attnc: writes on from a prompt, or learns a text by heart.

python docs/examples/models/smollm2_jax.py "The capital of France is"
python docs/examples/models/smollm2_jax.py --train 20
"""

import functools

import jax
import numpy as np
import weights
from jax import numpy as jnp

from attnc.jax import dot_product_attention, flash_attention


def norm(sizes, x, weight):
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + sizes.epsilon) * weight


def blocks(sizes, layers, attend, parameters, x, cos, sin, caches=None):
    """Some layers of [B, S, 576], and their caches. attend(cache, q, k, v): attention and the layer's cache."""

    def linear(x, name):
        return x @ parameters[f"{name}.weight"].T

    def rotated(x):
        even, odd = x[..., ::2], x[..., 1::2]
        turned = jnp.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1)
        return turned.reshape(x.shape)

    cos, sin = (table[None, :, None] for table in (cos, sin))
    kept = []
    for layer in layers:
        block = f"blk.{layer}"
        y = norm(sizes, x, parameters[f"{block}.attn_norm.weight"])
        q, k, v = (linear(y, f"{block}.attn_{name}").reshape(*x.shape[:2], -1, sizes.head_dim) for name in "qkv")
        y, cache = attend(None if caches is None else caches[layer], rotated(q), rotated(k), v)
        kept.append(cache)
        x = x + linear(y.reshape(x.shape), f"{block}.attn_output")
        y = norm(sizes, x, parameters[f"{block}.ffn_norm.weight"])
        x = x + linear(jax.nn.silu(linear(y, f"{block}.ffn_gate")) * linear(y, f"{block}.ffn_up"), f"{block}.ffn_down")
    return x, kept


def head(sizes, parameters, x):
    """Logits."""
    return norm(sizes, x, parameters["output_norm.weight"]) @ parameters["token_embd.weight"].T


def forward(sizes, attend, parameters, tokens, cos, sin, caches=None):
    """Logits of tokens [B, S], and the caches."""
    x = parameters["token_embd.weight"][tokens]
    x, caches = blocks(sizes, range(sizes.layers), attend, parameters, x, cos, sin, caches)
    return head(sizes, parameters, x), caches


def causal(cache, q, k, v):
    """A prompt: attention by attnc, and keys and values for later."""
    return flash_attention(q, k, v, causal=True), (k, v)


@functools.partial(jax.jit, static_argnums=(0, 1))
def prefill(sizes, room, parameters, tokens, cos, sin):
    """Logits of a prompt [1, S], and caches with room for so many tokens."""
    logits, caches = forward(sizes, causal, parameters, tokens, cos, sin)
    more = ((0, 0), (0, room - tokens.shape[1]), (0, 0), (0, 0))
    return logits[0], [tuple(jnp.pad(array, more) for array in cache) for cache in caches]


@functools.partial(jax.jit, static_argnums=0, donate_argnums=4)
def step(sizes, parameters, token, place, caches, cos, sin):
    """Logits of one token, and the caches with it. One program serves every place: lengths are data."""

    def attend(cache, q, k, v):
        k, v = (jax.lax.dynamic_update_slice(old, new, (0, place, 0, 0)) for old, new in zip(cache, (k, v)))
        return dot_product_attention(q, k, v, key_value_seq_lengths=place[None] + 1), (k, v)

    logits, caches = forward(sizes, attend, parameters, token[None, None], cos, sin, caches)
    return logits[0, 0], caches


def generate(model, prompt, count):
    """The most likely tokens after a prompt, and the logits of all."""
    parameters = {name: jnp.asarray(array) for name, array in model.weights.items()}
    room = len(prompt) + count
    cos, sin = weights.rope_tables(model.sizes, np.arange(room))
    logits, caches = prefill(model.sizes, room, parameters, jnp.array([prompt]), cos[: len(prompt)], sin[: len(prompt)])
    found, tokens = [np.asarray(logits)], []
    for place in range(len(prompt), room):
        tokens.append(int(found[-1].reshape(-1, found[-1].shape[-1])[-1].argmax()))
        here = slice(place, place + 1)
        logits, caches = step(model.sizes, parameters, jnp.int32(tokens[-1]), jnp.int32(place), caches, cos[here], sin[here])
        found.append(np.asarray(logits)[None])
    return tokens, np.concatenate(found)


def train(model, tokens, steps, rate=1e-2, count=4, attend=causal):
    """The losses of so many steps of plain descent on one text. count: how many layers learn, the last ones."""
    sizes = model.sizes
    cos, sin = weights.rope_tables(sizes, np.arange(len(tokens) - 1))
    targets = jnp.array(tokens[1:])
    fixed, learning = range(sizes.layers - count), range(sizes.layers - count, sizes.layers)
    starts = tuple(f"blk.{layer}." for layer in learning)
    parameters = {name: jnp.asarray(array) for name, array in model.weights.items() if name.startswith(starts)}
    frozen = {name: jnp.asarray(array) for name, array in model.weights.items() if not name.startswith(starts)}

    @jax.jit
    def below(frozen, x):
        return blocks(sizes, fixed, attend, frozen, x, cos, sin)[0]

    def loss(parameters, frozen, x):
        x, _ = blocks(sizes, learning, attend, parameters, x, cos, sin)
        logits = head(sizes, frozen, x)[0]
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), targets[:, None], axis=1).mean()

    @functools.partial(jax.jit, donate_argnums=0)
    def descend(parameters, frozen, x):
        value, gradients = jax.value_and_grad(loss)(parameters, frozen, x)
        return value, jax.tree.map(lambda parameter, gradient: parameter - rate * gradient, parameters, gradients)

    # What does not learn gives the same in each step.
    x = below(frozen, frozen["token_embd.weight"][jnp.array([tokens[:-1]])])
    losses = []
    for _ in range(steps):
        value, parameters = descend(parameters, frozen, x)
        losses.append(float(value))
    return losses


if __name__ == "__main__":
    weights.run_decoder(__doc__, train, generate)
