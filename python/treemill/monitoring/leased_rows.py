"""Rows of a pass that several sites did together, from the traces of their leases: as those of one,
with a number for each worker of each site. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ..scheduling import LeasedTrace
from .row import Row
from .rows import Place, rows

__all__ = ["leased_rows"]

_NAMES = {"start": "lease", "end": "lease ended"}
"""What the begin and the end of a site's pass are for the whole."""


def leased_rows(
    leases: Sequence[LeasedTrace],
    place: Place,
    *,
    began: float,
    seconds: float,
    phase: str = "",
    offset: float = 0.0,
    reason: str = "",
) -> list[Row]:
    """The rows. `began`: when the pass was made, on the clock of the leases; `seconds`: how long it
    took; `reason`: why it did not end well, if it did not."""
    numbers: dict[tuple[str, int], int] = {}
    all_rows: list[Row] = []
    packets = 0
    for lease in leases:

        def inside(file: int, lease: LeasedTrace = lease) -> tuple[str, int]:
            number, first = lease.parts[file]
            name, begin = place(number)
            return name, begin + first

        rows_of_site = rows(
            lease.trace.records,
            inside,
            phase=phase,
            offset=offset + lease.began - began,
            there=lease.trace.there,
        )
        all_rows += [_of_site(row, lease, numbers, packets) for row in rows_of_site]
        packets += 1 + max((row.packet for row in rows_of_site), default=-1)
    all_rows.sort(key=lambda row: row.time)
    end = max(offset + seconds, all_rows[-1].time if all_rows else 0.0)
    return [
        Row(offset, "start", phase),
        *all_rows,
        Row(end, "end", phase, ok=not reason, reason=reason),
    ]


def _of_site(
    row: Row, lease: LeasedTrace, numbers: dict[tuple[str, int], int], packets: int
) -> Row:
    worker = row.worker
    if worker >= 0:
        worker = numbers.setdefault((lease.site, worker), len(numbers))
    return row._replace(
        event=_NAMES.get(row.event, row.event),
        worker=worker,
        host=f"{lease.site}/{row.host}" if row.host else lease.site,
        packet=row.packet + packets if row.packet >= 0 else -1,
        counted=row.counted and lease.counted,
    )
