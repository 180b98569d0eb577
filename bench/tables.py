"""What pages of results are made of, and the raw numbers beside them: Markdown from what was
measured. Measures nothing and knows no measurement by name.
"""

from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import spent
from .goals import Verdict
from .measured import Row
from .rivals import Rival
from .times import Times
from .warm import Cell

_MARKS = {True: " ✓", False: " ✗", None: ""}


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; columns after the first are right-aligned."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def facts(known: Mapping[str, object]) -> str:
    """A line for each."""
    return "".join(f"- {name}: {value}\n" for name, value in known.items())


def sizes(files: Mapping[str, Mapping[str, object]]) -> str:
    """Of a measurement's files, as `data.describe` knows them: one fact."""
    each = ", ".join(f"{name} {int(str(f['bytes'])) / 1e6:.0f} MB" for name, f in files.items())
    known = [f["events"] for f in files.values() if "events" in f]
    return f"{known[0]:,} events: {each}" if known else each


def numbers(
    facts: Mapping[str, Any],
    files: Mapping[str, object],
    chosen: Namespace,
    cells: Iterable[Cell],
    verdicts: Iterable[Verdict],
    **others: object,
) -> dict[str, object]:
    """The raw numbers of rivals on files: about the machine, the files and the run, all times, what
    else was measured, and the goals."""
    about = {"machine": facts, "files": files, "rounds": chosen.rounds, "clock": chosen.clock}
    goals = [verdict.as_dict() for verdict in verdicts]
    return {**about, "warm": [cell.as_dict() for cell in cells], **others, "goals": goals}


def spread(times: Times | None) -> str:
    """Median and extremes in milliseconds."""
    if times is None:
        return "-"
    low, middle, high = (f"{1e3 * s:.1f}" for s in (times.low, times.median, times.high))
    return f"**{middle}** ({low} to {high})"


def warm(cells: Sequence[Cell], rivals: Iterable[Rival], titles: Mapping[str, str]) -> str:
    """Times, a column for each rival that was there. `titles` of the queries."""
    found = {(c.place, c.rival): c.times for c in cells}
    there = [r for r in rivals if any(c.rival == r.key for c in cells)]
    rows = (
        [_label(place, titles), *(spread(found.get((place, r.key))) for r in there)]
        for place in dict.fromkeys(c.place for c in cells)
    )
    return table(["", *(r.title for r in there)], rows)


def ratios(
    cells: Sequence[Cell],
    verdicts: Sequence[Verdict],
    wanted: Sequence[str],
    titles: Mapping[str, str],
) -> str:
    """Verdicts of the goals `wanted`, a column for each: where cells are, then anywhere else."""
    found = {(v.goal, v.where): v for v in verdicts if v.goal in wanted}
    places = dict.fromkeys([*(c.place for c in cells), *(where for _, where in found)])
    rows = (
        [_label(place, titles), *(_ratio(found.get((goal, place))) for goal in wanted)]
        for place in places
    )
    return table(["", *wanted], rows)


def where_time_goes(cells: Sequence[Cell], of: str, limit: Rival, titles: Mapping[str, str]) -> str:
    """The section of the steps of the rival with key `of`, beside `limit`; nothing if it counted
    none."""
    alone = {cell.place: cell.times.median for cell in cells if cell.rival == limit.key}
    rows = [
        [_label(c.place, titles), *(_ms(c.spent[s]) for s in spent.STEPS), _ms(alone.get(c.place))]
        for c in cells
        if c.rival == of and c.spent
    ]
    head = ["", *spent.STEPS.values(), limit.title]
    return f"## Where the time goes\n\n{spent.LEGEND}\n{table(head, rows)}" if rows else ""


def _ms(seconds: float | None) -> str:
    return "-" if seconds is None else f"{1e3 * seconds:.1f}"


def _label(place: str, titles: Mapping[str, str]) -> str:
    query, _, codec = place.partition(" ")
    text = f"{query} {titles[query]}, {codec}" if query in titles else place
    return text.replace("|", "\\|")


def _ratio(verdict: Verdict | None) -> str:
    if verdict is None:
        return "-"
    value = f"{verdict.measured:.2f}"
    if verdict.wanted is None:
        return value
    return f"{value}{_MARKS[verdict.reached]} (≥ {verdict.wanted:g})"


def cold(times: Mapping[str, Times]) -> str:
    """Seconds of whole processes."""
    rows = ([n, f"{t.low:.2f}", f"{t.median:.2f}", f"{t.high:.2f}"] for n, t in times.items())
    return table(["", "min", "median", "max"], rows)


def rows(measured: Iterable[Row]) -> str:
    """A line for each, with its goal."""

    def line(row: Row) -> list[str]:
        values = f"{min(row.values):.3g} to {max(row.values):.3g}" if len(row.values) > 1 else ""
        median = f"**{row.median:.3g}** {row.unit}"
        return [row.what, median, values, row.goal + _MARKS[row.reached]]

    return table(["", "median", "min to max", "goal"], map(line, measured))


def goals(verdicts: Sequence[Verdict]) -> str:
    """How many were reached, and a table of the others."""
    promised = [v for v in verdicts if v.wanted is not None]
    missed = [v for v in promised if not v.reached]
    text = f"{len(promised) - len(missed)} of {len(promised)} reached.\n"
    if not missed:
        return text
    lines = (
        [v.goal, v.where, f"{v.measured:.2f}", f"{v.wanted:g}", v.reason or "-"] for v in missed
    )
    return f"{text}\nNot reached:\n\n" + table(
        ["goal", "where", "measured", "wanted", "what the numbers say"], lines
    )
