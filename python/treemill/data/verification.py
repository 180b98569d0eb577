"""What `treemill dataset verify` has found of a file and wrote into its list, so that later runs
need not open the file to plan; and whether the file is still the same when it is opened. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..errors import QueryError, SourceError

__all__ = ["VerifiedFile", "verified_of"]

_KEYS = ("size", "num_entries", "clusters")


@dataclass(frozen=True)
class VerifiedFile:
    """A file, as it was when it was verified."""

    size: int
    """Bytes."""
    entries: int
    clusters: tuple[int, ...]
    """The first entry of each cluster."""
    uuid: str | None = None
    """The UUID in the file's header; None if it has none."""

    def check(self, path: str, size: int, uuid: str | None, entries: int) -> None:
        """Raises SourceError if the file at this path is another one now."""
        actual = {"bytes": size, "UUID": uuid, "entries": entries}
        noted = {"bytes": self.size, "UUID": self.uuid, "entries": self.entries}
        for what, now in actual.items():
            then = noted[what]
            if then != now and then is not None:
                raise SourceError(
                    f"{path} is not the file that was verified: its {what} are {now} now, and were "
                    f"{then}. Verify the fileset again: treemill dataset verify",
                    file=path,
                )

    def to_json(self) -> dict[str, object]:
        """Returns what the list has of it."""
        document: dict[str, object] = {"num_entries": self.entries, "size": self.size}
        if self.uuid is not None:
            document["uuid"] = self.uuid
        return {**document, "clusters": list(self.clusters)}


def verified_of(file: Mapping[str, object], of: str) -> VerifiedFile | None:
    """Returns what a fileset says of a file; None if the file was not verified. Raises QueryError
    for what makes no sense. `of`: the fileset, for messages."""
    if not all(key in file for key in _KEYS):
        return None
    size, entries, clusters = (file[key] for key in _KEYS)
    uuid = file.get("uuid")
    whole = (isinstance(each, int) and each >= 0 for each in (size, entries))
    if not all(whole) or not isinstance(clusters, Sequence) or not _ascend(clusters, entries):
        raise QueryError(
            f"{of}: a verified file has size, num_entries and clusters, which are numbers and the "
            "first entries of clusters: treemill dataset verify writes them"
        )
    assert isinstance(size, int)
    assert isinstance(entries, int)
    return VerifiedFile(size, entries, tuple(clusters), str(uuid) if uuid else None)


def _ascend(clusters: Sequence[object], entries: object) -> bool:
    before = -1
    for first in clusters:
        if not isinstance(first, int) or not isinstance(entries, int):
            return False
        if first <= before or first > entries:
            return False
        before = first
    return True
