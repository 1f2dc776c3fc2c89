"""Calls whose arrays have axes of a mesh in their types: Explicit axes, which are those of jax.make_mesh by default.

What the types say is how such a call is split, and no partitioner is asked: each kernel is mapped over the mesh, with the
shardings that the partitioner would find. Gradients are kernels that are mapped by themselves: JAX differentiates no mapping.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
from jax.sharding import AxisType, NamedSharding, PartitionSpec

from .._options import Options
from ._shardings import Kind, of_part, plan_of


class _Type(NamedTuple):
    """The shape and the sharding of an array, or of one entry of a batch that vmap makes."""

    shape: tuple[int, ...]
    sharding: NamedSharding


def explicit_mesh(*arrays: Any) -> Any:
    """The mesh whose axes are part of types, that which is set or that of the arrays; None where there is none."""
    for mesh in (jax.sharding.get_abstract_mesh(), *(jax.typeof(array).sharding.mesh for array in arrays)):
        if AxisType.Explicit in mesh.axis_types:
            return mesh
    return None


def placed_as(array: Any, sharding: Any) -> Any:
    """The array with a sharding in its type."""
    if sharding.mesh.empty or jax.typeof(array).sharding == sharding:
        return array
    return jax.sharding.reshard(array, sharding)


def placed_as_queries(q: Any, results: tuple[Any, ...], dims: tuple[str, ...]) -> tuple[Any, ...]:
    """Results with the sharding of the queries, as jax.nn has them: of batch entries, heads and rows. dims: those of each
    result, of which queries have "bihd"."""
    mesh = explicit_mesh(q)
    if mesh is None:
        return results
    axes = dict(zip("bih", jax.typeof(q).sharding.spec, strict=False))
    shardings = [NamedSharding(mesh, PartitionSpec(*(axes.get(dim) for dim in names))) for names in dims]
    return tuple(placed_as(result, sharding) for result, sharding in zip(results, shardings, strict=True))


def mapped(function: Any, kind: Kind, options: Options, *arrays: Any) -> Any:
    """`function(options, *arrays)`, where each device computes its part. What is split otherwise than the queries, or by rows,
    is gathered first, and so is what Auto axes split."""
    mesh = explicit_mesh(*arrays)
    if mesh is None:
        return function(options, *arrays)

    def over_mesh(inputs: tuple[Any, ...], in_batched: list[bool]) -> Any:
        kinds = [jax.typeof(value) for value in inputs]
        batched = list(zip(kinds, in_batched, strict=True))
        # The axes that split the batch of vmap itself.
        outer = next((kind.sharding.spec[0] for kind, is_batched in batched if is_batched and kind.sharding.spec), None)
        single = [
            _Type(kind.shape[is_batched:], NamedSharding(mesh, PartitionSpec(*kind.sharding.spec[is_batched:])))
            for kind, is_batched in batched
        ]
        plan = plan_of(options, kind, mesh, single)
        local = of_part(function, options, plan)
        if any(in_batched):
            local = jax.vmap(local, [0 if is_batched else None for is_batched in in_batched])

        def specs(shardings: list[Any], with_batch: list[bool]) -> tuple[PartitionSpec, ...]:
            pairs = zip(shardings, with_batch, strict=True)
            return tuple(PartitionSpec(outer, *item.spec) if is_batched else item.spec for item, is_batched in pairs)

        in_specs, out_specs = specs(plan.inputs, in_batched), specs(plan.results, [any(in_batched)] * len(plan.results))
        parts = [placed_as(value, NamedSharding(mesh, spec)) for value, spec in zip(inputs, in_specs, strict=True)]
        # Where no mesh is set, that of the arrays.
        where = {} if jax.sharding.get_abstract_mesh().axis_names else {"mesh": mesh}
        return jax.shard_map(local, in_specs=in_specs, out_specs=out_specs, check_vma=False, **where)(*parts)

    @jax.custom_batching.custom_vmap
    def call(*inputs: Any) -> Any:
        return over_mesh(inputs, [False] * len(inputs))

    @call.def_vmap
    def rule(axis_size: int, in_batched: list[bool], *inputs: Any) -> Any:
        results = over_mesh(inputs, in_batched)
        return results, tuple(True for _ in results)

    return call(*arrays)
