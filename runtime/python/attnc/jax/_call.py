"""Kernels as calls of XLA, with gradients, vmap and shardings."""

from __future__ import annotations

import functools
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp

from .. import _core
from .._context import context
from .._core import Error
from .._jit import kernel_of
from .._options import Options, trace
from .._trace.spec import Traced
from ._shardings import partitioned

_TARGET = "attnc_attention"


@functools.cache
def _register() -> None:
    """Registers the handlers with XLA, once."""
    handlers = _core.xla_handlers(context())
    if not handlers:
        raise Error("this build of attnc has no calls for XLA: it was made without JAX's headers")
    for platform, handler in handlers.items():
        jax.ffi.register_ffi_target(_TARGET, handler, platform=platform, api_version=1)


def _bind(
    options: Options, traced: Traced, backward: bool, results: tuple[Any, ...], arrays: tuple[Any, ...], position: int
) -> Any:
    """The call of a kernel. `position`: how many arrays come before its numbers."""
    _register()
    schedule = options.backward_schedule if backward else options.schedule
    # A fault of the spec is raised here, and not where the call runs, which compiles it: before a call is split, its sizes
    # are not those that are computed with.
    kernel = kernel_of(traced.text, backward, schedule=schedule)
    if schedule is not None:
        # Whether the machine takes it is known where it is compiled.
        kernel.prepare("cpu" if jax.default_backend() == "cpu" else "cuda")
    call = jax.ffi.ffi_call(_TARGET, results, vmap_method="sequential")
    numbers = np.array(traced.numbers, np.int64)
    return call(
        *arrays, spec=traced.text, schedule=schedule or "", backward=np.bool_(backward), numbers=numbers,
        position=np.int64(position),
    )  # fmt: skip


def _results_of(q: Any, v: Any) -> tuple[jax.ShapeDtypeStruct, jax.ShapeDtypeStruct]:
    """The shapes of the output and of the LSE."""
    batch, rows, heads, _ = q.shape
    return (
        jax.ShapeDtypeStruct((batch, rows, heads, v.shape[3]), q.dtype),
        jax.ShapeDtypeStruct((batch, heads, rows), "float32"),
    )


def _in_order(options: Options, traced: Traced, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arrays of a call in the order in which its kernel takes them."""
    given = dict(zip(options.names, arrays, strict=True))
    return tuple(given["softmax_aux" if name == "sinks" else name] for name in traced.names)


def _forward(options: Options, q: Any, k: Any, v: Any, *arrays: Any) -> Any:
    traced = trace(options, q, k, v, *arrays)
    inputs = (q, k, v, *_in_order(options, traced, arrays))
    return tuple(_bind(options, traced, False, _results_of(q, v), inputs, len(inputs)))


def _backward(options: Options, q: Any, k: Any, v: Any, out: Any, lse: Any, d_out: Any, d_lse: Any, *arrays: Any) -> Any:
    """The gradients of queries, keys, values and, where there are any, sinks."""
    traced = trace(options, q, k, v, *arrays)
    ordered = _in_order(options, traced, arrays)
    differentiated = [q, k, v]
    if "softmax_aux" in options.names:
        differentiated.append(arrays[options.names.index("softmax_aux")])
    results = tuple(jax.ShapeDtypeStruct(array.shape, array.dtype) for array in differentiated)
    inputs = (q, k, v, *ordered, out, lse, d_out, d_lse)
    return tuple(_bind(options, traced, True, results, inputs, 3 + len(ordered)))


def _weights(options: Options, q: Any, k: Any, *arrays: Any) -> Any:
    # A kernel of weights has no values.
    traced = trace(options, q, k, k, *arrays, weights=True)
    inputs = (q, k, *_in_order(options, traced, arrays))
    shape = (q.shape[0], q.shape[2], q.shape[1], k.shape[1])
    return tuple(_bind(options, traced, False, (jax.ShapeDtypeStruct(shape, q.dtype),), inputs, len(inputs)))


_forward_call = partitioned(_forward, "forward")
_backward_call = partitioned(_backward, "backward")
_weights_call = partitioned(_weights, "weights")


def _batched(function: Any, options: Options, count: int) -> Any:
    """`function` with a vmap that makes one longer batch of batches, where arrays of the call do not tell entries apart.

    count: how many of its arguments, the first ones, and all its results but those of sinks are batched.
    """

    @jax.custom_batching.custom_vmap
    def call(*inputs: Any) -> Any:
        return function(options, *inputs)

    @call.def_vmap
    def rule(axis_size: int, in_batched: list[bool], *inputs: Any) -> Any:
        tells_apart = any(
            array.shape[0] != 1
            for name, array in zip(options.names, inputs[count:], strict=True)
            if name != "softmax_aux"
        )
        # Gradients of sinks are sums over a batch, and here of each batch by itself.
        sums = count > 3 and "softmax_aux" in options.names
        if any(in_batched[count:]) or tells_apart or sums:
            mapped = [value for value, is_batched in zip(inputs, in_batched, strict=True) if is_batched]

            def one(items: list[Any]) -> Any:
                rest = iter(items)
                return call(*(next(rest) if is_batched else value for value, is_batched in zip(inputs, in_batched, strict=True)))

            results = jax.lax.map(one, mapped)
            return results, tuple(True for _ in results)

        def fold(value: Any, is_batched: bool) -> Any:
            whole = value if is_batched else jnp.broadcast_to(value, (axis_size, *value.shape))
            return whole.reshape(axis_size * whole.shape[1], *whole.shape[2:])

        folded = [fold(value, is_batched) for value, is_batched in zip(inputs[:count], in_batched[:count], strict=True)]
        results = call(*folded, *inputs[count:])
        unfolded = tuple(result.reshape(axis_size, -1, *result.shape[1:]) for result in results)
        return unfolded, tuple(True for _ in unfolded)

    return call


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def _constant(name: str, array: Any) -> Any:
    """The array, of which no gradients are computed yet."""
    return array


@_constant.defjvp
def _refuse_gradient(name: str, primals: Any, tangents: Any) -> Any:
    raise Error(f"gradients of '{name}' are not computed yet: wrap it in jax.lax.stop_gradient where it is constant")


@functools.partial(jax.jit, static_argnums=0, inline=True)
def attend(options: Options, q: Any, k: Any, v: Any, *arrays: Any) -> Any:
    """The output and the LSE of [B, S, H, D] arrays. A program of its own where it is called outside of any: another call
    with such arrays traces nothing."""
    constants = (
        array if name == "softmax_aux" or not jnp.issubdtype(array.dtype, jnp.inexact) else _constant(name, array)
        for name, array in zip(options.names, arrays, strict=True)
    )
    return _attend(options, q, k, v, *constants)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _attend(options: Options, q: Any, k: Any, v: Any, *arrays: Any) -> Any:
    """What has gradients of its own."""
    return _batched(_forward_call, options, 3)(q, k, v, *arrays)


def _attend_forward(options: Options, q: Any, k: Any, v: Any, *arrays: Any) -> Any:
    out, lse = _attend(options, q, k, v, *arrays)
    return (out, lse), (q, k, v, out, lse, *arrays)


def _attend_backward(options: Options, saved: tuple[Any, ...], gradients: tuple[Any, Any]) -> Any:
    q, k, v, out, lse, *arrays = saved
    results = _batched(_backward_call, options, 7)(q, k, v, out, lse, *gradients, *arrays)
    others = [_no_gradient(array) for array in arrays]
    if "softmax_aux" in options.names:
        others[options.names.index("softmax_aux")] = results[3]
    return (*results[:3], *others)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _weights_of(options: Options, q: Any, k: Any, *arrays: Any) -> Any:
    """The weights [B, H, Sq, Sk] that the values are multiplied by. They have no gradients, and say so where one is asked."""
    return _batched(_weights_call, options, 2)(q, k, *arrays)[0]


def _weights_forward(options: Options, q: Any, k: Any, *arrays: Any) -> Any:
    return _weights_of(options, q, k, *arrays), None


def _weights_backward(options: Options, saved: None, gradient: Any) -> Any:
    raise Error("gradients of attention's weights are not computed: use the output alone, or jax.lax.stop_gradient")


_weights_of.defvjp(_weights_forward, _weights_backward)
weights_of = jax.jit(_weights_of, static_argnums=0, inline=True)


def _no_gradient(array: Any) -> Any:
    """Zeros of the type that gradients of an array have."""
    kind = array.dtype if jnp.issubdtype(array.dtype, jnp.inexact) else jax.dtypes.float0
    return np.zeros(array.shape, kind) if kind == jax.dtypes.float0 else jnp.zeros(array.shape, kind)


_attend.defvjp(_attend_forward, _attend_backward)
