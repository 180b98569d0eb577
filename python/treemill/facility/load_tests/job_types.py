"""The kinds of jobs of an endurance run, from a file's mapping. Pure: opens no file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from ...errors import QueryError
from ..storage.matrix import WHATS

__all__ = ["JobType", "job_types"]

_KEY = "job"
"""The name of the table of jobs in a file."""
_KINDS = ("read", "hist", "command")


@dataclass(frozen=True)
class JobType:
    """What one kind of job does. Exactly one of `read`, `hist` and `command` is given."""

    name: str
    share: float = 1.0
    """The share of all jobs, relative to the shares of the others."""
    files: int = 1
    """How many of the storage's files a job takes; the next job takes the next ones."""
    read: str | None = None
    """One of "whole", "all" and "two", as `treemill bench storage` reads."""
    window: int = 60_000_000
    """Bytes that may be asked for before they are needed, for `read`."""
    hist: tuple[str, ...] = ()
    """Expressions, each of which is filled into a histogram."""
    filter: str | None = None
    """Which events, for `hist`."""
    command: tuple[str, ...] = ()
    """A program and its words: the word {files} stands for the files, {file} for the first one."""


def job_types(told: object) -> list[JobType]:
    """The jobs that a file describes: a list of tables under `job`. Raises QueryError that says
    which job is wrong, and how.

    >>> [job] = job_types({"job": [{"name": "pt", "hist": "Muon_pt", "filter": "nMuon >= 2"}]})
    >>> job.hist
    ('Muon_pt',)
    """
    tables = told.get(_KEY) if isinstance(told, Mapping) else None
    if not isinstance(tables, list) or not tables:
        raise QueryError(f"a file of jobs has tables [[{_KEY}]], one for each kind of job")
    jobs = [_job(number, table) for number, table in enumerate(tables, 1)]
    names = [job.name for job in jobs]
    for name in names:
        if names.count(name) > 1:
            raise QueryError(f"two jobs have the name {name!r}")
    return jobs


def _job(number: int, table: object) -> JobType:
    if not isinstance(table, Mapping):
        raise QueryError(f"job {number} is no table but {table!r}")
    name = str(table.get("name", f"job {number}"))
    known = [each.name for each in fields(JobType)]
    for key in table:
        if key not in known:
            raise QueryError(f"job {name!r} has {key!r}, which no job has", suggestions=known)
    kinds = [kind for kind in _KINDS if table.get(kind)]
    if len(kinds) != 1:
        said = ", ".join(_KINDS)
        raise QueryError(f"job {name!r} has {len(kinds)} of {said}, and needs exactly one")
    job = JobType(
        name,
        _number(name, "share", table.get("share", 1.0)),
        int(_number(name, "files", table.get("files", 1))),
        _text(name, "read", table.get("read")),
        int(_number(name, "window", table.get("window", JobType.window), least=0)),
        _texts(name, "hist", table.get("hist", ())),
        _text(name, "filter", table.get("filter")),
        _texts(name, "command", table.get("command", ())),
    )
    if job.read is not None and job.read not in WHATS:
        raise QueryError(f"job {name!r} reads {job.read!r}, not one of {', '.join(WHATS)}")
    if job.filter is not None and not job.hist:
        raise QueryError(f"job {name!r} has a filter, and nothing that is filled")
    if job.files < 1:
        raise QueryError(f"job {name!r} takes 1 file or more, not {job.files}")
    return job


def _number(name: str, key: str, value: object, least: float = 1e-9) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not least <= float(value) < 1e15:  # type: ignore[arg-type]
        raise QueryError(f"job {name!r}: {key} is a number above 0, not {value!r}")
    return float(value)  # type: ignore[arg-type]


def _text(name: str, key: str, value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise QueryError(f"job {name!r}: {key} is a text, not {value!r}")
    return value


def _texts(name: str, key: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Sequence) and all(isinstance(each, str) for each in value):
        return tuple(value)
    raise QueryError(f"job {name!r}: {key} is a text or a list of texts, not {value!r}")
