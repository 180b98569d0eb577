"""`treemill bench storage`: what is measured in which order, and what is made of it; without any
file."""

import csv
import io
import math
from collections import Counter
from dataclasses import replace
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from treemill.errors import QueryError
from treemill.facility.exerciser import Size
from treemill.facility.scaling.measurements import ResultsFile, load, save
from treemill.facility.scaling.page import page
from treemill.facility.storage.findings import (
    HEAD,
    csv_rows,
    drawn,
    findings,
    limit,
    ratios,
    reading_rows,
    row_of,
)
from treemill.facility.storage.matrix import (
    STEP,
    WAYS,
    WHATS,
    Cell,
    Matrix,
    Target,
    ahead,
    branches,
    fresh,
    layout,
    steps,
    window_of,
)
from treemill.facility.storage.reading import (
    ReaderOutcome,
    Reading,
    binned,
    joined,
    lines,
    percentile,
    reading_of,
)

from tests.raising import raises

TARGET = Target("root://h:1", "root", "flushed", (("root://h:1//a.root", "Events"),), {})
names = st.sampled_from


def some(**changes):
    found = Reading(
        *("root://h:1", "root", "flushed", "processes", 2, "all", 0, 0, 2.0, 10**9, 2 * 10**9),
        *(100, 1, 10, 3.0, 100.0, 200.0, 0.001, 0.002, 0.01),
    )
    return replace(found, **changes)


@given(
    st.integers(1, 4),
    st.lists(names([*WAYS]), unique=True, min_size=1),
    st.sets(st.integers(1, 256), min_size=1, max_size=4),
    st.lists(names([*WHATS]), unique=True, min_size=1),
    st.sets(st.integers(0, 10**8), min_size=1, max_size=3),
    st.integers(1, 4),
)
def test_each_combination_once_a_round_and_storages_beside_each_other(
    number, ways, readers, whats, windows, rounds
):
    all_targets = [replace(TARGET, storage=f"s{i}") for i in range(number)]
    matrix = Matrix(all_targets, ways, sorted(readers), whats, sorted(windows), rounds)
    cells = [*matrix.cells()]
    assert len(cells) == len(matrix)
    seen = Counter((c.target.storage, c.way, c.readers, c.what, c.window, c.round) for c in cells)
    assert set(seen.values()) == {1}
    assert [c.round for c in cells] == sorted(c.round for c in cells)
    for place in range(0, len(cells), number):
        group = cells[place : place + number]
        assert len({(c.way, c.readers, c.what, c.window) for c in group}) == 1
        assert len({c.target.storage for c in group}) == number


def test_what_cannot_be_measured_is_refused():
    with raises(QueryError, about="threads"):
        Matrix([TARGET], ["threads"], [1], ["all"], [0], 1)
    with raises(QueryError, said="1 or more"):
        Matrix([TARGET], ["streams"], [0], ["all"], [0], 1)
    with raises(QueryError, said="0 bytes or more"):
        Matrix([TARGET], ["streams"], [1], ["all"], [], 1)


@given(st.integers(0, 10**9), st.integers(1, 1000), st.integers(0, 10**12))
def test_all_windows_fit_into_the_room(window, readers, room):
    found = window_of(window, readers, room)
    assert 0 <= found <= window
    assert found * readers <= max(room, 0) or found == 0
    assert found == window or (found + 1) * readers > room


@given(
    st.lists(st.integers(0, 5000), max_size=20),
    st.integers(0, 5000),
    st.integers(0, 20 * STEP),
)
def test_steps_cover_each_entry_once_and_are_small(clusters, entries, stored):
    found = steps(clusters, entries, stored)
    covered = [entry for start, stop in found for entry in range(start, stop)]
    assert covered == list(range(entries))
    assert all(start < stop for start, stop in found)
    for start, stop in found:
        assert stop - start == 1 or stored * (stop - start - 1) / max(entries, 1) <= STEP


@given(st.lists(st.integers(0, 100), max_size=30), st.integers(1, 300))
def test_what_is_asked_ahead_fits_the_window(sizes, window):
    untils = [*ahead(sizes, window)]
    assert len(untils) == len(sizes)
    for number, until in enumerate(untils):
        assert number < until <= len(sizes)
        assert sum(sizes[number:until]) <= max(window, sizes[number])
        # As much as fits.
        assert until == len(sizes) or sum(sizes[number : until + 1]) > window
    assert untils == sorted(untils)


@given(
    st.lists(st.tuples(st.integers(1, 30), st.integers(0, 100)), min_size=1, max_size=20),
    st.lists(st.integers(1, 300), max_size=8),
)
def test_bytes_of_baskets_that_steps_share_count_once(baskets, cuts):
    """Baskets of one branch: so many entries, so many bytes."""
    ends = [*accumulate(entries for entries, _ in baskets)]
    edges = sorted({0, ends[-1], *(cut for cut in cuts if cut < ends[-1])})

    def bytes_of(start, stop):
        return sum(
            size
            for (entries, size), end in zip(baskets, ends, strict=True)
            if end - entries < stop and start < end
        )

    found = [*fresh(bytes_of, [*pairwise(edges)])]
    assert sum(found) == sum(size for _, size in baskets)
    assert min(found) >= 0


def test_layouts_and_branches():
    assert layout([0], [1, 1, 0]) == "flushed"
    assert layout([0, 5, 10], [3, 6, 3]) == "flushed"
    assert layout([0, 5, 10], [3, 1]) == "unordered"
    sizes = [Size("a", 1), Size("b", 100), Size("c", 10)]
    assert branches(sizes, "all") == ("a", "b", "c")
    assert branches(sizes, "two") == ("b", "c")
    assert branches(sizes[:1], "two") == ("a",)
    assert branches(sizes, "whole") == branches([], "whole") == ()
    with raises(QueryError, said="no branch"):
        branches([], "two")


@given(st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=200), st.floats(0, 100))
def test_percentiles_are_right_up_to_a_bin(seconds, percent):
    half = len(seconds) // 2
    counts = joined([binned(seconds[:half]), binned(seconds[half:])])
    assert counts == binned(seconds)
    found = percentile(counts, percent)
    exact = sorted(seconds)[max(math.ceil(len(seconds) * percent / 100), 1) - 1]
    assert found == pytest.approx(exact, rel=0.07)
    assert percentile({}, percent) is None


@given(
    st.lists(
        st.builds(
            ReaderOutcome,
            st.floats(0, 10),
            st.integers(0, 10**9),
            st.integers(0, 1000),
            st.integers(0, 5),
            st.dictionaries(names(["OSError: x", "SourceError: y"]), st.integers(1, 3)),
        ),
        max_size=6,
    ),
    st.integers(6, 8),
)
def test_a_cell_is_the_sum_of_its_readers(outcomes, readers):
    cell = Cell(TARGET, "streams", readers, "all", 60, 1)
    found = reading_of(cell, outcomes, bytes_asked=7, requests=3, cpu=1.0, latencies=[{-60: 4}])
    assert found.bytes_wanted == sum(each.bytes_wanted for each in outcomes)
    assert found.events == sum(each.events for each in outcomes)
    assert found.seconds == max([0.0, *(each.seconds for each in outcomes)])
    assert sum(found.errors.values()) == sum(sum(e.errors.values()) for e in outcomes)
    assert 0 <= found.slowest <= found.typical or not outcomes
    assert (found.over_read is None) == (found.bytes_wanted == 0)
    assert found.latency_50 == found.latency_99 == 0.001
    (line,) = lines([found])
    (point,) = line.points
    assert point.value("rate") == found.rate
    assert row_of(found)
    assert [*findings([found], 2)]


def test_what_limits():
    def line(*told):
        (found,) = lines([some(readers=n, bytes_wanted=b, cpu=c) for n, b, c in told])
        return found

    assert limit(line((1, 10, 1.9), (2, 20, 3.9)), 2) == "CPU"
    assert limit(line((1, 10, 0.1), (2, 20, 0.1)), 2) == "readers"
    assert limit(line((1, 20, 0.1), (2, 20, 0.1)), 2) == "storage"
    # One reader that computes all the time does not mean that the machine does.
    assert limit(line((1, 20, 2.0)), 2) == "readers"
    assert limit(line((1, 20, 2.0), (2, 19, 0.2)), 1) == "CPU"


def test_findings_name_what_is_to_be_known():
    other = "http://h:2"
    readings = [
        some(readers=1, window=0, bytes_wanted=10**8, bytes_asked=10**8),
        some(readers=1, window=6 * 10**7, bytes_wanted=10**9, bytes_asked=25 * 10**8),
        some(readers=4, window=6 * 10**7, slowest=1.0, errors={"SourceError: gone": 2}),
        some(storage=other, readers=1, window=6 * 10**7, bytes_wanted=5 * 10**8, bytes_asked=0),
    ]
    said = "\n".join(findings(readings, 2))
    assert "window 60 MB gives 10.0 times the rate of window 0 MB" in said
    assert "up to 2.50 times the bytes wanted" in said
    assert "of 4 readers" in said
    assert "2 errors in 4 measurements: SourceError: gone (2)" in said
    assert f"compared, all (flushed): root://h:1 1.00, {other} 0.50" in said
    shares = ratios(lines(readings))["all", "flushed"]
    assert shares == pytest.approx({"root://h:1": 1.0, other: 0.5})
    readings[0] = some(readers=1, window=0, layout="unordered", bytes_wanted=10**8)
    readings.append(some(readers=1, window=0))
    said = "\n".join(findings(readings, 2))
    assert "compared, all at root://h:1: flushed gives 10.0 times the rate of unordered" in said
    assert [*findings([], 2)] == []
    nothing = [some(bytes_wanted=0, bytes_asked=0)]
    assert "nothing could be read" in next(findings(nothing, 2))
    assert "no errors in 1 measurements with up to 2 readers" in [*findings([some()], 2)][-1]


@pytest.mark.slow
def test_figures_tables_and_the_page(tmp_path):
    readings = [
        some(way=way, window=window, what=what, readers=n, round=number)
        for way in WAYS
        for window in (0, 6 * 10**7)
        for what in WHATS
        for n in (1, 4)
        for number in range(2)
    ]
    figures = drawn(readings)
    assert len(figures) == 6
    for _, grid in figures:
        assert {len(row) for row in grid} == {2}
    (first, *_) = figures[0][1][0][0].series
    assert (first.label, list(first.x), list(first.y)) == (
        "root://h:1, processes",
        [1, 4],
        [500] * 2,
    )
    table = [*reading_rows(readings)]
    assert len(table) == 2 * 2 * 3 * 2
    assert {len(row) for row in table} == {len(HEAD)}
    text = io.StringIO()
    csv.writer(text).writerows(csv_rows(readings))
    told = [*csv.DictReader(io.StringIO(text.getvalue()))]
    assert len(told) == len(readings)
    assert float(told[0]["megabytes_per_second"]) == 500
    results = ResultsFile("2026-01-01", {"cores": 2}, {}, {}, readings=readings)
    save(results, tmp_path / "r.json")
    again = load(tmp_path / "r.json")
    assert again.readings == readings
    html = page([("<r>", replace(again, readings=[some(storage="root://<h>")]))])
    assert "root://&lt;h&gt;" in html
    assert "root://<h>" not in html
    assert "<td>2 files</td>" in page([("r", replace(again, dataset={"files": 2}))])
    assert drawn([]) == []
