"""What carries messages between a sub-master and the processes of its group, on the event loop of
one of Dask's workers: as engine.py and loop.py do it between workers and the scheduler.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import pickle
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .conversation import Conversation
from .group_messages import Apart
from .mailbox import Parcel
from .requests import asked

if TYPE_CHECKING:
    from distributed import Worker

    from .station import Station

__all__ = ["GroupLoop"]

_POLL = 5.0
"""Seconds for which a request waits for news."""
_TICK = 0.5
_CONNECT = 5.0
_APART = 15.0
"""Seconds after which the scheduler is told that a sub-master does not answer."""
_AGAIN = 0.2
"""Seconds after which what has failed is tried again."""
_log = logging.getLogger(__name__)


class GroupLoop:
    """The conversations of a process, and the sub-masters that it is."""

    def __init__(self, worker: Worker, station: Callable[[], Station]) -> None:
        self._worker = worker
        self._station = station
        self._news: dict[tuple[str, str], asyncio.Event] = {}  # by pass and process
        self._something: dict[Conversation, asyncio.Event] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._ticker: asyncio.Task[None] | None = None

    def close(self) -> None:
        """Ends with the worker."""
        for task in [*self._tasks, *([] if self._ticker is None else [self._ticker])]:
            task.cancel()

    # The sub-master's side.

    async def exchange(
        self, work: str, process: str, start: str, parcel: bytes, wait: bool
    ) -> bytes | None:
        """A parcel of a process of a group for one of its sub-master. None: the process is to begin
        anew."""
        groups = self._station().groups
        led = groups.led.get(work)
        if led is None:
            return None
        well = led.exchange(process, start, pickle.loads(parcel))
        self.wake((work, process))
        if not well:
            return None
        if wait and not led.desk.has_mail(process):
            event = self._news.setdefault((work, process), asyncio.Event())
            event.clear()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(event.wait(), min(_POLL, led.desk.silence / 4))
        mail = led.desk.mail(process) if groups.led.get(work) is led else None
        return None if mail is None else pickle.dumps(mail)

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(_TICK)
            for led in list(self._station().groups.led.values()):
                try:
                    led.tick()
                except Exception:  # the others need their clock, and so does this one
                    _log.exception("treemill on a worker: a look at a group failed")
            self.wake()

    def wake(self, besides: tuple[str, str] | None = None) -> None:
        """Lets those who wait look for news."""
        groups = self._station().groups
        if groups.led and self._ticker is None:
            self._ticker = asyncio.create_task(self._tick())
        for work, led in groups.led.items():
            news, led.desk.news = led.desk.news, set()
            led.desk.changed.clear()
            for address in news:
                event = self._news.get((work, address))
                if event is not None and (work, address) != besides:
                    event.set()
        for key in [key for key in self._news if key[0] not in groups.led]:
            self._news.pop(key).set()
        for talk, event in self._something.items():
            if talk.mail.waiting:
                event.set()

    # The side of a process that is led.

    def converse(self, talk: Conversation) -> None:
        """Keeps up a conversation until it is over."""
        self._something[talk] = asyncio.Event()
        for task in (self._poll(talk), self._flush(talk)):
            future = asyncio.create_task(task)
            self._tasks.add(future)
            future.add_done_callback(self._tasks.discard)
        self.wake()

    async def _poll(self, talk: Conversation) -> None:
        failing: float | None = None
        try:
            while not talk.over:
                try:
                    await self._report(talk, wait=True)
                    failing = None
                except Exception as error:  # else this process would say nothing any more
                    _say_if_strange(error)
                    now = time.monotonic()
                    failing = failing or now
                    if now - failing > _APART and not talk.over:
                        failing = now
                        words = f"{type(error).__name__}: {error}"
                        self._station().say(Apart(talk.work, talk.sub, words))
                    await asyncio.sleep(_AGAIN)
        finally:
            event = self._something.pop(talk, None)
            if event is not None:
                event.set()

    async def _flush(self, talk: Conversation) -> None:
        while (event := self._something.get(talk)) is not None:
            await event.wait()
            event.clear()
            if talk.mail.waiting and not talk.over:
                try:
                    await self._report(talk, wait=False)
                except Exception as error:
                    _say_if_strange(error)
                    await asyncio.sleep(_AGAIN)
                    event.set()

    async def _report(self, talk: Conversation, wait: bool) -> None:
        station, start = self._station(), talk.start
        about = {
            "work": talk.name,
            "process": station.address,
            "start": start,
            "parcel": pickle.dumps(station.parcel_of(talk)),
            "wait": wait,
        }
        answer = await self._asked(talk.address, about)
        if talk.over or start != talk.start:
            return
        if answer is None:
            station.restart_with(talk)
            await asyncio.sleep(0.1)
        else:
            parcel: Parcel = pickle.loads(answer)
            station.hear(parcel, talk)
            self.wake()

    async def _asked(self, address: str, about: dict[str, Any]) -> bytes | None:
        if address == self._station().address:
            return await self.exchange(**about)
        answer: bytes | None = await asked(
            self._worker.rpc, address, _CONNECT, op="treemill_group", **about
        )
        return answer


def _say_if_strange(error: Exception) -> None:
    """Connections break, as TimeoutError and OSError say. All else is a mistake of ours."""
    if not isinstance(error, TimeoutError | OSError):
        _log.error("treemill on a worker: an exchange with a sub-master failed", exc_info=error)
