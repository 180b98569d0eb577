"""What a session, its template process and its workers say to each other, besides the packetizer's
own events and actions, which travel as they are."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "Crashed",
    "Drop",
    "Exited",
    "Failed",
    "Fork",
    "Hand",
    "Inputs",
    "Kill",
    "Load",
    "Loaded",
    "Pulse",
    "Ready",
    "Started",
]

Key = tuple[int, int]
"""A worker: its pass and its number in it."""

# From the session to the template.


@dataclass(frozen=True, slots=True)
class Inputs:
    """A selector's inputs, for the loads that follow."""

    digest: bytes
    data: bytes


@dataclass(frozen=True, slots=True)
class Load:
    """A pass's task."""

    number: int
    digest: bytes | None
    data: bytes


@dataclass(frozen=True, slots=True)
class Fork:
    """Start a worker; its socket comes with the message. `memory`: bytes that it may take."""

    key: Key
    memory: int | None


@dataclass(frozen=True, slots=True)
class Kill:
    """End a worker that does not answer."""

    key: Key


@dataclass(frozen=True, slots=True)
class Drop:
    """A pass is over."""

    number: int


# From the template to the session.


@dataclass(frozen=True, slots=True)
class Ready:
    """The template has started."""

    pid: int


@dataclass(frozen=True, slots=True)
class Loaded:
    """The task is there, workers may be forked."""

    number: int


@dataclass(frozen=True, slots=True)
class Failed:
    """The task could not be loaded, or a worker not started."""

    number: int
    error: BaseException


@dataclass(frozen=True, slots=True)
class Started:
    """A worker has this process id."""

    key: Key
    pid: int


@dataclass(frozen=True, slots=True)
class Exited:
    """A worker is gone. `code` as subprocess has it: negative where a signal ended it."""

    key: Key
    code: int


# From a worker to the session.


@dataclass(frozen=True, slots=True)
class Pulse:
    """A sign of life, with the worker's counters."""

    entries: int = 0
    bytes_read: int = 0
    bytes_decompressed: int = 0
    bytes_from_cache: int = 0


@dataclass(frozen=True, slots=True)
class Hand:
    """A partial, and thereby the word that its packets are committed."""

    data: bytes
    pulse: Pulse
    """The counters at this moment."""


@dataclass(frozen=True, slots=True)
class Crashed:
    """The worker cannot go on, and nobody could."""

    error: BaseException
