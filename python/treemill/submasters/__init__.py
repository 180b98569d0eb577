"""Sub-masters: a master leases large parts of the dataset to them, and each divides its parts among
the workers of its node, rack or site with the packetizer, to any depth. Pure, as the packetizer
is: events in, actions out. Has no clock, no thread and no I/O."""

from .branch import Branch
from .crew import Crew
from .keeping import KeepingLessor
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
from .pool import Reach
from .submaster import Step, SubMaster

__all__ = [
    "Asked",
    "Branch",
    "Crew",
    "Ended",
    "Failed",
    "Grant",
    "HandedUp",
    "KeepingLessor",
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
    "Step",
    "SubJoined",
    "SubLost",
    "SubMaster",
    "TakeBack",
]
