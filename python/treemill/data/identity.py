"""What tells one state of one file from any other. Data and their comparison only."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

__all__ = ["FileState", "Identity"]


class Identity(NamedTuple):
    """What tells one state of one file from any other. Two looks at a file that give equal
    identities saw the same bytes, if the file was settled at the first look."""

    size: int
    """Bytes."""
    changed: int
    """When the file was changed last, in nanoseconds since 1970; 0 if the storage does not say."""
    marks: tuple[Hashable, ...]
    """Whatever else the storage tells: device, inode and times of a local file; the entity tag,
    checksum or version of a remote one."""


class FileState(NamedTuple):
    """A file as one process has read it, for others to compare with what they have read. Two hosts
    may share a disk, or have a copy each under one path."""

    size: int
    """Bytes."""
    uuid: str | None
    """The UUID in the file's header, which copies share and other files do not."""
    place: tuple[Hashable, ...]
    """The host, the device and the inode."""
    times: tuple[Hashable, ...]
    """When it was changed. Tells something of one place only."""

    def agrees(self, other: FileState) -> bool:
        """True if the file has the same bytes, as far as anyone can tell."""
        is_same = (self.size, self.uuid) == (other.size, other.uuid)
        return is_same and (self.place != other.place or self.times == other.times)
