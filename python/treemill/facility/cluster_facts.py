"""Gathers the facts of a Dask cluster's processes. The only module here that meets distributed."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

from ..errors import MissingPackageError, WorkerError
from . import facts
from .cluster_checks import ClusterFacts, FileFacts, ProcessFacts

if TYPE_CHECKING:
    from distributed import Client

    _Files: TypeAlias = Sequence[tuple[str, str | None]]

__all__ = ["gathered"]

# `eval` is the same function in every version of Python, and what it evaluates is text.
_CALL = "(exec(compile(source, 'facts', 'exec'), names) or names[function])(**wanted)"
_CLOCK = "__import__('time').time()"
_AT_ONCE = 64
"""Workers that are asked at once: each question takes a connection to the scheduler."""
_PORTION = 10
"""Files of one question."""


class _Untold(Exception):  # noqa: N818 - what happened, not a mistake
    """A process has not answered."""


def gathered(
    address: object, files: _Files = (), packages: Sequence[str] = (), timeout: float = 30.0
) -> ClusterFacts:
    """The facts of a cluster. `address` of its scheduler, or a Client, or a cluster object of
    Dask's. `files`: paths that workers should be able to read, and the trees in them that they
    should be able to open, if one is named. `packages`: more packages to compare. `timeout`:
    seconds to wait for the scheduler, for the first worker, and for each answer. Raises WorkerError
    if the scheduler does not answer."""
    with _client(address, timeout) as client:
        _first_worker(client, timeout)
        known = client.scheduler_info(n_workers=-1)["workers"]
        asking = _Asking(client, files, packages, timeout)
        scheduler = client.sync(asking.scheduler)
        answers: Mapping[str, tuple[ProcessFacts, float] | str] = client.sync(asking.workers, known)
        told = {where: each for where, each in answers.items() if not isinstance(each, str)}
        return ClusterFacts(
            cast(ProcessFacts, facts.gather(packages)),
            scheduler,
            {where: each for where, (each, _) in told.items()},
            {where: clock for where, (_, clock) in told.items()},
            {where: int(known[where]["memory_limit"] or 0) for where in told},
            {where: int(known[where]["nthreads"]) for where in told},
            {where: reason for where, reason in answers.items() if isinstance(reason, str)},
            packages,
        )


@contextlib.contextmanager
def _client(address: object, timeout: float) -> Iterator[Client]:
    if importlib.util.find_spec("distributed") is None:
        raise MissingPackageError("clusters need distributed: pip install 'treemill[cluster]'")
    from distributed import Client

    from ..backends.dask.dask_client import opened  # start-up

    if isinstance(address, Client):
        yield address
        return
    client = opened(address, timeout)
    try:
        yield client
    finally:
        client.close()


def _first_worker(client: Client, timeout: float) -> None:
    """Waits for a worker; that there is none is a result."""
    with contextlib.suppress(TimeoutError):
        client.wait_for_workers(1, timeout=timeout)


class _Asking:
    """The questions to the processes of a cluster. One that does not answer is asked no more, and
    delays no other. The methods run on the Client's event loop."""

    def __init__(
        self, client: Client, files: _Files, packages: Sequence[str], timeout: float
    ) -> None:
        self._client = client
        self._files = files
        self._packages = packages
        self._timeout = timeout
        self._source = Path(facts.__file__).read_text()

    async def scheduler(self) -> ProcessFacts:
        """The scheduler's facts. Raises WorkerError."""
        call = self._call("gather", packages=list(self._packages))
        try:
            told: ProcessFacts = await asyncio.wait_for(
                self._client.run_on_scheduler(eval, _CALL, call), self._timeout
            )
        except Exception as error:
            raise WorkerError(
                f"the scheduler did not answer within {self._timeout:g} s "
                f"({type(error).__name__}: {error}): check whether its process is overloaded, or "
                "restart it"
            ) from error
        return told

    async def workers(self, known: Sequence[str]) -> dict[str, tuple[ProcessFacts, float] | str]:
        """The facts of each worker and how far its clock is certainly wrong, or why it has told
        none."""
        slots = asyncio.Semaphore(_AT_ONCE)

        async def asked(where: str) -> tuple[ProcessFacts, float] | str:
            async with slots:
                try:
                    return await self._worker(where)
                except _Untold as silence:
                    return str(silence)

        return dict(zip(known, await asyncio.gather(*map(asked, known)), strict=True))

    async def _worker(self, where: str) -> tuple[ProcessFacts, float]:
        # The clock first: who does not answer that answers nothing. It is asked between two looks
        # at ours.
        before = time.time()
        now = cast(float, await self._answer(where, _CLOCK, {}))
        clock = min(now - before, 0.0) or max(now - time.time(), 0.0)
        call = self._call("gather", packages=list(self._packages))
        told = cast(ProcessFacts, await self._answer(where, _CALL, call))
        told["files"] = await self._found(where)
        return told, clock

    async def _found(self, where: str) -> dict[str, FileFacts]:
        """What the worker finds of the files. A dead mount may keep it from answering."""
        found: dict[str, FileFacts] = {}
        for start in range(0, len(self._files), _PORTION):
            call = self._call("look", files=self._files[start : start + _PORTION])
            try:
                found |= cast(dict[str, FileFacts], await self._answer(where, _CALL, call))
            except _Untold as silence:
                rest = [facts.named(*each) for each in self._files[start:]]
                nothing = FileFacts(size=None, error=str(silence), content=None, opened=False)
                return found | dict.fromkeys(rest, nothing)
        return found

    def _call(self, function: str, **wanted: object) -> dict[str, object]:
        return {"source": self._source, "names": {}, "function": function, "wanted": wanted}

    async def _answer(self, where: str, text: str, names: dict[str, object]) -> object:
        """Raises _Untold, which says why."""
        try:
            answers = await asyncio.wait_for(
                self._client.run(eval, text, names, workers=[where], on_error="return"),
                self._timeout,
            )
        except TimeoutError:
            raise _Untold(f"no answer within {self._timeout:g} s") from None
        answer = answers.get(where)
        if isinstance(answer, Exception):
            raise _Untold(f"{type(answer).__name__}: {answer}")
        return answer
