"""What was promised of the eight tasks, and whether the measurement shows it: pure."""

from collections.abc import Mapping, Sequence
from statistics import geometric_mean

from ..goals import Medians, Verdict
from ..rivals import LIMIT, ROOT_1, ROOT_2, TREEMILL, TREEMILL_2
from ..rivals.adl import AWKWARD, AWKWARD_READING, READING, READING_2
from ..times import Times

EACH, MEAN, OVER_AWKWARD, COLD = 4.0, 8.0, 5.0, 5.0
WITH_AWKWARD = ("adl5", "adl6", "adl7", "adl8")
OF_LIMIT = 0.71
"""Where nothing is remembered, decompression alone takes this share of the time: 1 / 1.4."""
COMPUTING = ("adl6",)
"""What takes longer to compute than to read."""

# Title -> the group or rival whose time is divided, and by whose. treemill is as users have it: it
# remembers what it has decompressed.
RATIOS = {
    "RDataFrame / treemill": (ROOT_1, TREEMILL),
    "RDataFrame / treemill, nothing remembered": (ROOT_1, READING),
    "awkward / treemill": (AWKWARD, TREEMILL),
    "awkward / treemill, nothing remembered by either": (AWKWARD_READING, READING),
    "RDataFrame / treemill, 2 threads": (ROOT_2, TREEMILL_2),
    "RDataFrame / treemill, 2 threads, nothing remembered": (ROOT_2, READING_2),
    "1 thread / 2 threads": (TREEMILL, TREEMILL_2),
    "RDataFrame / decompression": (ROOT_1, LIMIT),
    "decompression / treemill, nothing remembered": (LIMIT, READING),
}


def warm(table: Medians) -> list[Verdict]:
    """Every ratio whose two sides were measured, and their geometric means by codec."""
    verdicts = []
    for title, (group, subject) in RATIOS.items():
        there = {where: row for where, row in table.items() if group in row and subject in row}
        for (task, codec), row in there.items():
            wanted = _wanted(title, task)
            verdicts.append(_verdict(title, f"{task} {codec}", row, wanted))
        mean = MEAN if title == "RDataFrame / treemill" else None
        for codec in dict.fromkeys(codec for _, codec in there):
            rows = [row for (_, of), row in there.items() if of == codec]
            verdicts.append(_verdict(title, f"geometric mean {codec}", _mean(rows), mean))
    return verdicts


def _mean(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Of those that were measured in all of them."""
    everywhere = [name for name in rows[0] if all(name in row for row in rows)]
    return {name: geometric_mean([row[name] for row in rows]) for name in everywhere}


def _wanted(title: str, task: str) -> float | None:
    if title == "RDataFrame / treemill":
        return EACH
    if title == "decompression / treemill, nothing remembered":
        return None if task in COMPUTING else OF_LIMIT
    return OVER_AWKWARD if title == "awkward / treemill" and task in WITH_AWKWARD else None


def cold(times: Mapping[tuple[str, str], Times]) -> list[Verdict]:
    """First results of new processes: by (task, program)."""
    verdicts = []
    for task in dict.fromkeys(task for task, _ in times):
        ours, theirs = times.get((task, "treemill")), times.get((task, "RDataFrame"))
        if ours is not None and theirs is not None:
            ratio = theirs.median / ours.median
            reached = ratio >= COLD
            verdicts.append(Verdict("cold: RDataFrame / treemill", task, ratio, COLD, reached))
    return verdicts


def _verdict(title: str, where: str, row: Mapping[str, float], wanted: float | None) -> Verdict:
    group, subject = RATIOS[title]
    ratio = row[group] / row[subject]
    reached = wanted is None or ratio >= wanted
    reason = "" if reached or wanted is None else _why(row, group, subject, wanted)
    return Verdict(title, where, ratio, wanted, reached, reason)


def _why(row: Mapping[str, float], group: str, subject: str, wanted: float) -> str:
    """How far it is, and what of it reading and decompression would be."""

    def ms(seconds: float) -> str:
        return f"{1e3 * seconds:.1f} ms"

    goal = row[group] / wanted
    words = [f"{ms(goal)} would do; it takes {ms(row[subject])}"]
    if subject == READING:
        return words[0]
    if READING in row:
        words.append(f"with nothing remembered {ms(row[READING])}")
    if LIMIT in row:
        more = " (more than would do)" if row[LIMIT] > goal else ""
        words.append(f"decompression alone {ms(row[LIMIT])}{more}, which is remembered")
    return ", ".join(words)
