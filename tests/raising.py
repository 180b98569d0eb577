"""What tests ask of an error: its class, what it is about, and, where a class has many reasons,
which of them it is. How a reason is worded stands once, in `tests/said.py`."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable
from contextlib import contextmanager

import pytest
from treemill.errors import QueryError, TreemillError

from tests.said import SAID


@contextmanager
def raises(
    kind: type[TreemillError], *, about: str | Iterable[str] = (), said: str | None = None
) -> Generator[pytest.ExceptionInfo[TreemillError]]:
    """Like `pytest.raises`.

    `about` are names that the error has in a field or in its text: of a file, a column, an option.
    `said` is a reason, as the list of the error's family calls it.
    """
    with pytest.raises(kind) as caught:
        yield caught
    error = caught.value
    missing = [
        name for name in ([about] if isinstance(about, str) else about) if not names(error, name)
    ]
    assert not missing, f"{error!r} is not about {missing}"
    if said is not None:
        pattern = wording(kind, said)
        assert re.search(pattern, str(error)), f"{str(error)!r} does not say {pattern!r}"


def names(error: TreemillError, name: str) -> bool:
    """Whether a field or the text has this name."""
    places = [str(error), error.file, error.branch]
    if isinstance(error, QueryError):
        places += [error.column, *error.suggestions]
    return any(place is not None and name in place for place in places)


def wording(kind: type[TreemillError], said: str) -> str:
    """The pattern that a family's list has for a reason."""
    for family, reasons in SAID.items():
        if issubclass(kind, family) and said in reasons:
            return reasons[said]
    raise LookupError(f"tests/said.py has no {said!r} for {kind.__name__}")
