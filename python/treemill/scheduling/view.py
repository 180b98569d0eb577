"""What others may read of a packetizer: the state of the query in plain values. Changes nothing."""

from __future__ import annotations

from collections.abc import Set

from .events import Collected, Committed, Packet
from .mergers import Mergers
from .outcome import Outcome
from .state import State
from .validation import validate

__all__ = ["View"]


class View(Outcome):
    """The part of the packetizer that only reads."""

    _state: State
    _mergers: Mergers

    @property
    def over(self) -> bool:
        """True if the query is over: Finish was returned."""
        return self._state.ending.over

    @property
    def workers(self) -> Set[int]:
        """The workers that have joined and are not lost."""
        return self._state.workers.keys()

    @property
    def mergers(self) -> Set[int]:
        """The mergers that have joined and are not lost."""
        return self._mergers.numbers

    @property
    def only_mergers_hold(self) -> bool:
        """True if mergers hold all that is not in the result, and no worker will do more."""
        return not self.over and self.is_done and bool(self._state.ledger.holding)

    @property
    def idle(self) -> Set[int]:
        """The workers that have nothing to do and nothing to lose."""
        return self._state.idle.keys()

    def busy_with(self, worker: int) -> tuple[str, int] | None:
        """The packet that the worker has, or the file that it opens, by number."""
        there, packet = self._state.workers.get(worker), self._state.ledger.packet_of(worker)
        if packet is not None:
            return "packet", packet.number
        if there is None or not there.opening or there.file is None:
            return None
        return "file", there.file.number

    @property
    def holding(self) -> list[int]:
        """The mergers that hold something."""
        return self._state.ledger.holding

    def heir(self, merger: int) -> int | None:
        """The merger to which this one, which may be lost, is handing on what it has."""
        return self._state.ledger.receiver_from(merger)

    def sizes(self) -> dict[int, int]:
        """The entries of the files that were opened."""
        return {f.number: f.entries for f in self._state.files if f.entries is not None}

    def uncommitted(self, event: Committed | Collected) -> list[Packet]:
        """The packets whose entries will be in the result, or in a merger's partial, by this
        event."""
        ledger = self._state.ledger
        if isinstance(event, Collected):
            return ledger.held_by_merger(event.merger)
        return ledger.held(event.worker)

    def sent(self, worker: int) -> list[Packet]:
        """The packets of the worker's partial that is on its way to a merger."""
        return self._state.ledger.sent(worker)

    @property
    def is_done(self) -> bool:
        """True if no worker will do more, nor any partial arrive."""
        return self.no_more_work and not self._state.ledger.handing_on

    @property
    def no_more_work(self) -> bool:
        """True if no worker will do more, nor any partial of a worker arrive."""
        state = self._state
        if len(state.idle) + len(state.tainted) < len(state.workers):
            return False  # the others will answer; idle workers have committed
        if state.ending.reason is None and not state.everything_handed_out:
            return False
        return not state.ledger.moving  # mergers will say whether lost workers' partials arrived

    def validate(self) -> None:
        """Raises RuntimeError if the state contradicts itself. For tests: it checks all of it."""
        validate(self._state)
