"""The dashboard's page on the scheduler's own web server: the passes that the desk leads, of all
sessions. It cannot stop them, because everyone who reaches Dask's server sees it."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tornado.web import Application, RedirectHandler, RequestHandler

from ...dashboard.page import HEADERS, document, policy
from ...dashboard.screen import Screen
from ...monitor.progress import Progress
from ...monitor.report import Report
from .desk import Desk

__all__ = ["DeskBoard", "application"]


@dataclass(frozen=True)
class _Pass:
    """Implements the dashboard's `Kept`."""

    id: str
    title: str
    done: bool
    progress: Progress

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
        )


_REMEMBERED = 50
"""Passes that stay on the page after the desk has forgotten them."""


class DeskBoard:
    """The passes of a desk, and the last ones that it had. Implements the dashboard's `Board`."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._known: dict[str, _Pass] = {}

    def named(self) -> str:
        """See Board."""
        threads = self._desk.threads
        return f"{threads} worker threads of this cluster"

    def accounts(self) -> Sequence[_Pass]:
        """See Board."""
        found: dict[str, _Pass] = {}
        for each in self._desk.listed():
            status = self._desk.status(each.work)
            progress = Progress(
                phase="processing",
                entries=each.entries,
                expected=each.expected,
                bytes_read=status.pulse.bytes_read,
                bytes_decompressed=status.pulse.bytes_decompressed,
                bytes_from_cache=status.pulse.bytes_from_cache,
                io=status.pulse.io,
                entries_before=status.before,
                seconds=status.seconds,
                workers=status.workers,
                pass_seconds=status.seconds,
            )
            found[each.work] = _Pass(each.work, each.request.title, each.done, progress)
        gone = [replace(old, done=True) for old in self._known.values() if old.id not in found]
        self._known = {each.id: each for each in [*gone[-_REMEMBERED:], *found.values()]}
        return tuple(self._known.values())

    def live(self, name: str) -> None:
        """See Board: nothing can be asked for values or be stopped here."""
        return


class _Answer(RequestHandler):
    def initialize(self, screen: Screen) -> None:
        self._screen = screen

    def set_default_headers(self) -> None:
        for name, value in HEADERS.items():
            self.set_header(name, value)


class _Page(_Answer):
    def get(self) -> None:
        nonce = secrets.token_urlsafe(12)
        self.set_header("Content-Security-Policy", policy(nonce))
        self.finish(document(nonce))


class _State(_Answer):
    def get(self) -> None:
        options = {name: self.get_argument(name, "") for name in ("query", "histogram")}
        self.set_header("Content-Type", "application/json; charset=utf-8")
        self.finish(json.dumps(self._screen.state(options), allow_nan=False))


def application(screen: Screen) -> Application:
    """The page as an application of tornado, below `/treemill/`."""
    about = {"screen": screen}
    return Application(
        [
            (r"/treemill", RedirectHandler, {"url": "/treemill/", "permanent": False}),
            (r"/treemill/", _Page, about),
            (r"/treemill/state", _State, about),
        ]
    )
