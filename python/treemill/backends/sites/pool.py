"""The pools of several sites as one pool, and the passes on them. They are led as those on threads
are: a site is a worker whose packets are leases.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from functools import partial, reduce

from ...errors import QueryError
from ...frozen import replaced
from ...scheduling import (
    Committed,
    Finish,
    Halt,
    Hint,
    LeasedTrace,
    Monitored,
    Order,
    Ranges,
    Sizing,
    Tick,
)
from ...scheduling.coordinator import Coordinator
from ...scheduling.lease_scheduler import LeaseScheduler, Leasing
from ...scheduling.leases import Grant, Reach, TakeBack, Upward
from ...workers.workload import Partial
from ..base import Heartbeat, PassStatus, Pool, Request, log_of
from ..coordinated_pass import CoordinatedPass
from ..merged_partial import Seen
from ..remembered_partial import HERE
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
    keeps_results = True
    goes_on_in_files = False
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
            sum(pool.size for pool in pools),
            # A site waits so long for its workers, and then again for a merge.
            2 * max(pool.patience for pool in pools) + 1.0,
            trace=0,
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


class FederatedPass(CoordinatedPass):
    """A pass whose workers are sites: a scheduler of leases is in the packetizer's place."""

    _SENT = (Grant, TakeBack)

    def __init__(self, pool: FederatedPool, request: Request) -> None:
        self._most = request.trace
        self._held = 0  # records in `_leased`
        self._dropped = 0
        self._leased: deque[LeasedTrace] = deque()
        super().__init__(pool, request)
        self.workers = pool.size
        self._counts = SiteCounts()
        self._counted = request.served is not None
        self._seen: dict[str, list[object]] = {}
        """What workers have seen of files, by their paths, if some are on other hosts."""
        self._several_hosts = any(each.outlive for each in pool.sites.values())
        self._located = LocatedFiles(request)
        whole = replaced(request, addresses=self._located.addresses, locate=self._located.locate)
        self._sites = {
            number: Site(number, name, each, whole, self._receive, self._tick, self._counts)
            for number, (name, each) in enumerate(pool.sites.items())
        }

    def _make_coordinator(self, pool: Pool, request: Request, done: Ranges) -> Coordinator:
        """See CoordinatedPass. There is no trace but those of the sites, which count themselves
        what their workers do."""
        assert isinstance(pool, FederatedPool)
        checkpointing = request.checkpointing
        files = (
            request.files
            if checkpointing is None
            else checkpointing.with_sizes_of_begun(request.files)
        )
        workload = request.task.workload(0)
        paths = self._paths = [workload.place(file)[0] for file in range(len(files))]
        addresses = request.addresses()
        reaches = [pool.reach(addresses.get(n, (path,))) for n, path in enumerate(paths)]
        scheduler = LeaseScheduler(
            files,
            replace(LEASING, skip_errors=request.skip_errors),
            reach=reaches.__getitem__,
            expected=list(pool.sites),
            done=done,
        )
        return Coordinator(
            scheduler,
            len(pool.sites),
            self._clock,
            merged=self._merged,
            notes_entries=self._notes_entries(request),
            log=log_of(request.name),
        )

    # What the session asks.

    def _heartbeat(self) -> Heartbeat:
        return reduce(Heartbeat.plus, (site.heartbeat() for site in self._sites.values()))

    def status(self) -> PassStatus:
        """See Pass. If all sites have failed, each has an error that says more."""
        status = super().status()
        lost = [site.lost for site in self._sites.values() if site.lost is not None]
        error = lost[0] if status.error and len(lost) == len(self._sites) else status.error
        with self._lock:
            leased = tuple(self._leased)
            return replaced(status, error=error, leased=leased, dropped=self._dropped)

    @property
    def monitored(self) -> Callable[[], Monitored] | None:
        """See Pass."""
        if not self._counted:
            return None
        if self.ended is not None:
            return self._counts.now
        counts = self._counts.now()
        return lambda: counts

    def start(self) -> None:
        """Starts the sites."""
        for site in self._sites.values():
            site.on_begin = partial(self._begins, site.number)
            site.start()

    def abort(self, reason: str) -> None:
        """See Pass."""
        super().abort(reason)
        for site in self._sites.values():
            site.abort(reason)

    # What the sites say.

    def _tick(self) -> None:
        self._send_event(Tick())

    def _receive(
        self,
        messages: Sequence[Upward],
        handed_up: Partial | None,
        seen: Seen,
        leased: LeasedTrace | None,
    ) -> None:
        """Handles the messages of one site, with the partial of the one that is Committed, what its
        workers have seen of files, and the trace of the pass that has made it."""
        if leased is not None:
            with self._lock:
                self._keep(leased)
        for message in messages:
            if not isinstance(message, Committed):
                self._send_event(message)
            elif handed_up is not None:
                if self._several_hosts:
                    self._note(message, seen)
                try:
                    self._commit(message.worker, partial(_same, handed_up), message.ranges)
                except BaseException as error:  # what was merged holds a part of this one
                    self._crash(error)

    def _note(self, message: Committed, seen: Seen) -> None:
        """Notes what a site has seen of files. All sites that have read a file must have seen the
        same of it."""
        if seen is None:
            seen = {self._paths[file]: HERE for file, *_ in message.ranges}
        with self._lock:
            for path, state in [*seen.items()]:  # a site of several sites may still add to it
                states = self._seen.setdefault(path, [])
                if state not in states:
                    states.append(state)
        self._merged.saw(self._seen)  # a copy would take as long as all that was seen before

    def _keep(self, leased: LeasedTrace) -> None:
        self._leased.append(leased)
        self._held += leased.trace.held
        while self._held > self._most and len(self._leased) > 1:
            gone = self._leased.popleft().trace
            self._held -= gone.held
            self._dropped += len(gone.records) + gone.dropped

    # What the sites are told.

    def _send(self, action: Order | Hint | Grant | TakeBack) -> None:
        assert isinstance(action, Grant | TakeBack)
        self._sites[action.site].send(action)

    def _halt(self) -> None:
        for site in self._sites.values():
            site.send(Halt())

    def _dismiss(self) -> None:
        for site in self._sites.values():
            site.send(Finish(None))
        self._counts.end()
        self._located.end()


def _same(handed_up: Partial) -> Partial:
    return handed_up
