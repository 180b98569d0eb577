"""A merger: takes the partials of workers, and what other mergers have, each once, and lets others
read what it has; the mergers that a process has for one pass. Knows no packet and no transport.
Thread-safe; partials are merged one after another, on the threads that bring them.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future

from ...scheduling import Committed, Event, HandedOn, Ranges, Refused, RefusedFrom
from ...workers.workload import Partial
from ..merged_partial import MergedPartial
from .messages import Fetch, Recall, RecallFrom, Unreached

__all__ = ["Merger", "ProcessMergers", "Read", "RefusedByMerger", "Unreachable"]

Read = tuple[int, Ranges, "bytes | None"]
"""What a merger has; see Merger."""

_HOLD_SECONDS = 30.0
"""Seconds for which a partial waits for the word that makes this process its merger."""
_ASIDE_SECONDS = 0.1
"""Seconds within which it is said that a partial was taken whose worker goes on meanwhile: those of
several workers travel together. A worker that is done before that waits for the word."""


class RefusedByMerger(Exception):  # noqa: N818 - what happened, not a mistake
    """The merger takes nothing from this worker any more."""


class Unreachable(Exception):  # noqa: N818 - what happened, not a mistake
    """The merger's process did not answer."""


class Merger:
    """What one merger has merged, and how often it has taken a partial from each worker."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._merged = MergedPartial()
        self._taken: dict[int, int] = {}
        self._refused: set[int] = set()
        self._absorbed: dict[int, int] = {}  # other mergers, and how many partials each had
        self._refused_from: set[int] = set()
        self._dropped = False

    def take(
        self,
        worker: int,
        number: int,
        covers: Ranges,
        load: Callable[[], Partial | None],
        taken: Callable[[float], object] = lambda seconds: None,
    ) -> None:
        """Merges the partial that `load` gives, the worker's `number`-th (from 0), which `covers`
        these entries. `taken` says so, with the seconds that it took, before the merger says
        anything else of the worker. Taking it again changes nothing. Raises RefusedByMerger, and
        what merging raises."""
        with self._lock:
            before = self._taken.get(worker, 0)
            if number < before:
                return
            if worker in self._refused or self._dropped or number > before:
                raise RefusedByMerger
            began = time.monotonic()
            partial = load()
            if partial is not None:
                self._merged.merge(partial, covers)
            self._taken[worker] = before + 1
            taken(time.monotonic() - began)

    def refuse(self, worker: int) -> None:
        """Takes nothing from the worker from now on. What was taken was said before."""
        with self._lock:
            self._refused.add(worker)

    def absorb(
        self, giver: int, commits: int, covers: Ranges, load: Callable[[], Partial | None]
    ) -> None:
        """Merges what another merger has, of this many commits, once. Raises RefusedByMerger, and
        what merging raises."""
        with self._lock:
            if giver in self._absorbed:
                return
            if giver in self._refused_from or self._dropped:
                raise RefusedByMerger
            partial = load()
            if partial is not None:
                self._merged.merge(partial, covers)
            self._absorbed[giver] = commits

    def refuse_from(self, giver: int) -> bool:
        """Takes nothing from the other merger from now on. Returns whether it has been taken."""
        with self._lock:
            self._refused_from.add(giver)
            return giver in self._absorbed

    def read(self) -> Read:
        """Returns how many partials were taken; the entries that they cover; and all of them
        merged, in bytes. Raises RefusedByMerger if it was dropped."""
        with self._lock:
            if self._dropped:
                raise RefusedByMerger
            data, covers = self._merged.kept() or (None, {})
            commits = sum(self._taken.values()) + sum(self._absorbed.values())
            return commits, covers, data

    def drop(self) -> None:
        """Drops everything."""
        with self._lock:
            self._dropped = True
            self._merged = MergedPartial()


class ProcessMergers:
    """The mergers of one pass in this process. What takes long is called on threads that may
    wait."""

    def __init__(
        self,
        work: str,
        fetch: Callable[[str, str, int], Future[Read]],
        load: Callable[[bytes | None], Partial | None],
        tell: Callable[[Event, float], None],
        send_message: Callable[[object], None],
    ) -> None:
        """`work`: what messages call the pass. `fetch` reads what a merger in another process has.
        `load` makes a partial of its bytes. `tell` and `send_message` say to the scheduler what
        mergers do, within some seconds, and what else there is to be said."""
        self._work = work
        self._fetch = fetch
        self._load = load
        self._send_event = tell
        self._send_message = send_message
        self._there: dict[int, Merger] = {}
        self._changed = threading.Condition()
        self._is_over = False
        self._fetching: dict[int, Future[Read]] = {}
        """What is on its way from other mergers."""
        self._counting = threading.Lock()
        self._merging = 0  # threads that merge, or read what is merged
        self._has_merged = False  # since `merged` was asked

    # Which mergers there are; nothing here waits.

    def begin(self, merger: int) -> None:
        """This process is the merger with this number."""
        with self._changed:
            self._there[merger] = Merger()
            self._changed.notify_all()

    def end(self) -> None:
        """The pass is over here: takes nothing more."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
        for reading in list(self._fetching.values()):
            reading.cancel()

    @property
    def numbers(self) -> list[int]:
        """The numbers of the mergers."""
        return list(self._there)

    def at(self, merger: int) -> Merger | None:
        """The merger with this number, if it is here."""
        return self._there.get(merger)

    @property
    def is_merging(self) -> bool:
        """True if something is merged now."""
        return bool(self._merging)

    def merged(self) -> bool:
        """True if something was merged since this was asked last."""
        with self._counting:
            has_merged, self._has_merged = self._has_merged or self.is_merging, False
            return has_merged

    @contextlib.contextmanager
    def _at_merging(self) -> Iterator[None]:
        """What a merger takes counts as the pass's memory, too."""
        with self._counting:
            self._merging += 1
            self._has_merged = True
        try:
            yield
        finally:
            with self._counting:
                self._merging -= 1

    # What workers and other mergers bring, and what clients ask.

    def take(
        self,
        merger: int,
        worker: int,
        number: int,
        covers: Ranges,
        load: Callable[[], Partial | None],
        *,
        is_aside: bool,
    ) -> None:
        """Merges a partial of a worker, and says so. `is_aside`: whether the worker goes on
        meanwhile. See Merger."""
        within = _ASIDE_SECONDS if is_aside else 0.0
        with self._changed:  # the scheduler's word that makes it a merger may come later
            self._changed.wait_for(lambda: merger in self._there or self._is_over, _HOLD_SECONDS)
            holder = self._there.get(merger)
        if holder is None:
            raise RefusedByMerger
        with self._at_merging():
            holder.take(
                worker,
                number,
                covers,
                load,
                lambda seconds: self._send_event(Committed(worker, merger, seconds), within),
            )

    def read(self, merger: int) -> Read:
        """Returns what a merger has. See Merger."""
        holder = self._there.get(merger)
        if holder is None:
            raise RefusedByMerger
        with self._at_merging():
            return holder.read()

    def held(self) -> int:
        """The bytes that the mergers hold."""
        total = 0
        for merger in list(self._there.values()):
            with contextlib.suppress(RefusedByMerger):
                total += len(merger.read()[2] or b"")
        return total

    # What the scheduler asks.

    def recall(self, message: Recall) -> None:
        """A worker is lost; see Recall."""
        merger = self._there.get(message.merger)
        if merger is None:
            return  # it is lost, as the scheduler knows or will know
        merger.refuse(message.worker)
        self._send_event(Refused(message.merger, message.worker), 0.0)

    def fetch(self, message: Fetch) -> None:
        """Merges what another merger has."""
        merger, giver = self._there.get(message.merger), message.giver
        if merger is None:
            return  # it is lost, as the scheduler knows or will know
        reading = self._fetching[giver] = self._fetch(message.address, self._work, giver)
        try:
            commits, covers, data = reading.result()
            if commits != message.commits:
                raise RefusedByMerger(f"it has {commits} partials, not {message.commits}")
        except CancelledError:
            return  # the other one is lost, or the pass is over
        except (Unreachable, RefusedByMerger) as error:
            reason = f"{type(error).__name__}: {error}"
            self._send_message(Unreached(self._work, giver, reason))
            return
        finally:
            self._fetching.pop(giver, None)
        with contextlib.suppress(RefusedByMerger):
            with self._at_merging():
                merger.absorb(giver, commits, covers, lambda: self._load(data))
            self._send_event(HandedOn(giver, message.merger), 0.0)

    def recall_from(self, message: RecallFrom) -> None:
        """Another merger is lost; see RecallFrom."""
        merger, giver = self._there.get(message.merger), message.giver
        reading = self._fetching.get(giver)
        if reading is not None:
            reading.cancel()
        if merger is None:
            return
        if merger.refuse_from(giver):
            self._send_event(HandedOn(giver, message.merger), 0.0)
        self._send_event(RefusedFrom(message.merger, giver), 0.0)
