"""Rows of captured arrays as a whole: what a function does with one is done with each of its elements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .errors import TraceError
from .values import Value, _call, add_operators, has_function

#: More elements than that are not written out.
MOST = 64


class Vector:
    """A few traced values, which functions of torch and numpy take as an array of one dimension."""

    def __init__(self, elements: list[Any]) -> None:
        self.elements = elements

    def as_vector(self) -> Vector:
        return self

    @property
    def ndim(self) -> int:
        return 1

    @property
    def shape(self) -> tuple[int]:
        return (len(self.elements),)

    def __len__(self) -> int:
        return len(self.elements)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.elements)

    def __getitem__(self, index: int) -> Any:
        return self.elements[index]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not (name in REDUCTIONS or has_function(name)):
            raise AttributeError(name)
        return lambda *inputs, **options: _call(name, (self, *inputs), options, "method")

    __array_ufunc__ = Value.__array_ufunc__
    __array_function__ = Value.__array_function__
    __torch_function__ = Value.__torch_function__
    __str__ = Value.__str__
    __format__ = Value.__format__
    __hash__ = Value.__hash__


add_operators(Vector)

#: What makes one value of all elements: the function of two, over and over.
REDUCTIONS = {"sum": "add", "mean": "add", "prod": "mul", "amax": "maximum", "amin": "minimum", "max": "maximum",
              "min": "minimum", "dot": "add", "all": "logical_and", "any": "logical_or"}  # fmt: skip


def vector_of(value: Any) -> Vector | None:
    """A value as a vector; None where it is one number."""
    as_vector = getattr(type(value), "as_vector", None)
    return None if as_vector is None else as_vector(value)


def call_with_vectors(
    name: str, inputs: tuple[Any, ...], vectors: list[Vector | None], options: dict[str, Any], library: str
) -> Any:
    """Calls the function `name` on inputs of which some are vectors, as `vectors` has them; the others go to each element."""
    if name in REDUCTIONS and name != "dot" and vectors[0] is not None and vectors[1:] in ([], [None]):
        return _reduce(name, vectors[0], inputs[1:], options, library)
    lengths = {len(vector) for vector in vectors if vector is not None}
    if len(lengths) != 1:
        raise TraceError(f"{library}.{name}: expected rows of one length, got {' and '.join(map(str, sorted(lengths)))}")
    if name == "dot":
        return _reduce("sum", call_with_vectors("mul", inputs, vectors, {}, library), (), options, library)
    pairs = list(zip(vectors, inputs, strict=True))
    rows = [[value if vector is None else vector[place] for vector, value in pairs] for place in range(lengths.pop())]
    return Vector([_call(name, tuple(row), dict(options), library) for row in rows])


def _reduce(name: str, vector: Vector, given: tuple[Any, ...], options: dict[str, Any], library: str) -> Any:
    """One value of all elements. given: what stands behind the row, its dimension."""
    dim = options.pop("dim", options.pop("axis", given[0] if given else -1))
    if dim not in (-1, 0, None, (-1,)) or options:
        raise TraceError(f"{library}.{name}: a row has one dimension, which goes; got dim={dim!r} and {sorted(options)}")
    result = vector[0]
    for element in vector.elements[1:]:
        result = _call(REDUCTIONS[name], (result, element), {}, library)
    return result / len(vector) if name == "mean" else result
