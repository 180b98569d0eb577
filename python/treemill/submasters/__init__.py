"""Sub-masters: a master leases large parts of the dataset to them, and each divides its parts among
the workers of its node, rack or site with the packetizer, to any depth. Pure, as the packetizer
is: events in, actions out. Has no clock, no thread and no I/O."""

from .keeping import KeepingLessor
from .leased_lessor import LeasedLessor
from .leased_packetizer import LeasedPacketizer
from .leasing import Leasing
from .lessor import Lessor
from .messages import (
    Asked,
    Ended,
    Failed,
    Grant,
    HandedUp,
    NotComing,
    NothingLeft,
    Opened,
    Part,
    Resign,
    Returned,
    Standing,
    SubJoined,
    SubLost,
    TakeBack,
)
from .submaster import Consequences, SubMaster
from .unleased_parts import Reach

__all__ = [
    "Asked",
    "Consequences",
    "Ended",
    "Failed",
    "Grant",
    "HandedUp",
    "KeepingLessor",
    "LeasedLessor",
    "LeasedPacketizer",
    "Leasing",
    "Lessor",
    "NotComing",
    "NothingLeft",
    "Opened",
    "Part",
    "Reach",
    "Resign",
    "Returned",
    "Standing",
    "SubJoined",
    "SubLost",
    "SubMaster",
    "TakeBack",
]
