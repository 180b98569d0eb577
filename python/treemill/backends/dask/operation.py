"""What operators ask of a cluster beside its queries: its workers, what each does now, and to send
some away. The scheduler's plugin answers by this.
"""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from ...errors import QueryError, UnsupportedError
from ...frozen import frozen
from .messages import Caller
from .ownership import Ownership
from .worker_activity import ProcessActivity

if TYPE_CHECKING:
    from distributed import Scheduler

__all__ = ["Operation", "WorkerLine"]


@frozen
class WorkerLine:
    """One of Dask's workers."""

    address: str
    host: str
    threads: int
    memory: int
    """Bytes that its process takes, as it said last."""
    limit: int
    """Those that it may take; 0: any number."""
    cpu: float
    """Per cent of one core."""
    leaving: bool


class Operation:
    """Answers operators."""

    def __init__(
        self,
        scheduler: Scheduler,
        ownership: Ownership,
        retire: Callable[[list[str]], Awaitable[object]],
        is_leaving: Callable[[str], bool],
    ) -> None:
        """`retire` sends the workers with these addresses away, once what they have is saved."""
        self._scheduler = scheduler
        self._ownership = ownership
        self._retire = retire
        self._is_leaving = is_leaving

    async def answer(self, caller: Caller, what: str, arguments: Sequence[object]) -> object:
        """The answer to a request. Raises QueryError for all but operators."""
        if what == "workers":
            return self.workers()
        self._ownership.check_operator(caller)
        if what == "activity":
            return await self.activity(*arguments)  # type: ignore[arg-type]
        if what == "retire":
            return await self.retire(*arguments)  # type: ignore[arg-type]
        raise UnsupportedError(f"treemill on the scheduler has no {what!r}")

    def workers(self) -> list[WorkerLine]:
        """Dask's workers, as they said last how they are."""
        return [
            WorkerLine(
                address,
                each.host,
                each.nthreads,
                int(each.metrics.get("memory", 0)),
                int(each.memory_limit or 0),
                float(each.metrics.get("cpu", 0.0)),
                self._is_leaving(address),
            )
            for address, each in self._scheduler.workers.items()
        ]

    async def activity(self, held: bool, seconds: float) -> list[ProcessActivity]:
        """What each worker does now. One that does not answer within so many seconds is named."""

        async def ask(address: str) -> ProcessActivity:
            try:
                asked = self._scheduler.rpc(address).treemill_activity(held=held)
                found: ProcessActivity = pickle.loads(await asyncio.wait_for(asked, seconds))
            except TimeoutError:
                why = (
                    f"no answer within {seconds:g} s: its process is stopped, or something holds "
                    "its interpreter"
                )
                return ProcessActivity(address, silent=why)
            except Exception as error:
                return ProcessActivity(address, silent=f"{type(error).__name__}: {error}")
            return found

        return list(await asyncio.gather(*map(ask, list(self._scheduler.workers))))

    async def retire(self, names: Sequence[str]) -> list[str]:
        """Sends workers away: those with these addresses or names, or on these hosts. Gives their
        addresses. Raises QueryError for a name that no worker has."""
        chosen: list[str] = []
        for name in names:
            meant = [
                address
                for address, each in self._scheduler.workers.items()
                if name in (address, str(each.name), each.host, address.partition("://")[2])
            ]
            if not meant:
                raise QueryError(f"no worker is called {name!r}, and none is on such a host")
            chosen += [each for each in meant if each not in chosen]
        await self._retire(chosen)
        return chosen
