"""The report as one HTML page that works without the internet: figures are in it, and it runs no
script. Texts of users are escaped.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from ...monitoring import offline_page as parts
from ...pictures.line_charts import svg
from ..load_tests import run_summary
from ..storage.findings import HEAD, reading_rows
from ..storage.matrix import WAYS, WHATS
from .charts import compared, figures
from .limit_diagnosis import conclusion, conclusions
from .measurements import QUERIES, ResultsFile
from .summary import Point, Summary, baselines, summaries

__all__ = ["page"]

_PARTS = (
    *("starting", "opening", "reading", "waited", "decompressing", "decoding", "evaluating"),
    *("asking", "committing", "tail", "collecting", "around"),
)
"""The parts of a breakdown, in the order of a query's life."""


def page(results: Sequence[tuple[str, ResultsFile]]) -> str:
    """The page of one or several files of results, with their names. Needs matplotlib."""
    html = [parts.page_head("treemill benchmark")]
    if len(results) > 1:
        html.append(_comparison(results))
    for name, each in results:
        html.append(_one(name, each, several=len(results) > 1))
    html.append(parts.END)
    return "\n".join(html)


def _one(name: str, results: ResultsFile, several: bool) -> str:
    html = [f"<h1>{escape(name)}</h1>"] if several else []
    html.append(_facts(results))
    html += [f'<p class="note">{escape(note)}</p>' for note in results.notes]
    html += [f'<p class="verdict">{escape(line)}</p>' for line in conclusion(results)]
    overview = summaries(results.measurements)
    if overview:
        html.append(parts.section("What was measured", _MEASURED + _measured(results)))
    if results.readings:
        rows = parts.table(HEAD, reading_rows(results.readings))
        html.append(parts.section("Storages", _words({**WHATS, **WAYS}) + rows))
    if results.jobs:
        html.append(
            parts.section("Jobs", parts.table(run_summary.HEAD, run_summary.rows(results.jobs)))
        )
    html += [parts.figure(title, svg(rows)) for title, rows in figures(results)]
    if overview:
        words = "<p>In percent of the time of all workers, with the most workers; median run.</p>"
        html.append(
            parts.section(
                "Where the time went",
                words + parts.table(("query", "system", "limited by", *_PARTS), _times(results)),
            )
        )
        head = ("query", "system", "R₁ linear", "R₁ saturating", "s", "limit R₁ / s")
        words = "<p>Of events/s: R(n) = R₁ n, and R(n) = R₁ n / (1 + s (n - 1)).</p>"
        html.append(parts.section("Fits", words + parts.table(head, _fits(overview))))
        html.append(parts.section("The queries", _words(QUERIES)))
    return "\n".join(html)


def _words(meanings: Mapping[str, str]) -> str:
    """Returns what names mean."""
    listed = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(words)}</dd>" for name, words in meanings.items()
    )
    return f"<dl>{listed}</dl>"


def _facts(results: ResultsFile) -> str:
    machine, data = results.machine, results.dataset
    versions = machine.get("versions")
    if isinstance(versions, Mapping):
        versions = ", ".join(f"{name} {number}" for name, number in versions.items())
    values = {
        "machine": f"{machine.get('cpu')}, {machine.get('cores')} cores; {machine.get('kernel')}",
        "load before": machine.get("load"),
        "versions": f"{versions}; Python {machine.get('python')}",
        "dataset": ", ".join(_of_dataset(data)),
        "settings": ", ".join(
            f"{name}: {_plain(value)}" for name, value in results.settings.items()
        ),
        "measured": results.date,
    }
    rows = [(name, str(value)) for name, value in values.items()]
    return f'<div class="facts">{parts.table(("", ""), rows)}</div>'


def _of_dataset(data: Mapping[str, object]) -> Iterator[str]:
    for name in ("files", "events"):
        if name in data:
            yield f"{_number(data[name]):,.0f} {name}"
    if "bytes" in data:
        yield f"{_number(data['bytes']) / 1e6:,.0f} MB"


def _plain(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


_HEAD = (
    "query", "system", "workers", "seconds (min to max)", "events/s", "max", "MB/s", "max",
    "efficiency", "to one process", "files", "caches",
)  # fmt: skip


_MEASURED = """\
<p>Medians. Efficiency is the rate of a worker, as a part of what it is with the fewest workers; to
one process: as a part of what one process does alone, with all files if it has tried them.</p>"""


def _measured(results: ResultsFile) -> str:
    """The table of all points. Those of one process alone are before the others of their query."""
    alone = baselines(results.measurements)
    rows: list[tuple[str, ...]] = []
    queries: set[str] = set()
    for each in summaries(results.measurements):
        if each.query not in queries:
            queries.add(each.query)
            for point in alone.get(each.query, ()):
                name = "one process, one file" if point.runs[0].files == 1 else "one process"
                rows.append(_row(each.query, name, point, "", ""))
        for point in each.points:
            beside = each.beside_baseline(point)
            share = "" if beside is None else f"{beside:.0%}"
            rows.append(_row(each.query, each.name, point, f"{each.efficiency(point):.0%}", share))
    return parts.table(_HEAD, rows)


def _row(query: str, name: str, point: Point, efficiency: str, beside: str) -> tuple[str, ...]:
    seconds = [run.seconds for run in point.runs]
    files = max(run.files for run in point.runs)
    return (
        query,
        name,
        str(point.workers),
        f"{point.seconds:.3f} ({min(seconds):.3f} to {max(seconds):.3f})",
        f"{point.rate:,.0f}",
        f"{point.best_rate:,.0f}",
        f"{point.megabytes_per_second:,.1f}",
        f"{point.best_megabytes_per_second:,.1f}",
        efficiency,
        beside,
        f"{files:,}" if files else "",
        ", ".join(sorted({run.caches for run in point.runs})),
    )


def _times(results: ResultsFile) -> Iterator[tuple[str, ...]]:
    for summary, limiting in conclusions(results):
        breakdown = summary.traced.breakdown
        if breakdown is None:
            continue
        total = breakdown.total or 1.0
        shares = [f"{getattr(breakdown, part) / total:.0%}" for part in _PARTS]
        where = f"{summary.name}, {summary.last.workers}"
        yield (summary.query, where, limiting.limit, *shares)


def _fits(overview: Sequence[Summary]) -> Iterator[tuple[str, ...]]:
    for each in overview:
        line, curve = each.linear, each.saturating
        if line is not None and curve is not None:
            limit = "none" if math.isinf(curve.limit) else f"{curve.limit:,.0f}"
            rates = (f"{line.first:,.0f}", f"{curve.first:,.0f}", f"{curve.shared:.3f}")
            yield (each.query, each.name, *rates, limit)


def _comparison(results: Sequence[tuple[str, ResultsFile]]) -> str:
    """The first file is what others are compared with."""
    (first_name, first), *others = results
    before = {
        (each.name, each.query, point.workers): point
        for each in summaries(first.measurements)
        for point in each.points
    }
    rows = []
    for name, results_of in others:
        for each in summaries(results_of.measurements):
            for point in each.points:
                old = before.get((each.name, each.query, point.workers))
                if old is not None and old.rate and point.rate:
                    ratio = point.rate / old.rate
                    rates = (f"{old.rate:,.0f}", f"{point.rate:,.0f}", f"{ratio:.2f}")
                    rows.append((each.query, each.name, str(point.workers), name, *rates))
    head = ("query", "system", "workers", "file", f"events/s of {first_name}", "events/s", "ratio")
    html = [parts.section("Compared", parts.table(head, rows)), *_other_data(results)]
    figure = compared(results)
    if figure is not None:
        html.append(parts.figure(figure[0], svg(figure[1])))
    return "\n".join(html)


def _other_data(results: Sequence[tuple[str, ResultsFile]]) -> Iterator[str]:
    """Warnings for files of results that are of other data than the first."""
    (first_name, first), *others = results
    for name, each in others:
        known = {**first.dataset, **each.dataset}
        differ = [key for key in known if first.dataset.get(key) != each.dataset.get(key)]
        if differ:
            words = f"{name} is of other data than {first_name}: {', '.join(differ)} differ"
            yield f'<p class="note">{escape(words)}</p>'
