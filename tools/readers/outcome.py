"""What came out of reading a branch or field with treemill and with another reader."""

from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    """How a branch came out."""

    EQUAL = "equal"
    DIFFERENT = "different"
    """Other values, or structure, or type."""
    UNSUPPORTED = "unsupported"
    """Refused by treemill as unsupported: mostly listed as such before it is read."""
    GROUP = "group"
    """Has no data of its own."""
    COUNTS = "counts"
    """A split collection: its own data are its numbers of items, which uproot's members have."""
    UNCHECKED = "unchecked"
    """treemill reads it, uproot does not."""
    SHORT = "short"
    """Has fewer entries than its tree: uproot gives those, treemill none."""
    BOTH_REFUSE = "both refuse"
    """treemill says that the file is malformed; uproot fails as well."""
    REFUSED = "refused"
    """treemill fails on a branch that it lists as supported and that uproot reads."""
    BROKEN_PROMISE = "broken promise"
    """Listed as unsupported, and yet not refused with UnsupportedError; or a panic."""
    CRASHED = "crashed"
    """The process ended."""
    HUNG = "hung"
    """treemill took longer than it may."""


@dataclass(frozen=True)
class Outcome:
    """One branch."""

    file: str
    tree: str
    branch: str
    verdict: Verdict
    detail: str = ""
    cpp_type: str = ""
    uproot: str = ""
    """Class of uproot's interpretation, where uproot reads the branch."""
    is_field: bool = False
    """Whether it is an RNTuple's field."""

    def __str__(self) -> str:
        return f"{self.file}:{self.tree}:{self.branch}: {self.verdict.value} {self.detail}"
