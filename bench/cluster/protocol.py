"""What treemill's protocol costs: from the end of a packet to the next, from `connect` to the first
packet, packets per second with more and more workers. Needs a probe in the workers.
"""

import dataclasses
import functools
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import treemill as tm

from ..measured import Row
from . import probe

_THERE = 0.5
"""Milliseconds; a call takes longer."""
_CLUSTER = 200
"""Entries of a packet where many are wanted."""


@contextmanager
def cluster(workers: int) -> Iterator[Any]:
    """Dask worker processes of one thread each, on this machine, and a client."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as made,
        Client(made) as client,  # the default one: distributed RDataFrame asks for that
    ):
        client.wait_for_workers(workers)
        yield client


def many_packets(folder: Path, events: int) -> str:
    """A file of small clusters."""
    from treemill.bench.generate import write

    path = folder / f"clusters-{events}.root"
    if not path.exists():
        write(path, events=events, index=0, cluster=_CLUSTER, codec="zstd")
    return str(path)


@contextmanager
def _tiny_packets() -> Iterator[None]:
    from treemill.backend.dask.pool import DaskPool

    usual = DaskPool.sizing
    least = 1e-6  # a packet is a cluster at least
    DaskPool.sizing = dataclasses.replace(
        usual, first=_CLUSTER, shortest=least, longest=least, ask=0.0
    )
    try:
        yield
    finally:
        DaskPool.sizing = usual


@dataclasses.dataclass
class _Noted:
    """What the workers have noted, by round."""

    median: list[float] = dataclasses.field(default_factory=list)
    worst: list[float] = dataclasses.field(default_factory=list)

    def take(self, client: Any, noted: Any) -> list[float]:
        """Reads one list of the probes."""
        values = sorted(1e3 * each for told in client.run(noted).values() for each in told)
        if values:
            self.median.append(statistics.median(values))
            self.worst.append(values[int(0.99 * (len(values) - 1))])
        return values

    def rows(self, what: str, goals: bool) -> list[Row]:
        """As the table has them."""
        below = (1.0, 5.0) if goals else (None, None)
        return [
            Row(f"{what}, median", tuple(self.median), "ms", below=below[0]),
            Row(f"{what}, 99th percentile", tuple(self.worst), "ms", below=below[1]),
        ]


def latency(client: Any, tiny: str, usual: Sequence[str], rounds: int) -> Iterator[Row]:
    """How long workers wait for packets, and how long calls take: with packets of the usual length,
    and with packets as tiny as they may be, where calls come as often as they can."""
    workers = len(client.run(probe.install))
    with tm.connect(client) as session:
        events = tm.dataset(list(usual), "Events")
        jets = events.define("good", "Jet_pt[(Jet_pt > 30) & (abs(Jet_eta) < 2.4)]")
        book = functools.partial(jets.hist, "good", bins=(128, 0, 256))
        yield from _latency(client, session, book, rounds, workers)
    with _tiny_packets(), tm.connect(client) as session:
        events = tm.dataset([tiny] * 4, "Events")
        book = functools.partial(events.hist, "MET_pt", bins=(10, 0, 100))
        yield from _latency(client, session, book, rounds, workers)


def _latency(client: Any, session: Any, book: Any, rounds: int, workers: int) -> Iterator[Row]:
    waits, calls, lengths, lost, there = _Noted(), _Noted(), _Noted(), [], []
    for counted in range(-1, rounds):
        client.run(probe.install)
        session.run(book(), progress=False)  # a booking is computed once
        if counted >= 0:
            each = waits.take(client, probe.waits)
            waited = sum(each)
            there.append(100 * sum(wait < _THERE for wait in each) / max(len(each), 1))
            calls.take(client, probe.calls)
            lost.append(100 * waited / (waited + sum(lengths.take(client, probe.lengths))))
    if not waits.median:
        return  # with little data no worker had a second packet
    length = f"{workers} workers, packets of {statistics.median(lengths.median):.2g} ms"
    yield from waits.rows(f"{length}: waiting for the next one", goals=True)
    yield from calls.rows(f"{length}: a call to the scheduler", goals=False)
    yield Row(f"{length}: packets that were there already", tuple(there), "%")
    yield Row(f"{length}: waiting, of the workers' time", tuple(lost), "%")


def connecting(address: str, path: str, rounds: int) -> list[Row]:
    """A new client each time; the cluster knows treemill already but for the first time."""
    from distributed import Client

    taken = []
    with Client(address, set_as_default=False) as client:
        for _ in range(rounds + 1):
            client.run(probe.install)
            began = time.time()
            with tm.connect(address) as session:
                session.run(tm.dataset(path, "Events").count(), progress=False)
            firsts = [at for at in client.run(probe.first).values() if at is not None]
            taken.append(min(firsts) - began)
    return [
        Row("from connect to the first packet, the cluster's first session", (taken[0],), "s"),
        Row("from connect to the first packet", tuple(taken[1:]), "s", below=1.0),
    ]


def throughput(sizes: Sequence[int], path: str, rounds: int) -> list[Row]:
    """Tiny packets on more and more worker processes of this machine."""
    rows: list[Row] = []
    for size in sizes:
        found = []
        with cluster(size) as client, _tiny_packets(), tm.connect(client) as session:
            events = tm.dataset([path] * 4, "Events")
            for counted in range(-1, rounds):
                client.run(probe.install)
                began = time.perf_counter()
                session.run(events.hist("MET_pt", bins=(10, 0, 100)), progress=False)
                seconds = time.perf_counter() - began
                if counted >= 0:
                    packets = sum(map(len, client.run(probe.waits).values()))
                    found.append(packets / seconds)
        rows.append(Row(f"packets per second, {size} worker processes", tuple(found), "/s"))
    if len(rows) > 1:
        ratio = statistics.median(rows[-1].values) / statistics.median(rows[0].values)
        what = f"packets per second of {sizes[-1]} against {sizes[0]} worker processes"
        rows.append(Row(what, (ratio,), "x", above=1.0))
    return rows
