"""Scenario files: a cluster, a dataset and what goes wrong, as TOML. Units: seconds, MB, events."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

__all__ = ["Faults", "Files", "Generation", "Master", "Scenario", "load", "shipped"]

_HERE = Path(__file__).parent / "scenarios"


@dataclass(frozen=True)
class Generation:
    """Nodes that were bought together."""

    name: str
    nodes: int
    workers: int
    """Workers of each node."""
    rate: float
    """Events per second that a worker computes when nothing else holds it up."""
    disk: float
    """MB/s of the node's disk, read by one reader from begin to end."""
    link: float
    """MB/s of the node's network link, each way."""
    files: bool = True
    """Whether these nodes hold files."""


@dataclass(frozen=True)
class Files:
    """The dataset. It grows with the cluster: each node has the same number of files."""

    per_node: int
    events: int
    """Of each file."""
    event_kb: float
    """What a query reads of an event."""
    cluster: int
    """Events between two places where a file may be cut."""
    spread: float = 0.0
    """Files differ: their events are drawn from `events * (1 ± spread)`."""
    known: bool = False
    """Whether sizes are known before the query starts."""


@dataclass(frozen=True)
class Master:
    """What asking costs: the master does one thing at a time."""

    request: float = 50e-6
    """To answer a request for a packet."""
    commit: float = 200e-6
    """To merge a worker's partial."""
    latency: float = 0.2e-3
    """Of a message, one way."""


@dataclass(frozen=True)
class Faults:
    """What is not as it should be."""

    noise: float = 0.1
    """Packets take a time that varies by this fraction (log-normal)."""
    slow_nodes: float = 0.0
    """Part of the nodes that somebody else uses too, all through the query …"""
    slowdown: float = 2.0
    """… which makes them slower by this factor."""
    deaths: int = 0
    """Workers that die, evenly spread over the time `deaths_until`; each comes back as a new one
    after `rejoin` seconds."""
    deaths_until: float = 60.0
    rejoin: float = 5.0
    merger_deaths: int = 0
    """Mergers that die, likewise: evenly spread over the time `deaths_until`."""


@dataclass(frozen=True)
class Scenario:
    """All of it. `sweep` is the numbers of nodes for which it is run."""

    name: str
    title: str
    generations: tuple[Generation, ...]
    files: Files
    master: Master = field(default_factory=Master)
    faults: Faults = field(default_factory=Faults)
    overlap: bool = True
    """Whether a worker reads ahead while it computes."""
    seek: float = 0.1
    """Of its throughput a disk loses this fraction to seeks with each further reader: n readers
    share `disk / (1 + seek * (n - 1))`, from 16 on no less."""
    open_seconds: float = 0.05
    """To open a file."""
    shortest: float = 3.0
    """Seconds of the shortest packet, but near the end."""
    commit_seconds: float = 5.0
    mergers: int = 0
    """Mergers, each of which merges one partial after another; the master merges what they hand
    over. None: the master merges all partials itself."""
    collect_seconds: float = 5.0
    """After which a merger hands over what it has."""
    max_foreign: int | None = None
    """Readers from other hosts that a node admits."""
    seed: int = 1
    sweep: tuple[int, ...] = ()

    @property
    def nodes(self) -> int:
        """Nodes of the whole cluster."""
        return sum(g.nodes for g in self.generations)

    def at(self, nodes: int) -> Scenario:
        """The same with fewer or more nodes, the generations in the same proportion."""
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
    """A shipped scenario by its name, or a file. Raises ValueError for what is not understood."""
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
        for key, kind in (("files", Files), ("master", Master), ("faults", Faults))
    }
    sweep = tuple(values.pop("sweep", ()))
    made: Scenario = _made(
        Scenario, {"name": name, "generations": generations, "sweep": sweep, **parts, **values}
    )
    return made


def _made(kind: Any, values: Mapping[str, Any]) -> Any:
    unknown = set(values) - {f.name for f in fields(kind)}
    if unknown:
        raise KeyError(f"{kind.__name__.lower()} has no {', '.join(sorted(unknown))}")
    return kind(**values)
