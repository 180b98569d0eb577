"""What a lease asks of a site's pool, from what the whole pass asks: the parts of files that are
leased are the files of the site's pass. Knows no site and no lessor."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from ...scheduling.messages import Part
from ..base import Pass, Request
from .leased_task import LeasedTask

__all__ = ["leased_request"]


def leased_request(
    whole: Request, parts: Sequence[Part], workers: int, on_end: Callable[[Pass], None]
) -> Request:
    """The request for a pass over these parts. Failures are skipped: the lessor decides what comes
    of them."""
    served, locate = whole.served, whole.locate
    return Request(
        LeasedTask(whole.task, parts),
        [part.size for part in parts],
        workers,
        skip_errors=True,
        on_end=on_end,
        trace=whole.trace,
        served=None if served is None else lambda number: served(parts[number].file),
        addresses=lambda: _by_part(parts, whole.addresses()),
        nodes=lambda: _nodes(parts, whole.nodes()),
        locate=None if locate is None else lambda wanted: _located(parts, wanted, locate),
    )


def _by_part(
    parts: Sequence[Part], by_file: Mapping[int, Sequence[str]]
) -> dict[int, Sequence[str]]:
    return {n: by_file[part.file] for n, part in enumerate(parts) if part.file in by_file}


def _nodes(parts: Sequence[Part], nodes: Sequence[str | None]) -> list[str | None]:
    return [nodes[part.file] for part in parts] if nodes else []


def _located(
    parts: Sequence[Part],
    wanted: Collection[int],
    locate: Callable[[Collection[int]], Iterator[Mapping[int, Sequence[str]]]],
) -> Iterator[dict[int, Sequence[str]]]:
    numbers: dict[int, list[int]] = defaultdict(list)  # of a file's parts
    for number in wanted:
        numbers[parts[number].file].append(number)
    for found in locate(sorted(numbers)):
        mine = {number: at for file, at in found.items() for number in numbers.get(file, ())}
        if mine:
            yield mine
