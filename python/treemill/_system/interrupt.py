"""Turns Ctrl-C into a message while a query runs, in place of an exception at an unknown point."""

from __future__ import annotations

import threading
from queue import SimpleQueue
from types import FrameType
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    import signal
else:
    # The same functions without the module around them, which looks for each handler among the
    # members of an enumeration: that would take 4 % of a query of a millisecond.
    import _signal as signal

__all__ = ["Interrupts", "raising"]

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
