"""Waits for a query's end, in front of the user or aside, while somebody watches it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import Any

from ..errors import QueryInterrupted
from ..machine.interrupt import interrupts
from ..monitor.watch import Watch
from .run import Query

__all__ = ["hearing", "wait", "watch_aside"]


@contextmanager
def hearing() -> Iterator[SimpleQueue[str]]:
    """A queue in which Ctrl-C is the word "interrupt"."""
    news: SimpleQueue[str] = SimpleQueue()
    with interrupts(news):
        yield news


# A signal that arrives in the moment between the interpreter's check for signals and its going to
# sleep does not wake it; and on Windows none does. So sleep is never longer than this, in seconds.
_LONGEST_WAIT = 0.2


def wait(query: Query, news: SimpleQueue[str], watch: Watch) -> Any:
    """Waits for the end, showing what is going on in `watch`, which the caller closes. The word
    "interrupt" in `news` stops the query, a second one gives up waiting for its workers."""
    interrupted = False
    try:
        query.watch(news)
        query.watch_begin(news)
        while True:
            try:
                word = news.get(timeout=min(watch.delay(), _LONGEST_WAIT))
            except Empty:
                watch.tick()
                continue
            if word == "done":
                break
            if word == "at work":
                query.prepare()
                continue
            if interrupted:
                query.abort("interrupted twice")
            else:
                interrupted = True
                query.stop("interrupted")
    except BaseException:
        query.stop("interrupted")
        raise
    if not interrupted:
        return query.final()
    query.drop()
    raise QueryInterrupted(
        f"interrupted; {query.report}", partial_result=query.snapshot(), report=query.report
    )


def watch_aside(query: Query, watch: Watch) -> None:
    """The same for a query that nobody waits for: on a thread, until its end."""
    news: SimpleQueue[str] = SimpleQueue()
    query.watch(news)

    def look() -> None:
        try:
            while True:
                try:
                    news.get(timeout=min(watch.delay(), _LONGEST_WAIT))
                    return
                except Empty:
                    watch.tick()
        finally:
            watch.close()

    threading.Thread(target=look, name="treemill-watch", daemon=True).start()
