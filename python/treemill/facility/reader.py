"""One reader of `treemill bench storage`: reads files one after the other until its time is up, and
tells what it has read. Decides nothing: what is read in which steps is that of storage/."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..errors import TreemillError
from .storage.matrix import ahead, fresh, steps
from .storage.reading import ReaderOutcome, binned, joined

if TYPE_CHECKING:
    from treemill._core import Control

__all__ = ["Job", "Reader", "cause"]

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
        from treemill import _core  # heavy: core

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
        from treemill import _core  # heavy: core

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
