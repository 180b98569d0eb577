"""What a packetizer is told of its dataset: sizes of files, and places."""

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
class FilesLocated:
    """It has become known which nodes these files lie on, by their numbers. It changes nothing for
    those of which a worker has begun something."""

    nodes: Mapping[int, str]
