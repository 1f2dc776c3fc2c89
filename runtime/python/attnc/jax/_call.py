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
from ._explicit import mapped, placed_as, placed_as_queries
from ._shardings import partitioned

_TARGET = "attnc_attention"
_SymbolicZero = jax.custom_derivatives.SymbolicZero


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
    text = traced.backward_text if backward else traced.text
    kernel = kernel_of(text, backward, schedule=schedule)
    memory: tuple[Any, ...] = ()
    if jax.default_backend() == "gpu":
        # XLA's graphs take no call that allocates: what a kernel takes for itself is one more result, which nothing reads.
        sizes = [tuple(array.shape) for array in (*arrays, *results)]
        sizes[position:position] = traced.numbers
        size = kernel.prepare("cuda").workspace(sizes)
        memory = (jax.ShapeDtypeStruct((size,), "uint8"),) if size else ()
    elif schedule is not None:
        # Whether the machine takes it is known where it is compiled.
        kernel.prepare("cpu")
    call = jax.ffi.ffi_call(_TARGET, (*results, *memory), vmap_method="sequential")
    numbers = np.array(traced.numbers, np.int64)
    found = call(
        *arrays, spec=text, schedule=schedule or "", backward=np.bool_(backward), numbers=numbers,
        position=np.int64(position), workspace=np.bool_(len(memory)),
    )  # fmt: skip
    return found[: len(results)]


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
    """The gradients of queries, keys and values, and those that `options.differentiated` says."""
    traced = trace(options, q, k, v, *arrays)
    ordered = _in_order(options, traced, arrays)
    differentiated = [q, k, v, *(arrays[options.names.index(name)] for name in options.differentiated)]
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


def _batched(function: Any, count: int, options: Options, *arrays: Any) -> Any:
    """`function(options, *arrays)` with a vmap that makes one longer batch of batches, where arrays of the call do not tell
    entries apart.

    count: how many of its arguments, the first ones, are batched, and all its results but `options.differentiated`.
    """

    @jax.custom_batching.custom_vmap
    def call(*inputs: Any) -> Any:
        return function(options, *inputs)

    @call.def_vmap
    def rule(axis_size: int, in_batched: list[bool], *inputs: Any) -> Any:
        tells_apart = any(
            array.shape[0] != 1
            for name, array in zip(options.names, inputs[count:], strict=True)
            if name not in ("softmax_aux", "dropout_seed")
        )
        # The others' gradients are sums over a batch, and here of each batch by itself.
        sums = function is _backward_call and options.differentiated
        # And what is dropped goes by the number of the batch entry, which of each begins with 0.
        if any(in_batched[count:]) or tells_apart or sums or options.dropout:
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

    return call(*arrays)


#: The kernels of a call, on one device or many.
_run_forward = functools.partial(mapped, functools.partial(_batched, _forward_call, 3), "forward")
_run_backward = functools.partial(mapped, functools.partial(_batched, _backward_call, 7), "backward")
_run_weights = functools.partial(mapped, functools.partial(_batched, _weights_call, 2), "weights")


def _manual_axes(*arrays: Any) -> set[str]:
    """The axes of a shard_map along which arrays differ from device to device, where it checks."""
    kinds = [jax.typeof(array) for array in arrays]
    # By the name of JAX 0.10, or by that before it.
    found = [getattr(getattr(kind, "manual_axis_type", None), "varying", getattr(kind, "vma", ())) for kind in kinds]
    return {axis for axes in found for axis in axes}


def _varying(array: Any, axes: set[str]) -> Any:
    """The array as one that differs along axes: calls of kernels do not say so by themselves."""
    lacking = tuple(sorted(axes - _manual_axes(array)))
    return jax.lax.pcast(array, lacking, to="varying") if lacking else array


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _attend(options: Options, q: Any, k: Any, v: Any, *arrays: Any) -> Any:
    """What has gradients of its own."""
    axes = _manual_axes(q, k, v, *arrays)
    results = placed_as_queries(q, _run_forward(options, q, k, v, *arrays), ("bihe", "bhi"))
    return tuple(_varying(result, axes) for result in results)


# A program of its own where it is called outside of any: another call with such arrays traces nothing. And shard_map, outside
# of programs, takes no function that asks which of its inputs are differentiated.
attend = jax.jit(_attend, static_argnums=0, inline=True)


#: Arrays that have gradients where these are wanted; sinks always have.
_LEARNED = ("scale", "bias")


def _attend_forward(options: Options, q: Any, k: Any, v: Any, *arrays: Any) -> Any:
    perturbed = {name for name, array in zip(options.names, arrays, strict=True) if array.perturbed}
    q, k, v, *arrays = (array.value for array in (q, k, v, *arrays))
    out, lse = _attend(options, q, k, v, *arrays)
    # An array without elements, whose sizes say what is learned. JAX keeps the structure of what is saved from the first time that
    # a program is differentiated, be it by other inputs the next time; sizes are seen anew.
    learned = jnp.zeros((*(int(name in perturbed) for name in _LEARNED), 0), bool)
    return (out, lse), (q, k, v, out, lse, learned, *arrays)


def _attend_backward(options: Options, saved: tuple[Any, ...], gradients: tuple[Any, ...]) -> Any:
    q, k, v, out, lse, learned, *arrays = saved
    wanted = tuple(name for name, size in zip(_LEARNED, learned.shape, strict=False) if size)
    by_product = "scale" in wanted and q.dtype != jnp.float16
    options = options._replace(learned=tuple(name for name in wanted if name != "scale" or not by_product))
    given = dict(zip(options.names, arrays, strict=True))
    if by_product:
        # Of a scale of 0, one that logits do not show.
        given["scale"] = jnp.where(given["scale"] == 0, 2.0**-60, given["scale"])
    gradients = tuple(jnp.zeros(item.shape, item.dtype) if type(item) is _SymbolicZero else item for item in gradients)
    d_q, d_k, d_v, *others = _run_backward(options, q, k, v, out, lse, *gradients, *given.values())
    axes = _manual_axes(q, k, v, *arrays, *gradients)

    def summed(array: Any, gradient: Any) -> Any:
        gradient = placed_as(gradient, jax.typeof(array).sharding)
        # What devices of a shard_map share has the sum of their gradients.
        shared = tuple(sorted(axes - _manual_axes(array)))
        return jax.lax.psum(_varying(gradient, axes), shared) if shared else _varying(gradient, axes)

    found = {name: summed(given[name], gradient) for name, gradient in zip(options.differentiated, others, strict=True)}
    if by_product:
        # A kernel adds up what each logit is of it, which takes as long as all else. The sum is the product of queries with their
        # gradients, which have the scale as a factor: float16 has too little room for that.
        of_queries = placed_as(d_q, jax.typeof(q).sharding).astype(jnp.float32)
        product = (q.astype(jnp.float32) * of_queries).sum(keepdims=True).reshape(1)
        found["scale"] = summed(given["scale"], product / given["scale"])
    d_q, d_k, d_v = (summed(*pair) for pair in ((q, d_q), (k, d_k), (v, d_v)))
    return (d_q, d_k, d_v, *(found.get(name) for name in options.names))


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _weights_of(options: Options, q: Any, k: Any, *arrays: Any) -> Any:
    """The weights [B, H, Sq, Sk] that the values are multiplied by. They have no gradients, and say so where one is asked."""
    return placed_as_queries(q, _run_weights(options, q, k, *arrays), ("bhij",))[0]


def _weights_forward(options: Options, q: Any, k: Any, *arrays: Any) -> Any:
    return _weights_of(options, q, k, *arrays), None


def _weights_backward(options: Options, saved: None, gradient: Any) -> Any:
    raise Error("gradients of attention's weights are not computed: use the output alone, or jax.lax.stop_gradient")


_weights_of.defvjp(_weights_forward, _weights_backward)
weights_of = jax.jit(_weights_of, static_argnums=0, inline=True)


_attend.defvjp(_attend_forward, _attend_backward, symbolic_zeros=True)
