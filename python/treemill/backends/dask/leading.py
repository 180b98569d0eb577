"""What the process of a sub-master has: a desk for the processes of its group, with one pass. It
tells the scheduler what the sub-master has to say. Pure but for the clock that it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...frozen import replaced
from ...scheduling.messages import HandedUp
from .desk import Desk
from .group_lead import HAND_UP_SECONDS, GroupLead
from .group_messages import (
    Down,
    Give,
    GroupStatus,
    Inherit,
    LeadGroup,
    Release,
    Released,
    Renounce,
    Seat,
    Unseat,
    Up,
    inner_name,
)
from .mailbox import Parcel
from .messages import PassRequest

__all__ = ["Leading"]


class Leading:
    """A sub-master's desk. `news` of its desk holds the addresses with new mail."""

    def __init__(
        self,
        order: LeadGroup,
        address: str,
        clock: Callable[[], float],
        say: Callable[[object], None],
    ) -> None:
        """`address`: of this process. `say` sends a message to the scheduler."""
        self.work, self.sub = order.work, order.sub
        self.name = inner_name(order.work, order.sub)
        self._order = order
        self._say = say
        self._leaving: set[str] = set()
        self._told: GroupStatus | None = None
        self._clock = clock
        self._counted = clock()  # when it told what its workers have done
        self.desk = Desk(clock, self._make)
        self.desk.add(address, order.host, order.threads)
        self.desk.begin(self.name, order.request)

    def _make(self, name: str, request: PassRequest, clock: Callable[[], float]) -> GroupLead:
        self._lead = GroupLead(name, request, clock, self._order)
        return self._lead

    def hear(self, message: object) -> None:
        """Handles a message of the scheduler."""
        if isinstance(message, Seat):
            self.desk.add(message.address, message.host, message.threads)
        elif isinstance(message, Unseat):
            self.desk.remove(message.address, message.reason, message.fault)
        elif isinstance(message, Release):
            self._leaving.add(message.address)
            self.desk.leave(message.address)
        elif isinstance(message, Down | Inherit | Renounce):
            self.desk.tell(self.name, message)
        elif isinstance(message, Give):
            self.desk.abort(self.name, message.reason)
        else:
            raise TypeError(f"not a message for a sub-master: {message!r}")
        self._speak()

    def exchange(self, address: str, start: str, parcel: Parcel) -> bool:
        """A process of the group has sent a parcel. See Desk.hear."""
        well = self.desk.hear(address, start, parcel)
        self._speak()
        return well

    def tick(self) -> None:
        """Time has passed. To be called about every half second."""
        self.desk.tick()
        self._speak(pulse=True)

    def _speak(self, pulse: bool = False) -> None:
        """Tells the scheduler what there is to tell; `pulse`: also if that is counters only."""
        group = self._lead.group
        messages, group.up = tuple(group.up), []
        error, group.error = group.error, None
        if messages or error is not None or pulse:
            status = self._lead.status()
            told = GroupStatus(status.workers, len(group.begun), self._lead.commits, status.pulse)
            if messages or error is not None or told != self._told:
                self._told = told
                if self._counts(messages):
                    told = replaced(told, monitored=self._lead.monitored())
                self._say(Up(self.work, self.sub, messages, told, error))
        for address in [each for each in self._leaving if not self.desk.has_part(each)]:
            self._leaving.discard(address)
            self._say(Released(self.work, self.sub, address))

    def _counts(self, messages: Iterable[object]) -> bool:
        """True if it is time to tell what workers have done: seldom, because that is long, but with
        all that is handed up, so that the counts are complete at the end."""
        now = self._clock()
        late = now - self._counted >= HAND_UP_SECONDS
        if late or any(isinstance(each, HandedUp) for each in messages):
            self._counted = now
            return True
        return False
