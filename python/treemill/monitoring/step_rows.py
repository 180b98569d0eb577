"""Rows of what workers did, step by step, beside the row of the packet that it was done for.
Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import without_credentials
from ..scheduling import Step, node_of
from .row import Row, RowValues

__all__ = ["StepRows"]


class StepRows:
    """Adds rows of steps to the rows of a pass."""

    def __init__(self, rows: list[Row]) -> None:
        self.are_there = False
        self._rows = rows
        self._bound: set[tuple[int, str]] = set()
        """Workers and the files that they have open."""
        self._reading: dict[tuple[int, int], int] = {}
        """The row of each read that is on its way, by worker and number."""

    def follow(self, steps: Sequence[Step]) -> None:
        """Adds the steps of the packet that the last row is of, which ended with it."""
        packet = self._rows[-1]
        for step in steps:
            self.are_there = True
            if step.kind == "came":
                self._came(packet, step)
            elif step.kind != "bound" or (packet.worker, packet.file) not in self._bound:
                self._rows.append(self._row(packet, step))

    def _row(self, packet: Row, step: Step) -> Row:
        values: RowValues = {}
        file, node = packet.file, packet.node
        if step.kind == "bound":
            self._bound.add((packet.worker, packet.file))
        elif step.kind == "read":
            if step.seconds < 0:
                self._reading[packet.worker, step.number] = len(self._rows)
            ranges = " ".join(f"{start}-{stop}" for start, stop in step.ranges)
            values = {"bytes": step.amount, "source": step.server, "ranges": ranges}
            if "://" in step.file:  # a read ahead may be of another file than the packet
                file = without_credentials(step.file)
                node = node_of(file)
        elif step.kind == "evaluate":
            start, stop = step.ranges[0]
            values = {"start": start, "stop": stop, "entries": step.amount}
        elif step.kind == "decode":
            values = {"entries": step.amount}
        elif step.kind == "left out":
            values = {"bytes": step.amount, "reason": f"{step.number:,} steps had no room"}
        else:
            values = {"bytes": step.amount}
        return Row(
            _end(packet, step),
            step.kind,
            packet.phase,
            packet.worker,
            packet.host,
            file,
            node,
            packet.packet,
            packet.attempt,
            ok=step.ok,
            seconds=max(step.seconds, 0.0),
            **values,
        )

    def _came(self, packet: Row, step: Step) -> None:
        """A read has ended that was told of with an earlier packet."""
        at = self._reading.pop((packet.worker, step.number), None)
        if at is not None:
            time = _end(packet, step)
            self._rows[at] = self._rows[at]._replace(time=time, seconds=step.seconds, ok=step.ok)


def _end(packet: Row, step: Step) -> float:
    return min(packet.time - step.ago + max(step.seconds, 0.0), packet.time)
