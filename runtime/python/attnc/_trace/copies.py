"""Copies of score and mask functions, in which what they read can be traced.

A function is traced as a copy of itself in which each array that it finds in its closure, in global variables, in default
values or in attributes of objects is replaced by a `Captured`.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from .. import _frameworks
from .capture import Captured, Trace
from .errors import TraceError
from .memo import MISSING, Reads, content_of
from .values import Value

#: Functions of these are called as they are: what they read is none of the user's.
_LIBRARIES = {"attnc", "builtins", "functools", "itertools", "jax", "jaxlib", "math", "numpy", "operator", "torch", "typing"}

#: But functions of these are made of the user's.
_COMBINATORS = {"attnc._mods", "attnc.torch._block_mask", "torch.nn.attention.flex_attention"}

#: What does not change.
_CONSTANTS = (bool, int, float, complex, str, bytes, type(None), range, slice, types.EllipsisType)

#: Functions and attributes by whose names variables are read that nobody sees being read.
_READERS = {
    "globals", "vars", "eval", "exec", "open", "input", "__import__", "__globals__", "__dict__", "__closure__", "__builtins__",
}  # fmt: skip


class _Attributes:
    """An object whose arrays are captured where they are read."""

    def __init__(self, capture: Capture, target: Any) -> None:
        object.__setattr__(self, "_capture", capture)
        object.__setattr__(self, "_target", target)

    def __getattr__(self, name: str) -> Any:
        reads = self._capture.reads
        try:
            value = getattr(self._target, name)
        except AttributeError:
            reads.attribute(self._target, name, MISSING)
            raise
        if isinstance(value, types.MethodType):
            reads.method(self._target, name, value)
        else:
            reads.attribute(self._target, name, value)
        if isinstance(value, types.MethodType) and value.__self__ is self._target:
            return types.MethodType(self._capture.function(value.__func__), self)
        return self._capture.wrap(value, name)

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        return self._capture.function(self._target)(*inputs, **options)

    def __getitem__(self, index: Any) -> Any:
        # What an object finds for an index is not looked at.
        self._capture.reads.is_open = True
        return self._capture.wrap(self._target[index], f"{type(self._target).__name__}_{index!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        raise TraceError(f"attribute '{name}' is set in a traced function, which may run once for many calls")


def _kind_of(array: Any) -> tuple[Any, Any]:
    """What of an array is written into a spec: an array may be given another size in its place."""
    return tuple(array.shape), array.dtype


def is_array(value: Any) -> bool:
    return (_frameworks.is_torch(value) or _frameworks.is_numpy(value) or _frameworks.is_jax(value)) or (
        hasattr(value, "__dlpack__") and hasattr(value, "shape")
    )


def _has_arrays(value: Any, depth: int = 3) -> bool:
    """Whether attributes of an object, or of objects that it holds, are arrays."""
    try:
        held = list(vars(value).values())
    except TypeError:
        return False
    held += [item for holder in held if isinstance(holder, dict) for item in holder.values()]
    return any(is_array(item) for item in held) or (
        depth > 1 and any(_has_arrays(item, depth - 1) for item in held if not isinstance(item, (type, types.ModuleType)))
    )


class Capture:
    """Copies of functions for one trace."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self.reads = Reads()
        self._functions: dict[int, Callable[..., Any]] = {}
        # Ids are of objects that live.
        self._kept: list[Any] = []

    def wrap(self, value: Any, name: str) -> Any:
        """A value that a function reads, ready to be traced."""
        if isinstance(value, (Value, Captured, _Attributes, *_CONSTANTS)):
            return value
        if is_array(value):
            self.reads.answer(_kind_of, value, _kind_of(value))
            return Captured(self._trace, name, value)
        if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
            self.reads.container(value)
            return type(value)(self.wrap(item, f"{name}_{index}") for index, item in enumerate(value))
        if type(value) is dict:
            self.reads.container(value)
            return {key: self.wrap(item, f"{name}_{key}") for key, item in value.items()}
        if isinstance(value, (set, frozenset)):
            self.reads.container(value)
            self.reads.is_open = self.reads.is_open or not all(isinstance(item, _CONSTANTS) for item in value)
            return value
        if isinstance(value, types.BuiltinFunctionType):
            # Methods of what may change are of this type too.
            is_bound = not isinstance(value.__self__, (types.ModuleType, type, *_CONSTANTS))
            self.reads.is_open = self.reads.is_open or is_bound or value.__name__ in _READERS
            return value
        if isinstance(value, types.ModuleType):
            return self._of_library(value, value.__name__)
        if isinstance(value, type):
            return self._of_library(value, value.__module__)
        if isinstance(value, (types.FunctionType, types.MethodType, functools.partial)):
            return self.function(value)
        # Modules of torch hold others, and are called as well as read.
        if callable(value) or _has_arrays(value):
            return _Attributes(self, value)
        return self._of_library(value, self._module_of(value))

    def _module_of(self, value: Any) -> str:
        """The module of the type of a value; none where it is Python's, and is used up or holds what is the user's."""
        module = type(value).__module__
        is_plain = callable(value) and not isinstance(value, functools._lru_cache_wrapper)
        return "" if module in ("builtins", "itertools", "functools") and not is_plain else module

    def _of_library(self, value: Any, module: str) -> Any:
        """What is read as it is. Of what is the user's, attributes may change that nobody sees being read."""
        if module.partition(".")[0] not in _LIBRARIES:
            self.reads.is_open = True
        return value

    def function(self, given: Any) -> Any:
        """A copy of a function that reads captured arrays."""
        if isinstance(given, functools.partial):
            self.reads.container(given.keywords)
            return functools.partial(
                self.function(given.func),
                *(self.wrap(item, f"argument{index}") for index, item in enumerate(given.args)),
                **{name: self.wrap(item, name) for name, item in given.keywords.items()},
            )
        if isinstance(given, types.MethodType):
            held = given.__self__
            if not isinstance(given.__func__, types.FunctionType):
                return given
            if isinstance(held, type):
                return types.MethodType(self.function(given.__func__), self._of_library(held, held.__module__))
            return types.MethodType(self.function(given.__func__), _Attributes(self, held))
        if not isinstance(given, types.FunctionType):
            call = getattr(type(given), "__call__", None)
            if isinstance(call, types.FunctionType) and not isinstance(given, type):
                self.reads.attribute(type(given), "__call__", call)
                forward = getattr(given, "forward", None)
                if call.__module__.partition(".")[0] == "torch" and isinstance(forward, types.MethodType):
                    self.reads.method(given, "forward", forward)
                    return self.function(forward)
                return self.function(types.MethodType(call, given))
            return self._of_library(given, self._module_of(given))
        module = given.__module__ or ""
        if module.partition(".")[0] in _LIBRARIES and module not in _COMBINATORS:
            # What a function that a library has made reads is not looked at.
            self.reads.is_open = self.reads.is_open or given.__closure__ is not None
            return given
        copy = self._functions.get(id(given))
        return copy if copy is not None else self._copy(given)

    def _copy(self, given: types.FunctionType) -> types.FunctionType:
        names = _names(given.__code__)
        variables = dict(given.__globals__)
        cells = tuple(types.CellType() for _ in given.__closure__ or ())
        copy = types.FunctionType(given.__code__, variables, given.__name__, None, cells)
        # A function may read itself.
        self._functions[id(given)] = copy
        self._kept.append(given)
        self.reads.attribute(given, "__code__", given.__code__)
        self.reads.attribute(given, "__defaults__", given.__defaults__)
        self.reads.attribute(given, "__kwdefaults__", given.__kwdefaults__)
        self.reads.container(given.__kwdefaults__ or {})
        self.reads.is_open = self.reads.is_open or not names.isdisjoint(_READERS)
        for name in names:
            # What is not there may come later.
            self.reads.item(given.__globals__, name, variables.get(name, MISSING))
            if name in variables:
                variables[name] = self.wrap(variables[name], name)
        for name, cell, original in zip(given.__code__.co_freevars, cells, given.__closure__ or (), strict=True):
            content = content_of(original)
            self.reads.cell(original, content)
            # Where it has no content yet, reading it is the function's own fault.
            if content is not MISSING:
                cell.cell_contents = self.wrap(content, name)
        copy.__defaults__ = self._defaults(given)
        copy.__kwdefaults__ = {name: self.wrap(item, name) for name, item in (given.__kwdefaults__ or {}).items()}
        return copy

    def _defaults(self, given: types.FunctionType) -> tuple[Any, ...] | None:
        values = given.__defaults__ or ()
        names = given.__code__.co_varnames[: given.__code__.co_argcount][-len(values) :] if values else ()
        return tuple(self.wrap(value, name) for name, value in zip(names, values, strict=True)) or None


def _names(code: types.CodeType) -> set[str]:
    """The names that a function, and those in it, read."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names
