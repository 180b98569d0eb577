"""Where uproot's answer is known not to be the one that counts, each with the reason."""

from dataclasses import dataclass
from fnmatch import fnmatchcase

from .compare import Outcome, Verdict


@dataclass(frozen=True)
class Known:
    """Differences that are no fault of treemill's. Patterns are those of fnmatch."""

    file: str
    branch: str
    cpp_type: str
    reason: str


FACTOR = (
    "uproot multiplies by (max - min) / 2^bits, and takes 2^32 - 1 steps otherwise than ROOT, "
    "which divides by its stored factor; the test beside ROOT has the bits"
)
REFERENCED = (
    "fBits of a referenced object is followed by its process ID, which uproot takes for more items"
)
SWAPPED = "uproot leaves the big-endian numbers of the objects in a split member as they are"
COUNTER = "uproot takes the member `int N` that counts arrays as unsigned; the rest is equal"
KNOWN = [
    Known("uproot-small-evnt-tree-nosplit.root", "evt", "Event", COUNTER),
    *(
        Known("uproot-double32-float16.root", "*", cpp_type, FACTOR)
        for cpp_type in ("Double32_t*", "Float16_t*")
    ),
    Known("uproot-issue187.root", "V0*", "Double32_t*", FACTOR),
    *(
        Known("uproot-issue513.root", f"{name}/{name}.fBits", "unsigned int*", REFERENCED)
        for name in ("Track", "EFlowTrack", "EFlowPhoton", "EFlowNeutralHadron")
    ),
    Known(
        "uproot-issue433-splitlevel2.root",
        "*/KM3NETDAQ::JDAQChronometer/timeslice_start",
        "KM3NETDAQ::JDAQUTCExtended",
        SWAPPED,
    ),
]


def why(outcome: Outcome) -> str | None:
    """The reason why a difference is known, or None."""
    if outcome.verdict is not Verdict.DIFFERENT:
        return None
    for known in KNOWN:
        pairs = (
            (outcome.file, known.file),
            (outcome.branch, known.branch),
            (outcome.cpp_type, known.cpp_type),
        )
        if all(fnmatchcase(*pair) for pair in pairs):
            return known.reason
    return None
