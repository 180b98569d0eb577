"""What it costs to have workers: a packet's way there and back, starts, ends, memory, feedback."""

import os
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import treemill as tm
from treemill.backends.processes import pool as processes
from treemill.scheduling import Sizing

from ..measured import Row, in_turn


def _nothing(events: Any) -> dict[str, Any]:
    return {"chunks": 1}


def packets(rounds: int) -> list[Row]:
    """Cost of a packet in which nothing is done, on one worker; its share of a second."""
    usual = processes.SIZING
    processes.SIZING = Sizing(first=1, shortest=0.0, longest=0.0)  # a packet is a block of cycles
    try:
        with tm.connect(workers=1, mode="processes") as session:
            found = in_turn(
                rounds,
                {
                    "few": lambda: session.run(_nothing, cycles=10, progress=False),
                    "many": lambda: session.run(_nothing, cycles=1000, progress=False),
                },
            )
            made = session.run(_nothing, cycles=1000, progress=False)["chunks"]
    finally:
        processes.SIZING = usual
    if made != 1000:
        raise RuntimeError(f"{made} packets were made, not 1000")
    each = [(b - a) / 990 for a, b in zip(found["few"], found["many"], strict=True)]
    share = tuple(100 * seconds for seconds in each)
    return [
        Row("a packet there and back", tuple(1e6 * seconds for seconds in each), "µs"),
        Row("scheduling, of a packet of one second", share, "%", below=1.0),
    ]


def _burn(cycles: Any) -> dict[str, Any]:
    total = 0
    for number in range(len(cycles) * 50):
        total += number * number % 7
    return {"total": total}


def scaling(rounds: int, cycles: int) -> list[Row]:
    """A selector of pure Python on one and on two processes."""
    with (
        tm.connect(workers=1, mode="processes") as one,
        tm.connect(workers=2, mode="processes") as two,
    ):
        found = in_turn(
            rounds,
            {
                "one": lambda: one.run(_burn, cycles=cycles, progress=False),
                "two": lambda: two.run(_burn, cycles=cycles, progress=False),
            },
        )
    values = tuple(a / b for a, b in zip(found["one"], found["two"], strict=True))
    return [Row("two processes against one, pure Python", values, "x", above=1.8)]


class _Table(tm.Selector):
    def process(self, cycles: Any) -> Any:
        total = float(self.inputs["table"].sum())
        text = Path("/proc/self/smaps_rollup").read_text()
        sizes = {key: int(kb) for key, kb in re.findall(r"^(\w+):\s+(\d+) kB", text, re.M)}
        own = sizes["Private_Clean"] + sizes["Private_Dirty"]
        return {"own": [(os.getpid(), own)], "all": [sizes["Rss"]], "sums": {total}}


def memory(rounds: int, megabytes: int) -> list[Row]:
    """What workers have for themselves beside a table that all of them read."""
    table = np.ones(megabytes * 125_000)
    workers, values = 4, []
    with tm.connect(workers=workers, mode="processes") as session:
        for _ in range(rounds):
            found = session.run(_Table(), cycles=2000, inputs={"table": table}, progress=False)
            if found["sums"] != {float(len(table))}:
                raise RuntimeError("a worker has read something else than the table")
            own: dict[int, int] = {}
            for pid, size in found["own"]:
                own[pid] = max(size, own.get(pid, 0))
            one = max(found["all"])
            values.append((one + sum(own.values())) / one)
    what = f"memory of {workers} workers that read a table of {megabytes} MB, against one's"
    return [Row(what, tuple(values), "x", below=1.2)]


def _sleepy(cycles: Any) -> dict[str, Any]:
    time.sleep(0.005)
    return {"n": len(cycles)}


def starts(rounds: int, workers: int = 16) -> list[Row]:
    """From a template that is ready to the last worker that is there; a whole session's life."""
    joined: list[float] = []
    loaded: list[float] = []
    real_loaded, real_heard = processes.ProcessPass.loaded, processes.ProcessPass.heard

    def note_loaded(self: Any) -> None:
        loaded.append(time.perf_counter())
        real_loaded(self)

    def note_heard(self: Any, number: int, messages: Any) -> None:
        if any(type(getattr(m, "event", m)).__name__ == "WorkerJoined" for m in messages):
            joined.append(time.perf_counter())
        real_heard(self, number, messages)

    processes.ProcessPass.loaded = note_loaded  # type: ignore[method-assign]
    processes.ProcessPass.heard = note_heard  # type: ignore[method-assign]
    times = []
    try:
        with tm.connect(workers=workers, mode="processes") as session:
            for counted in range(-1, rounds):
                joined.clear()
                loaded.clear()
                session.run(_sleepy, cycles=16_000, progress=False)
                if len(joined) < workers:
                    raise RuntimeError("not all workers joined: give them more to do")
                if counted >= 0:
                    times.append(max(joined[:workers]) - loaded[0])
    finally:
        processes.ProcessPass.loaded = real_loaded  # type: ignore[method-assign]
        processes.ProcessPass.heard = real_heard  # type: ignore[method-assign]

    def whole() -> None:
        with tm.connect(workers=2, mode="processes") as session:
            session.run(_nothing, cycles=1, progress=False)

    life = in_turn(rounds, {"whole": whole})["whole"]
    return [
        Row(f"{workers} workers, from the template's being ready", tuple(times), "s", below=0.3),
        Row("a session's whole life: start, one small selector, end", life, "s"),
    ]


def news(rounds: int) -> list[Row]:
    """First feedback of a slow selector, and how long it takes to stop it."""
    first, stopped = [], []
    with tm.connect(workers=2, mode="processes") as session:
        for _ in range(rounds):
            seen: list[float] = []
            began = time.perf_counter()

            def look(output: Any, seen: list[float] = seen) -> None:
                seen.append(time.perf_counter())
                raise KeyboardInterrupt

            try:
                session.run(_burn, cycles=50_000_000, progress=False, feedback=look)
            except KeyboardInterrupt:
                first.append(seen[0] - began)
            query = session.submit(_burn, cycles=50_000_000)
            while query.progress.entries == 0:
                time.sleep(0.01)
            began = time.perf_counter()
            query.stop()
            query.result()
            stopped.append(time.perf_counter() - began)
    return [
        Row("first feedback after the start", tuple(first), "s", below=3.0),
        Row("from stop() to the result of what was done", tuple(stopped), "s"),
    ]
