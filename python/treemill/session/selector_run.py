"""What a query of a selector computes: its `begin` in this process, one pass on the workers, its
`end` in this process. Knows no worker.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from .._system.process import raising
from ..backends.base import Pool, Results
from ..backends.checkpoint_writer import Checkpointing
from ..checkpoint import Folder, digest
from ..data.rows import Sink
from ..errors import QueryError, TreemillError, UnsupportedError
from ..language.function_registry import Dependent
from ..monitoring.report import FromMemory
from ..query.axes import FixedAxis
from ..query.node import Booking, Node
from ..query.planning import plan
from ..query.quantities import Hist
from ..query.rows import Snapshot
from ..results.file_output import file_outputs
from ..results.values import booked_value, value_by_dataset
from ..scheduling import FileSize
from ..workers.chunk_source import key_of, recall
from ..workers.job import ChainData, CycleData, OutputPartial, SelectorJob, drop_files, finish_files
from ..workers.node_columns import derivation
from ..workers.query_task import QueryTask
from ..workers.selector import ProcessorSelector, Selector, take_booked
from ..workers.selector_workload import SelectorTask
from ..workers.task import Task
from ..workers.workload import Partial, no_entries
from .computation import Computation, Course, PlannedPass, QueryState, known_sizes
from .options import RunOptions
from .run_checkpoint import (
    QueryCheckpoint,
    certain_of_selector,
    of_selector,
    refuse_end_worker,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..checkpoint.results import Results as ResultsFolder
    from ..data.chain import Chain
    from ..query.planning import Specification

__all__ = ["SelectorRun"]

# Bookings that are computed along with a selector: by the core, in the same pass and packets.
# Knows the query's description and how the core's results become values; runs nothing itself.


class BookedValues:
    """The bookings of one run of a selector, by their names in the output."""

    def __init__(
        self,
        booked: Mapping[str, object],
        own: Chain | None,
        chain: Chain | None,
        workers: int,
    ) -> None:
        """`own`: the chain that bookings must be on; `chain`: the same one as the run sees it.
        Raises QueryError or UnsupportedError for a booking that cannot be computed with it."""
        self._booked = {name: _checked(name, each, own) for name, each in booked.items()}
        self._plan = plan(list(self._booked.values()))
        sinks = {index: Sink(rows.limit) for index, rows in self._plan.rows.items()}
        assert chain is not None
        self._chain = chain
        described = self._plan.specification
        self.task = QueryTask(described, chain, workers, None, sinks, apart=chain.is_fileset)

    @property
    def specification(self) -> Specification:
        """What describes the bookings."""
        return self._plan.specification

    def values(self, raw: Sequence[object]) -> dict[str, object]:
        """The bookings' values, from the core's results."""
        return {name: self._value(booking, raw) for name, booking in self._booked.items()}

    def _value(self, booking: Booking[Any], raw: Sequence[object]) -> object:
        if not self._chain.is_fileset:
            return booked_value(booking, self._plan, raw)
        return value_by_dataset(booking, self._plan, raw, self._chain.datasets, self._no_entries)

    def _no_entries(self) -> Sequence[object]:
        return no_entries(self.task.workload(0), self._chain.first)


def _checked(name: str, booking: object, chain: Chain | None) -> Booking[Any]:
    if not isinstance(booking, Booking):
        raise QueryError(
            f"book({name!r}, …) takes a booking, as events.hist(…) gives it, "
            f"not {type(booking).__name__}"
        )
    if chain is None or booking.node.origin.chain is not chain:
        raise QueryError(f"{name} is booked on another dataset than the selector runs on")
    wanted = booking.wanted
    if isinstance(wanted, Hist) and not all(isinstance(axis, FixedAxis) for axis in wanted.axes):
        raise QueryError(f"{name}: a histogram in a selector needs bins=(number, low, high)")
    if isinstance(wanted, Snapshot):
        raise UnsupportedError(
            f"{name}: a selector cannot book a snapshot: write a treemill.FileOutput"
        )
    return booking


class SelectorRun(Computation[object]):
    """A selector. The result is the merged output, or what `end` returns."""

    def __init__(
        self,
        selector: Selector,
        chain: Chain | None,
        pool: Pool,
        options: RunOptions,
        *,
        node: Node | None = None,
        kept: QueryCheckpoint | None = None,
    ) -> None:
        """`node`: a place in the dataset's query; the selector sees the entries that arrive there.
        `chain` None: there is no dataset, but a number of cycles. `kept`: what is kept on disk;
        None: nothing."""
        self.files = ("cycles",) if chain is None else chain.files
        self.replicas = {} if chain is None else chain.replicas
        self.spans = options.spans(chain)
        if kept is not None:
            refuse_end_worker(selector)
        self.title = selector.title
        self.phase = selector.title if chain is None else f"{selector.title} on {chain.name}"
        self._selector = selector
        self._chain = chain
        self._pool = pool
        self._options = options
        self._kept = kept
        self._there = options.results_folder() if options.values["remember"] == "code" else None
        self._inputs = {} if options.values["inputs"] is None else options.values["inputs"]
        self._node = node
        self._bookings: BookedValues | None = None
        self._schema = options.values["schema"]
        if isinstance(options.values["schema"], str | type):
            from ..data.object_schemas import coffeas  # start-up

            self._schema = coffeas(options.values["schema"])

    _left = Computation._left | {"_task", "_there"}

    _task: Task

    def resume(self, pool: Pool, task: Task) -> None:
        """See Computation."""
        self._pool = pool
        self._task = task
        self._there = None

    def first_pass(self) -> PlannedPass:
        """See Computation. Runs `begin`, and raises what it raises."""
        with raising():
            self._selector.begin(self._inputs)
        booked = take_booked(self._selector)
        # The whole run sees each file as it is now, the sizes before the first packet included.
        if self._chain is not None and self._options.skip_errors:
            self._chain.skip_damaged()
        chain = self._chain and self._chain.pinned(threads=self._pool.threads)
        if booked:
            self._bookings = BookedValues(booked, self._chain, chain, self._pool.size)
        data = self._data(chain)
        job = SelectorJob(
            self._selector,
            data,
            seed=self._options.values["seed"],
            workers=self._pool.size,
            spans=self.spans,
            bookings=None if self._bookings is None else self._bookings.task,
            known=frozenset() if chain is None else recall(key_of(self._selector)),
            second_runs=self._may_run_twice,
        )
        self._task = SelectorTask(job, self._inputs)
        sizes, shown = self._sizes(chain, data), None
        kept = None if self._kept is None else self._checkpointing(data, self._kept)
        if kept is None and self._there is not None:
            kept, shown = self._remembered(data, self._there)
        return PlannedPass(self._task, chain, sizes, self.phase, kept, remembered=shown)

    def _remembered(
        self, data: ChainData | CycleData, there: ResultsFolder
    ) -> tuple[Checkpointing | None, FromMemory]:
        """What is remembered of the output, and the same for the report."""
        files = len(self.files)

        def shown(found: int, left: int, reason: str) -> FromMemory:
            title = self.title
            computed, from_memory = ([], [title]) if found else ([(title, reason)], [])
            return FromMemory(1, found, files, left, left, computed, from_memory)

        kept = None
        try:
            if not self._pool.keeps:
                raise UnsupportedError(f"results of {self._pool.kind} are not remembered")
            refuse_end_worker(self._selector)
            memory = QueryCheckpoint(Folder(there.path), 0, by_content=True)
            kept = self._checkpointing(data, memory)
            record = kept.record
            if record is None and isinstance(data, ChainData):
                from .known_files import check_files  # start-up

                check_files(data.chain)
        except TreemillError as error:
            if kept is not None:
                kept.checkpoint.close()
            return None, shown(0, files, f"it cannot be remembered: {error}")
        if record is None:
            return kept, shown(
                0, files, "it is new, or a file or something in its code has changed"
            )
        done = [n for n, size in record.sizes.items() if record.processed[n] == [(0, size)]]
        left = files - len(done)
        return kept, shown(not left, left, f"{left:,} of {files:,} files were not done")

    @property
    def _may_run_twice(self) -> bool:
        if self._options.values["second_runs"] is not None:
            return self._options.values["second_runs"]
        # coffea runs nothing twice, and processors may write files.
        return self._schema is None and not isinstance(self._selector, ProcessorSelector)

    def _checkpointing(self, data: ChainData | CycleData, kept: QueryCheckpoint) -> Checkpointing:
        is_certain = kept.by_content
        code = certain_of_selector if is_certain else of_selector
        parts = code(self._selector) | {
            "inputs": digest(dict(self._inputs), certain=is_certain),
            "seed": digest(self._options.values["seed"]),
            "schema": digest(self._schema, certain=is_certain),
        }
        described = {} if self._bookings is None else {"bookings": self._bookings.specification}
        if isinstance(data, ChainData) and data.derivation is not None:
            described["filters and columns"] = data.derivation.specification
        for name, each in described.items():
            called = each.provided.values() if is_certain else ()
            certain = [one.depends_on() for one in called if isinstance(one, Dependent)]
            text = each.lasting_text
            parts[name] = digest([text, *certain] if certain else text)
        check = partial(_refuse_files, 'remember="code"' if is_certain else "checkpoint=")
        if isinstance(data, CycleData):
            parts["cycles"] = digest(data.cycles)
            return kept.checkpointing("selector", None, None, parts, check)
        return kept.checkpointing("selector", data.chain, self.spans, parts, check)

    def _data(self, chain: Chain | None) -> ChainData | CycleData:
        if chain is None:
            return CycleData(self._options.values["cycles"] or 0)
        derived = None if self._node is None else derivation(self._node, chain)
        return ChainData(chain, derived, self._schema, self._options.chunk_entries)

    def _sizes(self, chain: Chain | None, data: ChainData | CycleData) -> list[FileSize | None]:
        if chain is None:
            return [FileSize(*data.chunks(self._selector, self._pool.size, ()).size(0))]
        try:
            _ = chain.sizes[0]  # raises what is wrong with the names, before workers start
        except TreemillError:
            if not self._options.skip_errors:
                raise
        task = self._task
        return known_sizes(
            chain, task.workload(0), self.spans, self._pool.size, small=task.small_files
        )

    def values(self, raw: list[object], course: Course) -> dict[str, object]:
        """See Computation."""
        output, *booked = raw
        assert isinstance(output, dict)
        if self._bookings is not None:
            output |= self._bookings.values(booked)
        measured = course.account.measured if self._options.values["monitor"] else None
        if measured is not None:
            output = {**output, "monitor": measured.histograms}
        return output

    def result(self, raw: list[object] | None, course: Course) -> object:
        """See Computation. Runs `end`."""
        output = self.values(self._no_entries(course) if raw is None else raw, course)
        _end_files(finish_files, output, course)
        if self._there is not None:
            self._there.settle()
        with raising():
            changed = self._selector.end(output)
        return output if changed is None else changed

    def _no_entries(self, course: Course) -> list[object]:
        if course.state is not QueryState.RUNNING:
            # begin_worker, which makes the output, may be the reason why the query was stopped.
            raise TreemillError(f"the query was {course.reason} before it had results")
        return no_entries(self._task.workload(0))

    def fail(self, merged: Results, course: Course) -> None:
        """See Computation."""
        if course.last is not None:
            _end_files(drop_files, (merged.results() or [{}])[0], course)


def _end_files(end: Callable[[object], None], output: object, course: Course) -> None:
    # A late worker must not make a folder for its part once the others' is gone.
    if course.last is not None and any(file_outputs(output)):
        course.last.settle()
    end(output)


def _refuse_files(what: str, merged: Partial) -> None:
    """Raises UnsupportedError about files in an output: a later run has not their parts. `what`:
    what would keep it."""
    files = list(file_outputs(merged.output)) if isinstance(merged, OutputPartial) else []
    if files:
        for file in files:
            file.discard()
        raise UnsupportedError(
            f"a FileOutput cannot be kept by {what}: its rows are in files that end with the run. "
            f"Leave {what} out"
        )
