"""The table: Markdown from what was measured. Measures nothing."""

from collections.abc import Iterable, Mapping, Sequence

from .goals import GOALS, Verdict
from .memory import Sweep
from .queries import QUERIES
from .rivals import RIVALS
from .times import Times
from .warm import Cell

_LEGEND = """\
Times are taken inside each rival's own long-lived process, file opening included;
every rival answers in turn, round by round, and all gave the same bins. Ratios are of medians;
where a rival is written in two ways, the faster one counts. ✓ the goal is reached, ✗ it is not; no
mark: no goal.
"""


def markdown(
    title: str,
    about: Mapping[str, object],
    cells: Sequence[Cell],
    cold: Mapping[str, Times],
    sweeps: Sequence[Sweep],
    verdicts: Sequence[Verdict],
) -> str:
    """The whole page."""
    parts = [f"# {title}\n", facts(about), _LEGEND]
    if cells:
        parts += ["## Warm: medians in milliseconds (min to max)\n", _warm(cells)]
        parts += ["## Ratios\n", _ratios(cells, verdicts)]
    if cold:
        parts += ["## Cold: from the shell, a new process each time, seconds\n", _cold(cold)]
    if sweeps:
        parts += ["## Memory\n", _memory(sweeps)]
    parts += ["## Goals\n", goals(verdicts)]
    return "\n".join(parts)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; columns after the first are right-aligned."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def facts(known: Mapping[str, object]) -> str:
    """A line for each."""
    return "".join(f"- {name}: {value}\n" for name, value in known.items())


def _places(cells: Sequence[Cell]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((cell.query, cell.codec) for cell in cells))


def _label(query: str, codec: str) -> str:
    title = next(q.title for q in QUERIES if q.key == query).replace("|", "\\|")
    return f"{query} {title}, {codec}"


def _warm(cells: Sequence[Cell]) -> str:
    found = {(c.query, c.codec, c.rival): c.times for c in cells}
    rivals = [r for r in RIVALS if any(c.rival == r.key for c in cells)]

    def text(times: Times | None) -> str:
        if times is None:
            return "-"
        low, middle, high = (f"{1e3 * s:.1f}" for s in (times.low, times.median, times.high))
        return f"**{middle}** ({low} to {high})"

    rows = (
        [_label(q, c), *(text(found.get((q, c, rival.key))) for rival in rivals)]
        for q, c in _places(cells)
    )
    return table(["", *(r.title for r in rivals)], rows)


def _ratios(cells: Sequence[Cell], verdicts: Sequence[Verdict]) -> str:
    found = {(v.goal, v.where): v for v in verdicts}

    def text(verdict: Verdict | None) -> str:
        if verdict is None:
            return "-"
        value = f"{verdict.measured:.2f}"
        if verdict.wanted is None:
            return value
        return f"{value} {'✓' if verdict.reached else '✗'} (≥ {verdict.wanted:g})"

    rows = (
        [_label(q, c), *(text(found.get((goal.title, f"{q} {c}"))) for goal in GOALS)]
        for q, c in _places(cells)
    )
    return table(["", *(goal.title for goal in GOALS)], rows)


def _cold(cold: Mapping[str, Times]) -> str:
    rows = ([n, f"{t.low:.2f}", f"{t.median:.2f}", f"{t.high:.2f}"] for n, t in cold.items())
    return table(["", "min", "median", "max"], rows)


def _memory(sweeps: Sequence[Sweep]) -> str:
    titles = {rival.key: rival.title for rival in RIVALS}
    rows = (
        [
            titles[s.rival],
            f"{s.files}",
            f"{s.gigabytes:.1f}",
            f"{s.idle_megabytes:.0f}",
            f"**{s.peak_megabytes:.0f}**",
            f"{s.seconds:.1f}",
            f"{1e3 * s.gigabytes / s.seconds:.0f}",
        ]
        for s in sweeps
    )
    head = ["", "files", "GB", "MB at start", "MB at peak", "s", "file MB/s"]
    return table(head, rows)


def goals(verdicts: Sequence[Verdict]) -> str:
    """How many were reached, and a table of the others."""
    promised = [v for v in verdicts if v.wanted is not None]
    missed = [v for v in promised if not v.reached]
    text = f"{len(promised) - len(missed)} of {len(promised)} reached.\n"
    if not missed:
        return text
    rows = (
        [v.goal, v.where, f"{v.measured:.2f}", f"{v.wanted:g}", v.reason or "-"] for v in missed
    )
    return f"{text}\nNot reached:\n\n" + table(
        ["goal", "where", "measured", "wanted", "what the numbers say"], rows
    )
