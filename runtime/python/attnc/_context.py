"""The context of the process: compiled kernels, their cache, and the threads that compile."""

from __future__ import annotations

import os
import threading
from typing import Any

from ._core import Context, Error
from ._remarks import warn

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

    cache_directory: in place of ATTNC_CACHE_DIR and ~/.cache/attnc. use_cache: False keeps no files, True does even
    where ATTNC_CACHE=off. cache_bytes: the most bytes of files. threads: the most kernels compiled at once.
    """
    with _lock:
        if _context is not None:
            raise Error("attnc.configure comes before the first spec is read; one was read already")
        _options.update(
            cache_directory=None if cache_directory is None else os.fspath(cache_directory),
            use_cache=0 if use_cache is None else (1 if use_cache else -1),
            cache_bytes=cache_bytes,
            threads=threads,
        )


def context() -> Context:
    """The context, made when it is first asked for: threads do not survive a fork, which may come before."""
    global _context
    if _context is None:
        with _lock:
            if _context is None:
                _context = Context(remark=warn, **_options)
    return _context
