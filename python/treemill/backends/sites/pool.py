"""The pools of several sites as one pool, and the passes on them: a scheduler of leases under a
lock.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from functools import reduce

from ...errors import QueryError
from ...frozen import replaced
from ...scheduling import (
    Coverage,
    Finish,
    Halt,
    LeasedTrace,
    Monitored,
    Range,
    Sizing,
    Stop,
    Tick,
)
from ...scheduling.known_sites import Leasing
from ...scheduling.lease_scheduler import LeaseScheduler
from ...scheduling.messages import Downward, HandedUp, LeaseEvent, Opened, SiteLost, Upward
from ...scheduling.unleased_parts import Reach
from ...workers.workload import Partial
from ..base import Heartbeat, Pass, PassStatus, Pool, Request
from ..merged_partial import MergedPartial
from .site import Site, SiteCounts

__all__ = ["FederatedPass", "FederatedPool", "LocatedFiles"]

# The addresses of files at the hosts that have them, for all leases of a pass: servers are asked
# once for all files, when a lease wants to know for the first time, and later leases begin with
# the answers. One thread asks. Knows no site and no lease.


class LocatedFiles:
    """What servers have said so far."""

    def __init__(self, request: Request) -> None:
        """`request`: for the pass of all sites."""
        self._files = range(len(request.files))
        self._given = request.addresses
        self._ask = request.locate
        self._found: dict[int, Sequence[str]] = {}
        self._asked = self._over = False
        self._changed = threading.Condition()
        """Guards all that changes."""

    def addresses(self) -> dict[int, Sequence[str]]:
        """See Request: those that are given, and those that servers have named."""
        given = self._given()
        with self._changed:
            return {**given, **self._found}

    def locate(self, wanted: Collection[int]) -> Iterator[dict[int, Sequence[str]]]:
        """See Request. It ends when all of these files are known, or servers have answered for
        all."""
        with self._changed:
            begins, self._asked = not self._asked, True
        if begins:
            threading.Thread(target=self._work, name="treemill-locate", daemon=True).start()
        unknown = set(wanted)
        while unknown and (found := self._known_of(unknown)):
            unknown -= found.keys()
            yield found

    def _known_of(self, files: Collection[int]) -> dict[int, Sequence[str]]:
        """Waits until something is known of any of these; nothing, if nothing more will be."""
        with self._changed:
            self._changed.wait_for(lambda: self._over or not self._found.keys().isdisjoint(files))
            return {file: self._found[file] for file in sorted(files) if file in self._found}

    def end(self) -> None:
        """Asks for no further files."""
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def _work(self) -> None:
        try:
            for found in self._ask(self._files) if self._ask is not None else ():
                with self._changed:
                    if self._over:
                        return
                    self._found.update(found)
                    self._changed.notify_all()
        finally:
            self.end()


LEASING = Leasing(shortest=1.0, longest=20.0, first=200_000, worth=1.0)
"""A lease is a pass of its own, which takes some ms to begin and to end."""


class FederatedPool(Pool):
    """The workers of several sites."""

    kind = "workers of several sites"
    remembers = False
    keeps = True
    sizing = Sizing()
    """This has no effect: sites size their packets themselves."""

    def __init__(
        self, sites: Mapping[str, Pool], reach: Mapping[str, str | Sequence[str]] | None = None
    ) -> None:
        """`reach`: by site, patterns of the names of files that it can read and that only the sites
        that are named for them can read. All may try to read files that match none."""
        pools = list(sites.values())
        if len(pools) < 2:
            raise QueryError("connect([…]) takes two sites or more; connect(address) takes one")
        unknown = set(reach or ()) - set(sites)
        if unknown:
            raise QueryError(
                f"reach= names {', '.join(sorted(unknown))}; the sites are {', '.join(sites)}"
            )
        super().__init__(
            sum(pool.size for pool in pools), max(pool.patience for pool in pools), trace=0
        )
        self.sites = sites
        self._paths: list[str] = []
        self._patterns = {
            name: [patterns] if isinstance(patterns, str) else list(patterns)
            for name, patterns in (reach or {}).items()
        }

    def reach(self, addresses: Sequence[str]) -> Reach:
        """The sites that can read a file, which lies at all of these addresses."""
        near = frozenset(
            name
            for name, patterns in self._patterns.items()
            if any(fnmatch(each, pattern) for pattern in patterns for each in addresses)
        )
        return Reach(near, only=bool(near))

    def prepare(self, request: Request) -> FederatedPass:
        """Makes a pass, which the caller starts."""
        return FederatedPass(self, request)

    def set_paths(self, paths: Sequence[str]) -> None:
        """Puts folders on the import path of all sites' workers, for the passes to come; of none,
        if one refuses them."""
        told: list[Pool] = []
        try:
            for pool in self.sites.values():
                pool.set_paths(paths)
                told.append(pool)
        except BaseException:
            for pool in told:
                pool.set_paths(self._paths)
            raise
        self._paths = list(paths)

    def close(self) -> None:
        """Leaves all sites."""
        for pool in self.sites.values():
            pool.close()


class FederatedPass(Pass):
    """A pass whose workers are sites."""

    def __init__(self, pool: FederatedPool, request: Request) -> None:
        super().__init__(request)
        task, checkpointing = request.task, request.checkpointing
        files = (
            request.files
            if checkpointing is None
            else checkpointing.with_sizes_of_begun(request.files)
        )
        self.workers = pool.size
        self._began = time.monotonic()
        self._merged = MergedPartial() if checkpointing is None else checkpointing.merged(task.load)
        self._checkpoint_writer = (
            None
            if checkpointing is None
            else checkpointing.checkpoint_writer(self._merged.kept, self._sizes)
        )
        self._error: BaseException | None = None
        self._lock = threading.RLock()
        """Guards the scheduler of leases, the merged partial and the sizes of files."""
        self._entries = {n: size.entries for n, size in enumerate(files) if size is not None}
        self._to_begin = len(pool.sites)
        self._most = request.trace
        self._held = 0  # records in `_leased`
        self._dropped = 0
        self._leased: deque[LeasedTrace] = deque()
        self._finished = False
        self._broken: BaseException | None = None  # a merge that failed half way
        workload = task.workload(0)
        paths = [workload.place(file)[0] for file in range(len(files))]
        addresses = request.addresses()
        reaches = [pool.reach(addresses.get(n, (path,))) for n, path in enumerate(paths)]
        leasing = replace(LEASING, skip_errors=request.skip_errors)
        record = None if checkpointing is None else checkpointing.record
        self._lease_scheduler = LeaseScheduler(
            files,
            leasing,
            reach=reaches.__getitem__,
            expected=list(pool.sites),
            done=None if record is None else record.processed,
        )
        self._before = self._lease_scheduler.committed_entries
        self._counts = SiteCounts()
        self._counted = request.served is not None
        self._located = LocatedFiles(request)
        whole = replaced(request, addresses=self._located.addresses, locate=self._located.locate)
        self._sites = {
            number: Site(number, name, each, whole, self._receive, self._tick, self._counts)
            for number, (name, each) in enumerate(pool.sites.items())
        }

    # What the session asks.

    @property
    def merged(self) -> MergedPartial:
        """See Pass: what the sites have handed up. It grows with each lease."""
        return self._merged

    def status(self) -> PassStatus:
        """See Pass. There is no trace but those of the sites."""
        heartbeat = reduce(Heartbeat.plus, (site.heartbeat() for site in self._sites.values()))
        with self._lock:
            return PassStatus(
                self._began,
                heartbeat,
                self._lease_scheduler.expected_entries,
                self._before,
                self._lease_scheduler.committed_entries if self._finished else None,
                self.workers,
                self._error,
                leased=tuple(self._leased),
                dropped=self._dropped,
            )

    @property
    def monitored(self) -> Callable[[], Monitored] | None:
        """See Pass."""
        if not self._counted:
            return None
        if self._finished:
            return self._counts.now
        counts = self._counts.now()
        return lambda: counts

    def coverage(self) -> Coverage:
        """See Pass."""
        with self._lock:
            return self._lease_scheduler.coverage()

    def _sizes(self) -> dict[int, int]:
        with self._lock:
            return dict(self._entries)

    def start(self) -> None:
        """Starts the sites."""
        for site in self._sites.values():
            site.on_begin = self._site_begins
            site.start()

    def stop(self, reason: str) -> None:
        """See Pass."""
        self._handle([Stop(reason)])

    def abort(self, reason: str) -> None:
        """See Pass."""
        self._handle(self._end(reason))
        for site in self._sites.values():
            site.abort(reason)

    def _end(self, reason: str) -> list[LeaseEvent]:
        return [Stop(reason), *(SiteLost(number, reason) for number in self._sites)]

    # What the sites say.

    def _site_begins(self) -> None:
        with self._lock:
            self._to_begin -= 1
            all_have = self._to_begin == 0
        if all_have:
            self.on_begin()

    def _tick(self) -> None:
        self._handle([Tick()])

    def _receive(
        self, messages: Sequence[Upward], partial: Partial | None, leased: LeasedTrace | None
    ) -> None:
        """Handles the messages of one site, with the partial that they are about, and the trace of
        the pass that has made it."""
        self._handle(messages, partial, leased)

    def _keep(self, leased: LeasedTrace) -> None:
        self._leased.append(leased)
        self._held += leased.trace.held
        while self._held > self._most and len(self._leased) > 1:
            gone = self._leased.popleft().trace
            self._held -= gone.held
            self._dropped += len(gone.records) + gone.dropped

    def _handle(
        self,
        events: Sequence[LeaseEvent],
        partial: Partial | None = None,
        leased: LeasedTrace | None = None,
    ) -> None:
        orders: list[Downward] = []
        with self._lock:
            if self._lease_scheduler.over:
                return
            try:
                if partial is not None:
                    self._merged.commit(partial, _covered(events))
            except BaseException as error:  # what was merged holds a part of this one
                self._merged.give_up()
                self._broken = error
                events = self._end(f"merging failed: {error}")
            if leased is not None:
                self._keep(leased)
            for event in events:
                if isinstance(event, Opened):
                    self._entries[event.file] = event.size.entries
                orders += self._lease_scheduler.handle(event, time.monotonic())
            for order in orders:
                if isinstance(order, Halt | Finish):
                    for site in self._sites.values():
                        site.send(order)
                else:
                    self._sites[order.site].send(order)
        for order in orders:
            if isinstance(order, Finish):
                self._finish(order.error)

    def _finish(self, error: BaseException | None) -> None:
        lost = [site.lost for site in self._sites.values() if site.lost is not None]
        # If all sites have failed, each has an error that says more.
        if error is not None and len(lost) == len(self._sites):
            error = lost[0]
        self._error = self._broken or error
        self._counts.end()
        self._located.end()
        self._finished = True
        self._conclude()
        self._merged = MergedPartial()


def _covered(events: Sequence[LeaseEvent]) -> dict[int, list[Range]]:
    """The entries that the partial has which came with these messages."""
    ranges: dict[int, list[Range]] = defaultdict(list)
    for event in events:
        for file, start, stop in event.ranges if isinstance(event, HandedUp) else ():
            ranges[file].append((start, stop))
    return ranges
