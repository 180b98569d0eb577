"""The dashboard on the scheduler's own web server: its requests. It cannot stop queries, because
everyone who reaches Dask's server sees it.

`engine.py` adds the requests to a scheduler when the first session connects. With this module among
`distributed.scheduler.http.routes` they are there from the scheduler's start, below its prefix."""

from __future__ import annotations

import asyncio
import importlib
import json
import secrets
from typing import TYPE_CHECKING

from tornado.web import Application, RequestHandler

from ...monitoring.dashboard_page import HEADERS, document, policy
from ...monitoring.dashboard_screen import Screen
from .loop import NAME
from .page import NoBoard

if TYPE_CHECKING:
    from distributed import Scheduler

__all__ = ["application", "routes"]


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


_EMPTY = Screen(NoBoard())


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
        self.finish(self._screen.metrics())


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
