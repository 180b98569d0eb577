"""python -m tests.release.digests: prints what the core of this process answers, as digests of the
results' bits. Cores for different levels of processors must print the same.

Asked are random expressions over random files, the same ones each time (`tests.random_queries`);
the tasks of the analysis description benchmark, and columns as arrays, over made-up events.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import treemill as tm
from hypothesis import HealthCheck, Phase, given, settings
from treemill._core import CPU_LEVEL
from treemill.bench.generate import Recipe, paths, write_dataset

__all__ = ["digests"]

REPOSITORY = Path(__file__).parents[2]
ROUNDS = 60
"""Of some eight expressions each, for each kind of file."""
RECIPE = Recipe(files=2, events_per_file=5000)

same_ones = settings(
    max_examples=ROUNDS,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
    deadline=None,
    database=None,
    derandomize=True,
)


def digests() -> Iterator[tuple[str, str]]:
    """What was asked, and the digest of what came."""
    with (
        tempfile.TemporaryDirectory() as folder,
        tm.connect(workers=1, mode="threads") as session,
    ):
        yield from _expressions(Path(folder), session)
        list(write_dataset(Path(folder), RECIPE))
        events = tm.dataset([str(p) for p in paths(Path(folder), RECIPE)], tree="Events")
        yield from _tasks(events, session)
        for name in events.branches:
            yield f"column {name}", _digest([events.to_arrow([name]).column(0).to_pylist()])


def _expressions(folder: Path, session: Any) -> Iterator[tuple[str, str]]:
    from hypothesis import strategies as st

    from tests.random_queries import several
    from tests.reference import data, deep, nested
    from tests.reference.expressions import conditions, lists, numbers

    kinds = {
        "numbers": (data, several(numbers()), st.none() | conditions(2)),
        "lists": (data, several(lists()), st.none() | conditions(2)),
        "lists of lists": (nested, several(nested.lists()), st.none() | nested.conditions()),
        "loops": (nested, several(deep.numbers()), st.none() | nested.conditions()),
    }
    for kind, (module, texts, wheres) in kinds.items():
        path = folder / f"{kind}.root"
        module.write(path, 7, 40)
        events = tm.dataset(str(path)).with_params(getattr(module, "PARAMS", {}))
        found = _histograms(events, session, texts, wheres)
        yield f"{len(found)} histograms of {kind}", _digest(found)


def _histograms(events: Any, session: Any, texts: Any, wheres: Any) -> list[Any]:
    """What random expressions fill, of the events that pass random conditions."""
    from tests.random_queries import booked

    found: list[Any] = []

    @same_ones
    @given(texts, wheres)
    def ask(texts: list[str], where: str | None) -> None:
        node = events if where is None else events.filter(where)
        bookings = [booking for text in texts for booking in booked(node, text)]
        found.extend(session.run(*bookings, progress=False))

    ask()
    return found


def _tasks(events: Any, session: Any) -> Iterator[tuple[str, str]]:
    sys.path.insert(0, str(REPOSITORY / "examples" / "adl"))
    for number in range(1, 9):
        made = __import__(f"adl{number}").analysis(events)
        bookings = made if isinstance(made, tuple) else (made,)
        yield f"adl{number}", _digest(session.run(*bookings, progress=False))


def _digest(values: Any) -> str:
    digest = hashlib.sha256()
    for value in values if isinstance(values, list | tuple) else [values]:
        bits = value.view(flow=True).tobytes() if hasattr(value, "axes") else repr(value).encode()
        digest.update(bits)
    return digest.hexdigest()[:16]


if __name__ == "__main__":
    print(f"level {CPU_LEVEL}", file=sys.stderr)
    for what, digest in digests():
        print(f"{digest} {what}")
