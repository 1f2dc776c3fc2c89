"""What callers give beside arrays, checked where they give it, as all frameworks have it: an error names their argument, what was
expected and what came. Imports none of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from ._core import Error

#: The greatest number of float32.
_GREATEST = (2 - 2.0**-23) * 2.0**127
#: What no window reaches past.
FAR = 2**62


def said(value: Any) -> str:
    """A value as messages show it."""
    return repr(value) if isinstance(value, (bool, int, float, str, tuple, list, type(None))) else type(value).__name__


class Checks:
    """The checks for a framework. plain: a number without the array that the framework has around it. said: a value as messages
    show it. integers: the types of integers."""

    def __init__(self, plain: Callable[[Any], Any], said: Callable[[Any], str], integers: tuple[type, ...] = (int,)) -> None:
        self._plain, self._said, self._integers = plain, said, integers

    def flag(self, name: str, value: Any) -> bool:
        found = self._plain(value)
        if not isinstance(found, bool):
            raise Error(f"{name}: expected True or False, got {self._said(value)}")
        return found

    def integer(self, value: Any) -> int | None:
        """The integer that a value is, or None."""
        found = self._plain(value)
        return found if isinstance(found, self._integers) and not isinstance(found, bool) else None  # type: ignore[return-value]

    def number(self, name: str, value: Any, wanted: str, rule: str, least: float = -math.inf, most: float = math.inf) -> float:
        """A number that is compiled in, and that float32 has."""
        found = self._plain(value)
        is_number = isinstance(found, (int, float)) and not isinstance(found, bool)
        if not is_number or not max(least, -_GREATEST) <= found <= min(most, _GREATEST):
            raise Error(f"{name}: expected {wanted}, got {self._said(value)} [{rule}]")
        return float(found)

    def scale(self, name: str, value: Any) -> float | None:
        return None if value is None else self.number(name, value, "a finite number or None", "S18")

    def cap(self, name: str, value: Any) -> float | None:
        # What float32 has as 0 is none.
        return None if value is None else self.number(name, value, "a number above 0", "S4", least=1e-37)

    def probability(self, name: str, value: Any) -> float:
        return self.number(name, value, "a number from 0 to 1", "S9", 0, 1)

    def window(self, name: str, value: Any) -> tuple[int, int] | None:
        """A window as ejkernel has it: a number is both sides."""
        if value is None:
            return None
        found = [self.integer(item) for item in (value if isinstance(value, (tuple, list)) else (value, value))]
        if len(found) != 2 or any(item is None or item < 0 for item in found):
            raise Error(f"{name}: expected a number of 0 or more, or two of them, got {self._said(value)} [S5]")
        left, right = (min(item, FAR) for item in found if item is not None)
        return left, right

    def choice(self, name: str, value: Any, known: Iterable[str]) -> None:
        if str(getattr(value, "value", value)) not in known:
            raise Error(f"{name}: expected one of {', '.join(known)}, got {self._said(value)}")
