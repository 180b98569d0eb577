"""Puts the loop (loop.py) on the workers that a scheduler has, on the scheduler. Each is asked by
itself, so that one that is frozen, or cannot import treemill, keeps no other from its work. Those
that join later get the loop from Dask.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from distributed.protocol.pickle import dumps as dumps_plugin

from .loop import NAME, LoopPlugin

if TYPE_CHECKING:
    from distributed import Scheduler

__all__ = ["LONGEST", "Equipping"]

_FIRST = 25.0
"""Seconds for which the first worker is waited for: on a busy machine importing treemill takes
a while."""
_OTHERS = 8.0
"""Seconds for which the others are waited for, once one has its loop."""
LONGEST = _FIRST + _OTHERS
_AGAIN = 5.0
"""Seconds after which a worker that could not be reached is asked again."""


class Equipping:
    """The workers of a scheduler that do not have their loops, and why."""

    def __init__(self, scheduler: Scheduler) -> None:
        """Asks the workers that there are."""
        self.refused: dict[str, str] = {}
        """Why workers cannot have the loop, by address."""
        self._scheduler = scheduler
        self._plugin = dumps_plugin(LoopPlugin())
        self._first = asyncio.Event()
        scheduler.worker_plugins[NAME] = self._plugin
        self._asked = {
            address: asyncio.create_task(self._equip(address)) for address in scheduler.workers
        }

    @property
    def silent(self) -> list[str]:
        """The addresses of workers that have not answered."""
        return list(self._asked)

    async def settled(self) -> None:
        """Waits until workers have answered, but not for one that is much slower than others."""
        if self._asked:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._first.wait(), _FIRST)
        if self._asked:
            await asyncio.wait(self._asked.values(), timeout=_OTHERS)

    def remove(self, address: str) -> None:
        """Forgets a worker that is gone."""
        self.refused.pop(address, None)
        task = self._asked.pop(address, None)
        if task is not None:
            task.cancel()
            self._look()

    def close(self) -> None:
        """Asks no more."""
        for address in self.silent:
            self.remove(address)

    async def _equip(self, address: str) -> None:
        message = {"op": "plugin-add", "plugin": self._plugin, "name": NAME}
        while True:
            (answer,) = (
                await self._scheduler.broadcast(msg=message, workers=[address], on_error="return")
            ).values()
            if not isinstance(answer, OSError | TimeoutError):
                break
            await asyncio.sleep(_AGAIN)
        del self._asked[address]
        reason = _refusal(answer)
        if reason is None:
            self._first.set()
        else:
            self.refused[address] = reason
            self._look()

    def _look(self) -> None:
        if not self._asked:
            self._first.set()  # there is no other to wait for


def _refusal(answer: object) -> str | None:
    """Why a worker has not taken the loop, if it has not."""
    if isinstance(answer, Exception):
        return str(answer) or repr(answer)
    if isinstance(answer, dict) and answer.get("status") == "error":
        return str(answer.get("exception_text", "its treemill fails"))
    return None
