"""The processes of a pass, as the scheduler knows them: which take part, and on which hosts; which
are its mergers, and how many partials each has; which are lost; which of their workers have a turn.
Who gets which packet or partial is for the packetizer to decide. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...errors import WorkerError
from ...frozen import replaced
from ...scheduling import (
    Dismiss,
    Event,
    FileOpened,
    FilesDone,
    HandOn,
    MergerLost,
    PacketDone,
    Packetizer,
    Refuse,
    RefuseFrom,
    WorkerGone,
    WorkerLost,
    host_of,
    node_of,
)
from ...scheduling.blame import LOADING
from ...scheduling.view import Span
from ..base import KnownCounters, given_up
from .messages import Drop, Fetch, HeldPartial, Recall, RecallFrom

__all__ = ["HostNames", "LostWorkers", "Participant", "PassMergers", "PassTurns", "TurnNews"]

# One of Dask's workers, as far as it takes part in a pass. Plain data, which pass_scheduler.py
# changes.


@dataclass(eq=False, slots=True)
class Participant:
    """A process with the numbers of its workers in the pass."""

    address: str
    host: str
    numbers: tuple[int, ...]
    called: str
    """The process as errors name it: its address, and its host as people call it."""
    there: set[int] = field(default_factory=set)
    """The workers that have been started."""
    joined: set[int] = field(default_factory=set)
    """The workers that have joined the pass: they were started, and have had a turn."""
    resting: set[int] = field(default_factory=set)
    """The workers that have no turn, whether they were started or not."""
    is_told: bool = False
    """Whether it was told to load the task: it is when one of its workers gets a turn."""
    loaded: bool = False
    """Whether it has loaded the task."""
    place: str | None = None
    """The name of its host for the packetizer, once it has loaded the task; see `HostNames`."""
    leaving: bool = False
    """Whether it will go: then it gets no more work."""
    merger: int | None = None
    """The merger that it is."""
    unreached: int = 0
    """How often others could not reach it as a merger."""
    counted: KnownCounters = field(default_factory=KnownCounters)
    """Its counters."""


# Which workers and files are on the same host, though addresses name a host in several ways: that
# of a worker by numbers, that of a file often by a name. Pure: asks no name service.

_EVERY_HOST = {"", "localhost", "localhost.localdomain"}
"""Names that say nothing of other hosts."""


class HostNames:
    """The hosts of one pass: each has one name here, by which the packetizer compares."""

    def __init__(self, nodes: Iterable[str | None]) -> None:
        """`nodes`: of the pass's files, as far as their addresses say them."""
        self._of_files = {host_of(node) for node in nodes} - {None}
        self._of_workers: dict[str, str] = {}  # names of workers' hosts, to the one that is used
        self._files: dict[str, int] = {}  # by node: how many files were put there
        self._nodes: dict[int, list[str]] = {}  # by file: the nodes that have it
        self._chosen: dict[int, str] = {}  # one of these
        self._files_at: dict[str, set[int]] = {}  # by host: files that it has
        self._with_workers: set[str] = set()  # names whose files were chosen for that

    def worker(self, host: str, names: Sequence[str]) -> str:
        """The name for the host of a worker, which the cluster calls `host` and which says that it
        has these names."""
        others = [name.lower() for name in names if name.lower() not in _EVERY_HOST]
        named = [name for name in (host, *others) if name in self._of_files]
        chosen = self._of_workers.get(host) or (named[0] if named else host)
        for name in (host, *others):
            self._of_workers.setdefault(name, chosen)
        return chosen

    def nodes(self, addresses: Mapping[int, Sequence[str]]) -> dict[int, str]:
        """The node of each of these files, of which these are addresses at the hosts that have it:
        one with a worker, if there is one, and among these the one with the fewest files."""
        for file, each in addresses.items():
            self._nodes[file] = [node_of(address) for address in each]
            for node in self._nodes[file]:
                self._files_at.setdefault(host_of(node) or "", set()).add(file)
        return self._choose(addresses)

    def nodes_beside(self, host: str, names: Sequence[str]) -> dict[int, str]:
        """The nodes of those files that are at this host and belong elsewhere now that it is known
        to have a worker. Of several processes of a host only the first has any."""
        fresh = {host, *(name.lower() for name in names)} - self._with_workers
        self._with_workers |= fresh
        files = (self._files_at.get(name, ()) for name in fresh)
        before = {file: self._chosen.get(file) for file in sorted(set().union(*files))}
        nodes = self._choose(before) if before else {}
        return {file: node for file, node in nodes.items() if node != before[file]}

    def _choose(self, files: Iterable[int]) -> dict[int, str]:
        known = set(self._of_workers.values())
        choices = {}
        for file in files:
            nodes = [self._named(node) for node in self._nodes[file]]
            near = [node for node in nodes if host_of(node) in known] or nodes
            if near:
                choices[file] = self._chosen[file] = self._fewest(near, self._chosen.get(file))
        return choices

    def _fewest(self, nodes: Sequence[str], before: str | None) -> str:
        """The one of these nodes with the fewest files, to which a file is moved from `before`."""
        if before is not None:
            self._files[before] -= 1
        node = min(nodes, key=lambda node: (self._files.get(node, 0), node != before))
        self._files[node] = self._files.get(node, 0) + 1
        return node

    def _named(self, node: str) -> str:
        """The node, with its host by the name that is used."""
        host = host_of(node) or ""
        self._of_files.add(host)
        scheme, _, rest = node.partition("://")
        partition = rest.rpartition("/")[2]
        return f"{scheme}://{self._of_workers.get(host, host)}/{partition}"


class PassMergers:
    """The processes that merge."""

    def __init__(self) -> None:
        self._there: dict[int, Participant] = {}
        self._commits: dict[int, int] = {}  # by merger, also after it is gone
        self._taken: dict[tuple[int, int], int] = {}  # the same by merger and worker
        self._next = 0

    def elect(self, host: str, processes: Iterable[Participant]) -> Participant | None:
        """Makes a process of this host a merger, if it has none; of any host if there is no merger
        at all. Those that leave do not count, nor do those that others could not reach, as long as
        there are others: else the same one would be elected, and lose what it has, for ever."""
        able = [each for each in processes if each.loaded and not each.leaving]
        least = min((each.unreached for each in able), default=0)
        able = [each for each in able if each.unreached == least]
        here = [each for each in able if each.host == host] or able
        if not here or any(each.merger is not None for each in here):
            return None
        process = here[0]
        process.merger, self._next = self._next, self._next + 1
        self._there[process.merger] = process
        return process

    def dismiss(self, merger: int) -> Participant | None:
        """Takes a merger out, whose process may continue as a worker. None if it is unknown."""
        process = self._there.pop(merger, None)
        if process is not None and process.merger == merger:
            process.merger = None
        return process

    def at(self, merger: int) -> Participant | None:
        """The process that is this merger."""
        return self._there.get(merger)

    def part(self, merger: int) -> HeldPartial:
        """Returns what the merger has. It must be there."""
        return HeldPartial(merger, self._there[merger].address, self.commits(merger))

    def commits(self, merger: int) -> int:
        """The partials of workers that the merger has."""
        return self._commits.get(merger, 0)

    def taken(self, merger: int, worker: int) -> int:
        """The partials of this worker that the merger has taken, as it has said."""
        return self._taken.get((merger, worker), 0)

    def committed(self, merger: int, worker: int) -> None:
        """Notes that the merger has one more partial of the worker."""
        self._commits[merger] = self._commits.get(merger, 0) + 1
        self._taken[merger, worker] = self.taken(merger, worker) + 1

    def handed_on(self, merger: int, to: int) -> None:
        """Notes that the partials of a merger are another one's."""
        self._commits[to] = self._commits.get(to, 0) + self._commits.pop(merger, 0)

    def told(
        self, work: str, action: Refuse | RefuseFrom | HandOn | Dismiss
    ) -> tuple[str, object] | None:
        """The message by which a merger of the pass `work` is told this, and its address. None if
        its process is lost, as the packetizer will hear."""
        to = self._there.get(action.to if isinstance(action, HandOn) else action.merger)
        if to is None:
            return None
        if isinstance(action, Refuse):
            return to.address, Recall(work, action.merger, action.worker)
        if isinstance(action, RefuseFrom):
            return to.address, RecallFrom(work, action.merger, action.giver)
        if isinstance(action, HandOn):
            part = self.part(action.merger)
            about = (part.merger, part.address, part.commits)
            return to.address, Fetch(work, action.to, *about)
        self.dismiss(action.merger)
        return to.address, Drop(work, action.merger)


# The workers and mergers of lost processes, until the packetizer is told of them. That waits for
# another worker: the packetizer ends a pass that has none.

_IN_A_ROW = 5
"""Processes that may be lost before one of their workers has done a packet."""


class LostWorkers:
    """Lost workers and mergers that the packetizer does not know of yet."""

    def __init__(self, packetizer: Packetizer) -> None:
        """`packetizer`: is asked what workers are at."""
        self._packetizer = packetizer
        self._untold: list[WorkerLost | MergerLost] = []
        self._held: dict[int, object] = {}  # by worker: what may be to blame
        self._in_a_row = 0

    def process_lost(self, fault: bool) -> bool:
        """Counts a lost process. Returns True if too many were lost in a row."""
        self._in_a_row += fault
        return self._in_a_row >= _IN_A_ROW

    def error(
        self, title: str, address: str, reason: str, in_hand: Sequence[Span]
    ) -> WorkerGone | WorkerError:
        """That of a query if too many were lost, and the last one had this in hand."""
        at_work = [span for span in in_hand if span != LOADING]
        if at_work:
            gone = WorkerGone(reason)
            gone.span = at_work[0]
            return gone
        words = (
            f"{_IN_A_ROW} of Dask's workers in a row were lost before they had done anything of it"
        )
        return given_up(title, f"{words}: {reason}", died=True, worker=address)

    def work_was_done(self) -> None:
        """Notes that a worker has done a packet."""
        self._in_a_row = 0

    def add_worker(self, number: int, reason: str, fault: bool) -> None:
        """Notes that a worker is lost. `fault`: whether its packet may be to blame."""
        busy = self._packetizer.busy_with(number)
        if busy not in self._held.values():  # a packet that two workers had counts once
            self._held[number] = busy
        self._untold.append(WorkerLost(number, reason, fault))

    def add_merger(self, number: int) -> None:
        """Notes that a merger is lost."""
        self._untold.append(MergerLost(number))

    @property
    def reason(self) -> str | None:
        """Why the last worker was lost, if the packetizer was not told of it."""
        reasons = [each.reason for each in self._untold if isinstance(each, WorkerLost)]
        return reasons[-1] if reasons else None

    @property
    def must_wait(self) -> bool:
        """True if workers are lost, and there is no other one to do what they had."""
        if self._packetizer.is_ending:
            return False
        gone = {each.worker for each in self._untold if isinstance(each, WorkerLost)}
        return bool(self._untold) and not self._packetizer.workers - gone

    def told(self) -> Iterator[WorkerLost | MergerLost]:
        """Returns all lost workers and mergers, for the packetizer to handle one by one. Mergers
        come first, so that the remaining workers get what these had."""
        untold, self._untold = self._untold, []
        for event in sorted(untold, key=lambda each: isinstance(each, WorkerLost)):
            if isinstance(event, WorkerLost):
                busy = self._packetizer.busy_with(event.worker)
                if busy != self._held.get(event.worker):  # it got that after its process was lost
                    event = replaced(event, fault=False)
            yield event
        self._held.clear()


@dataclass(slots=True)
class TurnNews:
    """What has become of the turns of a pass; see Turns."""

    resting: list[tuple[str, int]] = field(default_factory=list)
    """Workers that have no turn, and their processes. They have joined, or their turn is over."""
    started: list[int] = field(default_factory=list)
    """Workers that have had a turn already, and can work from now on."""
    gone: list[int] = field(default_factory=list)
    """Workers that are there no more."""
    done: list[Span] = field(default_factory=list)
    """What workers have done, if the pass is suspected of something."""


class PassTurns:
    """Which workers of a pass have a turn and are not started yet, or will rest; and the news of
    that."""

    def __init__(self) -> None:
        self.awaited: set[int] = set()
        """Workers that have a turn, and are not started yet."""
        self.withdrawn: set[int] = set()
        """Workers that will rest."""
        self.news = TurnNews()
        """Since it was taken last."""

    def take_news(self) -> TurnNews:
        """What has become of turns since the last time."""
        news, self.news = self.news, TurnNews()
        return news

    def rest(self, process: Participant, worker: int) -> None:
        """A worker has no turn."""
        process.resting.add(worker)
        self.news.resting.append((process.address, worker))

    def started(self, worker: int) -> bool:
        """A worker is started. True if it has a turn."""
        has_turn = worker in self.awaited
        if has_turn:
            self.awaited.remove(worker)
            self.news.started.append(worker)
        return has_turn

    def note_rests(self, of: Mapping[int, Participant], packetizer: Packetizer) -> None:
        """Notes which turns are over. `of`: the process of each worker."""
        over = {each for each in self.withdrawn if packetizer.needs_no_thread(each)}
        for worker in over:
            self.withdrawn.remove(worker)
            if of[worker].leaving:
                self.news.gone.append(worker)
            else:
                self.rest(of[worker], worker)

    def lose(self, workers: Sequence[int]) -> None:
        """Workers are there no more."""
        self.news.gone += workers
        self.withdrawn.difference_update(workers)
        self.awaited.difference_update(workers)

    def note_done(self, event: Event, packetizer: Packetizer) -> None:
        """Notes what a worker has done, for Blame. To be called before the packetizer hears it."""
        if isinstance(event, FileOpened):
            self.news.done.append((event.file, 0, None))
        elif isinstance(event, PacketDone):
            spans = packetizer.in_hand(event.worker)
            self.news.done += [(spans[0][0], spans[0][1], event.stop)] if spans else []
        elif isinstance(event, FilesDone):
            files = packetizer.in_hand(event.worker)
            for (file, _, _), entries in zip(files, event.entries, strict=False):
                self.news.done += [(file, 0, None), (file, 0, entries)]
