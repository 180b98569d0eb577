"""Where the files of a pass lie: the hosts that their addresses and those of their replicas name,
and those that servers name when they are asked. So workers may read the files of their own host.
Knows no worker.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..data import source
from ..scheduling import node_of

__all__ = ["addresses", "located", "nodes"]

_BATCH = 256
"""Files whose hosts are told at once: the first are wanted before the last are known."""


def nodes(files: Sequence[str]) -> list[str | None]:
    """The node of each file; None if its name has no host.

    >>> nodes(["root://server//store/a.root", "/data/b.root"])
    ['root://server/store', None]
    """
    return [node_of(file) if source.is_url(file) else None for file in files]


def addresses(
    files: Sequence[str], replicas: Mapping[str, Sequence[str]]
) -> dict[int, Sequence[str]]:
    """All addresses of each file that has several, by its number. `replicas`: these, by its path.

    >>> addresses(["/a.root", "root://one//b.root"], {"root://one//b.root": ["root://one//b.root"]})
    {1: ['root://one//b.root']}
    """
    if not replicas:
        return {}
    return {number: replicas[file] for number, file in enumerate(files) if file in replicas}


def located(
    files: Sequence[str], replicas: Mapping[str, Sequence[str]], wanted: Iterable[int]
) -> Iterator[dict[int, list[str]]]:
    """The addresses of the files `wanted`, by their numbers, at the hosts that have them. Only of
    files whose servers lead to others; servers that lead nowhere are asked once, and none is asked
    for files with `replicas`."""
    by_server: dict[str, list[int]] = {}
    for number in wanted:
        file = files[number]
        if source.is_url(file) and file not in replicas:
            by_server.setdefault(source.server(file), []).append(number)
    first = source.hosts([files[numbers[0]] for numbers in by_server.values()])
    leading = [n for numbers in by_server.values() if first.get(files[numbers[0]]) for n in numbers]
    leading.sort()
    for begin in range(0, len(leading), _BATCH):
        batch = leading[begin : begin + _BATCH]
        hosts = source.hosts([files[number] for number in batch])
        yield {number: hosts[files[number]] for number in batch if hosts.get(files[number])}
