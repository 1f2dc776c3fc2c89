"""The context of the process: compiled kernels, their cache, and the threads that compile."""

from __future__ import annotations

import os
import threading
from typing import Any

from ._checks import said
from ._core import Context, Error
from ._remarks import warn

#: What the library counts in.
_MOST_THREADS, _MOST_BYTES = 2**16, 2**63 - 1

_lock = threading.Lock()
_options: dict[str, Any] = {}
_context: Context | None = None


def configure(
    *,
    cache_directory: str | os.PathLike[str] | None = None,
    use_cache: bool | None = None,
    cache_bytes: int = 0,
    threads: int = 0,
) -> None:
    """Says where compiled kernels are kept, before the first is compiled.

    cache_directory: in place of ATTNC_CACHE_DIR and ~/.cache/attnc; a relative one is that of the current directory.
    use_cache: False keeps no files, True does even where ATTNC_CACHE=off. cache_bytes: the most bytes of files; 0 for
    ATTNC_CACHE_BYTES or 1 GiB. threads: the most kernels compiled at once; 0 for as many as there are cores.
    """
    if use_cache is not None and not isinstance(use_cache, bool):
        raise TypeError(f"use_cache: expected True, False or None, got {said(use_cache)}")
    options = {
        "cache_directory": None if cache_directory is None else _absolute(cache_directory),
        "use_cache": {None: 0, True: 1, False: -1}[use_cache],
        "cache_bytes": _count("cache_bytes", cache_bytes, _MOST_BYTES),
        "threads": _count("threads", threads, _MOST_THREADS),
    }
    with _lock:
        if _context is not None:
            raise Error("attnc.configure comes before the first spec is read; one was read already")
        _options.update(options)


def _absolute(directory: str | os.PathLike[str]) -> str:
    path = os.fsdecode(directory)
    if not path or "\0" in path:
        raise ValueError(f"cache_directory: expected the path of a directory, got {path!r}")
    return os.path.abspath(path)


def _count(name: str, value: int, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name}: expected an integer, got {said(value)}")
    if not 0 <= value <= most:
        raise ValueError(f"{name}: expected 0 to {most}, got {value}")
    return value


def context() -> Context:
    """The context, made when it is first asked for: threads do not survive a fork, which may come before."""
    global _context
    if _context is None:
        with _lock:
            if _context is None:
                _context = Context(remark=warn, **_options)
    return _context


def _forget() -> None:
    """In a child that was forked: a thread of the parent may have held the lock, and the context that it used stays its own."""
    global _context, _lock
    _lock = threading.Lock()
    if _context is not None and not _context.is_usable:
        _context = None


os.register_at_fork(after_in_child=_forget)
