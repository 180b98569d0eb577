"""Ctrl-C as a message instead of an exception out of nowhere, while a query runs."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from types import FrameType

__all__ = ["interrupts"]


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

    def note(number: int, frame: FrameType | None) -> None:
        # SimpleQueue.put may be called from a handler, even one that interrupts get.
        news.put("interrupt")

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
