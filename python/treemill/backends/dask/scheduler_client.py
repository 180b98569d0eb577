"""The client's requests to the scheduler and to the workers that hold results. Each call waits, on
the caller's thread, while the requests run on the event loop of a distributed.Client.
"""

from __future__ import annotations

import asyncio
import pickle
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, wait
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from ...errors import UnsupportedError, WorkerError, first_line, warn
from ...frozen import replaced
from .dask_client import differs
from .merger import Read, RefusedByMerger
from .messages import HeldPartial, PassUpdate, Version
from .ownership import this_caller
from .scheduler_plugin import LONGEST, Hello, install
from .worker_plugin import ReadAnswer, asked, opened

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["PartialLost", "SchedulerClient"]

# What is said of workers that take no part in a session, because treemill is not on them. Pure.

_SHOWN = 3
"""Addresses that are told."""


def absent(refused: Mapping[str, str], silent: Sequence[str]) -> str:
    """Which workers take no part, why, and what to do. `refused`: why a worker cannot load
    treemill, by address. `silent`: those that do not answer.

    >>> absent({}, ["tcp://a:1", "tcp://b:1"])[:40]
    'nothing is heard of tcp://a:1, tcp://b:1'
    """
    by_reason: dict[str, list[str]] = {}
    for address, reason in refused.items():
        by_reason.setdefault(reason, []).append(address)
    parts = [
        f"treemill cannot be loaded on {_named(addresses)}: {reason} (install the client's version "
        "there, and restart these workers)"
        for reason, addresses in by_reason.items()
    ]
    if silent:
        parts.append(
            f"nothing is heard of {_named(silent)} (look for processes that are stopped or "
            "overloaded; a worker takes part when it answers)"
        )
    return "; ".join(parts)


def _named(addresses: Sequence[str]) -> str:
    named = ", ".join(addresses[:_SHOWN])
    more = len(addresses) - _SHOWN
    return named if more <= 0 else f"{named} and {more} more"


_T = TypeVar("_T")

_CONNECT = 3.0
"""Seconds after which a worker counts as hidden from this process."""
_AGAIN = 6.0
"""Seconds within which a scheduler must be there again after its connection broke."""
_SAY = 10.0
"""Seconds after which it is said that the scheduler does not answer."""
_AT_ONCE = 4
"""Partials that are on their way to this process, at most: each may be large."""
_CLOSED = "the session's Client was closed: make another session by treemill.connect()"
_INSTALL = LONGEST + 7.0
"""Seconds within which the scheduler must have treemill, at least: it waits for workers."""


class PartialLost(Exception):  # noqa: N818 - what happened, not a mistake
    """The worker that held a partial is gone, or does not have it any more."""


class SchedulerClient:
    """Requests to one scheduler. All threads may call, except the client's own."""

    def __init__(self, client: Client, silence: float) -> None:
        """`silence`: seconds for which an answer may be waited for."""
        self._client = client
        self._silence = silence
        self.caller = this_caller()
        """Who asks."""
        self._reaches_workers = True
        # A Client that gives up its scheduler forgets the address.
        self.address = "" if client.scheduler is None else str(client.scheduler.address)
        """The scheduler's address."""

    @property
    def session(self) -> str:
        """The Client, as the scheduler names it."""
        return str(self._client.id)

    def install(self) -> Hello:
        """Puts treemill on the scheduler. Gives what the scheduler says of itself, and warns of
        workers that take no part. Raises UnsupportedError if it or all of its workers cannot have
        treemill, or if it has another version; WorkerError if it or all of them do not answer."""
        hello = self.installed()
        self._warn_of_missing_workers(hello)
        return hello

    def installed(self) -> Hello:
        """Puts treemill on the scheduler, whatever its workers do. Raises UnsupportedError and
        WorkerError."""
        seconds = max(self._silence, _INSTALL)
        try:
            hello = self._wait(install(self._client), seconds)
        except WorkerError:
            raise
        except TimeoutError as error:
            raise WorkerError(
                f"treemill could not be put on the scheduler {self.address} within {seconds:g} "
                "seconds: check whether its process is stopped or overloaded, and connect again"
            ) from error
        except ImportError as error:
            raise UnsupportedError(
                f"the scheduler {self.address} cannot import treemill ({error}): install the same "
                "version there, and on the workers"
            ) from error
        except (AttributeError, TypeError, KeyError) as error:  # of distributed's internals
            raise differs(error) from error
        mine = Version.here()
        told = dict[str, Any](hello)  # earlier releases say less
        its = Version(told.get("version", 0), told.get("release", "of old"))
        if not mine.works_with(its):
            raise UnsupportedError(
                f"the scheduler {self.address} has {its}, and this is {mine}: a release works with "
                "the releases before and after it if their messages are the same. Install the same "
                "release everywhere, and restart the scheduler and its workers"
            )
        return hello

    def _warn_of_missing_workers(self, hello: Hello) -> None:
        words = absent(hello["refused"], hello["silent"])
        if words and not hello["workers"]:
            kind = WorkerError if hello["silent"] else UnsupportedError
            raise kind(f"no worker of the scheduler {self.address} can take part: {words}")
        if words:
            what = f"some workers of the scheduler {self.address} take no part: {words}"
            warn(what, RuntimeWarning)

    def hello(self) -> Hello:
        """Returns what the scheduler says of itself."""
        answer: Hello = self._request(lambda: self._client.scheduler.treemill_hello())
        return answer

    def ask(self, what: str, *arguments: object) -> Any:
        """Calls a method of the scheduler's state."""
        data, caller = pickle.dumps(arguments), self._who()
        return self._answer(
            lambda: self._client.scheduler.treemill_ask(what=what, arguments=data, caller=caller)
        )

    def operate(self, what: str, *arguments: object) -> Any:
        """Asks what operators ask; see Operation."""
        data, caller = pickle.dumps(arguments), self._who()
        return self._answer(
            lambda: self._client.scheduler.treemill_operate(
                what=what, arguments=data, caller=caller
            )
        )

    def use_key(self, key: str) -> None:
        """Opens the query of this key, too."""
        self.caller = replaced(self.caller, keys=(*self.caller.keys, key))

    def _who(self) -> bytes:
        return pickle.dumps(self.caller)

    def watch(self, name: str, change: int, wait: float, watcher: str = "") -> PassUpdate:
        """The status of a pass, when it has changed or after `wait` seconds. `watcher`: names who
        wants the result, which stays until it is released."""
        caller = self._who()
        update: PassUpdate = self._answer(
            lambda: self._client.scheduler.treemill_watch(
                name=name, change=change, wait=wait, caller=caller, watcher=watcher
            )
        )
        return update

    def put(self, blobs: dict[str, bytes]) -> None:
        """Sends bytes that the scheduler does not have."""
        for digest in self.ask("missing", list(blobs)):
            self._send(digest, blobs[digest])

    def _send(self, digest: str, data: bytes) -> None:
        self._request(lambda: self._client.scheduler.treemill_put(digest=digest, data=data))

    def get(self, digest: str) -> bytes | None:
        """Bytes that the scheduler has."""
        content: bytes | None = self._request(
            lambda: self._client.scheduler.treemill_blob(digest=digest)
        )
        return content

    def read(self, work: str, parts: Sequence[HeldPartial]) -> Iterator[Read]:
        """Returns what mergers have, from their workers, in this order; see Merger. Some are on
        their way while the caller merges one. Raises PartialLost."""
        coming: deque[Future[ReadAnswer]] = deque()
        rest = iter(parts)
        try:
            while True:
                for part in islice(rest, _AT_ONCE - len(coming)):
                    coming.append(self._begin(self._read(work, part), self._silence))
                if not coming:
                    return
                yield _received(coming.popleft())
        finally:
            for reading in coming:
                reading.cancel()

    async def _read(self, work: str, part: HeldPartial) -> ReadAnswer:
        about = {"work": work, "merger": part.merger}
        client = self._client
        if self._reaches_workers:
            with suppress(OSError, TimeoutError):  # it is gone, or hidden from this process
                reading: ReadAnswer = await asked(
                    client.rpc, part.address, _CONNECT, op="treemill_read", **about
                )
                return reading
        answer: ReadAnswer = await client.scheduler.treemill_relay(
            address=part.address, caller=self._who(), **about
        )
        if not answer.get("gone"):
            self._reaches_workers = False  # nor others: each would be waited for
        return answer

    def _answer(self, request: Callable[[], Awaitable[bytes]]) -> Any:
        data = self._request(request)
        if data is None:
            raise WorkerError(
                f"the scheduler {self.address} was restarted, and its queries are lost: run the "
                "query again with a new session"
            )
        value, error = pickle.loads(data)
        if error is not None:
            raise error
        return value

    def _request(self, request: Callable[[], Awaitable[_T]]) -> _T:
        async def again() -> _T:
            if self._client.scheduler is None:
                raise WorkerError(_CLOSED)
            return await request()

        silent = _AGAIN
        try:
            return self._told(again(), self._silence)
        except (OSError, TimeoutError, CancelledError) as error:
            # If its connection has broken, it has not been silent before: try a new one.
            silent += self._silence if isinstance(error, TimeoutError) and not str(error) else 0.0
        try:
            return self._wait(again(), _AGAIN)
        except (OSError, TimeoutError, CancelledError) as error:
            why = first_line(error) if str(error) else f"it has been silent for {silent:g} s"
            raise WorkerError(
                f"the scheduler {self.address} does not answer ({why}). If it has ended, its "
                "queries have ended with it: start it again, connect again and run the query again"
            ) from None

    def _told(self, request: Coroutine[object, object, _T], seconds: float) -> _T:
        """Waits, and tells who waits on the main thread that the scheduler does not answer."""
        answer = self._begin(request, seconds)
        if threading.current_thread() is threading.main_thread():
            wait([answer], _SAY)
            if not answer.done():
                warn(
                    f"the scheduler {self.address} has not answered for {_SAY:g} s: check whether "
                    f"its process is stopped or overloaded; the query fails after {seconds:g} s",
                    RuntimeWarning,
                )
        return answer.result()

    def _wait(self, request: Coroutine[object, object, _T], seconds: float) -> _T:
        return self._begin(request, seconds).result()

    def _begin(self, request: Coroutine[object, object, _T], seconds: float) -> Future[_T]:
        async def within() -> _T:
            return await asyncio.wait_for(request, seconds)

        begun = within()
        try:
            return asyncio.run_coroutine_threadsafe(begun, self._client.loop.asyncio_loop)
        except RuntimeError:  # the loop was closed, with the Client
            begun.close()
            request.close()
            raise WorkerError(_CLOSED) from None


def _received(reading: Future[ReadAnswer]) -> Read:
    try:
        return opened(reading.result())
    except (OSError, TimeoutError) as error:
        raise PartialLost(str(error)) from error
    except RefusedByMerger as error:
        raise PartialLost from error
