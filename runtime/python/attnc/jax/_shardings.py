"""How a call is split over devices: by batch entries and by heads, each computed where it lies.

The rule names a factor for each axis of the problem (Shardy's notation): XLA's partitioner gathers what is split otherwise,
and nothing else.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from typing import Any, Literal, NamedTuple

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from .._options import Options

#: The factors of the dimensions that arrays of a call have.
_DIMENSIONS = {
    "bias": "b h i j", "mask": "b h i j", "q_segment_ids": "b i", "kv_segment_ids": "b j", "q_positions": "b i",
    "kv_positions": "b j", "query_seq_lengths": "b", "key_value_seq_lengths": "b", "dropout_seed": "w",
    "scale": "w",
}  # fmt: skip


#: Which of the kernels of a call.
Kind = Literal["forward", "backward", "weights"]


class _Dimensions(NamedTuple):
    """The factors of all dimensions of the arrays and the results of a call."""

    inputs: list[list[str]]
    results: list[list[str]]


def _dimensions(options: Options, kind: Kind, shapes: list[tuple[int, ...]]) -> _Dimensions:
    """`h` is a query head and `g` a key head; a dimension of size 1 has a factor of its own."""
    fresh = (f"x{number}" for number in itertools.count())
    query, key, value, out, lse = "b i h d", "b j g d", "b j g e", "b i h e", "b h i"
    inputs = [query, key]
    if kind != "weights":
        inputs.append(value)
    if kind == "backward":
        inputs += [out, lse, out, lse]
    first = len(inputs)
    for name, shape in zip(options.names, shapes[first:], strict=True):
        inputs.append(_DIMENSIONS.get(name, "h n" if len(shape) == 2 else "n"))
    named: list[list[str]] = []
    for factors, shape in zip(inputs, shapes, strict=True):
        dims = factors.split()
        ones = len(named) >= first
        named.append([next(fresh) if ones and size == 1 else dim for dim, size in zip(dims, shape, strict=True)])
    results = {"forward": [out, lse], "backward": [query, key, value], "weights": ["b h i j"]}[kind]
    found = [factors.split() for factors in results]
    if kind == "backward":
        found += [named[first + options.names.index(name)] for name in options.differentiated]
    return _Dimensions(named, found)


def _rule(options: Options, kind: Kind, mesh: Any, inputs: Any, results: Any) -> tuple[str, dict[str, Any]]:
    """The sharding rule of a call."""
    shapes = [tuple(type.shape) for type in inputs]
    known = _dimensions(options, kind, shapes)
    query_heads, key_heads = shapes[0][2], shapes[1][2]
    # Each key head g serves r query heads.
    group = query_heads // key_heads
    heads = "g" if group == 1 else "r" if key_heads == 1 else "(g r)"
    if heads == "(g r)" and kind == "backward":
        # Query heads that are split further than key heads are gathered (`plan_of`). As one factor, Shardy would split the key
        # heads by a part of an axis, which JAX has no words for.
        heads = "h"
    sizes = {"r": group} if heads == "(g r)" else {}
    split = {"b", "h", "g"} | ({"r"} if kind != "backward" else set())

    def mapping(arrays: list[list[str]]) -> str:
        return ", ".join(" ".join(heads if dim == "h" else dim for dim in array) for array in arrays)

    rule = f"{mapping(known.inputs)} -> {mapping(known.results)}"
    # In the order in which the rule names them, as Shardy wants it.
    used = dict.fromkeys(re.findall(r"\w+", rule))
    return rule, {"need_replication_factors": tuple(factor for factor in used if factor not in split), **sizes}


class Plan(NamedTuple):
    """How a call is computed: the shardings of its inputs and results, and over which axes of the mesh each result of the
    parts is summed up."""

    inputs: list[Any]
    results: list[Any]
    sums: list[tuple[str, ...]]
    #: The axes of the mesh that share out batch entries, and those that share out heads.
    batch: tuple[str, ...]
    heads: tuple[str, ...]


def _names(axes: Any) -> tuple[str, ...]:
    """The axes that an entry of a PartitionSpec names."""
    return () if axes is None else (axes,) if isinstance(axes, str) else tuple(axes)


def seed_of_part(words: Any, q: Any, batch: tuple[str, ...], heads: tuple[str, ...]) -> Any:
    """The words of dropout's seed for the part of a device, by its queries and the axes that share out batch entries and heads:
    with the numbers at which these begin, all devices together drop what one would."""

    def first(axes: tuple[str, ...], size: int) -> Any:
        return lax.axis_index(axes) * size if axes else 0

    return words + jnp.array([0, 0, first(batch, q.shape[0]), first(heads, q.shape[2])], jnp.int32)


def plan_of(options: Options, kind: Kind, mesh: Any, inputs: Any) -> Plan:
    """Calls are split as their queries are, as far as they go."""
    shapes = [tuple(array.shape) for array in inputs]
    known = _dimensions(options, kind, shapes)
    axes = dict.fromkeys("bhg")
    spec = (*inputs[0].sharding.spec, None, None, None, None)
    axes["b"] = spec[0]
    if spec[2] is not None:
        key_heads = shapes[1][2]
        parts = math.prod(mesh.shape[name] for name in _names(spec[2]))
        if key_heads % parts == 0:
            axes["h"] = axes["g"] = spec[2]
        elif key_heads == 1:
            axes["h"] = spec[2]

    def named(arrays: list[list[str]]) -> list[Any]:
        return [NamedSharding(mesh, PartitionSpec(*(axes.get(dim) for dim in array))) for array in arrays]

    def sums(dims: list[str]) -> tuple[str, ...]:
        # The gradient of what batch entries or heads share is a sum over them, also that of the one key head of all.
        has_heads = "h" in dims or ("g" in dims and axes["g"] is not None)
        lacking = [axes["b"] if "b" not in dims else None, None if has_heads else axes["h"]]
        return tuple(name for names in lacking for name in _names(names))

    return Plan(
        named(known.inputs), named(known.results), [sums(dims) for dims in known.results], _names(axes["b"]), _names(axes["h"])
    )


def of_part(function: Any, options: Options, plan: Plan) -> Any:
    """What a device computes of `function(options, *arrays)`: of its parts of the arrays, its parts of the results."""

    def local(*arrays: Any) -> Any:
        if "dropout_seed" in options.names:
            place = len(arrays) - len(options.names) + options.names.index("dropout_seed")
            words = seed_of_part(arrays[place], arrays[0], plan.batch, plan.heads)
            arrays = (*arrays[:place], words, *arrays[place + 1 :])
        parts = function(options, *arrays)
        return tuple(lax.psum(part, axes) if axes else part for part, axes in zip(parts, plan.sums, strict=True))

    return local


def partitioned(function: Any, kind: Kind) -> Any:
    """`function(options, *arrays)`, which XLA's partitioner may split."""

    @functools.partial(custom_partitioning, static_argnums=(0,))
    def call(options: Options, *arrays: Any) -> Any:
        return function(options, *arrays)

    def partition(options: Options, mesh: Any, inputs: Any, results: Any) -> Any:
        if not isinstance(inputs[0].sharding, NamedSharding):
            # Of a program none of whose arrays lies on a mesh, though one is set, the partitioner does not know it: each device
            # computes all.
            mesh = Mesh(np.array(list(inputs[0].sharding.device_set)), ("all",))
            whole = NamedSharding(mesh, PartitionSpec())
            inputs = [jax.ShapeDtypeStruct(item.shape, item.dtype, sharding=whole) for item in inputs]
        plan = plan_of(options, kind, mesh, inputs)
        return mesh, of_part(function, options, plan), tuple(plan.results), tuple(plan.inputs)

    call.def_partition(
        partition=partition,
        sharding_rule=lambda options, mesh, inputs, results: _rule(options, kind, mesh, inputs, results),
    )
    return call
