"""Scenarios: a cluster, a dataset and faults, from TOML files. Units: seconds, MB, events. Knows no
packetizer.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from ...scheduling import Packet

__all__ = [
    "Connection",
    "Distance",
    "Faults",
    "Files",
    "Generation",
    "MasterCosts",
    "Scenario",
    "load",
    "shipped",
]

# What a worker waits for if all files are far away: opening takes round trips, bytes come a round
# trip after they were asked for, and its connection carries a number of them per second. Knows
# packets; knows no packetizer and no event queue.


@dataclass(frozen=True)
class Distance:
    """The way to the files, for each worker."""

    round_trip: float
    """Seconds."""
    stream: float
    """MB/s that a worker's connection carries."""
    open_rounds: int = 4
    """Round trips that opening a file takes."""
    depth: float = 2.0
    """What should be on its way, as a multiple of what the connection carries in a round trip."""

    def ahead(self, mb: float) -> int:
        """The events ahead that are worth asking for, if an event has this many MB."""
        return int(self.depth * self.round_trip * self.stream / mb)


@dataclass(eq=False, slots=True)
class _Request:
    first: float  # when its first byte comes
    last: float


class Connection:
    """One worker's connection. The answers come in the order of the requests, one after another."""

    def __init__(self, distance: Distance, mb: float, varied: Callable[[float], float]) -> None:
        """`mb`: of an event. `varied` makes times vary."""
        self._distance = distance
        self._mb = mb
        self._varied = varied
        self._free = 0.0  # when all that was asked for has come
        self._open: dict[int, float] = {}  # files: from when on
        self._asked: dict[int, _Request] = {}  # by packet

    def open(self, file: int, now: float) -> float:
        """Opens a file, unless that has happened. Returns when it is open."""
        if file not in self._open:
            rounds = self._distance.open_rounds * self._distance.round_trip
            self._open[file] = now + self._varied(rounds)
        return max(self._open[file], now)

    def ask(self, packet: Packet, now: float) -> None:
        """Asks for a packet's bytes, as soon as its file is open."""
        if packet.number in self._asked:
            return
        sent = self.open(packet.file, now)
        first = max(sent + self._distance.round_trip, self._free)
        size = (packet.stop - packet.start) * self._mb
        self._free = first + self._varied(size / self._distance.stream)
        self._asked[packet.number] = _Request(first, self._free)

    def forget(self, packet: Packet, now: float) -> None:
        """Gives up a packet's bytes. What the server has sent before it hears of that still
        comes."""
        request = self._asked.pop(packet.number, None)
        if request is not None and request.last == self._free:
            heard = now + self._distance.round_trip
            self._free = min(request.last, max(request.first, heard))

    def process(self, packet: Packet, now: float, compute: float) -> float:
        """Returns when a packet ends that begins now and needs this much CPU time: it computes on
        bytes as they come."""
        self.ask(packet, now)
        request = self._asked.pop(packet.number)
        return max(request.last, max(now, request.first) + compute)


_T = TypeVar("_T")

_HERE = Path(__file__).parent / "scenarios"


@dataclass(frozen=True)
class Generation:
    """Nodes of one kind, which were bought together."""

    name: str
    nodes: int
    workers: int
    """Workers on each node."""
    rate: float
    """Events per second that a worker computes if it does not wait."""
    disk: float
    """MB/s of the node's disk with one reader."""
    link: float
    """MB/s of the node's network link, each way."""
    files: bool = True
    """Whether these nodes hold files."""
    fixed: float = 0.0
    """Seconds that each packet takes a worker whatever its events."""


@dataclass(frozen=True)
class Files:
    """The dataset. It grows with the cluster: each node has the same number of files."""

    per_node: int
    events: int
    """Events of each file, on average."""
    event_kb: float
    """Kilobytes that a query reads for each event."""
    cluster: int
    """Events of a cluster; packets end between clusters."""
    spread: float = 0.0
    """The numbers of events of files vary within `events * (1 ± spread)`."""
    known: bool = False
    """Whether sizes are known before the query starts."""


@dataclass(frozen=True)
class MasterCosts:
    """The costs of the master, which does one thing at a time."""

    request: float = 50e-6
    """Seconds to answer a request for a packet."""
    commit: float = 200e-6
    """Seconds to merge a worker's partial."""
    latency: float = 0.2e-3
    """Seconds that a message takes, one way."""
    fetch: float = 10e-3
    """Seconds to fetch what a merger has, and to merge it: at the client, or at another merger."""


@dataclass(frozen=True)
class Faults:
    """The faults of a cluster."""

    noise: float = 0.1
    """The times of packets vary by this fraction (log-normal)."""
    slow_nodes: float = 0.0
    """The fraction of nodes that other users share."""
    slowdown: float = 2.0
    """The factor by which these nodes are slower."""
    slow_from: float = 0.0
    """Seconds from which on they are, to the end of the query."""
    deaths: int = 0
    """The number of workers that die, evenly spread over the time
    `deaths_until`. Each is replaced by a new one after `rejoin` seconds."""
    deaths_until: float = 60.0
    rejoin: float = 5.0
    merger_deaths: int = 0
    """The number of mergers that die, evenly spread over the time `deaths_until`."""


@dataclass(frozen=True)
class Scenario:
    """A cluster, a dataset and faults. `sweep`: the numbers of nodes with which it is run."""

    name: str
    title: str
    generations: tuple[Generation, ...]
    files: Files
    master: MasterCosts = field(default_factory=MasterCosts)
    faults: Faults = field(default_factory=Faults)
    distance: Distance | None = None
    """The way to the files, if all of them are far from all workers: then the workers' connections
    are the limit, not disks and links."""
    overlap: bool = True
    """Whether a worker reads ahead while it computes."""
    seek: float = 0.1
    """The fraction of its throughput that a disk loses to seeks with each further reader: n readers
    share `disk / (1 + seek * (n - 1))`; more than 16 readers share no less."""
    open_seconds: float = 0.05
    """Seconds to open a file."""
    shortest: float = 3.0
    """Seconds of the shortest packet, except near the end."""
    longest: float = 20.0
    """Seconds of the longest packet, but for what is fixed in it."""
    ahead: float = 0.0
    """Seconds of packets that a worker of one thread begins without asking; 0: it asks for each."""
    commit_seconds: float = 5.0
    mergers: int = 0
    """The number of mergers, each of which merges one partial after another; the master merges the
    partials that they hand over. 0: the master merges all partials itself."""
    collect_seconds: float = 5.0
    """Seconds after which a merger hands over its partial."""
    roots: int | None = None
    """If given, each node has a merger, and a client fetches what they have, one after another,
    once workers have nothing left. If more mergers than this hold something then, they join
    before. 0: they do not join."""
    width: int = 1
    """The threads of a worker: a process that gets packets for all of its threads, which share each
    of them, and that reports and commits once for all."""
    max_foreign: int | None = None
    """The greatest number of readers from other hosts on one node."""
    seed: int = 1
    sweep: tuple[int, ...] = ()

    @property
    def nodes(self) -> int:
        """The number of nodes of the whole cluster."""
        return sum(g.nodes for g in self.generations)

    @property
    def workers(self) -> int:
        """The number of workers of the whole cluster."""
        return sum(g.nodes * g.workers for g in self.generations)

    def at(self, nodes: int) -> Scenario:
        """Returns this scenario with another number of nodes, in the same proportion of
        generations."""
        whole = self.nodes
        edges, seen = [0], 0
        for generation in self.generations:
            seen += generation.nodes
            edges.append(round(seen * nodes / whole))
        parts = zip(self.generations, edges, edges[1:], strict=False)
        return replace(
            self, generations=tuple(replace(g, nodes=b - a) for g, a, b in parts), sweep=()
        )


def shipped() -> list[str]:
    """Names of the scenarios that come with treemill."""
    return sorted(path.stem for path in _HERE.glob("*.toml"))


def load(name: str | Path) -> Scenario:
    """Loads a shipped scenario by its name, or a file. Raises ValueError for a file that is
    wrong."""
    path = Path(name)
    if path.suffix != ".toml":
        path = _HERE / f"{name}.toml"
        if not path.exists():
            raise ValueError(f"no scenario {str(name)!r}; there are {', '.join(shipped())}")
    with path.open("rb") as file:
        text = tomllib.load(file)
    try:
        return _scenario(path.stem, text)
    except (TypeError, KeyError) as error:
        raise ValueError(f"{path}: {error}") from error


def _scenario(name: str, text: Mapping[str, Any]) -> Scenario:
    values = dict(text)
    generations = tuple(_made(Generation, each) for each in values.pop("generations"))
    parts = {
        key: _made(kind, values.pop(key, {}))
        for key, kind in (("files", Files), ("master", MasterCosts), ("faults", Faults))
    }
    if "distance" in values:
        values["distance"] = _made(Distance, values["distance"])
    sweep = tuple(values.pop("sweep", ()))
    return _made(
        Scenario, {"name": name, "generations": generations, "sweep": sweep, **parts, **values}
    )


def _made(kind: type[_T], values: Mapping[str, Any]) -> _T:
    unknown = set(values) - {f.name for f in fields(kind)}  # type: ignore[arg-type]  # a data class
    if unknown:
        raise KeyError(f"{kind.__name__.lower()} has no {', '.join(sorted(unknown))}")
    return kind(**values)
