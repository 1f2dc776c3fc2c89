"""Copies of score and mask functions, in which what they read can be traced.

A function is traced as a copy of itself in which each array that it finds in its closure, in global variables, in default values,
in attributes, or in what these hold is replaced by a `Captured`.
"""

from __future__ import annotations

import collections
import functools
import types
from collections.abc import Callable
from typing import Any

from . import autograd
from .capture import Captured, Trace
from .memo import MISSING, Reads, content_of
from .objects import CONSTANTS, Attributes, Dict, List, has_arrays, is_array, is_of_library
from .values import Value

#: But functions of these, and of the modules in them, are made of the user's: torch makes those of pages of what a user's mask
#: and a table of its own say.
_COMBINATORS = ("attnc._mods", "attnc.torch._block_mask", "torch.nn.attention")

#: Functions and attributes by whose names variables are read that nobody sees being read.
_READERS = {
    "globals", "vars", "eval", "exec", "open", "input", "__import__", "__globals__", "__dict__", "__closure__", "__builtins__",
}  # fmt: skip


#: What every class of named tuples has.
_OF_NAMED_TUPLES = frozenset(vars(collections.namedtuple("_Any", ())))


def _kind_of(array: Any) -> tuple[Any, Any]:
    """What of an array is written into a spec: an array may be given another size in its place."""
    return tuple(array.shape), array.dtype


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
        if isinstance(value, (Value, Captured, Attributes, autograd.Applied, *CONSTANTS)):
            return value
        if is_array(value):
            self.reads.answer(_kind_of, value, _kind_of(value))
            return Captured(self._trace, name, value)
        if isinstance(value, (list, tuple, dict, collections.deque)):
            self.reads.container(value)
            return self._container(value, name)
        if isinstance(value, (set, frozenset)):
            self.reads.container(value)
            self.reads.is_open = self.reads.is_open or not all(isinstance(item, CONSTANTS) for item in value)
            return value
        if isinstance(value, types.BuiltinFunctionType):
            if autograd.is_function(value.__self__) and value.__name__ == "apply":
                return autograd.Applied(self, value.__self__).apply
            # Methods of what may change are of this type too.
            is_bound = not isinstance(value.__self__, (types.ModuleType, type, *CONSTANTS))
            self.reads.is_open = self.reads.is_open or is_bound or value.__name__ in _READERS
            return value
        if isinstance(value, types.ModuleType):
            return self._of_library(value, value.__name__)
        if autograd.is_function(value):
            return autograd.Applied(self, value)
        if isinstance(value, type):
            is_looked_into = not is_of_library(value.__module__) and has_arrays(value)
            return Attributes(self, value) if is_looked_into else self._of_library(value, value.__module__)
        if isinstance(value, (types.FunctionType, types.MethodType, functools.partial)):
            return self.function(value)
        # Modules of torch hold others, and are called as well as read.
        if callable(value) or has_arrays(value):
            return Attributes(self, value)
        return self._of_library(value, self._module_of(value))

    def _container(self, value: Any, name: str) -> Any:
        """A container of the same, ready to be traced."""
        if isinstance(value, dict):
            items = {key: self.wrap(item, f"{name}_{key}") for key, item in value.items()}
            return type(value)(items) if type(value) in (dict, collections.OrderedDict) else Dict(Attributes(self, value), items)
        kind: Any = type(value)
        if isinstance(value, tuple) and hasattr(kind, "_make"):
            self._look_at_named_tuple(kind)
            return kind._make(self.wrap(item, f"{name}_{field}") for field, item in zip(kind._fields, value, strict=True))
        listed = (self.wrap(item, f"{name}_{index}") for index, item in enumerate(value))
        if isinstance(value, collections.deque):
            return collections.deque(listed, value.maxlen)
        return kind(listed) if isinstance(value, tuple) or kind is list else List(Attributes(self, value), listed)

    def _look_at_named_tuple(self, kind: type) -> None:
        """Methods of the user's are called as they are, and may change unseen."""
        has_methods = kind.__mro__[1:] != (tuple, object) or any(
            isinstance(item, (types.FunctionType, property)) and not name.startswith("__") and name not in _OF_NAMED_TUPLES
            for name, item in vars(kind).items()
        )
        self.reads.is_open = self.reads.is_open or has_methods

    def _module_of(self, value: Any) -> str:
        """The module of the type of a value; none where it is Python's, and is used up or holds what is the user's."""
        module = type(value).__module__
        is_plain = callable(value) and not isinstance(value, functools._lru_cache_wrapper)
        return "" if module in ("builtins", "itertools", "functools") and not is_plain else module

    def _of_library(self, value: Any, module: str) -> Any:
        """What is read as it is. Of what is the user's, attributes may change that nobody sees being read."""
        if not is_of_library(module):
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
            if autograd.is_function(held) and given.__func__.__name__ == "apply":
                return autograd.Applied(self, held).apply
            if isinstance(held, type):
                return types.MethodType(self.function(given.__func__), self._of_library(held, held.__module__))
            return types.MethodType(self.function(given.__func__), Attributes(self, held))
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
        if is_of_library(module) and not any(f"{module}.".startswith(f"{name}.") for name in _COMBINATORS):
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
