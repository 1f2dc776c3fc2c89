"""What a score or mask function computes with: numbers that are not known yet."""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from .errors import TraceAttributeError, TraceError, is_users
from .graph import BOOL, FLOAT, INT, Graph, Node

_TRUTH = (
    "'if', 'while', 'and', 'or', 'not' and chained comparisons ask for the truth of a traced value, which is not known "
    "yet: write attnc.where(condition, a, b) for 'if', &, | and ~ for 'and', 'or' and 'not', (a < b) & (b < c) for chains, "
    "attnc.minimum and attnc.maximum for min() and max()"
)


if TYPE_CHECKING:

    class _Operators:
        """What `add_operators` adds, for type checkers."""

        def _binary(self, other: Any) -> Any: ...
        def _unary(self) -> Any: ...

        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _binary
        __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __lshift__ = __rshift__ = _binary
        __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __lt__ = __le__ = __gt__ = __ge__ = _binary
        __eq__ = __ne__ = __matmul__ = __rmatmul__ = __divmod__ = __rdivmod__ = _binary
        __neg__ = __invert__ = __abs__ = __pos__ = _unary
else:

    class _Operators:
        __slots__ = ()


#: Of an array that is indexed by a traced value and was made in the function, or lies in a list.
NOT_CAPTURED = (
    "a traced value indexes something that is no captured array: an array of numpy, torch or JAX that the function "
    "reads as a variable or an attribute can be indexed; make a list or a dictionary one of these first, and an array "
    "that the function makes outside of it"
)


class Value(_Operators):
    """A number that a kernel computes for each query and key: an integer, a float or a bool."""

    __slots__ = ("graph", "node")
    # Arrays of numpy leave operators to this class.
    __array_priority__ = 1000

    def __init__(self, graph: Graph, node: Node) -> None:
        self.graph = graph
        self.node = node

    @property
    def type(self) -> str:
        return self.node.type

    @property
    def dtype(self) -> Any:
        """The type of the library whose functions take it: scores are of float32 whatever queries are, as torch has it, and
        integers of int64."""
        name = {BOOL: "bool", INT: "int64", FLOAT: "float32"}[self.node.type]
        library = importlib.import_module(self.graph.library)
        return getattr(library, name) if self.graph.library == "torch" else library.dtype(name)

    def __repr__(self) -> str:
        return f"<traced {self.node.type}>"

    # What frameworks ask of their own scalars.
    ndim = 0
    shape = ()
    # Nowhere in particular: what is made there is made with the kernel's other numbers.
    device = None

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__":
            raise TraceError(f"numpy.{ufunc.__name__}.{method} has no meaning for one value")
        return _call(ufunc.__name__, inputs, options, "numpy")

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        # Asked by functions of JAX, which then say that they do not take it.
        if function.__name__ == "shape":
            return self.shape
        return _call(function.__name__, inputs, options, "numpy")

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, inputs: Any = (), options: Any = None) -> Any:
        # Of a tensor that is no traced value: torch.tensor(0.0).where(i >= j, s).
        is_method = type(function).__name__ == "method_descriptor"
        return _call(function.__name__, inputs, options or {}, "method" if is_method else "torch")

    def __bool__(self) -> NoReturn:
        raise TraceError(_TRUTH)

    def __index__(self) -> NoReturn:
        raise TraceError(NOT_CAPTURED)

    def __int__(self) -> NoReturn:
        raise TraceError("int() of a traced value: write attnc.to_int(x), which rounds to zero")

    def __float__(self) -> NoReturn:
        raise TraceError(
            "a traced value where a number is wanted, as functions of 'math' do: write attnc.exp, attnc.tanh, "
            "attnc.sqrt, …, or attnc.to_float(x) for float(x)"
        )

    def __iter__(self) -> NoReturn:
        raise TraceError("a traced value is one number: it has no elements, and loops over it cannot be traced")

    def __len__(self) -> NoReturn:
        raise TraceError("a traced value is one number: it has no length")

    def __getitem__(self, index: Any) -> NoReturn:
        raise TraceError("a traced value is one number: it cannot be indexed")

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise TraceError("a traced value cannot be written to: write attnc.where(condition, new, old)")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if not has_function(name):
            raise TraceAttributeError(f"a traced value has no '{name}'; there are {', '.join(known_functions())}")

        def method(*inputs: Any, **options: Any) -> Any:
            return _call(name, (self, *inputs), options, "method")

        return method

    def _text_for(self, frame: types.FrameType) -> str:
        # A library that does not take it says what it was given.
        if not is_users(frame.f_code):
            return repr(self)
        raise TraceError(
            "the text of a traced value, as str(), print() and f-strings ask for it, which is not known yet: repr(x), or {x!r}, "
            "tells its type, and the text of what a function computes with may not depend on it"
        )

    def __str__(self) -> str:
        return self._text_for(sys._getframe(1))

    def __format__(self, form: str) -> str:
        return self._text_for(sys._getframe(1))

    def __hash__(self) -> int:
        raise TraceError(
            "a traced value is looked up in a dictionary or a set, or by functools.lru_cache, and is not known yet: make a "
            "dictionary an array outside of the function and index that, write (x == a) | (x == b) for 'x in {a, b}'"
        )


def _call(name: str, inputs: tuple[Any, ...], options: dict[str, Any], library: str) -> Any:
    from . import functions

    return functions.call(name, inputs, options, library)


def has_function(name: str) -> bool:
    from . import functions

    return name in functions.TABLE or functions.is_in_place(name)


def known_functions() -> list[str]:
    from . import functions

    return functions.names()


def _binary(name: str) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    def forward(self: Any, other: Any) -> Any:
        return _call(name, (self, other), {}, "attnc")

    def backward(self: Any, other: Any) -> Any:
        return _call(name, (other, self), {}, "attnc")

    return forward, backward


def _dot(left: Any, right: Any) -> Any:
    """left @ right: of two rows."""
    from .vectors import vector_of

    if vector_of(left) is None or vector_of(right) is None:
        raise TraceError(
            "'@' of a traced value, which is one number: write * for a product of two; rows of captured arrays, as a[b] @ c[h] "
            "has them, go together"
        )
    return _call("dot", (left, right), {}, "attnc")


def add_operators(cls: type) -> None:
    """Gives a class Python's operators, each a call of the function of its name."""
    for operation, name in {
        "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floor_divide", "mod": "remainder",
        "pow": "pow", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift",
        "rshift": "right_shift",
    }.items():  # fmt: skip
        forward, backward = _binary(name)
        setattr(cls, f"__{operation}__", forward)
        setattr(cls, f"__r{operation}__", backward)
    for comparison in ("eq", "ne", "lt", "le", "gt", "ge"):
        setattr(cls, f"__{comparison}__", _binary(comparison)[0])
    for operation, name in {"neg": "neg", "abs": "abs", "invert": "bitwise_not"}.items():
        setattr(cls, f"__{operation}__", lambda self, name=name: _call(name, (self,), {}, "attnc"))
    setattr(cls, "__matmul__", _dot)
    setattr(cls, "__rmatmul__", lambda self, other: _dot(other, self))
    setattr(cls, "__divmod__", lambda self, other: (self // other, self % other))
    setattr(cls, "__rdivmod__", lambda self, other: (other // self, other % self))
    setattr(cls, "__pos__", lambda self: self)
    setattr(cls, "__round__", lambda self, digits=None: _call("round", (self,), {}, "attnc"))


add_operators(Value)

