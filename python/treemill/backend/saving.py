"""Keeps a pass's merged partial on disk while the pass runs, and once more at its end.

A thread does it at the pace that the checkpoint asks for. Knows no worker and no packetizer.
"""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..checkpoint import Checkpoint, Record
from ..errors import TreemillError
from ..worker.workload import Partial
from .merged import Covered, Merged

__all__ = ["Keeping", "Saving"]


@dataclass(frozen=True)
class Keeping:
    """What is kept of a pass on disk."""

    checkpoint: Checkpoint
    record: Record | None
    """What was kept before."""
    check: Callable[[Partial], None]
    """Raises an error about a partial that cannot be kept."""

    def merged(self, load: Callable[[bytes], Partial]) -> Merged:
        """The merged partial to begin with. `load` rebuilds a partial from its bytes."""
        covered = Covered(check=self.check)
        if self.record is None:
            return Merged(covered=covered)
        covered.processed = {file: [*ranges] for file, ranges in self.record.processed.items()}
        return Merged(load(self.record.partial), covered)


class Saving:
    """The thread, and what it saves."""

    def __init__(
        self, checkpoint: Checkpoint, merged: Merged, sizes: Callable[[], Mapping[int, int]]
    ) -> None:
        """`sizes`: asks for the entries of the files that are known."""
        self._checkpoint = checkpoint
        self._merged = merged
        self._sizes = sizes
        self._over = threading.Event()
        self._saving = threading.Lock()
        self._warned = False
        self._thread = threading.Thread(target=self._run, name="treemill-checkpoint", daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def end(self) -> None:
        """Saves what is merged at the end. To be called once, before the results are handed on."""
        self._over.set()
        self._save()
        self._checkpoint.close()

    def _run(self) -> None:
        wait = self._checkpoint.pace.wait(0.0)
        while not self._over.wait(wait):
            wait = self._checkpoint.pace.wait(self._save())

    def _save(self) -> float:
        """Saves what is merged now. Returns the seconds that it took."""
        with self._saving:
            began = time.perf_counter()
            try:
                kept = self._merged.kept()
                if kept is not None:
                    self._checkpoint.save(*kept, self._sizes())
            except TreemillError as error:  # the run goes on: its result does not depend on this
                self._warn(str(error))
            except Exception as error:  # the user's objects may refuse
                self._warn(f"{type(error).__name__}: {error}")
            return time.perf_counter() - began

    def _warn(self, reason: str) -> None:
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"nothing new is kept by checkpoint=: {reason}", RuntimeWarning, stacklevel=2
            )
