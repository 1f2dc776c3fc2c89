"""Gradients in JAX and torch by an installed wheel, as far as these are there. `tools/dev wheel` runs it."""

import importlib.util
import pathlib
import sys

import numpy as np

import attnc

assert pathlib.Path(attnc.__file__).is_relative_to(sys.prefix), f"attnc is {attnc.__file__}, not the wheel's"
random = np.random.default_rng(0)
q, k, v = random.standard_normal((3, 2, 33, 4, 16), dtype=np.float32)


def try_jax():
    import jax
    from jax import numpy as jnp

    from attnc.jax import flash_attention

    def loss(attend):
        return jax.jit(jax.grad(lambda q: jnp.square(attend(q)).sum()))(q)

    ours = loss(lambda q: flash_attention(q, k, v, causal=True))
    return abs(ours - loss(lambda q: jax.nn.dot_product_attention(q, k, v, is_causal=True))).max()


def try_torch():
    import torch

    from attnc.torch import create_block_mask, flex_attention

    mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, 33, 33)
    tensors = [torch.from_numpy(array).transpose(1, 2) for array in (q, k, v)]
    query = tensors[0].clone().requires_grad_()

    def loss(attend):
        return torch.autograd.grad(attend(query, *tensors[1:]).square().sum(), query)[0]

    plain = torch.nn.functional.scaled_dot_product_attention
    ours = loss(lambda *inputs: flex_attention(*inputs, block_mask=mask))
    return (ours - loss(lambda *inputs: plain(*inputs, is_causal=True))).abs().max()


for name, attempt in (("jax", try_jax), ("torch", try_torch)):
    if importlib.util.find_spec(name) is None:
        print(f"{name} is not here")
        continue
    error = float(attempt())
    assert error < 1e-4, f"{name}: {error}"
    print(f"{name}: gradients off by {error:.1e}")
