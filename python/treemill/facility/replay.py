"""What a query that left a trace would take with other numbers of workers: the trace's rates, sizes
and delays in the simulation, which the packetizer of the sessions leads.

It supposes that the storage serves more workers as fast as it has served these, unless it is told
how many MB/s the storage gives in all. No clock, no file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from statistics import mean

from ..monitoring.recorded import Recorded, Row
from ..monitoring.summary import TraceSummary, WorkerSummary, summary
from ..scheduling import FileSize, Packetizer, Policy, Timeline, WorkerLost
from .simulation.cluster import Machine, SimulatedFile, SimulatedNode
from .simulation.engine import Engine
from .simulation.one_master import OneMaster
from .simulation.scenario import Faults, Files, Generation, MasterCosts, Scenario

__all__ = ["Replayed", "replay"]

_PLENTY = 1e12
"""MB/s of storage that is no limit."""


@dataclass(frozen=True)
class Replayed:
    """What the simulation says for one number of workers."""

    workers: int
    seconds: float
    entries: int
    timeline: Timeline


class _Cluster:
    """What the trace says of machines and files, as the simulation's cluster."""

    def __init__(self, measured: TraceSummary, workers: int, storage: float | None) -> None:
        self.nodes = [SimulatedNode("", _PLENTY if storage is None else storage, _PLENTY, 0.0)]
        rates = _rates(measured, storage is not None)
        self.machines = [Machine(0, rates[at % len(rates)]) for at in range(workers)]
        self.files = [
            SimulatedFile(0, each.entries, tuple(_cuts(each.entries, each.pieces)))
            for each in measured.recorded.about.files
        ]

    @property
    def events(self) -> int:
        return sum(file.events for file in self.files)


class _Master(OneMaster):
    """One master, whose workers join and are lost when those of the trace were."""

    def __init__(
        self, engine: Engine, strategy: Packetizer, summaries: Sequence[WorkerSummary], workers: int
    ) -> None:
        super().__init__(engine, "treemill", strategy, None)
        self._workers = [summaries[at % len(summaries)] for at in range(workers)]
        self._same = workers == len(summaries)

    def begin(self) -> None:
        """See Masters."""
        engine = self._engine
        for _ in range(engine.scenario.mergers):
            engine.join_merger()
        order = sorted(range(len(self._workers)), key=lambda at: self._workers[at].joined)
        for at in order:
            engine.at(self._workers[at].joined, partial(engine.join, at))
        if self._same:
            for number, at in enumerate(order):
                if self._workers[at].lost:
                    engine.at(self._workers[at].left, partial(self._lose, number))

    def _lose(self, number: int) -> None:
        self._engine.end(self._engine.workers[number])
        self._engine.tell(WorkerLost(number))


def replay(recorded: Recorded, workers: int | None, storage: float | None = None) -> Replayed:
    """Runs the trace's query again with this many workers; None: with its own. `storage`: MB/s that
    the storage gives to all workers together. Raises ValueError for a trace without packets."""
    measured = summary(recorded)
    about = recorded.about
    summaries = [each for each in measured.workers if each.packets or not each.lost]
    if not (measured.packets and about.files and about.sizing):
        raise ValueError("the trace has no packets, or lacks data that a replay needs")
    number = len(summaries) if workers is None else workers
    scenario = _scenario(measured, number, storage)
    cluster = _Cluster(measured, number, storage)
    engine = Engine(scenario, cluster)  # type: ignore[arg-type]
    known = about.known
    packetizer = Packetizer(
        [FileSize(each.events, each.cuts) if known else None for each in cluster.files],
        Policy(
            commit_seconds=about.commit_seconds,
            collect_seconds=float("inf"),
            expected_workers=number,
            speculate=number > 1,
        ),
        sizing=about.sizing,
    )
    master = _Master(engine, packetizer, summaries, number)
    engine.masters = master
    engine.run()
    timeline = engine.timeline.timeline()
    return Replayed(number, timeline.seconds + measured.collecting, master.entries, timeline)


def _scenario(measured: TraceSummary, workers: int, storage: float | None) -> Scenario:
    rows = measured.recorded.last_phase.rows
    events = max(sum(row.entries for row in measured.packets), 1)
    assigned = sum(row.event == "file assigned" for row in rows)
    master = _master(measured)
    # The seconds of orders to open files have the ways of two messages in them.
    ways = sum(row.event == "file opened" for row in rows) * 2 * master.latency
    files = max(len(measured.recorded.about.files), 1)
    return Scenario(
        name="replay",
        title="replay",
        generations=(Generation("", 1, workers, 1.0, 1.0, 1.0),),
        files=Files(files, max(events // files, 1), measured.bytes_read / events / 1000.0, 1),
        master=master,
        faults=Faults(noise=0.0),
        overlap=storage is None,
        seek=0.0,
        open_seconds=max(measured.stages["open"] - ways, 0.0) / max(assigned, 1),
        mergers=sum(row.event == "merger joined" for row in rows),
    )


def _master(measured: TraceSummary) -> MasterCosts:
    commits = [row.seconds for row in measured.recorded.last_phase.rows if row.event == "commit"]
    commit = mean(commits) if commits else 0.0
    latency = mean(row.latency for row in measured.packets)
    request = min(MasterCosts().request, latency / 2)
    return MasterCosts(request, max(commit - latency, 0.0), max(latency - request, 0.0) / 2)


def _rates(measured: TraceSummary, without_reading: bool) -> list[float]:
    """The entries per second of each worker, without opening files; of those that have done too
    little for that, the mean."""
    own: dict[int, list[Row]] = {}
    for row in measured.packets:
        own.setdefault(row.worker, []).append(row)

    def rate(rows: Sequence[Row]) -> float:
        seconds = sum(row.seconds - row.opening for row in rows)
        if without_reading:
            seconds -= sum(row.reading + row.waited for row in rows)
        return sum(row.entries for row in rows) / max(seconds, 1e-9)

    every = rate(measured.packets)
    summaries = [each for each in measured.workers if each.packets or not each.lost]
    return [rate(own[each.worker]) if each.worker in own else every for each in summaries]


def _cuts(entries: int, pieces: int) -> list[int]:
    return [entries * at // pieces for at in range(1, pieces)]
