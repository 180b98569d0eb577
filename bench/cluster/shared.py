"""Users who share a cluster: how long a short query takes beside another user's long one, and what
sharing costs. Selectors sleep: they take no core, so that what is left is how threads are divided.
"""

import math
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import treemill as tm
from treemill.frozen import replaced

from ..measured import Row, ratios

_SHORT = 8_000
"""Entries of a short query: 0.4 s of one thread."""
_USERS = 4


def _session(client: Any, user: str) -> tm.Session:
    """A session of this user's."""
    session = tm.connect(client)
    mine: Any = session._pool.scheduler_client  # type: ignore[attr-defined]
    owner = replaced(mine.caller.owner, user=user)
    mine.caller = replaced(mine.caller, owner=owner)
    return session


def _sleeps(chunk: Any) -> dict[str, int]:
    time.sleep(5e-5 * len(chunk))  # by value: workers have no bench
    return {"n": len(chunk)}


def beside_a_long_one(client: Any, path: str, queries: int) -> Iterator[Row]:
    """A short query, over and over, alone and while another user has long ones."""
    events = tm.dataset(path, "Events")
    one, other = _session(client, "one"), _session(client, "other")

    def short() -> float:
        began = time.perf_counter()
        output = one.run(_sleeps, events, entries=(0, _SHORT), chunksize=2_000, progress=False)
        assert output["n"] == _SHORT
        return time.perf_counter() - began

    ended = threading.Event()

    def long() -> None:
        while not ended.is_set():
            other.run(_sleeps, events, chunksize=2_000, progress=False)

    short()
    alone = [short() for _ in range(max(queries // 5, 3))]
    with ThreadPoolExecutor(1) as beside:
        running = beside.submit(long)
        short()
        times = [short() for _ in range(queries)]
        ended.set()
        running.result()
    yield Row("a short query alone", tuple(alone), "s")
    yield Row("a short query beside a long one of another user", tuple(times), "s", below=2.0)
    last = sorted(times)[math.ceil(0.99 * len(times)) - 1]
    yield Row("the same, 99th percentile", (last,), "s", below=4.0)


def together(client: Any, path: str, rounds: int) -> Iterator[Row]:
    """The same work of one user, and of some users at once."""
    events = tm.dataset(path, "Events")
    whole = events.num_entries
    sessions = [_session(client, f"user{number}") for number in range(_USERS)]
    ends = [whole * number // _USERS for number in range(_USERS + 1)]

    def run(session: tm.Session, first: int, last: int) -> int:
        done = session.run(_sleeps, events, entries=(first, last), chunksize=1_000, progress=False)
        return int(done["n"])

    def alone() -> None:
        assert run(sessions[0], 0, whole) == whole

    def shared() -> None:
        with ThreadPoolExecutor(_USERS) as users:
            parts = users.map(run, sessions, ends[:-1], ends[1:])
            assert sum(parts) == whole

    times: dict[str, list[float]] = {"alone": [], "shared": []}
    for counted in range(-1, rounds):
        for name, what in (("alone", alone), ("shared", shared)):
            began = time.perf_counter()
            what()
            if counted >= 0:
                times[name].append(time.perf_counter() - began)
    one = Row("all work of one user", tuple(times["alone"]), "s")
    many = Row(f"the same work of {_USERS} users at once", tuple(times["shared"]), "s")
    yield one
    yield many
    yield ratios("throughput of users together against one alone", one, many, above=0.97)
