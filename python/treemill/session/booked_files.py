"""The files that bookings make: checks what can be written, makes the folders for parts, and makes
the files when the pass has ended. Knows bookings and their rows; knows no session and no worker.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..arrays.rows import Collected, Sink
from ..errors import QueryError, SourceError, UnsupportedError, writing
from ..query.node import Booking
from ..query.planning import Plan
from ..query.rows import Snapshot
from ..query.snapshot_target import Target
from ..results.parts import claim, client_here, hidden_folder, remove
from .copied_trees import CopiedTree, copied

if TYPE_CHECKING:
    from ..arrays.varied_rows import VariedRows
    from ..chain.chain import Chain

__all__ = ["BookedFiles"]


class BookedFiles:
    """The files of one query's bookings. False if there are none."""

    def __init__(self, bookings: Sequence[Booking], chain: Chain, is_whole: bool) -> None:
        """`is_whole`: whether the query goes through all of the chain or fails."""
        self._bookings = bookings
        self._chain = chain
        self._is_whole = is_whole
        self._targets = {
            place: booking.wanted.target
            for place, booking in enumerate(bookings)
            if isinstance(booking.wanted, Snapshot)
        }
        if self._targets and chain.is_fileset:
            raise UnsupportedError(
                "a snapshot of a fileset is not supported: write each data set by itself, "
                "fs[name].snapshot(…), all of them in one tm.run(…)"
            )
        client = client_here() if self._targets else None
        self._folders = {
            place: hidden_folder(target.path, client) for place, target in self._targets.items()
        }
        self._indices: dict[int, int] = {}

    def __bool__(self) -> bool:
        return bool(self._targets)

    def sinks(self, plan: Plan) -> dict[int, Sink]:
        """The sinks of rows, by the index of their results."""
        for place in self._targets:
            (self._indices[place],) = plan.slots[self._bookings[place].number]["nominal"]
        folders = {self._indices[place]: folder for place, folder in self._folders.items()}
        return {
            index: Sink(rows.limit, folders.get(index), self._joined(plan, index))
            for index, rows in plan.rows.items()
        }

    @staticmethod
    def _joined(plan: Plan, index: int) -> VariedRows | None:
        """How rows of variations are joined with those of the nominal result."""
        found = plan.joined.get(index)
        if found is None:
            return None
        from ..arrays.varied_rows import VariedRows  # heavy: numpy

        names, results, changed = zip(*found.variations, strict=True)
        return VariedRows(results, names, changed, found.tree)

    def begin(self, empty: Sequence[object]) -> None:
        """Makes the folders of parts, before anything is read. Raises what makes a file impossible.
        `empty`: the results of no entries."""
        from ..results.snapshot import check  # heavy: numpy

        for place, target in self._targets.items():
            check(self._rows(empty, place), target, self._copied(target))
        for place, folder in self._folders.items():
            try:
                with writing(self._targets[place].path):
                    claim(folder)
            except SourceError:
                self.drop()
                raise

    def made(self, values: Sequence[object], raw: Sequence[object]) -> tuple[object, ...]:
        """Makes the files. Returns the values, with the files in place of those that have none."""
        from ..results.snapshot import write  # heavy: numpy

        found = list(values)
        for place, target in self._targets.items():
            rows, folder = self._rows(raw, place), self._folders[place]
            found[place] = write(rows, target, folder, self._copied(target))
        return tuple(found)

    def _rows(self, results: Sequence[object], place: int) -> Collected:
        rows = results[self._indices[place]]
        assert isinstance(rows, Collected)
        return rows

    def _copied(self, target: Target) -> list[CopiedTree]:
        if target.copied and not self._is_whole:
            raise QueryError(
                "copy_trees= is for snapshots of whole datasets, because their other trees are "
                'copied whole: leave out entries=, max_files= and on_error="skip"'
            )
        return copied(self._chain, target.copied)

    def drop(self) -> None:
        """Removes the parts of files that will not be completed."""
        for folder in self._folders.values():
            remove(folder)
