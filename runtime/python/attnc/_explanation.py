"""What `explain` returns."""

from __future__ import annotations

import html


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
