"""Errors that name the user's own line."""

from __future__ import annotations

import contextlib
import linecache
import os
import re
import sys
import threading
import types
from collections.abc import Iterator
from typing import Any

from .._core import Error

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
#: Libraries whose functions call back into traced values: the line of interest is that of whoever called them.
_LIBRARIES = tuple(os.sep + name + os.sep for name in ("torch", "numpy", "jax"))


class _Running(threading.local):
    """The functions that are traced in a thread, the innermost last."""

    def __init__(self) -> None:
        self.watches: list[Watch] = []
        #: The line of the function that is traced again from a graph.
        self.place: tuple[str, int] | None = None


_running = _Running()


class Watch:
    """What is traced inside of it fails where a TraceError was raised, whatever has caught that: the function would have gone on
    as if a condition, say, had failed for all queries and keys. Libraries make errors of their own of it too, which say less."""

    def __init__(self) -> None:
        self.errors: list[TraceError] = []

    def __enter__(self) -> None:
        _running.watches.append(self)

    def __exit__(self, kind: Any, error: BaseException | None, trail: Any) -> None:
        _running.watches.remove(self)
        if self.errors and not isinstance(error, TraceError) and (error is None or isinstance(error, Exception)):
            raise self.errors[0] from None


@contextlib.contextmanager
def at_line_of(stack: str | None) -> Iterator[None]:
    """What is refused inside of it names the innermost line of the user's in a text of a stack, as graphs of torch have it."""
    place = None
    for name, line in re.findall(r'^ *File "(.+)", line (\d+), in ', stack or "", re.MULTILINE):
        if _is_name_of_user(name):
            place = (name, int(line))
    before, _running.place = _running.place, place
    try:
        yield
    finally:
        _running.place = before


class TraceError(Error):
    """What a score or mask function does that no region of a spec can say.

    filename, lineno: the line of the function.
    """

    filename: str | None
    lineno: int | None

    def __init__(self, text: str, place: tuple[str, int] | None = None) -> None:
        self.filename, self.lineno = place or _running.place or _user_line()
        prefix = ""
        if self.filename is not None and self.lineno is not None:
            source = linecache.getline(self.filename, self.lineno).strip()
            prefix = f"{self.filename}:{self.lineno}: "
            text = f"{text}\n    {source}" if source else text
        super().__init__(prefix + text)
        # Whether there is an attribute is a question that has an answer.
        if _running.watches and not isinstance(self, AttributeError):
            _running.watches[-1].errors.append(self)


class TraceAttributeError(TraceError, AttributeError):
    """Of an attribute that traced values do not have, which libraries ask for too."""


def _user_line() -> tuple[str | None, int | None]:
    """The innermost line that belongs neither to attnc nor to a library."""
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None:
        if is_users(frame.f_code):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return None, None


def is_users(code: types.CodeType) -> bool:
    return _is_name_of_user(code.co_filename)


def _is_name_of_user(name: str) -> bool:
    return not name.startswith(_PACKAGE) and not any(library in name for library in _LIBRARIES)


def place_of(error: Exception) -> tuple[str, int] | None:
    """The file and line of the user's, nearest to where an error was raised; None where it went through none."""
    place = None
    trail = error.__traceback__
    while trail is not None:
        if is_users(trail.tb_frame.f_code):
            place = (trail.tb_frame.f_code.co_filename, trail.tb_lineno)
        trail = trail.tb_next
    return place


def refusal_of_jax(error: Exception) -> TraceError | None:
    """What is to be said of an error that functions of JAX raise, which take arrays alone; None for other errors."""
    # JAX takes its own frames out of tracebacks. It names the type that it was given.
    if __package__ not in str(error):
        return None
    return TraceError(
        "functions of jax.numpy take arrays alone: write attnc.where, attnc.exp, attnc.tanh, …, or those of numpy", place_of(error)
    )
