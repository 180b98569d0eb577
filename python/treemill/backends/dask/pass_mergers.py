"""The mergers of a pass: which processes they are, and how many partials each has, as it is known
on the scheduler. Which of them gets which partial is for the packetizer to decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ...scheduling import Dismiss, HandOn, Refuse, RefuseFrom, host_of, node_of
from ..base import KnownCounters
from .messages import Drop, Fetch, HeldPartial, Recall, RecallFrom

__all__ = ["HostNames", "Participant", "PassMergers"]

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
        self._sent: dict[tuple[int, int], int] = {}  # the same by merger and worker
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

    def committed(self, merger: int, worker: int) -> None:
        """Notes that the merger has one more partial of the worker."""
        self._commits[merger] = self._commits.get(merger, 0) + 1
        self._sent[merger, worker] = self._sent.get((merger, worker), 0) + 1

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
            taken = self._sent.get((action.merger, action.worker), 0)
            return to.address, Recall(work, action.merger, action.worker, taken)
        if isinstance(action, RefuseFrom):
            return to.address, RecallFrom(work, action.merger, action.giver)
        if isinstance(action, HandOn):
            part = self.part(action.merger)
            about = (part.merger, part.address, part.commits)
            return to.address, Fetch(work, action.to, *about)
        self.dismiss(action.merger)
        return to.address, Drop(work, action.merger)
