"""What tells one state of one file from any other. Data only."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

__all__ = ["Identity"]


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
