"""What was traced, kept with the function that it was traced from.

Tracing takes a millisecond; to see that a function still reads what it read takes some microseconds. The same variables with
the same objects in them give the same spec: arrays that other numbers were written to are the same arrays.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

#: What there is where a variable or an attribute is not there.
MISSING = object()


class Reads:
    """The variables, attributes and containers that functions read while they were traced, with what was in them."""

    def __init__(self) -> None:
        #: Whether something was read of which nobody can tell whether it changes.
        self.is_open = False
        self._cells: list[tuple[types.CellType, Any]] = []
        self._items: list[tuple[dict[Any, Any], Any, Any]] = []
        self._attributes: list[tuple[Any, str, Any]] = []
        self._methods: list[tuple[Any, str, types.MethodType]] = []
        self._containers: list[tuple[Any, tuple[Any, ...]]] = []
        self._answers: list[tuple[Callable[[Any], Any], Any, Any]] = []

    def cell(self, cell: types.CellType, content: Any) -> None:
        """A variable of a closure. content: what is in it, or `MISSING`; so it is of the next two."""
        self._cells.append((cell, content))

    def item(self, holder: dict[Any, Any], key: Any, value: Any) -> None:
        self._items.append((holder, key, value))

    def attribute(self, holder: Any, name: str, value: Any) -> None:
        self._attributes.append((holder, name, value))

    def method(self, holder: Any, name: str, method: types.MethodType) -> None:
        """A method, which each access makes anew."""
        self._methods.append((holder, name, method))

    def container(self, container: Any) -> None:
        """The items of a list, a tuple, a deque, a set or a dictionary."""
        items = (*container.keys(), *container.values()) if isinstance(container, dict) else tuple(container)
        self._containers.append((container, items))

    def answer(self, question: Callable[[Any], Any], value: Any, answer: Any) -> None:
        """Something that was asked about a value, and may be answered otherwise when it is asked again."""
        self._answers.append((question, value, answer))

    def hold(self) -> bool:
        """Whether all of them are as they were."""
        return (
            all(content_of(cell) is content for cell, content in self._cells)
            and all(holder.get(key, MISSING) is value for holder, key, value in self._items)
            and all(getattr(holder, name, MISSING) is value for holder, name, value in self._attributes)
            and all(_is_method(getattr(holder, name, None), method) for holder, name, method in self._methods)
            and all(_same_items(container, items) for container, items in self._containers)
            and all(question(value) == answer for question, value, answer in self._answers)
        )


def content_of(cell: types.CellType) -> Any:
    """What is in a variable of a closure, or `MISSING`."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def _is_method(now: Any, method: types.MethodType) -> bool:
    return isinstance(now, types.MethodType) and now.__func__ is method.__func__ and now.__self__ is method.__self__


def _same_items(container: Any, items: tuple[Any, ...]) -> bool:
    now = (*container.keys(), *container.values()) if isinstance(container, dict) else container
    return len(now) == len(items) and all(a is b for a, b in zip(now, items, strict=True))


#: The attribute of functions that has what was traced from them. Whatever it holds ends with the function.
_ATTRIBUTE = "__attnc_traces__"
#: The most traces that are kept of one function.
_MOST = 8


def find(owner: Any, key: Any) -> Any:
    """What was traced for `key`, if nothing that was read has changed; else None."""
    entry = getattr(owner, _ATTRIBUTE, {}).get(key)
    return entry[1] if entry is not None and entry[0].hold() else None


def keep(owner: Any, key: Any, reads: Reads, traced: Any) -> None:
    """Keeps what was traced with a function, where it can be seen whether it still holds."""
    if reads.is_open or not isinstance(owner, types.FunctionType):
        return
    entries = owner.__dict__.setdefault(_ATTRIBUTE, {})
    entries.pop(key, None)
    while len(entries) >= _MOST:
        del entries[next(iter(entries))]
    entries[key] = (reads, traced)
