"""What users of JAX wait for: training steps of a layer."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
from frontends_timing import fault_of, in_turns
from jax import numpy as jnp

from attnc.jax import flash_attention


def layer(attend: Any, weights: dict[str, Any], x: Any, heads: int) -> Any:
    """The same as torch's in frontends_torch.py."""

    def norm(x: Any, gain: Any) -> Any:
        wide = x.astype(jnp.float32)
        return (wide * jax.lax.rsqrt(jnp.mean(wide * wide, -1, keepdims=True) + 1e-6)).astype(x.dtype) * gain

    batch, length, width = x.shape
    qkv = (norm(x, weights["before"]) @ weights["qkv"]).reshape(batch, length, 3, heads, width // heads)
    q, k, v = qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2]
    x = x + attend(q, k, v).reshape(x.shape) @ weights["out"]
    return x + jax.nn.gelu(norm(x, weights["between"]) @ weights["up"]) @ weights["down"]


def measure_training(device: str, tokens: int, heads: int, dim: int) -> list[dict[str, Any]]:
    """Milliseconds of a step, forward and gradients, of a jitted layer, by length and by side."""
    width = heads * dim
    kind = jnp.float32 if device == "cpu" else jnp.bfloat16
    keys = iter(jax.random.split(jax.random.key(0), 8))
    shapes = {"qkv": (width, 3 * width), "out": (width, width), "up": (width, 4 * width), "down": (4 * width, width)}
    weights = {name: (jax.random.normal(next(keys), shape) * shape[0] ** -0.5).astype(kind) for name, shape in shapes.items()}
    weights |= {name: jnp.ones(width, kind) for name in ("before", "between")}
    rows = []
    for length in (tokens // 4, tokens):
        x = jax.random.normal(next(keys), (tokens // length, length, width)).astype(kind)
        sides: dict[str, Any] = {"attnc, flash_attention": functools.partial(flash_attention, causal=True)}
        errors: dict[str, str] = {}
        for implementation in ("xla",) if device == "cpu" else ("cudnn", "xla"):
            name = {"cudnn": "jax.nn, cuDNN", "xla": "jax.nn, XLA"}[implementation]
            if implementation == "xla" and length == tokens and device != "cpu":
                errors[name] = "its matrices of all logits do not fit"
                continue
            sides[name] = functools.partial(jax.nn.dot_product_attention, is_causal=True, implementation=implementation)
        runs: dict[str, Callable[[], object]] = {}
        for name, attend in sides.items():

            def loss(weights: Any, x: Any, attend: Any = attend) -> Any:
                return jnp.mean(jnp.square(layer(attend, weights, x, heads).astype(jnp.float32)))

            step = jax.jit(jax.value_and_grad(loss, argnums=(0, 1)))

            def run(step: Any = step, x: Any = x) -> float:
                value, gradients = step(weights, x)
                jax.block_until_ready(gradients)
                return float(value)

            if fault := fault_of(f"causal, {length}: {name}", run):
                errors[name] = fault
            else:
                runs[name] = run
        rows.append({"kind": "causal", "length": length, "ms": in_turns(runs), "errors": errors})
    return rows
