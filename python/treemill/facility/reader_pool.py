"""`python -m treemill.facility.reader_pool`: a program that runs the readers of a cell, as
processes or as threads of one; all begin together. It takes the job as JSON on its standard input,
and writes what came of it to its standard output.

It is a program of its own so that nothing of an earlier cell is remembered: no connection, no file,
no thread. Readers that are processes are forked before any thread is started.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from treemill import _core

from ..errors import TreemillError
from .storage.matrix import ahead, fresh, steps
from .storage.reading import ReaderOutcome, binned, joined

if TYPE_CHECKING:
    from treemill._core import Control

__all__ = ["ALONE", "Job", "Reader", "ReaderReport", "cause", "run"]

# One reader of `treemill bench storage`: reads files one after the other until its time is up, and
# tells what it has read. Decides nothing: what is read in which steps is that of storage/.

_BLOCK = 1 << 20
"""Bytes of a request for whole files."""
_MOST_ERRORS = 3
"""A reader ends when so many files have failed."""
_LONGEST_CAUSE = 100


@dataclass(frozen=True)
class Job:
    """What each reader does."""

    way: str
    readers: int
    files: Sequence[tuple[str, str]]
    """Addresses and trees."""
    names: Sequence[str]
    """Branches; none: whole files."""
    window: int
    seconds: float
    once: bool = False
    """Whether each reader reads each file only once."""
    layout: str = "flushed"
    """How the trees' baskets lie."""


class Reader:
    """The reader with a number, counted in `control`."""

    def __init__(self, job: Job, number: int, control: Control) -> None:
        self._job = job
        self._number = number
        self._control = control
        self._end = 0.0
        self._wanted = self._events = self._files = 0
        self._errors: Counter[str] = Counter()
        self.latencies: dict[int, int] = {}
        """The latencies of blocks of whole files, and of steps through trees without a server."""
        self.whole_bytes = 0
        """Bytes of whole files."""

    def run(self, start: float) -> ReaderOutcome:
        """Reads until the time is up, which began at `start` of time.monotonic."""
        self._end = start + self._job.seconds
        files = self._job.files
        one = self._whole if not self._job.names else self._tree
        at = 0
        while time.monotonic() < self._end and self._errors.total() < _MOST_ERRORS:
            if self._job.once and at >= len(files):
                break
            path, tree = files[(self._number + at) % len(files)]
            at += 1
            try:
                one(path, tree)
            except (TreemillError, OSError) as error:
                self._errors[cause(error, path)] += 1
        seconds = time.monotonic() - start
        return ReaderOutcome(seconds, self._wanted, self._events, self._files, dict(self._errors))

    def _whole(self, path: str, tree: str) -> None:
        stored = _core.Stored(path)
        self._files += 1
        left = self._end - time.monotonic()
        read, took = stored.drain(
            0, stored.size, _BLOCK, self._job.window, max(left, 0.0), self._control
        )
        self._wanted += read
        self.whole_bytes += read
        self.latencies = joined([self.latencies, binned(took)])

    def _tree(self, path: str, name: str) -> None:
        tree = _core.File(path).tree(name)
        is_near = not tree.ahead()  # requests to servers, and to those of mounts, are recorded
        self._files += 1
        names = list(self._job.names)
        entries = tree.num_entries
        stored = tree.bytes_of(names, 0, entries)
        ranges = steps(tree.clusters, entries, stored, self._job.layout)
        sizes = [tree.bytes_of(names, *each) for each in ranges]
        wanted = fresh(lambda start, stop: tree.bytes_of(names, start, stop), ranges)
        window = self._job.window
        asked: deque[object] = deque()
        done = 0
        untils = ahead(sizes, window) if window else iter([0] * len(ranges))
        for (start, stop), size, until in zip(ranges, wanted, untils, strict=True):
            if time.monotonic() >= self._end:
                return
            while done < until:
                asked.append(tree.ask(names, *ranges[done], self._control))
                done += 1
            began = time.monotonic()
            # Without a window a branch is asked for when the one before it is here.
            for group in [names] if window else [[each] for each in names]:
                tree.read(group, start, stop, self._control)
            if is_near:
                took = time.monotonic() - began
                self.latencies = joined([self.latencies, binned([took])])
            if asked:
                asked.popleft()
            self._wanted += size
            self._events += stop - start


def cause(error: BaseException, *paths: str) -> str:
    """Returns what went wrong, without the files' own names, so that equal causes are equal.

    >>> cause(OSError("no such file: root://h//a.root"), "root://h//a.root")
    'OSError: no such file: …'
    >>> cause(OSError("refused (server h, file /a.root) (file root://h//a.root)"), "root://h//a.root")
    'OSError: refused (server h, file …)'
    """
    said = str(error).splitlines()[0] if str(error) else ""
    for path in paths:
        # Servers are asked for a file by its path alone.
        there = "/" + urlsplit(path).path.lstrip("/")
        said = said.replace(path, "…").replace(f"file {there}", "file …")
    text = f"{type(error).__name__}: {said.removesuffix(' (file …)')}"
    return text if len(text) <= _LONGEST_CAUSE else text[: _LONGEST_CAUSE - 1] + "…"


ALONE = {
    "TREEMILL_FIND_REPLICAS": "off",
    "TREEMILL_CACHE": "0",
    "TREEMILL_CACHE_METADATA_LIMIT": "0",
}
"""The environment of readers: they read from the named storage, and from nothing else."""
_MOST_RECORDED = 50_000
"""Requests of a process whose latencies are known."""


@dataclass
class ReaderReport:
    """What a process of readers tells; several add up."""

    outcomes: list[ReaderOutcome] = field(default_factory=list)
    bytes_asked: int = 0
    requests: int = 0
    cpu: float = 0.0
    latencies: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> ReaderReport:
        """Makes it of JSON, whose keys are texts."""
        bins = {int(number): count for number, count in document["latencies"].items()}
        outcomes = [ReaderOutcome(**each) for each in document["outcomes"]]
        return cls(outcomes, document["bytes_asked"], document["requests"], document["cpu"], bins)

    def add(self, other: ReaderReport) -> None:
        """Both together."""
        self.outcomes += other.outcomes
        self.bytes_asked += other.bytes_asked
        self.requests += other.requests
        self.cpu += other.cpu
        self.latencies = joined([self.latencies, other.latencies])


def run(job: Job) -> ReaderReport:
    """Runs all readers of the job, and returns what they tell."""
    # Nothing may be remembered from one reading to the next, in memory or on disk.
    _core.set_cache_limit(0)
    _core.set_disk_cache(None, 0, None)
    _core.set_metadata_cache(None, 0, None)
    _core.set_shared_cache(None)
    if job.way == "streams":
        return _streams(job, range(job.readers), time.monotonic)
    return _processes(job)


def _streams(job: Job, numbers: Sequence[int], start: Callable[[], float]) -> ReaderReport:
    """Readers as threads of this process; `start` waits until all may begin, and says when."""
    # Bytes of whole files are timed by the block.
    _core.record_reads(_MOST_RECORDED if job.names else 0)
    control = _core.Control()
    readers = [Reader(job, number, control) for number in numbers]
    outcomes: list[ReaderOutcome] = []
    before = time.process_time()
    began = start()

    def one(reader: Reader) -> None:
        try:
            outcomes.append(reader.run(began))
        except BaseException as error:  # a reader that breaks is an error of the cell
            seconds = time.monotonic() - began
            outcomes.append(ReaderOutcome(seconds, errors={cause(error): 1}))

    if len(readers) == 1:
        one(readers[0])
    else:
        threads = [threading.Thread(target=one, args=(reader,)) for reader in readers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    servers = control.servers
    recorded, _ = _core.recorded_reads()
    steps = joined(each.latencies for each in readers)
    # Of whole files each block that came is known.
    asked, requests = sum(each.whole_bytes for each in readers), sum(steps.values())
    if job.names:
        asked = sum(each[4] for each in servers) or control.bytes_read
        requests = sum(each[3] for each in servers)
    return ReaderReport(
        outcomes,
        asked,
        requests,
        time.process_time() - before,
        joined([binned(each[6] for each in recorded), steps]),
    )


def _processes(job: Job) -> ReaderReport:
    """Readers as processes of one thread each, which this process has forked."""
    gate, opener = os.pipe()
    here, ready = os.pipe()
    with tempfile.TemporaryDirectory(prefix="treemill-readers-") as folder:
        pids = {}
        for number in range(job.readers):
            pid = os.fork()
            if not pid:
                os.close(opener)
                _child(job, number, gate, ready, Path(folder))
            pids[pid] = number
        os.close(gate)
        os.close(ready)
        waiting = job.readers
        while waiting:
            came = len(os.read(here, waiting))
            waiting = waiting - came if came else 0
        os.write(opener, repr(time.monotonic()).encode().ljust(_STAMP) * job.readers)
        os.close(opener)
        answer = ReaderReport()
        for pid, number in pids.items():
            _, status = os.waitpid(pid, 0)
            path = Path(folder, str(number))
            if path.exists():
                answer.add(ReaderReport.of(json.loads(path.read_text())))
            else:
                code = os.waitstatus_to_exitcode(status)
                answer.outcomes.append(
                    ReaderOutcome(errors={f"a reader died: exit status {code}": 1})
                )
        return answer


_STAMP = 32
"""Bytes of a time in the pipe at which readers wait; each takes one."""


def _child(job: Job, number: int, gate: int, ready: int, folder: Path) -> None:
    code = 1
    try:

        def start() -> float:
            os.write(ready, b".")
            return float(os.read(gate, _STAMP))

        text = json.dumps(asdict(_streams(job, [number], start)))
        part = folder / f"{number}.part"
        part.write_text(text)
        part.rename(folder / str(number))
        code = 0
    finally:
        os._exit(code)


if __name__ == "__main__":
    given = json.load(sys.stdin)
    given["files"] = [tuple(each) for each in given["files"]]
    json.dump(asdict(run(Job(**given))), sys.stdout)
