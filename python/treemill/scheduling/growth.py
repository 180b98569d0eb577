"""A dataset that grows and shrinks while it is processed: files are added, and what no worker has
begun is given back. So a sub-master has a dataset that its parent leases to it part by part."""

from __future__ import annotations

from .dataset_events import Beyond, FilesAdded, GiveBack, NoMoreFiles
from .entities import Again, File
from .events import Action, GivenBack
from .feeding import Feeding
from .state import State

__all__ = ["Growth"]


class Growth:
    """Adds files and gives them back. The properties say what there is to do."""

    def __init__(self, state: State, feeding: Feeding) -> None:
        self._state = state
        self._feeding = feeding

    @property
    def left(self) -> float:
        """The entries that no worker has begun; a file of unknown size counts as many as the others
        on average, promises count too."""
        return self._state.left + self._state.ledger.promised_entries

    @property
    def has_work(self) -> bool:
        """True if anything waits for a worker."""
        return not self._state.everything_handed_out

    @property
    def rate(self) -> float:
        """Entries per second of all workers; 0 before a packet is done."""
        return self._state.rates.total(len(self._state.workers))

    @property
    def quiet(self) -> bool:
        """True if no worker has an order, and neither workers nor mergers hold anything."""
        state = self._state
        at_work = len(state.workers) - len(state.idle) - len(state.tainted)
        ledger = state.ledger
        return not (at_work or ledger.moving or ledger.handing_on or ledger.holding)

    def entries_of(self, file: int) -> int | None:
        """The entries of a file; None if they are not known."""
        return self._state.files[file].entries

    @property
    def has_news(self) -> bool:
        """True if anything has come into the result or was given up since the last look."""
        return self._state.ledger.has_news

    @property
    def has_failures(self) -> bool:
        """True if anything was given up since the last look."""
        return self._state.ledger.has_failures

    def add(self, event: FilesAdded, now: float, actions: list[Action]) -> None:
        """Adds files, and feeds workers that have waited for some."""
        state = self._state
        self._must_grow()
        first = len(state.files)
        files = [File.of(first + i, size) for i, size in enumerate(event.files)]
        state.files += files
        state.totals.added(files)
        for file, node in zip(files, event.nodes, strict=True):
            state.nodes.add(file, node)
        state.more, state.beyond = True, event.beyond
        self._feeding.feed_idle(now, actions)

    def end(self, event: NoMoreFiles, now: float, actions: list[Action]) -> None:
        """Notes that no further files are expected."""
        self._state.more, self._state.beyond = False, Beyond()
        self._feeding.feed_idle(now, actions)

    def give_back(self, event: GiveBack, now: float, actions: list[Action]) -> None:
        """Gives back what no worker has begun: first what was never handed out. Work that has
        failed here is kept, unless all is to be given back: its failures are counted."""
        self._must_grow()
        state = self._state
        wanted = float("inf") if event.entries is None else event.entries
        hosts = {worker.host for worker in state.workers.values()}
        mean = state.totals.mean
        for file, start, stop in state.nodes.give_back(wanted, mean, event.among, hosts):
            if stop is None:
                self._drop_unknown(file)
            else:
                state.totals.known -= stop - start
                wanted -= stop - start
            actions.append(GivenBack(file.number, start, stop))
        for again in list(state.again.waiting):
            everything = event.entries is None
            fits = event.among is None or again.file in event.among
            if fits and (everything or (again.attempt == 1 and wanted > 0)):
                wanted -= again.entries
                actions.append(self._give_back_again(again))

    def _give_back_again(self, again: Again) -> GivenBack:
        state = self._state
        state.again.remove(again)
        if again.stop is None:
            self._drop_unknown(state.files[again.file])
        else:
            state.ledger.give_back(again.file, (again.start, again.stop))
        return GivenBack(again.file, again.start, again.stop)

    def _drop_unknown(self, file: File) -> None:
        file.entries = 0
        self._state.totals.unknown -= 1

    def _must_grow(self) -> None:
        if not self._state.policy.growing:
            raise RuntimeError("this packetizer's dataset does not grow: see Policy.growing")
