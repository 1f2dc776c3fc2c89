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

from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import NamedSharding, PartitionSpec

from .._options import Options

#: The factors of the dimensions that arrays of a call have.
_DIMENSIONS = {
    "bias": "b h i j", "mask": "b h i j", "q_segment_ids": "b i", "kv_segment_ids": "b j", "q_positions": "b i",
    "kv_positions": "b j", "q_lengths": "b", "kv_lengths": "b",
}  # fmt: skip


#: Which of the kernels of a call.
Kind = Literal["forward", "backward", "weights"]


class _Dimensions(NamedTuple):
    """The factors of all dimensions of the arrays and the results of a call."""

    inputs: list[list[str]]
    results: list[list[str]]
    #: Those that may be split.
    split: set[str]


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
    results, split = [out, lse] if kind == "forward" else ["b h i j"], {"b", "h", "g"}
    if kind == "backward":
        results = [query, key, value]
        if "softmax_aux" in options.names:
            # Gradients of sinks are sums over batch entries, and those of sinks of all heads over heads.
            results.append(inputs[first + options.names.index("softmax_aux")])
            split -= {"b"} if "h" in results[-1] else {"b", "h", "g"}
    if options.dropout:
        # What is dropped is chosen by the numbers of batch entry and head.
        split = set()
    named: list[list[str]] = []
    for factors, shape in zip(inputs, shapes, strict=True):
        dims = factors.split()
        ones = len(named) >= first
        named.append([next(fresh) if ones and size == 1 else dim for dim, size in zip(dims, shape, strict=True)])
    return _Dimensions(named, [factors.split() for factors in results], split)


def _rule(options: Options, kind: Kind, mesh: Any, inputs: Any, results: Any) -> tuple[str, dict[str, Any]]:
    """The sharding rule of a call."""
    shapes = [tuple(type.shape) for type in inputs]
    known = _dimensions(options, kind, shapes)
    query_heads, key_heads = shapes[0][2], shapes[1][2]
    # Each key head g serves r query heads.
    group = query_heads // key_heads
    heads = "g" if group == 1 else "r" if key_heads == 1 else "(g r)"
    sizes = {"r": group} if heads == "(g r)" else {}
    split = known.split | ({"r"} if "h" in known.split and kind != "backward" else set())

    def mapping(arrays: list[list[str]]) -> str:
        return ", ".join(" ".join(heads if dim == "h" else dim for dim in array) for array in arrays)

    rule = f"{mapping(known.inputs)} -> {mapping(known.results)}"
    # In the order in which the rule names them, as Shardy wants it.
    used = dict.fromkeys(re.findall(r"\w+", rule))
    return rule, {"need_replication_factors": tuple(factor for factor in used if factor not in split), **sizes}


def _shardings(options: Options, kind: Kind, mesh: Any, inputs: Any) -> tuple[list[Any], list[Any]]:
    """The shardings of inputs and results that are computed with: those of the queries, as far as they go."""
    shapes = [tuple(array.shape) for array in inputs]
    known = _dimensions(options, kind, shapes)
    axes = dict.fromkeys("bhg")
    spec = (*inputs[0].sharding.spec, None, None, None, None)
    axes["b"] = spec[0] if "b" in known.split else None
    if "h" in known.split and spec[2] is not None:
        key_heads = shapes[1][2]
        names = spec[2] if isinstance(spec[2], tuple) else (spec[2],)
        parts = math.prod(mesh.shape[name] for name in names)
        if key_heads % parts == 0:
            axes["h"] = axes["g"] = spec[2]
        elif key_heads == 1 and kind != "backward":
            axes["h"] = spec[2]

    def named(arrays: list[list[str]]) -> list[Any]:
        return [NamedSharding(mesh, PartitionSpec(*(axes.get(dim) for dim in array))) for array in arrays]

    return named(known.inputs), named(known.results)


def partitioned(function: Any, kind: Kind) -> Any:
    """`function(options, *arrays)`, which XLA's partitioner may split."""

    @functools.partial(custom_partitioning, static_argnums=(0,))
    def call(options: Options, *arrays: Any) -> Any:
        return function(options, *arrays)

    def partition(options: Options, mesh: Any, inputs: Any, results: Any) -> Any:
        def local(*arrays: Any) -> Any:
            return function(options, *arrays)

        given, returned = _shardings(options, kind, mesh, inputs)
        return mesh, local, tuple(returned), tuple(given)

    call.def_partition(
        partition=partition,
        sharding_rule=lambda options, mesh, inputs, results: _rule(options, kind, mesh, inputs, results),
    )
    return call
