"""The types of what `facts.gather` tells of a process. That module is sent as text to workers
without treemill, so that it cannot name them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

__all__ = ["CredentialFacts", "FileFacts", "ProcessFacts", "ScratchFacts", "UserFacts"]


class FileFacts(TypedDict):
    """What one process says of a file."""

    size: int | None
    error: str | None
    """Why it cannot be read."""
    content: str | None
    """Why it, or the tree in it, cannot be opened."""
    opened: bool
    """Whether it was opened, which needs treemill."""


class CredentialFacts(TypedDict):
    """What one process says of a file with a credential."""

    path: str
    readable: bool


class ScratchFacts(TypedDict):
    """What one process says of its folder for temporary files."""

    path: str
    free: int | None
    """Bytes."""
    error: str | None
    """Why it cannot be written to."""


class UserFacts(TypedDict):
    """The user of one process."""

    uid: int
    groups: Sequence[int]


class ProcessFacts(TypedDict):
    """What `facts.gather` gives in one process."""

    host: str
    pid: int
    time: float
    python: str
    implementation: str
    machine: str
    packages: Mapping[str, str | None]
    treemill: str | None
    """Why treemill cannot be imported."""
    environment: Mapping[str, str]
    user: UserFacts
    files: Mapping[str, FileFacts]
    proxy: CredentialFacts | None
    token: CredentialFacts | None
    scratch: ScratchFacts
    memory: int | None
    cores: int | None
    open_files: int | None
