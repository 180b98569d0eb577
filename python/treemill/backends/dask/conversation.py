"""What one of Dask's workers and the sub-master that leads it for a pass tell each other: a mailbox
that belongs to one start of the process's work for it. Plain state; station.py sends it.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field

from .group_messages import inner_name
from .mailbox import Mailbox

__all__ = ["Conversation"]


def _start() -> str:
    return uuid.uuid4().hex


@dataclass(eq=False, slots=True)
class Conversation:
    """A process's side of it."""

    work: str
    sub: int
    address: str
    """The address of the leading process."""
    start: str = field(default_factory=_start)
    mail: Mailbox = field(default_factory=Mailbox)
    is_awake: bool = False
    """Whether what waits in the mailbox will be sent without more ado."""
    over: bool = False

    @property
    def name(self) -> str:
        """What both call the pass."""
        return inner_name(self.work, self.sub)

    def restart(self) -> None:
        """Begins anew: the other side knows nothing of this process."""
        self.start, self.mail, self.is_awake = _start(), Mailbox(), False
