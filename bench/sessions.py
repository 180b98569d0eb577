"""`python -m bench.sessions`: what sessions cost, on threads and processes. A table on standard
output, raw numbers in `bench/results/<date>-<machine>-sessions.json`.

Times are wall times, medians of `--rounds`. coffea is measured beside it where it is installed.
"""

import argparse
import datetime
import importlib.util
import re
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import treemill as tm
from treemill.backend import processes
from treemill.packetizer import Sizing

from . import data, machine
from .protocol import REPOSITORY

Row = tuple[str, float, str, str]
"""What, how much, its unit, the goal."""


def _median(rounds: int, what: Callable[[], object]) -> float:
    """Seconds."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        what()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def _nothing(events: Any) -> dict[str, Any]:
    return {"chunks": 1}


def packets(rounds: int) -> list[Row]:
    """Cost of a packet in which nothing is done, on one worker; its share of a second."""
    usual = processes.SIZING
    # Every packet is one block of cycles.
    processes.SIZING = Sizing(first=1, shortest=0.0, longest=0.0)
    try:
        with tm.connect(workers=1, mode="processes") as session:
            few = _median(rounds, lambda: session.run(_nothing, cycles=10, progress=False))
            many = _median(rounds, lambda: session.run(_nothing, cycles=1000, progress=False))
            made = session.run(_nothing, cycles=1000)["chunks"]
    finally:
        processes.SIZING = usual
    assert made == 1000
    each = (many - few) / 990
    return [
        ("a packet, there and back", each * 1e6, "us", ""),
        ("of a packet of one second", 100 * each, "%", "< 1"),
    ]


def _burn(cycles: Any) -> dict[str, Any]:
    total = 0
    for number in range(len(cycles) * 50):
        total += number * number % 7
    return {"total": total}


def scaling(rounds: int) -> list[Row]:
    """A selector of pure Python on one and on two processes."""
    times = {}
    for workers in (1, 2):
        with tm.connect(workers=workers, mode="processes") as session:
            session.run(_nothing, cycles=1)

            def run(session: Any = session) -> None:
                session.run(_burn, cycles=400_000, progress=False)

            times[workers] = _median(rounds, run)
    return [("two processes against one, CPU-bound", times[1] / times[2], "x", ">= 1.8")]


class _Table(tm.Selector):
    def process(self, cycles: Any) -> Any:
        total = float(self.inputs["table"].sum())
        text = Path("/proc/self/smaps_rollup").read_text()
        sizes = {key: int(kb) for key, kb in re.findall(r"^(\w+):\s+(\d+) kB", text, re.M)}
        own = sizes["Private_Clean"] + sizes["Private_Dirty"]
        import os

        return {"own": [(os.getpid(), own)], "all": [sizes["Rss"]], "sums": {total}}


def memory(megabytes: int) -> list[Row]:
    """What workers have for themselves beside a table that all of them read."""
    table = np.ones(megabytes * 125_000)
    workers = 4
    with tm.connect(workers=workers, mode="processes") as session:
        found = session.run(_Table(), cycles=2000, inputs={"table": table})
    own: dict[int, int] = {}
    for pid, size in found["own"]:
        own[pid] = max(size, own.get(pid, 0))
    one = max(found["all"])
    together = one + sum(own.values())
    what = f"{len(own)} workers with a table of {megabytes} MB, against one"
    return [(what, together / one, "x", "< 1.2")]


def starts(rounds: int) -> list[Row]:
    """From an order to the last of 16 workers that is there; a session's first and last moments."""
    joined: list[float] = []
    loaded: list[float] = []
    real_loaded, real_heard = processes.Pass.loaded, processes.Pass.heard

    def note_loaded(self: Any) -> None:
        loaded.append(time.perf_counter())
        real_loaded(self)

    def note_heard(self: Any, number: int, messages: Any) -> None:
        if any(type(getattr(m, "event", None)).__name__ == "WorkerJoined" for m in messages):
            joined.append(time.perf_counter())
        real_heard(self, number, messages)

    processes.Pass.loaded = note_loaded  # type: ignore[method-assign]
    processes.Pass.heard = note_heard  # type: ignore[method-assign]
    times = []
    try:
        with tm.connect(workers=16, mode="processes") as session:
            for _ in range(rounds + 1):
                joined.clear()
                loaded.clear()
                session.run(_sleepy, cycles=16_000, progress=False)
                times.append(max(joined[:16]) - loaded[0])
                if len(joined) < 16:
                    raise RuntimeError("not all workers joined: give them more to do")
    finally:
        processes.Pass.loaded = real_loaded  # type: ignore[method-assign]
        processes.Pass.heard = real_heard  # type: ignore[method-assign]

    def whole() -> None:
        with tm.connect(workers=2, mode="processes") as session:
            session.run(_nothing, cycles=1)

    return [
        ("16 workers, from the template's being ready", statistics.median(times[1:]), "s", "< 0.3"),
        ("a session with one selector: start, run, end", _median(rounds, whole), "s", ""),
    ]


def _sleepy(cycles: Any) -> dict[str, Any]:
    time.sleep(0.005)
    return {"n": len(cycles)}


class Fill:
    """MET and jets in two histograms; a coffea processor, without coffea."""

    def process(self, events: Any) -> Any:
        import awkward as ak
        import hist

        met = hist.Hist(hist.axis.Regular(128, 0, 256)).fill(ak.to_numpy(events.MET.pt))
        jets = hist.Hist(hist.axis.Regular(128, 0, 256)).fill(
            ak.to_numpy(ak.flatten(events.Jet.pt))
        )
        return {"met": met, "jets": jets}

    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


def reading(path: Path, rounds: int) -> list[Row]:
    """The same histograms by a query, by a processor, and by coffea's own runner."""
    events = tm.dataset(path, "Events")

    def query() -> Any:
        met = events.hist("MET_pt", bins=(128, 0, 256))
        jets = events.hist("Jet_pt", bins=(128, 0, 256))
        return session.run(met, jets, progress=False)

    def processor() -> Any:
        return session.run(Fill(), events, progress=False)

    with tm.connect(workers=2, mode="processes") as session:
        found, made = query(), processor()
        assert (found[0].values(flow=True) == made["met"].values(flow=True)).all()
        assert (found[1].values(flow=True) == made["jets"].values(flow=True)).all()
        by_query, by_processor = _median(rounds, query), _median(rounds, processor)
    rows = [
        ("two histograms by a query", by_query, "s", ""),
        ("the same by a coffea processor", by_processor, "s", ""),
        ("processor against query", by_processor / by_query, "x", "<= 1.3 of reading"),
    ]
    if importlib.util.find_spec("coffea") is not None:
        by_coffea = _coffea(path, rounds)
        rows.append(("the same processor by coffea's FuturesExecutor", by_coffea, "s", ""))
        rows.append(("coffea against treemill", by_coffea / by_processor, "x", ">= 2"))
    return rows


def _coffea(path: Path, rounds: int) -> float:
    from coffea import processor  # type: ignore[import-not-found]
    from coffea.nanoevents import NanoAODSchema  # type: ignore[import-not-found]

    class Own(Fill, processor.ProcessorABC):  # type: ignore[misc]
        pass

    run = processor.Runner(
        processor.FuturesExecutor(workers=2, status=False), schema=NanoAODSchema, savemetrics=False
    )
    files = {"demo": {"files": {str(path): "Events"}}}
    return _median(rounds, lambda: run(files, processor_instance=Own()))


def main() -> int:
    """Measure and write."""
    parser = argparse.ArgumentParser(prog="python -m bench.sessions", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small: does it run?")
    parser.add_argument("--rounds", type=int, help="of each measurement (5)")
    parser.add_argument("--events", type=int, help="in the file that is read (1,000,000)")
    chosen = parser.parse_args()
    rounds = chosen.rounds or (2 if chosen.quick else 5)
    path = data.make("zstd", chosen.events or (50_000 if chosen.quick else 1_000_000), data.FOLDER)
    data.warm_up(path)
    rows = [
        *packets(rounds),
        *scaling(rounds),
        *memory(50 if chosen.quick else 500),
        *starts(rounds),
        *reading(path, rounds),
    ]
    print("| what | measured | goal |\n|---|---:|---|")
    for what, value, unit, goal in rows:
        print(f"| {what} | {value:.3g} {unit} | {goal} |")
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    stem = f"{today}-{machine.slug()}-sessions" + ("-quick" if chosen.quick else "")
    results = REPOSITORY / "bench" / "results"
    results.mkdir(parents=True, exist_ok=True)
    named = [dict(zip(("what", "value", "unit", "goal"), row, strict=True)) for row in rows]
    data.dump(results / f"{stem}.json", {"machine": machine.describe(), "rows": named})
    return 0


if __name__ == "__main__":
    sys.exit(main())
