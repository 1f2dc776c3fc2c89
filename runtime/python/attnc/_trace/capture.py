"""The arrays that a score or mask function reads: they become tensors of the spec. A `Captured` stands for each, and answers an index
by a traced value.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from .._frameworks import READ_AS, dtype_name, is_torch
from .errors import TraceError
from .autograd import gradients_are_on
from .functions import _where, lift, to_type
from .graph import ANY, BOOL, COORDINATE, FLOAT, INT, Graph, Node
from .values import Value, add_operators
from .vectors import MOST, Vector

#: Element types that a kernel reads, by numpy's and torch's names: that of the spec, and how an element becomes a value. Arrays
#: of the types of `READ_AS` are converted to these when a kernel is called.
_ELEMENTS = {
    "float32": ("f32", None, FLOAT), "float16": ("f16", "arith.extf {} : f16 to f32", FLOAT),
    "bfloat16": ("bf16", "arith.extf {} : bf16 to f32", FLOAT), "bool": ("i1", None, BOOL),
    "int8": ("i8", "arith.index_cast {} : i8 to index", INT), "int32": ("i32", "arith.index_cast {} : i32 to index", INT),
    "int64": ("i64", "arith.index_cast {} : i64 to index", INT),
}  # fmt: skip
#: What integers of these types are.
_RANGES = {
    "int8": (-(2**7), 2**7 - 1), "int16": (-(2**15), 2**15 - 1), "int32": (-(2**31), 2**31 - 1), "uint8": (0, 2**8 - 1),
    "uint16": (0, 2**16 - 1), "uint32": (0, 2**32 - 1),
}  # fmt: skip

#: The most elements along a computed index of which gradients may be added up in one order: how many the spec says then.
_MOST_ORDERED = 1024

#: Says of an array whether its gradient is wanted.
WantsGradient = Callable[[Any], bool]


class Caller(NamedTuple):
    """Who asks for a trace: the library whose functions and types the functions know, and whether the score that they are given
    has a gradient."""

    library: str
    score_has_gradient: bool = False


class Tensor:
    """One captured array, and what is known of its sizes in the spec."""

    def __init__(self, name: str, array: Any, chosen: dict[int, int]) -> None:
        self.name = name
        self.array = array
        #: The numbers that index dimensions which the kernel does not see.
        self.chosen = chosen
        #: The dimensions that it sees.
        self.places = [dim for dim in range(len(array.shape)) if dim not in chosen]
        # Of a tensor that torch.compile traces, these are symbols, which comparisons guard.
        self.sizes = tuple(array.shape[dim] for dim in self.places)
        #: "?" or a number for each dimension. A dimension that an index of the kernel's axes addresses keeps the size of
        #: heads, which a spec has written, and 1, which says that it is broadcast.
        self.dims = ["?"] * max(len(self.sizes), 1)
        self.element = _element(name, array)
        #: Whether its gradient is wanted, if the score reads it.
        self.is_learned = False
        #: How many elements of each dimension, from the first one on, are passed to the kernel.
        self.passed = list(self.sizes)
        #: The dimensions that a computed index addresses.
        self.computed: set[int] = set()
        #: What the sizes of some are called, that indices are counted from the end of.
        self.ends: dict[int, str] = {}


def _element(name: str, array: Any) -> str:
    dtype = dtype_name(array)
    read = READ_AS.get(dtype, dtype)
    if read not in _ELEMENTS or (read != dtype and not is_torch(array) and not hasattr(array, "astype")):
        wanted = "int32" if "int" in dtype else "float32"
        raise TraceError(f"captured array '{name}' is of {dtype}, which kernels do not read: make it one of {wanted}")
    return _ELEMENTS[read][0]


class Trace:
    """What is known while functions are traced: the operations, the captured arrays, and the sizes of the call."""

    def __init__(
        self, axes: dict[str, int], rows: int, wants_gradient: WantsGradient | None = None, caller: Caller | None = None
    ) -> None:
        self.graph = Graph()
        if caller is not None:
            self.graph.library, self.graph.score_has_gradient = caller
            self.graph.is_differentiated = caller.library == "torch" and wants_gradient is not None
        self._wants_gradient = wants_gradient
        #: What it has answered, of each array that was read.
        self.asked: list[tuple[Any, bool]] = []
        #: The rows that positions of queries name: more than there are queries, where these stand at the last keys.
        self.rows = rows
        #: The size of each axis, by the name of its coordinate: "%b", "%h", "%i", "%j".
        self.axes = axes
        self.coordinates: dict[int, str] = {}
        for name, size in axes.items():
            self.coordinates[self.argument(name, INT, COORDINATE).node.number] = name
        self.tensors: list[Tensor] = []
        self._by_array: dict[tuple[Any, ...], Tensor] = {}
        #: Integers that kernels take, by name: sizes of dimensions, and numbers that calls give.
        self.sizes: dict[str, int] = {}

    def number(self, name: str, value: Any) -> Value:
        """An integer that is data of a call."""
        name = self._unused(name)
        self.sizes[name] = value
        return self.argument(f"%{name}", INT)

    def argument(self, name: str, type: str, bounds: tuple[int, int] = ANY) -> Value:
        return Value(self.graph, self.graph.add(name, type, bounds=bounds))

    def load(self, name: str, array: Any, indices: list[Value], without_gradient: bool = False) -> Value:
        """An element of a captured array."""
        # The one element of an array without dimensions has an index all the same.
        for dim, (index, size) in enumerate(zip(indices, array.shape, strict=False)):
            number = index.node.bounds[0] if index.node.bounds[0] == index.node.bounds[1] else 0
            if number and not -size <= number < size:
                raise TraceError(f"captured array '{name}': dimension {dim} has {size} elements, and is indexed by {number}")
        node = self._read(name, array, indices, without_gradient or not gradients_are_on(self.graph))
        dtype = dtype_name(array)
        text, type = _ELEMENTS[READ_AS.get(dtype, dtype)][1:]
        if text is None:
            return Value(self.graph, node)
        return Value(self.graph, self.graph.add(text, type, [node], _RANGES.get(dtype, ANY)))

    def _read(self, name: str, array: Any, indices: list[Value], without_gradient: bool) -> Node:
        """The element as the tensor has it."""
        tensor = self._capture(name, array, indices, without_gradient)
        seen = [indices[dim] for dim in tensor.places] or [Value(self.graph, self.graph.constant(0, INT))]
        written = [self._index(tensor, dim, index) for dim, index in enumerate(seen)]
        places = ", ".join("{}" for _ in written)
        # The type is written when all indices of the function are known.
        node = self.graph.add(f"attn.load %{tensor.name}[{places}] : ${tensor.name}$", tensor.element, written)
        if tensor.is_learned:
            self.graph.learned_reads[node.number] = lambda: self._read(name, array, indices, True)
        return node

    def _capture(self, name: str, array: Any, indices: list[Value], without_gradient: bool) -> Tensor:
        """The tensor that an array is in the spec. Of those that have gradients a spec reads each element for one place
        alone, so that what is read by queries and by keys is two, whose gradients the framework adds; so is what two
        computed indices read, and a number leaves a part of the array."""
        has_gradient = self._wants_gradient is not None and self._wants_gradient(array)
        self.asked.append((array, has_gradient))
        is_learned = has_gradient and not without_gradient
        ways = tuple(self._way_of(array, dim, index) for dim, index in enumerate(indices)) if is_learned else ()
        tensor = self._by_array.get((id(array), is_learned, *ways))
        if tensor is None:
            numbers = {dim: self._number_of(indices[dim]) for dim, way in enumerate(ways) if way is not None}
            chosen = {dim: number for dim, number in numbers.items() if number is not None}
            tensor = Tensor(self._unused(name), array, chosen)
            tensor.is_learned = is_learned
            self._by_array[id(array), is_learned, *ways] = tensor
            self.tensors.append(tensor)
        return tensor

    def _way_of(self, array: Any, dim: int, index: Value) -> str | int | None:
        """The axis that an index addresses, or the index itself where it is computed; None where there is one element."""
        if tuple(array.shape)[dim : dim + 1] in ((), (1,)):
            return None
        return self.coordinates.get(index.node.number, index.node.number)

    def _number_of(self, index: Value) -> int | None:
        """The number that an index is for all queries and keys: a constant, or data of the call."""
        low, high = index.node.bounds
        return low if low == high else self.sizes.get(index.node.text.removeprefix("%"))

    def _unused(self, name: str) -> str:
        name = re.sub(r"\W", "_", name, flags=re.ASCII)[:200] or "captured"
        # What a spec names by itself.
        taken = {*"qkvbhijso", "out", "lse", "sinks", "seed", *(tensor.name for tensor in self.tensors), *self.sizes}
        unused, number = name, 1
        while unused in taken:
            number += 1
            unused = f"{name}_{number}"
        return unused

    def _index(self, tensor: Tensor, dim: int, index: Value) -> Node:
        """An index as the spec has it. A bare coordinate addresses its axis, where the sizes agree; whatever else is
        clamped to the dimension, so that what counts from the end, as Python has it, is counted from the start here."""
        size = tensor.sizes[dim] if tensor.sizes else 1
        axis = self.coordinates.get(index.node.number)
        if axis is not None and tensor.is_learned and size > self.axes[axis]:
            # A table for longer sequences: what is behind this one's end is not passed, so that the rest has a gradient.
            size = tensor.passed[dim] = self.axes[axis]
        if axis is not None and size in (1, self.axes[axis]):
            if axis == "%h":
                tensor.dims[dim] = str(size)
            elif size == 1 and self.axes[axis] != 1:
                tensor.dims[dim] = "1"
            return index.node
        if axis is not None:
            named = self.rows if axis == "%i" else self.axes[axis]
            if size < named:
                of_queries = "" if named == self.axes[axis] else f"{self.axes[axis]}, one for each query, "
                raise TraceError(
                    f"captured array '{tensor.name}': dimension {tensor.places[dim]} has {size} elements, and is indexed by all "
                    f"{named} of its axis; there may be 1, which stands for all, {of_queries}{named} or more"
                )
            tensor.computed.add(dim)
            return self.graph.add("arith.addi {}, {} : index", INT, [index.node, self.graph.constant(0, INT)], COORDINATE)
        tensor.computed.add(dim)
        if index.node.bounds[0] >= 0:
            return index.node
        low, high = index.node.bounds
        if low == high:
            return self.graph.constant(low + size, INT)
        if dim not in tensor.ends:
            tensor.ends[dim] = self._unused(f"{tensor.name}_size{dim}")
            self.sizes[tensor.ends[dim]] = size
        from_end = index + self.argument(f"%{tensor.ends[dim]}", INT, COORDINATE)
        return _where(index < 0, from_end, index).node

    def learned(self, score: Node) -> list[Tensor]:
        """The tensors whose gradients are wanted: what a mask alone reads has none."""
        loads = {text.split("[")[0] for text in self.graph.texts(score)}
        return [tensor for tensor in self.tensors if tensor.is_learned and f"attn.load %{tensor.name}" in loads]

    def tensor_type(self, tensor: Tensor, has_gradient: bool) -> str:
        """The type in the spec. A gradient has to know from the type what is one for all, and how many there are for a
        computed index where they are to be added up in one order."""
        dims = tensor.dims
        if has_gradient:
            sizes = tensor.passed or (1,)
            is_static = [size == 1 or (number in tensor.computed and size <= _MOST_ORDERED) for number, size in enumerate(sizes)]
            # Where torch.compile has a symbol, the number decides that there is a program for each.
            dims = [str(int(size)) if static else dim for static, size, dim in zip(is_static, sizes, dims, strict=True)]
        return f"tensor<{'x'.join(dims)}x{tensor.element}>"


class Captured:
    """A captured array inside of a traced function: indexed, it gives a traced value."""

    def __init__(
        self, trace: Trace, name: str, array: Any, indices: tuple[Value, ...] = (), without_gradient: bool = False
    ) -> None:
        self._trace = trace
        self._name = name
        self._array = array
        self._indices = indices
        self._without_gradient = without_gradient

    @property
    def graph(self) -> Graph:
        return self._trace.graph

    @property
    def shape(self) -> Any:
        return self._array.shape[len(self._indices) :]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> Any:
        return self._array.dtype

    @property
    def device(self) -> Any:
        return self._array.device

    def size(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self.shape[dim]

    def __len__(self) -> int:
        return int(self.shape[0])

    def __repr__(self) -> str:
        return f"<captured array '{self._name}'>"

    def __getitem__(self, index: Any) -> Any:
        given = index if isinstance(index, tuple) else (index,)
        given = tuple(item for item in given if item is not Ellipsis)
        if len(given) > self.ndim:
            raise TraceError(f"captured array '{self._name}' has {self.ndim} dimensions, got {len(given)} indices")
        indices = []
        for item in given:
            if isinstance(item, slice) or item is None:
                raise TraceError(f"captured array '{self._name}': a slice or None is no index of one element")
            value = lift(self.graph, item)
            if value.type == FLOAT:
                raise TraceError(f"captured array '{self._name}': expected integers as indices, got a float")
            indices.append(to_type(value, INT))
        whole = (*self._indices, *indices)
        if len(whole) < len(self._array.shape):
            without_gradient = self._without_gradient or not gradients_are_on(self.graph)
            return Captured(self._trace, self._name, self._array, whole, without_gradient)
        return self._trace.load(self._name, self._array, list(whole), self._without_gradient)

    def detach(self) -> Captured:
        """The same array, which has no gradient."""
        return Captured(self._trace, self._name, self._array, self._indices, True)

    def load_scalar(self) -> Value:
        """The one element, where the array is used as a number."""
        if self.ndim > 0:
            raise TraceError(
                f"captured array '{self._name}' has {self.ndim} dimensions left, and is used as a number: index it; what is computed "
                "of the whole array is computed before, outside of the function"
            )
        index = Value(self.graph, self.graph.constant(0, INT))
        return self._trace.load(self._name, self._array, [index], self._without_gradient)

    def as_vector(self) -> Vector | None:
        """The elements that are left, where an index has chosen a short row of them."""
        if self.ndim != 1 or not self._indices or not isinstance(self.shape[0], int) or self.shape[0] > MOST:
            return None
        return Vector([self[place] for place in range(self.shape[0])])

    def item(self) -> Value:
        return self.load_scalar()

    def __iter__(self) -> Any:
        raise TraceError(f"captured array '{self._name}': loops over elements cannot be traced; index it")

    def __bool__(self) -> bool:
        return bool(self.load_scalar())

    def __float__(self) -> float:
        return float(self.load_scalar())

    def __index__(self) -> int:
        raise TraceError(
            f"captured array '{self._name}' is used as an index or a bound, which would be compiled in: make it a number"
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        vector = self.as_vector()
        return getattr(self.load_scalar() if vector is None else vector, name)

    __array_ufunc__ = Value.__array_ufunc__
    __array_function__ = Value.__array_function__
    __torch_function__ = Value.__torch_function__
    __str__ = Value.__str__
    __format__ = Value.__format__
    __hash__ = Value.__hash__


add_operators(Captured)
