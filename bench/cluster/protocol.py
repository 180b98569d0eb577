"""What treemill's protocol costs: from the end of a packet to the next, from `connect` to the first
packet, packets per second with more and more workers. Needs a probe in the workers.
"""

import dataclasses
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import treemill as tm

from ..measured import Row
from . import probe
from .watching import Runnable

_THERE = 0.5
"""Milliseconds; a call takes longer."""
_CLUSTER = 200
"""Entries of a packet where many are wanted."""
_SHORT = 5e-3
"""Seconds of a short packet: two hundred times less than usual."""
_SLEEP = 2.5e-5
"""Seconds for which a worker that computes nothing sleeps for each entry."""
_NAP = 25e-3
"""Seconds of a packet that needs no core."""
_COPIES = 4
_LONG = 12
"""Copies of the usual files: the first packets of a worker, and the last ones, cannot be ahead."""
_IDLE = 3.0
"""Seconds for which idle workers are looked at."""
QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.worker.memory.monitor-interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
}
"""Dask's own watching of its workers, turned down: it looks at each of them 150 times a second, and
each process and its nanny look at the machine twice a second."""


@contextmanager
def cluster(workers: int, settings: Mapping[str, object] = MappingProxyType({})) -> Iterator[Any]:
    """Dask worker processes of one thread each, on this machine, and a client. `settings`:
    Dask's."""
    import dask
    from distributed import Client, LocalCluster

    with (
        dask.config.set(dict(settings)),
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as made,
        Client(made) as client,  # the default one: distributed RDataFrame asks for that
    ):
        client.wait_for_workers(workers)
        yield client


def many_packets(folder: Path, events: int) -> str:
    """A file of small clusters."""
    from treemill.facility.generate import write

    path = folder / f"clusters-{events}.root"
    if not path.exists():
        write(path, events=events, index=0, cluster=_CLUSTER, codec="zstd")
    return str(path)


@contextmanager
def _packets(seconds: float) -> Iterator[None]:
    """Makes packets as long as that, or of one cluster if that is longer."""
    from treemill.backends.dask.pool import DaskPool

    usual = DaskPool.sizing
    DaskPool.sizing = dataclasses.replace(
        usual, first=_CLUSTER, shortest=seconds, longest=seconds, ask=0.0
    )
    try:
        yield
    finally:
        DaskPool.sizing = usual


def _tiny_packets() -> AbstractContextManager[None]:
    return _packets(1e-6)


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
        if not self.median:
            return []  # there was none
        below = (1.0, 5.0) if goals else (None, None)
        return [
            Row(f"{what}, median", tuple(self.median), "ms", below=below[0]),
            Row(f"{what}, 99th percentile", tuple(self.worst), "ms", below=below[1]),
        ]


def latency(client: Any, tiny: str, usual: Sequence[str], rounds: int) -> Iterator[Row]:
    """How long workers wait for packets: of the usual length; of some milliseconds, with workers
    that compute and with workers that only sleep; and of a cluster, shorter than any message."""
    workers = len(client.run(probe.install))
    good = "Jet_pt[(Jet_pt > 30) & (abs(Jet_eta) < 2.4)]"
    many = tm.dataset(list(usual) * _LONG, "Events").define("good", good)
    jets = tm.dataset(list(usual) * _COPIES, "Events").define("good", good)
    small = tm.dataset([tiny] * _COPIES, "Events")
    asked: dict[str, tuple[AbstractContextManager[None], Callable[[Any], object], bool]] = {
        "usual packets": (
            nullcontext(),
            lambda session: session.run(many.hist("good", bins=(128, 0, 256)), progress=False),
            True,
        ),
        "short packets": (
            _packets(_SHORT),
            lambda session: session.run(jets.hist("good", bins=(128, 0, 256)), progress=False),
            True,
        ),
        "packets of a selector that sleeps": (
            _packets(_SHORT),
            lambda session: session.run(_sleep, small, progress=False),
            True,
        ),
        "packets of one cluster": (
            _tiny_packets(),
            lambda session: session.run(small.hist("MET_pt", bins=(10, 0, 100)), progress=False),
            False,
        ),
    }
    for what, (sized, run, goals) in asked.items():
        with sized, tm.connect(client) as session:
            title = f"{workers} workers, {what}"
            yield from _latency(client, partial(run, session), rounds, title, goals)


def _sleep(chunk: Any) -> dict[str, int]:
    time.sleep(len(chunk) * _SLEEP)
    return {"n": len(chunk)}


def _latency(
    client: Any, run: Callable[[], object], rounds: int, what: str, goals: bool
) -> Iterator[Row]:
    waits, commits, calls, lengths = _Noted(), _Noted(), _Noted(), _Noted()
    shares = _Shares()
    for counted in range(-1, rounds):
        client.run(probe.install)
        before, began = client.run_on_scheduler(time.process_time), time.perf_counter()
        with Runnable() as runnable:
            run()
        seconds = time.perf_counter() - began
        busy = client.run_on_scheduler(time.process_time) - before
        if counted >= 0:
            each, long = waits.take(client, probe.waits), lengths.take(client, probe.lengths)
            commits.take(client, probe.commits)
            told = calls.take(client, probe.calls)
            there = sum(wait < _THERE for wait in each)
            shares.there.append(100 * there / max(len(each), 1))
            shares.lost.append(100 * sum(each) / max(sum(each) + sum(long), 1e-9))
            shares.calls.append(len(told) / max(len(long), 1))
            shares.scheduler.append(100 * busy / seconds)
            shares.runnable.append(runnable.mean)
    if not waits.median:
        return  # with little data no worker had a second packet
    length = f"{what} of {statistics.median(lengths.median):.2g} ms"
    yield from waits.rows(f"{length}: waiting for the next one", goals)
    yield from commits.rows(f"{length}: the same with a commit between", False)
    yield from calls.rows(f"{length}: a call to the scheduler", False)
    yield from shares.rows(length)


@dataclasses.dataclass
class _Shares:
    """What else is told of each round."""

    there: list[float] = dataclasses.field(default_factory=list)
    lost: list[float] = dataclasses.field(default_factory=list)
    calls: list[float] = dataclasses.field(default_factory=list)
    scheduler: list[float] = dataclasses.field(default_factory=list)
    runnable: list[float] = dataclasses.field(default_factory=list)

    def rows(self, what: str) -> Iterator[Row]:
        """As the table has them."""
        yield Row(f"{what}: packets that were there already", tuple(self.there), "%")
        yield Row(f"{what}: waiting, of the workers' time", tuple(self.lost), "%")
        yield Row(f"{what}: calls to the scheduler for each packet", tuple(self.calls), "")
        yield Row(f"{what}: the scheduler's process, of one core", tuple(self.scheduler), "%")
        yield Row(f"{what}: threads that want a core", tuple(self.runnable), "")


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


def throughput(sizes: Sequence[int], path: str, nap: str, rounds: int) -> Iterator[Row]:
    """On more and more worker processes of this machine: packets that sleep, which say what the
    protocol can do, and tiny packets, which say what these cores can; with Dask as it is, and with
    its own watching of workers turned down, which takes a core with 64 of them. `nap`: a file that
    is as long as a worker is to have packets."""
    ends = sorted({sizes[0], sizes[-1]})
    yield from _asleep(sizes, nap, rounds)
    yield from _throughput(sizes, path, rounds, QUIET, "Dask's profilers off", goal=1.0)
    yield from _throughput(ends, path, rounds, {}, "Dask as it is", goal=None)


def _asleep(sizes: Sequence[int], path: str, rounds: int) -> Iterator[Row]:
    """Packets that need no core of this machine. Their ideal is that each worker begins one as soon
    as it has done another, from the call of run to its end."""
    shares: list[Row] = []
    for size in sizes:
        rates, busy = [], []
        with (
            cluster(size, QUIET) as client,
            _tiny_packets(),
            tm.connect(client) as session,
        ):
            events = tm.dataset([path] * size, "Events")
            for counted in range(-1, rounds):
                client.run(probe.install)
                client.run(probe.nap, _NAP)
                used = client.run_on_scheduler(time.process_time)
                began = time.perf_counter()
                session.run(events.count(), progress=False)
                seconds = time.perf_counter() - began
                if counted >= 0:
                    packets = sum(map(len, client.run(probe.lengths).values()))
                    rates.append(packets / seconds)
                    used = client.run_on_scheduler(time.process_time) - used
                    busy.append(100 * used / seconds)
        about = f"{size} worker processes that sleep"
        yield Row(f"packets of {1e3 * _NAP:g} ms per second, {about}", tuple(rates), "/s")
        shares.append(
            Row(f"of the ideal, {about}", tuple(100 * _NAP / size * r for r in rates), "%")
        )
        yield shares[-1]
        yield Row(f"the scheduler's process, of one core, {about}", tuple(busy), "%")
    if len(shares) > 1:
        ratio = sizes[-1] * shares[-1].median / (sizes[0] * shares[0].median)
        what = f"packets per second of {sizes[-1]} against {sizes[0]} worker processes that sleep"
        yield Row(what, (ratio,), "x", above=1.0)


def _throughput(
    sizes: Sequence[int],
    path: str,
    rounds: int,
    settings: Mapping[str, object],
    how: str,
    goal: float | None,
) -> Iterator[Row]:
    rows: list[Row] = []
    idle: list[Row] = []
    for size in sizes:
        found = []
        with cluster(size, settings) as client, _tiny_packets(), tm.connect(client) as session:
            # Each worker has as many packets: with few, the begin of 64 processes would be timed.
            events = tm.dataset([path] * max(size, 2 * _COPIES), "Events")
            for counted in range(-1, rounds):
                client.run(probe.install)
                began = time.perf_counter()
                session.run(events.hist("MET_pt", bins=(10, 0, 100)), progress=False)
                seconds = time.perf_counter() - began
                if counted >= 0:
                    packets = sum(map(len, client.run(probe.lengths).values()))
                    found.append(packets / seconds)
            idle.append(Row(f"idle workers, {size} processes, {how}", (_idle(client),), "cores"))
        rows.append(Row(f"packets per second, {size} worker processes, {how}", tuple(found), "/s"))
        yield from (rows[-1], idle[-1])
    if len(rows) > 1:
        ratio = statistics.median(rows[-1].values) / statistics.median(rows[0].values)
        what = f"packets per second of {sizes[-1]} against {sizes[0]} worker processes, {how}"
        yield Row(what, (ratio,), "x", above=goal)


def _idle(client: Any) -> float:
    """How many cores all workers take while they have nothing to do."""
    before, began = client.run(time.process_time), time.perf_counter()
    time.sleep(_IDLE)
    after, seconds = client.run(time.process_time), time.perf_counter() - began
    taken: float = sum(after[each] - before[each] for each in before if each in after)
    return taken / seconds
