"""Waits for the end of a query while a `Watch` shows it: on the caller's thread, or on another
one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TypeVar

from .._system.interrupt import Interrupts
from ..errors import QueryInterrupted
from ..monitoring.watch import Watch
from .run import Query, QueryNews

__all__ = ["hearing", "wait", "watch_aside"]

_Result = TypeVar("_Result")

_LONGEST_WAIT = 0.2
"""Seconds for which a thread may sleep. On Windows no signal wakes it; elsewhere a signal does not
that comes after the interpreter's check for signals and before the sleep."""


def hearing() -> Interrupts[QueryNews]:
    """Gives, as a context, a queue into which Ctrl-C puts `QueryNews.INTERRUPT`."""
    return Interrupts(SimpleQueue(), QueryNews.INTERRUPT)


def wait(
    query: Query[_Result],
    news: SimpleQueue[QueryNews],
    watch: Watch,
    meanwhile: Callable[[], None] | None = None,
) -> _Result:
    """Waits for the end of the query and returns its result. Shows the query by `watch`, which the
    caller closes. `QueryNews.INTERRUPT` stops the query; the second one aborts it. `meanwhile` is
    called once workers are at work."""
    interrupted = False
    try:
        query.watch(news, QueryNews.AT_WORK, QueryNews.DONE)
        while True:
            try:
                word = news.get(timeout=min(watch.delay(), _LONGEST_WAIT))
            except Empty:
                watch.tick()
                continue
            if word is QueryNews.DONE:
                break
            if word is QueryNews.AT_WORK:
                query.prepare()
                if meanwhile is not None:
                    meanwhile()
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
    """Shows the query by `watch` on a thread of its own, until the query's end."""
    news: SimpleQueue[QueryNews] = SimpleQueue()
    query.watch(news, QueryNews.DONE)

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
