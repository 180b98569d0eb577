"""A merged partial and the entries that it covers: partials are merged into it as they are
committed, by the process that schedules a pass, by a merger of a cluster, or by a client; and how
it is kept on disk while the pass runs.

Knows partials by their protocol only. Which entries the result of a pass has is in the packetizer's
ledger. They are noted here too, because what is kept on disk must be of one moment.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ..checkpoint import Checkpoint, PassRecord
from ..errors import TreemillError, UnsupportedError, warn
from ..scheduling import FileSize, Range, Ranges, joined
from ..workers.workload import Partial

__all__ = ["CheckpointWriter", "Checkpointing", "MergedPartial"]

Found = TypeVar("Found")

_LOOK = 0.1
"""Seconds between two checks whether a merge was given up."""


def _nothing(partial: Partial) -> None:
    """Accepts every partial."""


class MergedPartial:
    """The partial into which all others are merged. Thread-safe: a worker may commit while another
    thread asks for results."""

    def __init__(
        self,
        partial: Partial | None = None,
        covers: Ranges | None = None,
        check: Callable[[Partial], None] = _nothing,
    ) -> None:
        """`partial`: what is merged already. `covers`: its entries. `check` raises an error about a
        partial that cannot be merged here."""
        self._lock = threading.Lock()
        self._partial = partial
        self._covers: dict[int, list[Range]] = {}
        if covers:
            self._covers = {file: list(ranges) for file, ranges in covers.items()}
        self._check = check
        self._given_up = False
        self._broken = False  # a merge has failed half way

    def commit(self, partial: Partial, covers: Ranges) -> None:
        """Merges a partial, which the caller must not use afterwards. `covers`: its entries."""
        with self._lock:
            self._check(partial)
            if self._partial is None:
                self._partial = partial
            else:
                try:
                    self._partial.merge(partial)
                except BaseException:
                    self._broken = True
                    raise
            for file, ranges in covers.items():
                self._covers.setdefault(file, []).extend(ranges)

    def is_disjoint(self) -> bool:
        """True if no two partials had the same entries."""
        with self._lock:
            try:
                self._join()
            except RuntimeError:
                return False
        return True

    def _join(self) -> None:
        self._covers = {file: joined(ranges) for file, ranges in self._covers.items()}

    def give_up(self) -> None:
        """Called when a merge does not end: from now on there are no results."""
        self._given_up = True

    def results(self, within: float | None = None) -> list[object] | None:
        """The results so far, one per booking. None before the first commit, and if a merge takes
        more than `within` seconds or was given up."""
        return self._of_partial(lambda partial: list(partial.results()), within)

    def take(self) -> Partial | None:
        """See Results."""
        return self._of_partial(lambda partial: None if self._broken else partial)

    def kept(self) -> tuple[bytes, Ranges] | None:
        """The partial in bytes, and the entries that it covers, as ascending ranges. None before
        the first commit, and if a merge was given up or has failed. Raises RuntimeError if two
        partials had the same entries."""
        return self._of_partial(self._in_bytes)

    def _in_bytes(self, partial: Partial) -> tuple[bytes, Ranges] | None:
        if self._broken:
            return None
        self._join()
        return partial.dumps(), {file: list(ranges) for file, ranges in self._covers.items()}

    def _of_partial(
        self, look: Callable[[Partial], Found | None], within: float | None = None
    ) -> Found | None:
        """Returns what `look` gives of the partial, which does not change meanwhile. None if there
        is none, and if a merge takes more than `within` seconds or was given up."""
        waited = 0.0
        while not self._lock.acquire(timeout=_LOOK):
            waited += _LOOK
            if self._given_up or (within is not None and waited >= within):
                return None
        try:
            return None if self._given_up or self._partial is None else look(self._partial)
        finally:
            self._lock.release()


# Keeps a pass's merged partial on disk while the pass runs, and once more at its end.
#
# A thread does it at the pace that the checkpoint asks for. Knows no worker and no packetizer, nor
# where the partial comes from.


@dataclass(frozen=True)
class Checkpointing:
    """What is kept of a pass on disk."""

    checkpoint: Checkpoint
    record: PassRecord | None
    """What was kept before."""
    check: Callable[[Partial], None]
    """Raises an error about a partial that cannot be kept."""

    @property
    def processed(self) -> Ranges:
        """The entries that are in the result already."""
        return {} if self.record is None else self.record.processed

    def merged(self, load: Callable[[bytes], Partial]) -> MergedPartial:
        """The merged partial to begin with. `load` rebuilds a partial from its bytes."""
        if self.record is None:
            return MergedPartial(check=self.check)
        return MergedPartial(load(self.record.partial), self.record.processed, self.check)

    def checkpoint_writer(
        self,
        kept: Callable[[], tuple[bytes, Ranges] | None],
        sizes: Callable[[], Mapping[int, int]],
    ) -> CheckpointWriter:
        """The thread that keeps a pass; see CheckpointWriter."""
        return CheckpointWriter(self, kept, sizes)

    def with_sizes(self, sizes: Sequence[FileSize | None]) -> list[FileSize | None]:
        """The files' sizes, with those of files that are done already: they need not be opened."""
        known = list(sizes)
        if self.record is not None:
            for file, size in self.record.sizes.items():
                if known[file] is None and list(self.record.processed[file]) == [(0, size)]:
                    known[file] = FileSize(size)
        return known

    def with_sizes_of_begun(self, sizes: Sequence[FileSize | None]) -> list[FileSize | None]:
        """The files' sizes, with those of all files of which entries are done, for what divides the
        rest before the files are opened. Raises UnsupportedError if the record has not got one."""
        known = list(sizes)
        processed = {} if self.record is None else self.record.processed
        kept = {} if self.record is None else self.record.sizes
        for file in processed:
            if known[file] is None:
                if file not in kept:
                    raise UnsupportedError(
                        "the checkpoint does not say how many entries "
                        f"{self.checkpoint.of.files[file]} has, which a session of several sites "
                        "must know: go on with a session of one site"
                    )
                known[file] = FileSize(kept[file])
        return known


class CheckpointWriter:
    """The thread, and what it saves."""

    def __init__(
        self,
        checkpointing: Checkpointing,
        kept: Callable[[], tuple[bytes, Ranges] | None],
        sizes: Callable[[], Mapping[int, int]],
    ) -> None:
        """`kept` gives what is merged now, as `MergedPartial.kept` does; it may take a while.
        `sizes`: asks for the entries of the files that are known."""
        self._checkpoint = checkpointing.checkpoint
        self._kept = kept
        self._sizes = sizes
        self._entries = 0 if checkpointing.record is None else checkpointing.record.entries
        self._over = threading.Event()
        self._writing = threading.Lock()
        self._closed = False
        self._warned = False
        self._thread = threading.Thread(target=self._run, name="treemill-checkpoint", daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    @property
    def entries(self) -> int:
        """The entries that are on disk."""
        return self._entries

    def end(self, save: bool = True) -> None:
        """Saves what is merged at the end, if `save`. To be called once, before the results are
        handed on."""
        self._over.set()
        if save:
            self._save()
        with self._writing:
            self._closed = True
            self._checkpoint.close()

    def _run(self) -> None:
        wait = self._checkpoint.pace.wait(0.0)
        while not self._over.wait(wait):
            wait = self._checkpoint.pace.wait(self._save())

    def _save(self) -> float:
        """Saves what is merged now. Returns the seconds that it took."""
        began = time.perf_counter()
        try:
            kept = self._kept()
            if kept is not None:
                self._write(*kept, self._sizes())
        except TreemillError as error:  # the run continues: its result does not depend on this
            self._warn(str(error))
        except Exception as error:  # the user's objects may refuse
            self._warn(f"{type(error).__name__}: {error}")
        return time.perf_counter() - began

    def _write(self, partial: bytes, covers: Ranges, sizes: Mapping[int, int]) -> None:
        """Replaces the record. One with less stays: the pass may have lost what a merger had, and
        another save may have been faster."""
        entries = sum(stop - start for ranges in covers.values() for start, stop in ranges)
        with self._writing:
            if entries > self._entries and not self._closed:
                self._checkpoint.save(partial, covers, sizes)
                self._entries = entries

    def _warn(self, reason: str) -> None:
        if not self._warned and not self._closed:
            self._warned = True
            words = f"nothing new is kept by checkpoint=: {reason}"
            warn(words, RuntimeWarning)
