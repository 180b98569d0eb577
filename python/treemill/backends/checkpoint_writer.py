"""Keeps a pass's merged partial on disk while the pass runs, and once more at its end.

A thread does it at the pace that the checkpoint asks for. Knows no worker and no packetizer, nor
where the partial comes from.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..checkpoint import Checkpoint, Pace, PassRecord
from ..errors import TreemillError, UnsupportedError, warn
from ..scheduling import FileSize, Ranges
from ..workers.workload import Partial
from .merged_partial import MergedPartial

__all__ = ["CheckpointWriter", "Checkpointing", "PassWriter"]


@dataclass(frozen=True)
class Checkpointing:
    """What is kept of a pass on disk."""

    checkpoint: Checkpoint
    record: PassRecord | None
    """What was kept before."""
    check: Callable[[Partial], None]
    """Raises an error about a partial that cannot be kept."""
    what: str = "checkpoint="
    """What users call it."""

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


class PassWriter(ABC):
    """A thread that keeps on disk, now and then, what a pass has merged; and once more at its end.
    What goes wrong is a warning: the result of the pass does not depend on it."""

    def __init__(self, what: str, pace: Pace) -> None:
        """`what`: what users call it."""
        self.what = what
        self._pace = pace
        self._over = threading.Event()
        self._closed = False
        self._warned = False
        self._thread = threading.Thread(target=self._run, name="treemill-checkpoint", daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    @property
    @abstractmethod
    def entries(self) -> int:
        """The entries that are on disk."""

    def end(self, save: bool = True) -> None:
        """Keeps what is merged at the end, if `save`. To be called once, before the results are
        handed on."""
        self._over.set()
        if save:
            self._tried(self._last)
        self._close()

    def _run(self) -> None:
        wait = self._pace.wait(0.0)
        while not self._over.wait(wait):
            began = time.perf_counter()
            self._tried(self._keep)
            wait = self._pace.wait(time.perf_counter() - began)

    @abstractmethod
    def _keep(self) -> None:
        """Keeps what is merged now. May be called on two threads, and after the end."""

    def _last(self) -> None:
        """Keeps what is merged at the end."""
        self._keep()

    @abstractmethod
    def _close(self) -> None:
        """Nothing is kept from now on."""

    def _tried(self, keep: Callable[[], None]) -> None:
        try:
            keep()
        except TreemillError as error:  # the run continues: its result does not depend on this
            self._warn(str(error))
        except Exception as error:  # the user's objects may refuse
            self._warn(f"{type(error).__name__}: {error}")

    def _warn(self, reason: str) -> None:
        if not self._warned and not self._closed:
            self._warned = True
            warn(f"nothing new is kept by {self.what}: {reason}", RuntimeWarning)


class CheckpointWriter(PassWriter):
    """Replaces the record of a pass."""

    def __init__(
        self,
        checkpointing: Checkpointing,
        kept: Callable[[], tuple[bytes, Ranges] | None],
        sizes: Callable[[], Mapping[int, int]],
    ) -> None:
        """`kept` gives what is merged now, as `MergedPartial.kept` does; it may take a while.
        `sizes`: asks for the entries of the files that are known."""
        super().__init__(checkpointing.what, checkpointing.checkpoint.pace)
        self._checkpoint = checkpointing.checkpoint
        self._kept = kept
        self._sizes = sizes
        self._entries = 0 if checkpointing.record is None else checkpointing.record.entries
        self._writing = threading.Lock()

    @property
    def entries(self) -> int:
        """See PassWriter."""
        return self._entries

    def _keep(self) -> None:
        kept = self._kept()
        if kept is not None:
            self._write(*kept, self._sizes())

    def _close(self) -> None:
        with self._writing:
            self._closed = True
            self._checkpoint.close()

    def _write(self, partial: bytes, covers: Ranges, sizes: Mapping[int, int]) -> None:
        """Replaces the record. One with less stays: the pass may have lost what a merger had, and
        another save may have been faster."""
        entries = sum(stop - start for ranges in covers.values() for start, stop in ranges)
        with self._writing:
            if entries > self._entries and not self._closed:
                self._checkpoint.save(partial, covers, sizes)
                self._entries = entries
