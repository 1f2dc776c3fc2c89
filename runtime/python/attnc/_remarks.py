"""What the package has to say to people."""

from __future__ import annotations

_said: set[str] = set()


def warn_once(text: str) -> None:
    """Logs a warning, the first time that it is due in a process."""
    if text not in _said:
        _said.add(text)
        warn(text)


def warn(text: str) -> None:
    import logging  # A third of what importing attnc would take, and most programs are told nothing.

    logging.getLogger("attnc").warning(text)
