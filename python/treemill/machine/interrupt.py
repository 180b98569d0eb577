"""Ctrl-C as a message instead of an exception out of nowhere, while a query runs."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from types import FrameType

__all__ = ["interrupts", "raising"]


class _Note:
    """The handler that puts the word into `news`."""

    def __init__(self, news: SimpleQueue[str]) -> None:
        self._news = news

    def __call__(self, number: int, frame: FrameType | None) -> None:
        # SimpleQueue.put may be called from a handler, even one that interrupts get.
        self._news.put("interrupt")


@contextmanager
def interrupts(news: SimpleQueue[str]) -> Iterator[None]:
    """Inside, SIGINT puts the word "interrupt" into `news`. Only in the main thread, and only where
    SIGINT raises KeyboardInterrupt otherwise: a program's own handler is left alone."""
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield
        return

    signal.signal(signal.SIGINT, _Note(news))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def raising() -> Iterator[None]:
    """Inside, Ctrl-C raises KeyboardInterrupt again: for code of the user's that this thread runs
    in the midst of a query, which nothing else could end."""
    noted = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not isinstance(noted, _Note):
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, noted)
