"""Passes that resume from a checkpoint: what it had when the pass began, and the pass that the
cluster still has because its client was killed.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ...checkpoint.digest import digest
from ...errors import QueryError
from ...scheduling import Ranges
from ...workers.workload import Partial
from ..base import Request
from ..merged_partial import MergedPartial
from ..remembered_partial import Remembering, Sizes
from .messages import CheckpointName, Listed
from .scheduler_client import SchedulerClient

__all__ = ["Resumption", "checkpoint_name", "find_running", "into", "zipped"]

# Bytes that are sent once and named by their content: tasks, inputs, packages, queries.


def zipped(folder: str) -> bytes:
    """The files of a folder as an archive. The same files give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file():
                name = path.relative_to(folder).as_posix()
                archive.writestr(zipfile.ZipInfo(name), path.read_bytes())
    return buffer.getvalue()


def into(blobs: dict[str, bytes], data: bytes) -> str:
    """Adds bytes to `blobs`. Gives their digest."""
    digest = hashlib.blake2b(data, digest_size=20).hexdigest()
    blobs[digest] = data
    return digest


@dataclass(frozen=True)
class Resumption:
    """What a pass begins with. The scheduler has it too, for clients that attach."""

    partial: bytes | None = None
    covers: Ranges | None = None
    remembering: Remembering | None = None
    """What is remembered of its results."""

    @staticmethod
    def of(request: Request) -> Resumption:
        """Returns what is kept of a new pass."""
        if request.remembering is not None:
            return Resumption(None, request.remembering.processed, request.remembering)
        record = None if request.checkpointing is None else request.checkpointing.record
        return Resumption() if record is None else Resumption(record.partial, record.processed)

    @staticmethod
    def got(scheduler_client: SchedulerClient, named: str | None) -> Resumption:
        """Returns what the scheduler has under this digest."""
        if named is None:
            return Resumption()
        data = scheduler_client.get(named)
        if data is None:
            raise QueryError("the scheduler has dropped the query meanwhile")
        before: Resumption = pickle.loads(data)
        return before

    def put(self, blobs: dict[str, bytes]) -> str | None:
        """Adds it to what the scheduler gets. Gives its digest; None if there is nothing."""
        if self.partial is None and self.remembering is None:
            return None
        return into(blobs, pickle.dumps(self))

    def merged(
        self,
        load: Callable[[bytes], Partial],
        check: Callable[[Partial], None],
        sizes: Sizes,
    ) -> MergedPartial:
        """It as a partial, to be merged into. `load` rebuilds one from its bytes; `check`: see
        Merged."""
        if self.remembering is not None:
            return self.remembering.merged(sizes)
        partial = None if self.partial is None else load(self.partial)
        return MergedPartial(partial, self.covers, check)


def checkpoint_name(request: Request) -> CheckpointName | None:
    """Names the checkpoint of a pass, if it has one."""
    if request.checkpointing is None:
        return None
    checkpoint = request.checkpointing.checkpoint
    of = checkpoint.of
    what = (of.fingerprint.versions, of.fingerprint.parts, of.identities, request.skip_errors)
    return CheckpointName(checkpoint.name(), digest(what))


def find_running(
    scheduler_client: SchedulerClient, kept: CheckpointName
) -> tuple[str, Resumption] | None:
    """The pass that keeps in this checkpoint, with what it began with: its client has ended, and
    nothing of what it has done need be done again. None if there is none. Passes that were to keep
    something else there are ended."""
    listed: list[Listed] = scheduler_client.ask("listed")
    for each in listed:
        other = each.request.kept
        if other is None or other.place != kept.place:
            continue
        with suppress(QueryError):  # its client had the result, and has dropped it meanwhile
            if other == kept and scheduler_client.watch(each.work, -1, 0.0).ended is None:
                return each.work, Resumption.got(scheduler_client, each.request.before)
        scheduler_client.ask("forget", each.work)
    return None
