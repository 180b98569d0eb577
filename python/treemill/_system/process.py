"""This process: what its user sees of it, what Ctrl-C does while a query runs, what it has
inherited if it was forked, and what its end gives back. Knows no query and no protocol.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from queue import SimpleQueue
from types import FrameType
from typing import TYPE_CHECKING, Generic, TypeVar

__all__ = ["Interrupts", "close_servers", "has_inherited", "in_notebook", "raising", "wants_bar"]


def in_notebook() -> bool:
    """True if a notebook draws values by itself. Libraries import ipykernel outside of notebooks
    too: only a running kernel counts."""
    ipython = sys.modules.get("IPython")
    shell = getattr(ipython, "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


def wants_bar() -> bool:
    """True if a progress bar can be seen: on a terminal that can draw one, or in a notebook."""
    if os.environ.get("TERM") == "dumb":
        return False
    return sys.stderr.isatty() or in_notebook()


# Turns Ctrl-C into a message while a query runs, in place of an exception at an unknown point.

if TYPE_CHECKING:
    import signal
else:
    # The same functions without the module around them, which looks for each handler among the
    # members of an enumeration: that would take 4 % of a query of a millisecond.
    import _signal as signal


_Word = TypeVar("_Word")


class _Note(Generic[_Word]):
    """A signal handler that puts a word into `news`."""

    def __init__(self, news: SimpleQueue[_Word], word: _Word) -> None:
        self._news = news
        self._word = word

    def __call__(self, number: int, frame: FrameType | None) -> None:
        # A handler may call SimpleQueue.put, even if it interrupts get.
        self._news.put(self._word)


class Interrupts(Generic[_Word]):
    """Inside, SIGINT puts `word` into `news`, which is given. This holds in the main thread only,
    and only if SIGINT would raise KeyboardInterrupt: a program's own handler stays in place."""

    def __init__(self, news: SimpleQueue[_Word], word: _Word) -> None:
        self._news = news
        self._word = word
        self._is_on = False

    def __enter__(self) -> SimpleQueue[_Word]:
        if _is_main() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _Note(self._news, self._word))
            self._is_on = True
        return self._news

    def __exit__(self, *error: object) -> None:
        if self._is_on:
            signal.signal(signal.SIGINT, signal.default_int_handler)


class raising:  # noqa: N801 - it reads as a function of contextlib does
    """Inside, Ctrl-C raises KeyboardInterrupt again. This is for the user's code that this thread
    runs in the middle of a query: nothing else could end it."""

    def __enter__(self) -> None:
        noted = signal.getsignal(signal.SIGINT)
        here = isinstance(noted, _Note) and _is_main()
        self._noted = noted if here else None
        if here:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def __exit__(self, *error: object) -> None:
        if self._noted is not None:
            signal.signal(signal.SIGINT, self._noted)


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()


# Whether this process was forked from one that had loaded a package whose threads and locks do not
# survive that. Knows no protocol.

_FRAGILE = ("XRootD",)
_inherited: set[str] = set()


def _note() -> None:
    _inherited.update(name for name in _FRAGILE if name in sys.modules)


os.register_at_fork(after_in_child=_note)


def has_inherited(package: str) -> bool:
    """True if the package was loaded before this process, or one that it comes from, was forked."""
    return package in _inherited


# The end of this process: servers that keep what it had open (NFS) are told, or they would keep it
# until its lease ends. Knows no server.


def close_servers() -> None:
    """Closes the sessions on all servers, within a fraction of a second. An end that runs no exit
    handlers calls it; others do by themselves."""
    if "treemill._core" in sys.modules:
        from treemill import _core  # heavy: core

        _core.remote_leave()


atexit.register(close_servers)
