"""The groups with sub-masters that a process belongs to, one for each pass at most: its
conversation with the sub-master, and what it has if it is the sub-master itself. Knows no Dask.
Called on the event loop, but for `talks`, which any thread may read.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from .conversation import Conversation
from .group_messages import (
    Down,
    Give,
    Inherit,
    LeadGroup,
    Release,
    Renounce,
    Seat,
    Under,
    Unseat,
    inner_name,
)
from .leading import Leading

__all__ = ["ABOUT_GROUPS", "Groups"]

ABOUT_GROUPS = (LeadGroup, Under, Seat, Unseat, Release, Down, Give, Inherit, Renounce)
"""The messages of the scheduler that are about groups."""


class Groups:
    """The groups of one pass, as the scheduler sees them."""

    def __init__(
        self,
        address: str,
        say: Callable[[object], None],
        converse: Callable[[Conversation], None],
        end_crew: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`address`: of this process. `say`, `converse`: see Station. `end_crew` ends what the
        process does for a group."""
        self._address = address
        self._say = say
        self._converse = converse
        self._end_crew = end_crew
        self._clock = clock
        self._of: dict[str, Conversation] = {}  # by pass
        self.talks: dict[str, Conversation] = {}
        """The conversations, by what they call the pass."""
        self.led: dict[str, Leading] = {}
        """The groups that this process leads, by the same."""

    def hear(self, message: object) -> None:
        """Handles a message of the scheduler."""
        if isinstance(message, LeadGroup):
            self.leave(message.work)
            leading = Leading(message, self._address, self._clock, self._say)
            self.led[leading.name] = leading
            self._join(message.work, message.sub, self._address)
        elif isinstance(message, Under):
            self._under(message)
        elif isinstance(message, ABOUT_GROUPS):
            led = self.led.get(inner_name(message.work, message.sub))
            if led is not None:
                led.hear(message)

    def _under(self, message: Under) -> None:
        now = self._of.get(message.work)
        if now is not None and (now.sub, now.address) == (message.sub, message.address):
            return
        if message.address is not None:
            self.leave(message.work)
            self._join(message.work, message.sub, message.address)
        elif now is not None and now.sub == message.sub:
            self.leave(message.work)

    def _join(self, work: str, sub: int, address: str) -> None:
        talk = self._of[work] = Conversation(work, sub, address)
        self.talks[talk.name] = talk
        self._converse(talk)

    def leave(self, work: str) -> None:
        """The process has no part in a pass, or in its group, any more."""
        talk = self._of.pop(work, None)
        if talk is not None:
            talk.over = True
            self._end_crew(talk.name)
            self.talks.pop(talk.name, None)
            self.led.pop(talk.name, None)

    def end(self) -> None:
        """Leaves all groups."""
        for work in list(self._of):
            self.leave(work)
