"""Whether this process loads what workers need: a script that it imports for that must not start
worker processes, which would import the script again, without end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ...errors import QueryError

__all__ = ["check_not_loading", "loading"]

_is_loading = False


@contextmanager
def loading() -> Iterator[None]:
    """Notes that this process, which has one thread, loads a task."""
    global _is_loading
    before, _is_loading = _is_loading, True
    try:
        yield
    finally:
        _is_loading = before


def check_not_loading() -> None:
    """Raises QueryError if this process loads a task."""
    if _is_loading:
        raise QueryError(
            "worker processes import the module that a function or a class of the query is in, and "
            "that module starts worker processes when it is imported: put what it does as a script "
            'below `if __name__ == "__main__":`'
        )
