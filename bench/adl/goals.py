"""What was promised of the eight tasks, and whether the measurement shows it: pure."""

from collections.abc import Mapping
from statistics import geometric_mean

from ..goals import Medians, Verdict
from ..rivals import LIMIT, ROOT_1, ROOT_2, TREEMILL, TREEMILL_2
from ..rivals.adl import AWKWARD
from ..times import Times

EACH, MEAN, OVER_AWKWARD, COLD = 4.0, 8.0, 5.0, 5.0
WITH_AWKWARD = ("adl5", "adl6", "adl7", "adl8")

# Title -> the group whose time is divided, and by whose.
RATIOS = {
    "RDataFrame / treemill": (ROOT_1, TREEMILL),
    "awkward / treemill": (AWKWARD, TREEMILL),
    "RDataFrame / treemill, 2 threads": (ROOT_2, TREEMILL_2),
    "1 thread / 2 threads": (TREEMILL, TREEMILL_2),
    "RDataFrame / decompression": (ROOT_1, LIMIT),
    "treemill / decompression": (TREEMILL, LIMIT),
}


def warm(table: Medians) -> list[Verdict]:
    """Every ratio whose two sides were measured, and their geometric means by codec."""
    verdicts = []
    for title, (group, subject) in RATIOS.items():
        by_codec: dict[str, list[float]] = {}
        for (task, codec), row in table.items():
            if group not in row or subject not in row:
                continue
            ratio = row[group] / row[subject]
            by_codec.setdefault(codec, []).append(ratio)
            verdicts.append(_verdict(title, f"{task} {codec}", ratio, _wanted(title, task)))
        mean = MEAN if title == "RDataFrame / treemill" else None
        verdicts += [
            _verdict(title, f"geometric mean {codec}", geometric_mean(ratios), mean)
            for codec, ratios in by_codec.items()
        ]
    return verdicts


def _wanted(title: str, task: str) -> float | None:
    if title == "RDataFrame / treemill":
        return EACH
    return OVER_AWKWARD if title == "awkward / treemill" and task in WITH_AWKWARD else None


def cold(times: Mapping[tuple[str, str], Times]) -> list[Verdict]:
    """First results of new processes: by (task, program)."""
    verdicts = []
    for task in dict.fromkeys(task for task, _ in times):
        ours, theirs = times.get((task, "treemill")), times.get((task, "RDataFrame"))
        if ours is not None and theirs is not None:
            ratio = theirs.median / ours.median
            verdicts.append(_verdict("cold: RDataFrame / treemill", task, ratio, COLD))
    return verdicts


def _verdict(goal: str, where: str, ratio: float, wanted: float | None) -> Verdict:
    return Verdict(goal, where, ratio, wanted, wanted is None or ratio >= wanted)
