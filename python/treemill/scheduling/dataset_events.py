"""What a packetizer is told of its dataset: sizes of files, files that come and go, and places."""

from __future__ import annotations

from collections.abc import Mapping

from ..frozen import frozen


@frozen
class FileSize:
    """A file's entries and cuts, if they are known before a worker has opened it. `ahead`: as in
    FileOpened, if that is known too; it is believed of all files until workers have seen some."""

    entries: int
    cuts: tuple[int, ...] = ()
    ahead: int = 0


@frozen
class Beyond:
    """What is expected to be added later: entries, and files of unknown size beside."""

    entries: float = 0.0
    files: float = 0.0


NOTHING_BEYOND = Beyond()


@frozen
class FilesAdded:
    """There are more files (only if the policy says `growing`). They are numbered on from those
    before. `nodes`: the node of each, as in Packetizer. `beyond`: what will come after them."""

    files: tuple[FileSize | None, ...]
    nodes: tuple[str | None, ...]
    beyond: Beyond = NOTHING_BEYOND


@frozen
class FilesLocated:
    """It has become known which nodes these files lie on, by their numbers. It changes nothing for
    those of which a worker has begun something."""

    nodes: Mapping[int, str]


@frozen
class NoMoreFiles:
    """No further files are expected, so that idle workers may run what others are late with. If
    files are added all the same, more are expected again."""


@frozen
class GiveBack:
    """About this many entries that no worker has begun are to be given back (only if the policy
    says `growing`); None: all of them. `among`: of these files only."""

    entries: int | None = None
    among: frozenset[int] | None = None
