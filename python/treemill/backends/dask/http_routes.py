"""The dashboard on the scheduler's own web server: its requests. It cannot stop queries, because
everyone who reaches Dask's server sees it.

`scheduler_plugin.py` adds the requests to a scheduler when the first session connects. With this
module among `distributed.scheduler.http.routes` they are there from the scheduler's start, below
its prefix.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from tornado.web import Application, RequestHandler

from ...monitoring.dashboard_page import HEADERS, KeptAccount, Screen, document, policy
from ...monitoring.progress import Progress
from ...monitoring.report import Report
from ...monitoring.worker_histograms import WorkerHistograms
from ...scheduling import Monitored
from .messages import Listed
from .scheduler_state import SchedulerState
from .worker_plugin import NAME

if TYPE_CHECKING:
    from distributed import Scheduler

__all__ = ["SchedulerBoard", "application", "routes"]

# What the dashboard shows on the scheduler: the passes that it schedules, of all sessions, and
# the last ones that it had.


@dataclass(frozen=True)
class _Pass:
    """Implements the dashboard's `KeptAccount`."""

    id: str
    title: str
    done: bool
    progress: Progress
    measured: WorkerHistograms | None
    feedback: str | None = None
    traced: bool = False

    @property
    def report(self) -> Report:
        """What the scheduler knows: which entries are in the result, the client says."""
        progress = self.progress
        return Report(
            entries=progress.entries,
            processed={},
            missing=[],
            seconds=progress.seconds,
            bytes_read=progress.bytes_read,
            bytes_decompressed=progress.bytes_decompressed,
            workers=progress.workers,
            measured=self.measured,
        )


_REMEMBERED = 50
"""Passes that stay on the page after the scheduler has forgotten them."""


def _gone(old: _Pass) -> _Pass:
    """A pass that the scheduler has forgotten; how it ended is known if it was seen after that."""
    return old if old.done else replace(old, done=True, measured=None)


class EmptyBoard:
    """A scheduler without treemill: no session has connected. Implements the dashboard's
    `Board`."""

    def named(self) -> str:
        """See Board."""
        return "no session of treemill has connected to this cluster"

    def accounts(self) -> Sequence[KeptAccount]:
        """See Board."""
        return ()

    def live(self, name: str) -> None:
        """See Board: nothing can be asked for values or be stopped here."""
        return

    def trace_page(self, name: str) -> None:
        """See Board: the scheduler does not know the names of files."""
        return


class SchedulerBoard(EmptyBoard):
    """The passes of a scheduler, and the last ones that it had."""

    def __init__(self, scheduler_state: SchedulerState) -> None:
        self._scheduler_state = scheduler_state
        self._known: dict[str, _Pass] = {}

    def named(self) -> str:
        """See Board."""
        threads = self._scheduler_state.threads
        return f"{threads} worker threads of this cluster"

    def accounts(self) -> Sequence[KeptAccount]:
        """See Board."""
        passes = {each.work: self._pass(each) for each in self._scheduler_state.listed()}
        gone = [_gone(old) for old in self._known.values() if old.id not in passes]
        self._known = {each.id: each for each in [*gone[-_REMEMBERED:], *passes.values()]}
        return tuple(self._known.values())

    def _pass(self, each: Listed) -> _Pass:
        status = self._scheduler_state.status(each.work)
        progress = Progress(
            phase="processing",
            entries=each.entries,
            expected=each.expected,
            bytes_read=status.heartbeat.bytes_read,
            bytes_decompressed=status.heartbeat.bytes_decompressed,
            bytes_from_cache=status.heartbeat.bytes_from_cache,
            io=status.heartbeat.io,
            entries_before=status.before,
            seconds=status.seconds,
            workers=status.workers,
            pass_seconds=status.seconds,
        )
        return _Pass(each.work, each.request.title, each.done, progress, self._measured(each))

    def _measured(self, each: Listed) -> WorkerHistograms | None:
        if each.request.served is None:
            return None
        known = self._known.get(each.work)
        if each.done and known is not None and known.done:  # nothing is counted any more
            return known.measured
        counts = partial(self._counts, each.work)
        # What workers do is counted when the page asks for it, but for what stays after the end.
        return WorkerHistograms(counts() if each.done else counts)

    def _counts(self, name: str) -> Monitored:
        counts = self._scheduler_state.monitored(name)
        assert counts is not None  # the pass counts
        return counts


class _Answer(RequestHandler):
    def initialize(self, dask_server: Scheduler) -> None:
        self._scheduler = dask_server

    @property
    def _screen(self) -> Screen:
        plugin = self._scheduler.plugins.get(NAME)
        return _EMPTY if plugin is None else plugin.screen

    def set_default_headers(self) -> None:
        for name, value in HEADERS.items():
            self.set_header(name, value)


_EMPTY = Screen(EmptyBoard())


class _WithSlash(_Answer):
    def get(self) -> None:
        self.redirect(f"{self.request.path}/")


class _Page(_Answer):
    def get(self) -> None:
        nonce = secrets.token_urlsafe(12)
        self.set_header("Content-Security-Policy", policy(nonce))
        self.finish(document(nonce))


class _State(_Answer):
    async def get(self) -> None:
        # The first time this takes a second, for which the scheduler would not hear its workers.
        await asyncio.to_thread(importlib.import_module, "hist")
        options = {name: self.get_argument(name, "") for name in ("query", "histogram")}
        self.set_header("Content-Type", "application/json; charset=utf-8")
        self.finish(json.dumps(self._screen.state(options), allow_nan=False))


class _Metrics(_Answer):
    def get(self) -> None:
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        plugin = self._scheduler.plugins.get(NAME)
        self.finish("" if plugin is None else plugin.metrics())


routes: list[tuple[str, type[RequestHandler], dict[str, object]]] = [
    (r"treemill", _WithSlash, {}),
    (r"treemill/", _Page, {}),
    (r"treemill/state", _State, {}),
    (r"treemill/metrics", _Metrics, {}),
]
"""Paths, and what answers them, as `distributed.scheduler.http.routes` wants it."""


def application(scheduler: Scheduler) -> Application:
    """The requests as an application of tornado, for a scheduler that has begun without them."""
    about = {"dask_server": scheduler}
    return Application([(f"/{path}", kind, about) for path, kind, _ in routes])
