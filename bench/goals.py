"""What was promised, and whether the measurement shows it: pure, from times to verdicts."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from . import ntuples
from .memory import Sweep
from .rivals import LIMIT, REMEMBERING, ROOT_1, TREEMILL, TREEMILL_2, UPROOT, Rival
from .times import Times
from .warm import Cell

COLD_SECONDS = 0.6
PEAK_MEGABYTES = 400

# (query, codec) -> group -> seconds; of a group's rivals, the fastest by median.
Medians = Mapping[tuple[str, str], Mapping[str, float]]


@dataclass(frozen=True)
class Goal:
    """`group`'s time over that of `subject` shall be at least `at_least`, for these codecs."""

    title: str
    group: str
    subject: str
    at_least: Mapping[str, float]


# All codecs' files as RNTuples.
RNTUPLES = dict.fromkeys(ntuples.LABELS.values(), 5.0)

GOALS = (
    # Of RNTuples, treemill as a user has it counts, and stands beside what it does without memory.
    Goal("RDataFrame / treemill, remembering", ROOT_1, REMEMBERING, RNTUPLES),
    Goal("RDataFrame / treemill", ROOT_1, TREEMILL, {"lz4": 8, "none": 8, "zstd": 4}),
    Goal("RDataFrame strings / treemill", "rdf", TREEMILL, {}),
    Goal("uproot / treemill", UPROOT, TREEMILL, dict.fromkeys(("zlib", "lz4", "zstd", "none"), 2)),
    Goal("limit / treemill", LIMIT, TREEMILL, dict.fromkeys(("zlib", "lz4", "zstd", "none"), 0.5)),
    Goal(
        "1 thread / 2 threads",
        TREEMILL,
        TREEMILL_2,
        dict.fromkeys(("zlib", "lz4", "zstd", "none"), 1.8),
    ),
)


@dataclass(frozen=True)
class Verdict:
    """One goal, as measured in one place. `wanted` is None where nothing was promised."""

    goal: str
    where: str
    measured: float
    wanted: float | None
    reached: bool
    reason: str = ""

    def as_dict(self) -> dict[str, object]:
        """For the file of raw numbers."""
        return asdict(self)


def medians(
    cells: Iterable[Cell], rivals: Iterable[Rival]
) -> dict[tuple[str, str], dict[str, float]]:
    """Medians by (query, codec), and by rival and by group: there it is the fastest rival's. By the
    CPU clock several threads show nothing, and the limit, a program of its own, is not comparable.
    `rivals`: all that cells may be of.
    """
    known = {rival.key: rival for rival in rivals}
    table: dict[tuple[str, str], dict[str, float]] = {}
    for cell in cells:
        rival = known[cell.rival]
        if cell.clock == "cpu" and (rival.threads > 1 or rival.group == LIMIT):
            continue
        row = table.setdefault((cell.query, cell.codec), {})
        for name in {rival.key, rival.group}:
            row[name] = min(cell.times.median, row.get(name, float("inf")))
    return table


def warm(table: Medians) -> list[Verdict]:
    """Every ratio whose two sides were measured."""
    return [
        _ratio(goal, f"{query} {codec}", goal.at_least.get(codec), row)
        for (query, codec), row in table.items()
        for goal in GOALS
        if goal.group in row and goal.subject in row
    ]


def _ratio(goal: Goal, where: str, wanted: float | None, row: Mapping[str, float]) -> Verdict:
    ratio = row[goal.group] / row[goal.subject]
    reached = wanted is None or ratio >= wanted
    reason = "" if reached or wanted is None else _why(goal, wanted, row)
    return Verdict(goal.title, where, ratio, wanted, reached, reason)


def _why(goal: Goal, wanted: float, row: Mapping[str, float]) -> str:
    """What the other numbers of the row say about a ratio that is too small."""
    if goal.subject == TREEMILL_2:
        return f"one thread takes {row[TREEMILL] * 1e3:.1f} ms; 10 GB under Memory take longer"
    if LIMIT not in row or goal.subject != TREEMILL:
        return ""
    over_limit = row[TREEMILL] / row[LIMIT]
    if goal.group == LIMIT:
        return f"{(row[TREEMILL] - row[LIMIT]) * 1e3:.1f} ms more than the limit"
    if over_limit < 1:
        # Its plain loops mispredict branches where treemill's do not: then it bounds nothing.
        times = f"{row[TREEMILL] * 1e3:.1f} ms, the limit's program {row[LIMIT] * 1e3:.1f} ms"
        return f"not explained by the limit: treemill takes {times}"
    possible = row[goal.group] / row[LIMIT]
    if possible < wanted:
        return f"out of reach here: the limit itself has {possible:.1f}"
    return f"the limit has {possible:.1f}; treemill takes {over_limit:.2f} times the limit"


def cold(times: Mapping[str, Times]) -> list[Verdict]:
    """The shell's goal."""
    return [
        Verdict(
            "cold `treemill draw`, s", "shell", t.median, COLD_SECONDS, t.median <= COLD_SECONDS
        )
        for name, t in times.items()
        if name == "treemill draw"
    ]


def memory(sweeps: Iterable[Sweep]) -> list[Verdict]:
    """The memory goal."""
    return [
        Verdict("peak memory, MB", f"{s.gigabytes:.0f} GB", s.peak_megabytes, PEAK_MEGABYTES, ok)
        for s in sweeps
        if s.rival == "treemill"
        for ok in [s.peak_megabytes < PEAK_MEGABYTES]
    ]
