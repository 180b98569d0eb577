"""python -m tests.release.digests QUESTIONS: prints what the core of this process answers, as
digests of the results' bits. Cores for different levels of processors must print the same.

Asked are random expressions over random files, which the file QUESTIONS has (`questions`);
the tasks of the analysis description benchmark, and columns as arrays, over made-up events.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import treemill as tm
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from treemill._core import CPU_LEVEL
from treemill.facility.generate import Recipe, paths, write_dataset

from tests.random_queries import booked, several
from tests.reference import data, deep, nested
from tests.reference.expressions import conditions, lists, numbers

REPOSITORY = Path(__file__).parents[2]
ROUNDS = 60
"""Of some eight expressions each, for each kind of file."""
RECIPE = Recipe(files=2, events_per_file=5000)

some = settings(
    max_examples=ROUNDS,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
    deadline=None,
    database=None,
    derandomize=True,
)

Questions = dict[str, list[tuple[list[str], str | None]]]
"""By kind of file rounds of expressions, each with a condition on events or none."""


def questions() -> Questions:
    """Random ones, made once for all levels: two processes might not draw the same."""
    kinds = {
        "numbers": (several(numbers()), st.none() | conditions(2)),
        "lists": (several(lists()), st.none() | conditions(2)),
        "lists of lists": (several(nested.lists()), st.none() | nested.conditions()),
        "loops": (several(deep.numbers()), st.none() | nested.conditions()),
    }
    return {kind: _drawn(texts, wheres) for kind, (texts, wheres) in kinds.items()}


def _drawn(texts: Any, wheres: Any) -> list[tuple[list[str], str | None]]:
    rounds = []

    @some
    @given(texts, wheres)
    def draw(texts: list[str], where: str | None) -> None:
        rounds.append((texts, where))

    draw()
    return rounds


def digests(asked: Questions) -> Iterator[tuple[str, str]]:
    """What was asked, and the digest of what came."""
    with (
        tempfile.TemporaryDirectory() as folder,
        tm.connect(workers=1, mode="threads") as session,
    ):
        for kind, rounds in asked.items():
            yield _of_expressions(Path(folder), session, kind, rounds)
        list(write_dataset(Path(folder), RECIPE))
        events = tm.dataset([str(p) for p in paths(Path(folder), RECIPE)], tree="Events")
        yield from _of_tasks(events, session)
        for name in events.branches:
            yield f"column {name}", _digest([events.to_arrow([name]).column(0).to_pylist()])


def _of_expressions(folder: Path, session: Any, kind: str, rounds: Any) -> tuple[str, str]:
    module = data if kind in ("numbers", "lists") else nested
    path = folder / f"{kind}.root"
    module.write(path, 7, 40)
    events = tm.dataset(str(path)).with_params(getattr(module, "PARAMS", {}))
    found: list[Any] = []
    for texts, where in rounds:
        node = events if where is None else events.filter(where)
        bookings = [booking for text in texts for booking in booked(node, text)]
        found.extend(session.run(*bookings, progress=False))
    return f"{len(found)} histograms of {kind}", _digest(found)


def _of_tasks(events: Any, session: Any) -> Iterator[tuple[str, str]]:
    sys.path.insert(0, str(REPOSITORY / "examples" / "adl"))
    for number in range(1, 9):
        made = __import__(f"adl{number}").analysis(events)
        bookings = made if isinstance(made, tuple) else (made,)
        yield f"adl{number}", _digest(session.run(*bookings, progress=False))


def _digest(values: Any) -> str:
    digest = hashlib.sha256()
    for value in values if isinstance(values, list | tuple) else [values]:
        digest.update(_bits(value) if hasattr(value, "axes") else repr(value).encode())
    return digest.hexdigest()[:16]


def _bits(histogram: Any) -> bytes:
    """The contents' bits. Of two NaNs an operation gives one, and compilers choose which: NaNs are
    equal, whatever their signs."""
    held = np.array(histogram.view(flow=True))
    if held.dtype.names or held.dtype.kind == "f":
        held = held.view(np.float64)
        held[np.isnan(held)] = np.nan
    return held.tobytes()


if __name__ == "__main__":
    print(f"level {CPU_LEVEL}", file=sys.stderr)
    for what, digest in digests(json.loads(Path(sys.argv[1]).read_text())):
        print(f"{digest} {what}")
