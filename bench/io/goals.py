"""What was promised of remote reading: lines of the table from runs. Runs nothing."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..measured import Row
from . import layouts
from .field import LINKS, LOCAL, Run

_ONE_FILE = tuple(layouts.CLUSTERS)
_ALL = (*_ONE_FILE, layouts.MANY)
_FAR = tuple(name for name in LINKS if name.startswith("137 ms"))
_SLOW = tuple(name for name in LINKS if name.endswith("20 MB/s"))


@dataclass(frozen=True)
class Goal:
    """The time of `one` (a contestant's key) over that of `other`."""

    one: str
    other: str
    parts: tuple[str, ...]
    links: tuple[str, ...]
    limits: Mapping[str, float] = field(default_factory=dict)


GOALS = (
    Goal("treemill", LOCAL, _ONE_FILE, _SLOW, {"below": 1.5}),
    Goal("treemill-http", LOCAL, _ONE_FILE, _SLOW, {"below": 1.5}),
    Goal("root", "treemill", _ONE_FILE, _FAR, {"above": 5}),
    Goal("root-best", "treemill", _ONE_FILE, _FAR),
    Goal("uproot", "treemill", _ALL, _FAR, {"above": 5}),
    Goal("uproot-http", "treemill-http", _ALL, _FAR, {"above": 5}),
    Goal("rdataframe", "treemill", (layouts.MANY,), _FAR),
    Goal("treemill", "xrdcp", _ONE_FILE, tuple(LINKS)),
    Goal("treemill", "xrdcp", (layouts.MANY,), tuple(LINKS), {"below": 1.3}),
)

PROMISED: Mapping[str, Mapping[str, float]] = {
    "two": {"above": 1.8},  # one source over two equal ones
    "uneven": {"above": 1.15},  # the better one over both
    "lost": {"below": 3},  # seconds, when one of two dies
    "whole": {"above": 1},  # the official client over ours
    "scattered": {"above": 5},
    "waiting": {"below": 10},  # round trips
    "bytes": {"below": 20},  # per cent of those without a filter
    "again": {"below": 1.2},  # far over local
    "nfs": {"below": 1.1},  # NFS without a mount over XRootD
    "over-read": {"below": 1.05},  # of dCap
    "2 data servers": {"above": 1.9},  # one over two, of pNFS
    "4 data servers": {"above": 3.6},
    "readers": {"below": 0},  # that fail
    "planning": {"below": 50},  # milliseconds for 100,000 baskets
    "no mount": {"below": 1.03},  # that it is decided how a file on a disk is read
}
"""Of the parts that compare treemill with itself, and clients."""


def row(what: str, runs: Sequence[Run], patience: float) -> Row:
    """Seconds. A run that was ended counts as long as it was waited for."""
    ended = any(run.seconds is None for run in runs)
    words = f"{what} (ended after {patience:g} s)" if ended else what
    return Row(words, _seconds(runs, patience), "s")


def ratios(
    part: str, link: str, runs: Mapping[str, Sequence[Run]], patience: float
) -> Iterator[Row]:
    """Round by round, of those that ran. Where the upper one was ended, the ratio is at least so
    large; nothing is said where the lower one was."""
    for goal in GOALS:
        one, other = runs.get(goal.one, ()), runs.get(goal.other, ())
        if part not in goal.parts or link not in goal.links or not one or not other:
            continue
        if any(run.error for run in (*one, *other)) or any(r.seconds is None for r in other):
            continue
        pairs = zip(_seconds(one, patience), _seconds(other, patience), strict=False)
        values = tuple(a / b for a, b in pairs)
        yield Row(f"{part}, {link}: {goal.one} / {goal.other}", values, "x", **goal.limits)


def against_least(what: str, least: float, runs: Mapping[str, Sequence[Run]]) -> Iterator[Row]:
    """The least time that these bytes take on the link, over that of the same reading here: no
    reader's ratio is better; and how far treemill is from it."""
    yield Row(f"{what}: the least", (least,), "s")
    for key, title in ((LOCAL, f"the least / {LOCAL}"), ("treemill", "treemill / the least")):
        times = [run.seconds for run in runs.get(key, ()) if run.seconds is not None]
        if times:
            values = (least / t if key == LOCAL else t / least for t in times)
            yield Row(f"{what}: {title}", tuple(values), "x")


def _seconds(runs: Sequence[Run], patience: float) -> tuple[float, ...]:
    return tuple(patience if run.seconds is None else run.seconds for run in runs)
