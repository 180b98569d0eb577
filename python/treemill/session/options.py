"""What a run is asked for beside bookings or a selector: `Session.run`'s keywords, as one value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from ..errors import QueryError
from .subset import subset

if TYPE_CHECKING:
    from ..chain.chain import Chain
    from ..worker.workload import Span

__all__ = ["RunOptions", "refuse"]

_ENTRIES = "entries= or max_files= of run go through a part of the data"
_SESSION = "connect(workers=…, mode=…) makes a session, which runs it"
_NEEDLESS = "leave it out: files are looked at once, and chunks are as large as their time allows"
_OF_COFFEA = {
    "chunksize": _NEEDLESS,
    "maxchunks": _ENTRIES,
    "skipbadfiles": 'on_error="skip" leaves out what fails, and session.report names it',
    "retries": "leave it out: packets of workers that die are done again",
    "savemetrics": "session.report has what was read, and how fast",
    "metadata_cache": _NEEDLESS,
    "cachestrategy": "treemill.cache remembers what was read; treemill.cache.limit says how much",
    "align_clusters": _NEEDLESS,
    "dynamic_chunksize": _NEEDLESS,
    "checkpointer": "leave it out: nothing is kept of a run that has failed",
    "format": "treemill reads ROOT files",
    "executor": _SESSION,
    "pre_executor": _SESSION,
    "workers": _SESSION,
    "processor_instance": "run(processor, dataset) takes both by their places",
    "fileset": "run(processor, dataset) takes both by their places",
    "treename": 'treemill.dataset(files, "Events") names the tree',
    "use_result_type": "errors are raised; submit(…) gives a handle",
    "trace": _NEEDLESS,
    "preload": _NEEDLESS,
    "uproot_options": "leave it out: uproot reads what treemill cannot, as treemill asks it to",
    "iteritems_options": "leave it out: all branches can be touched",
}
"""Options of coffea's Runner by what is to be written instead."""


def refuse(options: Iterable[str]) -> None:
    """Raises QueryError for a keyword that no run has, with what it is called here."""
    for name in options:
        hint = _OF_COFFEA.get(name)
        if hint is not None:
            raise QueryError(f"{name} is an option of coffea's Runner. Here {hint}")
        near = get_close_matches(name, [field.name for field in fields(RunOptions)], 1)
        raise QueryError(f"run() has no option {name}", suggestions=near)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """`Session.run` says what each means. Raises QueryError for what no run can have."""

    inputs: Mapping[str, Any] | None = None
    on_error: str = "stop"
    entries: Any = None
    max_files: int | None = None
    cycles: int | None = None
    seed: int = 0
    schema: Any = None

    def __post_init__(self) -> None:
        if self.on_error not in ("stop", "skip"):
            raise QueryError(f'on_error is "stop" or "skip", not {self.on_error!r}')
        cycles = self.cycles
        if cycles is not None and (
            isinstance(cycles, bool) or not isinstance(cycles, int) or cycles < 0
        ):
            raise QueryError(f"cycles is a number of cycles, not {cycles!r}")
        if self.schema is not None and not callable(self.schema):
            raise QueryError(
                f"schema is one of coffea's classes, such as BaseSchema, not {self.schema!r}"
            )

    @property
    def skip_errors(self) -> bool:
        """Whether entries that cannot be read or processed are left out and named."""
        return self.on_error == "skip"

    @property
    def whole(self) -> bool:
        """Whether all entries are meant."""
        return self.entries is None and self.max_files is None

    def spans(self, chain: Chain | None) -> list[Span] | None:
        """The parts of the dataset's files that are meant; None for all."""
        return None if chain is None else subset(chain, self.entries, self.max_files)

    def for_bookings(self) -> None:
        """Raises QueryError where something is asked for that only selectors have."""
        if self.inputs is not None or self.cycles is not None or self.schema is not None:
            raise QueryError("inputs, cycles and schema are for selectors, not for bookings")
