"""Objects, classes and containers that a traced function reads: what is found in them is made ready to be traced when it is read."""

from __future__ import annotations

import collections
import types
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from .. import _frameworks
from .errors import TraceError
from .memo import MISSING

if TYPE_CHECKING:
    from .copies import Capture

#: Functions of these are called as they are: what they read is none of the user's.
_LIBRARIES = {"attnc", "builtins", "functools", "itertools", "jax", "jaxlib", "math", "numpy", "operator", "torch", "typing"}

#: What does not change.
CONSTANTS = (bool, int, float, complex, str, bytes, type(None), range, slice, types.EllipsisType)

#: What holds no arrays that are looked for.
_CLOSED = (*CONSTANTS, type, types.ModuleType, types.FunctionType, types.MethodType, types.BuiltinFunctionType)
#: The most values that are looked at to find an array in an object.
_MOST_LOOKED_AT = 4096


def is_of_library(module: str | None) -> bool:
    return (module or "").partition(".")[0] in _LIBRARIES


def is_array(value: Any) -> bool:
    # Dictionaries whose items are attributes have any, or raise errors of their own.
    return (_frameworks.is_torch(value) or _frameworks.is_numpy(value) or _frameworks.is_jax(value)) or (
        hasattr(type(value), "__dlpack__") and hasattr(value, "shape")
    )


def _held(value: Any) -> Iterator[Any]:
    """What a container holds, or an object and its class, or a class."""
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, (list, tuple, collections.deque)):
        yield from value
    is_class = isinstance(value, type)
    for kind in (value if is_class else type(value)).__mro__:
        if is_of_library(kind.__module__):
            continue
        yield from vars(kind).values()
        slots = vars(kind).get("__slots__", ())
        for slot in () if is_class else (slots,) if isinstance(slots, str) else slots:
            yield getattr(value, slot, None)
    if not is_class:
        yield from getattr(value, "__dict__", {}).values()


def has_arrays(value: Any) -> bool:
    """Whether an object or a class, or something that it holds, is an array; what is nearer is looked at first."""
    waiting, seen, looked_at = collections.deque([value]), {id(value)}, 0
    while waiting:
        for item in _held(waiting.popleft()):
            looked_at += 1
            if looked_at > _MOST_LOOKED_AT:
                return False
            if isinstance(item, _CLOSED) or id(item) in seen:
                continue
            if is_array(item):
                return True
            seen.add(id(item))
            waiting.append(item)
    return False


class Attributes:
    """An object or a class whose arrays are captured where they are read."""

    def __init__(self, capture: Capture, target: Any) -> None:
        object.__setattr__(self, "_attnc_capture", capture)
        object.__setattr__(self, "_attnc_target", target)

    def __getattr__(self, name: str) -> Any:
        reads = self._attnc_capture.reads
        try:
            value = getattr(self._attnc_target, name)
        except AttributeError:
            reads.attribute(self._attnc_target, name, MISSING)
            raise
        if isinstance(value, types.MethodType):
            reads.method(self._attnc_target, name, value)
        else:
            reads.attribute(self._attnc_target, name, value)
        if isinstance(value, types.MethodType) and value.__self__ is self._attnc_target:
            return types.MethodType(self._attnc_capture.function(value.__func__), self)
        return self._attnc_capture.wrap(value, name)

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        if isinstance(self._attnc_target, type):
            # What it makes is not looked at.
            self._attnc_capture.reads.is_open = True
        return self._attnc_capture.function(self._attnc_target)(*inputs, **options)

    def __getitem__(self, index: Any) -> Any:
        return self._attnc_capture.wrap(_special(self, "__getitem__", index), f"{type(self._attnc_target).__name__}_{index!r}")

    def __iter__(self) -> Iterator[Any]:
        for place, item in enumerate(_special(self, "__iter__")):
            yield self._attnc_capture.wrap(item, f"{type(self._attnc_target).__name__}_{place}")

    def __contains__(self, item: Any) -> bool:
        return bool(_special(self, "__contains__", item))

    def __len__(self) -> int:
        return int(_special(self, "__len__"))

    def __bool__(self) -> bool:
        name = next((name for name in ("__bool__", "__len__") if hasattr(type(self._attnc_target), name)), None)
        return name is None or bool(_special(self, name))

    def __setattr__(self, name: str, value: Any) -> None:
        raise TraceError(f"attribute '{name}' is set in a traced function, which may run once for many calls")


def _by_itself(original: Attributes, name: str, *inputs: Any) -> Any:
    """What a method returns that nobody looks into."""
    original._attnc_capture.reads.is_open = True
    return getattr(type(original._attnc_target), name)(original._attnc_target, *inputs)


def _special(original: Attributes, name: str, *inputs: Any) -> Any:
    """What a method returns that Python calls for an operator."""
    kind = type(original._attnc_target)
    method = getattr(kind, name, None)
    if method is None:
        raise TypeError(f"a {kind.__name__} has no {name}")
    is_traced = isinstance(method, types.FunctionType) and not is_of_library(method.__module__)
    return original.__getattr__(name)(*inputs) if is_traced else _by_itself(original, name, *inputs)


def _is_of(original: Attributes, name: str, kind: type) -> bool:
    """Whether a method is that of a class of Python's."""
    return getattr(type(original._attnc_target), name, None) is getattr(kind, name)


def _item(original: Attributes, name: str, index: Any) -> Any:
    """What a method of a container finds by itself."""
    return original._attnc_capture.wrap(_by_itself(original, name, index), f"{type(original._attnc_target).__name__}_{index!r}")


def _operator(name: str) -> Callable[..., Any]:
    def call(self: Attributes, *inputs: Any) -> Any:
        return _special(self, name, *inputs) if hasattr(type(self._attnc_target), name) else NotImplemented

    return call


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift", "matmul"):
    setattr(Attributes, f"__{_name}__", _operator(f"__{_name}__"))
    setattr(Attributes, f"__r{_name}__", _operator(f"__r{_name}__"))


class Dict(dict[Any, Any]):
    """A dictionary of a class of its own: its items are ready to be traced, and all else is read from the original."""

    def __init__(self, original: Attributes, items: dict[Any, Any]) -> None:
        super().__init__(items)
        self._attnc_original = original

    def __getattr__(self, name: str) -> Any:
        return getattr(self._attnc_original, name)

    def __getitem__(self, key: Any) -> Any:
        if _is_of(self._attnc_original, "__getitem__", dict):
            return super().__getitem__(key)
        return _item(self._attnc_original, "__getitem__", key)

    def __missing__(self, key: Any) -> Any:
        if not hasattr(type(self._attnc_original._attnc_target), "__missing__"):
            raise KeyError(key)
        if not _is_of(self._attnc_original, "__missing__", collections.defaultdict):
            return _item(self._attnc_original, "__missing__", key)
        # The original stays as it is.
        factory = self._attnc_original.default_factory
        if factory is None:
            raise KeyError(key)
        self[key] = factory()
        return self[key]


class List(list[Any]):
    """The same of a list."""

    def __init__(self, original: Attributes, items: Iterable[Any]) -> None:
        super().__init__(items)
        self._attnc_original = original

    def __getattr__(self, name: str) -> Any:
        return getattr(self._attnc_original, name)

    def __getitem__(self, place: Any) -> Any:
        if _is_of(self._attnc_original, "__getitem__", list):
            return super().__getitem__(place)
        return _item(self._attnc_original, "__getitem__", place)
