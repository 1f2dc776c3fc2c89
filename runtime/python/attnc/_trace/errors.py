"""Errors that name the user's own line."""

from __future__ import annotations

import linecache
import os
import sys
import types

from .._core import Error

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
#: Libraries whose functions call back into traced values: the line of interest is that of whoever called them.
_LIBRARIES = tuple(os.sep + name + os.sep for name in ("torch", "numpy", "jax"))


class TraceError(Error):
    """What a score or mask function does that no region of a spec can say.

    filename, lineno: the line of the function.
    """

    filename: str | None
    lineno: int | None

    def __init__(self, text: str) -> None:
        self.filename, self.lineno = _user_line()
        place = ""
        if self.filename is not None and self.lineno is not None:
            source = linecache.getline(self.filename, self.lineno).strip()
            place = f"{self.filename}:{self.lineno}: "
            text = f"{text}\n    {source}" if source else text
        super().__init__(place + text)


def _user_line() -> tuple[str | None, int | None]:
    """The innermost line that belongs neither to attnc nor to a library."""
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(_PACKAGE) and not any(library in name for library in _LIBRARIES):
            return name, frame.f_lineno
        frame = frame.f_back
    return None, None
