"""Attention of DTensors: what is split by batch entries and heads is computed where it lies, and all else is gathered."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor


def has_dtensor(tensors: Sequence[Any]) -> bool:
    """Whether there is a DTensor. A program that has none has not imported them, or pays for a comparison."""
    module = sys.modules.get("torch.distributed.tensor")
    return module is not None and any(isinstance(tensor, module.DTensor) for tensor in tensors)


def on_mesh(
    function: Callable[..., tuple[Tensor, ...]], tensors: Sequence[Tensor], layouts: Sequence[str], results: Sequence[str],
    split: str = "bh", seed: int | None = None, is_drawn: bool = False,
) -> tuple[Tensor, ...]:  # fmt: skip
    """`function` of the parts of tensors on each device of a mesh.

    layouts, results: a letter for each dimension of the tensors, queries and keys first, and of what is returned: "b" batch
    entries, "h" query heads, "g" key heads. split: the axes by which the queries may be split; the others follow them.
    seed: which of the tensors has the words of dropout's seed: each part drops what it would as a part of the whole. is_drawn:
    each device has drawn words of its own, of which those of the first one count, as their generators may have unlike states.
    """
    from torch.distributed.tensor import DTensor, Partial, Replicate, Shard
    from torch.distributed.tensor.experimental import local_map

    mesh = next(tensor.device_mesh for tensor in tensors if isinstance(tensor, DTensor))
    query = tensors[0]
    # Query heads lie with their key head. What does not divide among the devices is gathered: parts would differ in size.
    sizes = {"h": tensors[1].shape[layouts[1].index("g")], "b": query.shape[0]}
    axes: list[str | None] = []
    for number, placement in enumerate(query.placements if isinstance(query, DTensor) else [Replicate()] * mesh.ndim):
        axis = layouts[0][placement.dim % query.dim()] if isinstance(placement, Shard) else None
        parts = mesh.size(number)
        for place, chosen in enumerate(axes):
            parts *= mesh.size(place) if chosen == axis else 1
        axes.append(axis if axis is not None and axis in split and sizes[axis] % parts == 0 else None)

    def placements(layout: str, shape: Sequence[int] | None) -> list[Any]:
        found: list[Any] = []
        for axis in axes:
            letter = "g" if axis == "h" and "g" in layout else axis
            lies = letter is not None and letter in layout and (shape is None or shape[layout.index(letter)] != 1)
            found.append(Shard(layout.index(letter)) if lies and letter is not None else Replicate())
        return found

    inputs = [placements(layout, tensor.shape) for layout, tensor in zip(layouts, tensors, strict=True)]
    # Each part of a batch adds to the gradient of what all of it shares.
    gradients = [
        [Partial() if axis is not None and isinstance(place, Replicate) else place for axis, place in zip(axes, given, strict=True)]
        for given in inputs
    ]
    whole = [
        tensor if isinstance(tensor, DTensor) else DTensor.from_local(tensor, mesh, [Replicate()] * mesh.ndim, run_check=False)
        for tensor in tensors
    ]
    if seed is not None and is_drawn:
        # A sum to which the others add nothing.
        is_first = all(mesh.get_local_rank(number) == 0 for number in range(mesh.ndim))
        words = tensors[seed] if is_first else tensors[seed] * 0
        whole[seed] = DTensor.from_local(words, mesh, [Partial()] * mesh.ndim, run_check=False)

    def of_part(*parts: Tensor) -> tuple[Tensor, ...]:
        if seed is None:
            return function(*parts)
        words = parts[seed].clone()
        for word, letter in ((2, "b"), (3, "h")):
            if letter in axes:
                words[word] += _first(mesh, axes, letter, query.shape[layouts[0].index(letter)])
        return function(*parts[:seed], words, *parts[seed + 1 :])

    mapped = local_map(
        of_part, tuple(placements(layout, None) for layout in results), tuple(inputs), tuple(gradients), mesh,
        redistribute_inputs=True,
    )  # fmt: skip
    return mapped(*whole)  # type: ignore[no-any-return]


def _first(mesh: Any, axes: Sequence[str | None], letter: str, size: int) -> int:
    """The first of `size` batch entries or heads that lie on this device: each axis of the mesh that shares them out does so as
    torch.chunk does."""
    first = 0
    for number, axis in enumerate(axes):
        if axis == letter:
            chunk = -(-size // mesh.size(number))
            start = min(chunk * mesh.get_local_rank(number), size)
            first, size = first + start, min(chunk, size - start)
    return first
