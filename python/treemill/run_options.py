"""What a run is asked for beside bookings or a selector: `Session.run`'s keywords, as one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .errors import QueryError
from .subset import subset

if TYPE_CHECKING:
    from .chain.chain import Chain
    from .task import Span

__all__ = ["RunOptions"]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """`Session.run` says what each means. Raises QueryError for what no run can have."""

    inputs: Mapping[str, Any] | None = None
    on_error: str = "stop"
    entries: Any = None
    max_files: int | None = None
    cycles: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.on_error not in ("stop", "skip"):
            raise QueryError(f'on_error is "stop" or "skip", not {self.on_error!r}')
        cycles = self.cycles
        if cycles is not None and (
            isinstance(cycles, bool) or not isinstance(cycles, int) or cycles < 0
        ):
            raise QueryError(f"cycles is a number of cycles, not {cycles!r}")

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
        if self.inputs is not None or self.cycles is not None:
            raise QueryError("inputs and cycles are for selectors, not for bookings")
