"""A running query: its passes one after another, its end, its result.

It drives the passes of a pool. What is computed is a part that it is given (computation.py);
query_account.py says how far it is. Knows backends, tasks and
partials by their protocols; shows nothing.
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum, auto
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Generic

from ..backends.base import Ending, Pass, Pool, Request, Results
from ..backends.merged_partial import MergedPartial
from ..data import source
from ..data.assumptions import NO_ASSUMPTIONS
from ..errors import FormatError, QueryError, SourceError, StoppedError, TreemillError, warn
from ..frozen import replaced
from ..monitoring.progress import Progress
from ..monitoring.report import Report
from ..monitoring.worker_histograms import HISTOGRAMS
from ..scheduling import FileSize, node_of
from ..workers.task import Task
from ..workers.workload import Span
from .computation import Computation, Course, PlannedPass, QueryState, Result, useful_workers
from .options import RunOptions
from .query_account import Account

if TYPE_CHECKING:
    from ..backends.checkpoint_writer import Checkpointing
    from ..backends.remembered_partial import Remembering
    from ..data.chain import Chain
    from ..query.booking import Booking
    from .recording import Recording

__all__ = ["Query", "QueryNews"]

# Where the files of a pass lie: the hosts that their addresses and those of their replicas name,
# and those that servers name when they are asked. So workers may read the files of their own
# host. Knows no worker.

_BATCH = 256
"""Files whose hosts are told at once: the first are wanted before the last are known."""


def nodes(files: Sequence[str]) -> list[str | None]:
    """The node of each file; None if its name has no host.

    >>> nodes(["root://server//store/a.root", "/data/b.root"])
    ['root://server/store', None]
    """
    return [node_of(file) if source.is_url(file) else None for file in files]


def addresses(
    files: Sequence[str], replicas: Mapping[str, Sequence[str]]
) -> dict[int, Sequence[str]]:
    """All addresses of each file that has several, by its number. `replicas`: these, by its path.

    >>> addresses(["/a.root", "root://one//b.root"], {"root://one//b.root": ["root://one//b.root"]})
    {1: ['root://one//b.root']}
    """
    if not replicas:
        return {}
    return {number: replicas[file] for number, file in enumerate(files) if file in replicas}


def located(
    files: Sequence[str], replicas: Mapping[str, Sequence[str]], wanted: Iterable[int]
) -> Iterator[dict[int, list[str]]]:
    """The addresses of the files `wanted`, by their numbers, at the hosts that have them. Only of
    files whose servers redirect to others; a server that redirects nowhere is queried once, and
    none is queried for files with `replicas`."""
    by_server: dict[str, list[int]] = {}
    for number in wanted:
        file = files[number]
        if source.is_url(file) and file not in replicas:
            by_server.setdefault(source.server(file), []).append(number)
    first = source.hosts([files[numbers[0]] for numbers in by_server.values()])
    leading = [n for numbers in by_server.values() if first.get(files[numbers[0]]) for n in numbers]
    leading.sort()
    for begin in range(0, len(leading), _BATCH):
        batch = leading[begin : begin + _BATCH]
        hosts = source.hosts([files[number] for number in batch])
        yield {number: hosts[files[number]] for number in batch if hosts.get(files[number])}


# Whether the files of a pass are at its end what they were when it began. A worker looks after
# each of its packets. What no worker sees is a file that changes between the packets of one
# process and those of another one, or after its last packet. Knows no worker.


class Unchanged:
    """The files of one pass, as this process has seen them."""

    def __init__(self, chain: Chain, spans: Sequence[Span] | None, pool: Pool) -> None:
        """`chain`: for the pass. `spans`: the parts of files to go through; None: all entries of
        all files. To be made before the pass begins: workers of other processes look by
        themselves, later."""
        self._chain = chain
        self._spans = spans
        self._threads = pool.threads
        if not pool.remembers:
            numbers = range(len(chain.locations))
            chain.trees.look(numbers if spans is None else {file for file, *_ in spans})

    def error(self, ended: Pass, error: BaseException | None) -> BaseException | None:
        """The error of a pass that has ended with `error`: of a file that has changed since and of
        which entries are in the result, or that may be why the pass has failed."""
        if error is not None:
            is_of_bytes = isinstance(error, (FormatError, SourceError))
            return (self._chain.changed() if is_of_bytes else None) or error
        places = ended.files()
        files = places if self._spans is None else {self._spans[place][0] for place in places}
        changed = self._chain.changed(files, self._threads)
        return changed or self._chain.friends.changed(self._threads)


_LOOK = 1.0
"""Seconds between two looks at what keeps a query waiting."""


class QueryNews(Enum):
    """What a thread that waits for a query hears."""

    AT_WORK = auto()
    """All workers of the last pass have got their first packets. May never come."""
    DONE = auto()
    """The query has ended, well or not."""
    INTERRUPT = auto()
    """The user has pressed Ctrl-C."""


class Query(Generic[Result]):
    """The handle on a running query. `Session.submit` gives it."""

    title: str
    """The query in a few words."""
    titles: Sequence[str]
    """The titles of the values, if there are several without names of their own."""
    bookings: Sequence[Booking]
    """The bookings that get the values, if the query is of bookings."""

    def __init__(self, computes: Computation[Result], pool: Pool, options: RunOptions) -> None:
        self.id = os.urandom(6).hex()
        """Names the query: `Session.attach` takes it, if the workers are a cluster's."""
        self._key = f"{self.id}.{secrets.token_urlsafe(24)}"
        self._is_shared = False
        self.title, self.titles = computes.title, computes.titles
        self.bookings = computes.bookings
        self.account = Account(computes.files, computes.spans)
        self.account.id, self.account.title = self.id, computes.title
        self.account.phase = computes.phase
        self._computes = computes
        self._pool = pool
        self._skip_errors = options.skip_errors
        self._recording = _recording_of(options, pool)
        self._monitor = options.values["monitor"]
        self._memory = options.memory
        if self._memory is not None and not pool.limits_memory:
            raise QueryError(
                "memory= of a run is for clusters; processes of this machine have a limit by "
                'connect(mode="processes", memory=…)'
            )
        self._state = QueryState.RUNNING
        self._reason: str | None = None
        """Why the query was stopped or aborted."""
        self._error: BaseException | None = None
        self._ending: Ending | None = None
        """Who else has ended the query early."""
        self._set_up()

    def _set_up(self) -> None:
        """Makes what no other process gets."""
        self._lock = threading.Lock()
        self._happened: list[QueryNews] = []
        self._listeners: list[tuple[QueryNews, SimpleQueue[QueryNews]]] = []
        self._pass: Pass | None = None
        self._merged: Results = MergedPartial()
        self._unchanged: Unchanged | None = None
        self._assumed = NO_ASSUMPTIONS
        self._result: list[Result] = []  # the one that was made, after the end

    def start(self) -> None:
        """Compiles the query and starts its first pass; returns at once. Raises what is wrong with
        the query or with the first file."""
        self._start_pass(self._computes.first_pass())

    def _course(self) -> Course:
        return Course(self._state, self._reason, self.account, self._pass)

    # Queries that outlive this process.

    _left = frozenset(
        ("account", "_pool", "_lock", "_recording", "_listeners", "_happened", "_pass", "_merged")
    ) | {"_unchanged", "_assumed", "_result"}
    """Attributes that are left out when the query is sent to another process."""

    def __getstate__(self) -> dict[str, object]:
        kept = {name: value for name, value in self.__dict__.items() if name not in self._left}
        return kept | {"_account": self.account.described}

    def __setstate__(self, state: dict[str, Any]) -> None:
        files, spans, title, phase, final = state.pop("_account")
        self.__dict__.update(state)
        self.account = Account(files, spans)
        self.account.id, self.account.title = self.id, title
        self.account.phase, self.account.final_phase = phase, final
        self._recording = None
        self._set_up()

    def resume(self, pool: Pool, task: Task, attach: Callable[[Request], Pass]) -> None:
        """Resumes a query that another process has started, at the pass that workers have."""
        self._pool = pool
        self._computes.resume(pool, task)
        self._begin_pass(attach(self._request(task, ())))

    # What the user may ask.

    @property
    def key(self) -> str:
        """Opens the query for others: whoever has it may attach to the query and stop it.

        Once it was asked for, the result stays on the cluster after this process has got it, for
        as long as `connect(keep=)` says.
        """
        self._is_shared = True
        return self._key

    @property
    def done(self) -> bool:
        """True if the query has ended, well or not."""
        return QueryNews.DONE in self._happened

    @property
    def progress(self) -> Progress:
        """The progress of the query."""
        return self.account.progress

    @property
    def report(self) -> Report:
        """A report of the entries that are in the result so far, of missing ones and why, and of
        rates."""
        return self.account.report

    def snapshot(self, within: float | None = None) -> Result | None:
        """Get the results of the entries that are merged so far.

        Parameters
        ----------
        within
            Seconds to wait while a partial is merged; None: no limit.

        Returns
        -------
        result
            As from `result`. It is None before any results exist, and if `within` seconds have
            passed. If `result` has given a large result, it is the same object.

        Examples
        --------
        >>> with tm.connect(workers=1, mode="threads") as session:
        ...     query = session.submit(events.count())
        ...     query.result() == query.snapshot()
        True
        """
        if self._pass is None or not self.account.final_phase or not self._assumed.is_certain():
            return None  # also before all files are known to be what the pass takes them for
        raw = self._merged.results(within)
        if raw is None and self._result:  # a large one, of which there is no other
            return self._result[0]
        return None if raw is None else self._computes.values(raw, self._course())

    def measured(self, name: str) -> object:
        """The histogram with this name of what workers have done; None if there is none."""
        histograms = self.account.measured if name in HISTOGRAMS else None
        return None if histograms is None else histograms.histogram(name)

    def abort(self, reason: str = "aborted by the user") -> None:
        """End the query at once. Work that is not committed is lost.

        `snapshot` gives the merged results, and `report` names the entries in them.

        Parameters
        ----------
        reason
            The reason, for the report and for the error that `result` raises.
        """
        running = self._end_early(QueryState.ABORTED, reason)
        if running is not None:
            running.abort(reason)
        self._assumed.give_up()

    def stop(self, reason: str = "stopped by the user") -> None:
        """End the query soon, with the results so far. The method returns at once.

        Parameters
        ----------
        reason
            The reason, for the report.
        """
        running = self._end_early(QueryState.STOPPED, reason)
        if running is not None:
            running.stop(reason)

    def _end_early(self, state: QueryState, reason: str) -> Pass | None:
        """Notes what the user asks. Returns the pass to end; None if the query has ended."""
        if self.done:
            return None  # without the lock, under which the user's `end` may be running
        with self._lock:
            if QueryNews.DONE in self._happened:
                return None
            self._reason = self._reason or reason
            if self._state is not QueryState.ABORTED:
                self._state = state
            return self._pass

    def result(self, timeout: float | None = None, *, partial: bool = False) -> Result:
        """Wait for the end, and get the results.

        Parameters
        ----------
        timeout
            Seconds to wait; None: until the end.
        partial
            If somebody else has stopped the query, give the results of the processed entries
            instead of raising an error.

        Returns
        -------
        result
            The same as from `run`: the results of all entries or, if the query was stopped, of the
            entries that `report` names.

        Raises
        ------
        TimeoutError
            If the query takes longer.
        StoppedError
            If somebody else has stopped or aborted the query.
        TreemillError
            If the query has failed or was aborted. An error of a worker has its own class.

        Examples
        --------
        >>> with tm.connect(workers=1, mode="threads") as session:
        ...     query = session.submit(events.count())
        ...     (n,) = query.result(timeout=60)
        >>> n == events.num_entries
        True
        """
        self.watch(news := SimpleQueue[QueryNews](), QueryNews.DONE)
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self.done:
            rest = _LOOK if deadline is None else deadline - time.monotonic()
            try:
                news.get(timeout=min(max(rest, 0.0), _LOOK))
            except Empty:
                if rest <= 0:
                    raise TimeoutError(f"no result within {timeout} s") from None
                self.tell()
        return self.final(partial)

    def tell(self) -> None:
        """Warns of what keeps a query waiting, if there is something new. To be called about every
        second."""
        words = None if self._pass is None else self._pass.words()
        if words is not None:
            warn(words, RuntimeWarning)

    def drop(self) -> None:
        """Removes what was written to disk for the result."""
        self._computes.drop()

    def watch(self, news: SimpleQueue[QueryNews], *which: QueryNews) -> None:
        """Puts each of these news into the queue when it happens, or now if it has happened."""
        with self._lock:
            for each in which:
                if each in self._happened:
                    news.put(each)
                else:
                    self._listeners.append((each, news))

    def prepare(self) -> None:
        """Makes containers for the results while workers work, until the query is done. That is
        optional. To be called after `QueryNews.AT_WORK`."""
        for _ in self._computes.prepare():
            if self.done:
                return

    def final(self, partial: bool = False) -> Result:
        """The result of a query that is done. `partial`: also one that others have stopped."""
        raw = None
        try:
            self._raise_what_is_wrong()
            if self._ending is not None and not partial:
                raise self._stopped_by_others(self._ending)
            if self._skip_errors and self._state is QueryState.RUNNING:
                self.account.warn_of_missing()
            raw = None if self._result else self._merged.results()
            if raw is not None and self._computes.is_large(raw):
                self._merged = MergedPartial()  # `raw` has what was in it
            with self._lock:
                if not self._result:
                    self._result.append(self._computes.result(raw, self._course()))
                return self._result[0]
        except BaseException as error:
            if raw is not None and self._error is None and self._merged.results() is None:
                self._error = _given_up(error)
            if not self._result:
                self._computes.fail(self._merged, self._course())
            raise

    def _stopped_by_others(self, ending: Ending) -> StoppedError:
        progress = self.account.progress
        return StoppedError(
            f"the query was {ending}: its result is of {progress.entries:,} of "
            f"{progress.expected:,} entries, and query.result(partial=True) gives it",
            by=ending.by,
            partial_result=self.snapshot(),
            report=self.report,
        )

    def _raise_what_is_wrong(self) -> None:
        """Raises the error of a query that is done and has no result."""
        if self._error is not None:
            words = getattr(self._error, "traceback", None)
            if words and not getattr(self._error, "__notes__", None):
                self._error.add_note(f"In the worker:\n{words}")
            raise self._error
        if self._state is QueryState.ABORTED:
            raise TreemillError(f"the query was aborted: {self._reason}")
        if not self.account.final_phase or self._pass is None:
            raise TreemillError(f"the query was {self._reason or 'ended'} before it had results")

    # Passes.

    def _start_pass(self, planned: PlannedPass) -> None:
        task, chain, checkpointing = planned.task, planned.chain, planned.checkpointing
        self.account.phase, self.account.final_phase = planned.phase, planned.is_last
        self._assumed = NO_ASSUMPTIONS if chain is None else chain.trees.assumed
        try:
            if chain is not None:
                self._unchanged = Unchanged(chain, self._computes.spans, self._pool)
            request = self._request(task, planned.sizes, checkpointing, planned.remembering)
            self.account.remembered = planned.remembered
            if self._recording is not None:
                request = replaced(request, task=self._recording.task(task))
                self._recording.begin(self.account.phase, request)
            self.account.reading.pause()  # the pass counts itself
            running = self._pool.prepare(request)
        except BaseException:
            if checkpointing is not None:
                checkpointing.checkpoint.close()
            raise
        assumed = self._assumed
        self._begin_pass(running)
        # What it does is not wanted any more, and may wait for a server.
        assumed.when_changed(lambda: running.abort("a file has changed"))

    def _request(
        self,
        task: Task,
        sizes: Sequence[FileSize | None],
        checkpointing: Checkpointing | None = None,
        remembering: Remembering | None = None,
    ) -> Request:
        files, replicas = self.account.places.named, self._computes.replicas
        keeping = remembering or checkpointing
        return Request(
            task,
            sizes if keeping is None else keeping.with_sizes(sizes),
            workers=useful_workers(sizes, self._pool, task.share_entries),
            skip_errors=self._skip_errors,
            on_end=self._pass_ended,
            checkpointing=checkpointing,
            remembering=remembering,
            name=self.id,
            key=self._key,
            is_shared=lambda: self._is_shared and self.account.final_phase,
            title=self.title,
            memory=self._memory,
            served=None if self._monitor is False else self.account.places.node,
            trace=0 if self._recording is None else self._recording.records,
            query=self,
            addresses=lambda: addresses(files(len(sizes)), replicas),
            nodes=lambda: nodes(files(len(sizes))),
            locate=lambda wanted: located(files(len(sizes)), replicas, wanted),
        )

    def _begin_pass(self, running: Pass) -> None:
        self._pass, self._merged = running, running.merged
        self.account.begin_pass(running)
        running.on_begin = self._pass_begun
        try:
            running.begin()
        except BaseException:
            self.account.drop_pass()
            raise

    def _pass_begun(self) -> None:
        """Called on any thread when all workers have got their first packets."""
        with self._lock:
            if self.account.final_phase:
                self._announce(QueryNews.AT_WORK)

    def _pass_ended(self, ended: Pass) -> None:
        """Called on any thread after the last commit of a pass."""
        if self._recording is not None:
            self._recording.end(ended)
            if self._recording.kept:
                self.account.recorded = self._recording.recorded
        self.account.reading.prepare()  # the end of it may ask servers, and so does the next one
        try:
            error = self.account.explained(ended)
            if self._unchanged is not None:
                error = self._unchanged.error(ended, error)
            self.account.tell_end(error)
            if (planned := self._next(ended, error)) is not None:
                self._start_pass(planned)
                self._end_again()
                return
        except BaseException as problem:
            error = problem
        self._error = error
        self._ending = ended.status().ending
        self.account.end(self._ended_as(error))
        if self._recording is not None:
            self._recording.write(self.account)
        if error is not None or self._skip_errors:
            self.account.settle()  # errors hold what workers had in memory
        with self._lock:
            self._announce(QueryNews.DONE)

    def _ended_as(self, error: BaseException | None) -> str:
        """In what state the query has ended."""
        if error is not None:
            return "failed"
        if self._state is QueryState.RUNNING and self._ending is not None:
            return self._ending.state
        return _STATES[self._state]

    def _next(self, ended: Pass, error: BaseException | None) -> PlannedPass | None:
        """The pass after one that has ended, well or with this error."""
        changed = self._assumed.changed()
        self._assumed.release()
        is_running = self._state is QueryState.RUNNING
        if changed is not None and self._state is not QueryState.ABORTED:
            if not is_running:
                raise changed
            return self._computes.same_pass()
        go_on = error is None and is_running and ended.status().ending is None
        return self._computes.next_pass(ended) if go_on else None

    def _announce(self, news: QueryNews) -> None:
        """Tells the listeners. Must be called under the lock."""
        self._happened.append(news)
        for each, listener in self._listeners:
            if each is news:
                listener.put(news)
        self._listeners = [(each, queue) for each, queue in self._listeners if each is not news]

    def _end_again(self) -> None:
        """Ends the new pass, if the user has stopped or aborted the query between two passes."""
        with self._lock:
            running, reason, state = self._pass, self._reason, self._state
        if running is not None and reason is not None:
            (running.abort if state is QueryState.ABORTED else running.stop)(reason)


_STATES = {
    QueryState.RUNNING: "done",
    QueryState.STOPPED: "stopped",
    QueryState.ABORTED: "aborted",
}


def _given_up(error: BaseException) -> BaseException:
    """The error of a query of which nothing is left after an error in making its large result."""
    if isinstance(error, Exception):
        return error
    return TreemillError(
        "the result is lost, because it was interrupted while it was made: run again"
    )


def _recording_of(options: RunOptions, pool: Pool) -> Recording | None:
    if not options.keeps_trace(pool.trace):
        return None
    from .recording import recording_of  # start-up

    return recording_of(options, pool)
