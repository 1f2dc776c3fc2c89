"""What `explain` returns."""

from __future__ import annotations

import html
from typing import Any


def check_texts(**given: Any) -> None:
    """Raises where an argument that is there is no text, or none that UTF-8 has."""
    for name, value in given.items():
        if value is None:
            continue
        if not isinstance(value, str):
            raise TypeError(f"{name}: expected a text, got {type(value).__name__}")
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"{name}: expected text that UTF-8 can hold, got {value[error.start]!r} at {error.start}") from None


class Explanation:
    """What `explain` returns: it prints as text, and notebooks show the picture of the mask's tiles below."""

    def __init__(self, text: str, svg: str) -> None:
        self.text = text
        #: A picture of the tiles that the mask keeps; None where no sizes were given.
        self.svg = svg or None

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>{self.svg or ''}"
