"""`python -m bench scale`: its arithmetic, and the page that it writes. What it measures runs with
`--quick`, by hand."""

import math

import pytest

from bench import publish
from bench.measured import Row
from bench.rivals.growth import GROWTH_RIVALS
from bench.scale import PAGE, PARTS, Curve, decades, ratios, table, write

OURS, THEIRS = (next(r for r in GROWTH_RIVALS if r.variant == key) for key in ("treemill", "rdf"))


def curve(part, rival, seconds):
    rows = {size: Row(f"{size}", (value,), "s") for size, value in seconds.items()}
    return Curve(PARTS[part], rival, rows, [12.0])


def test_sizes_are_ten_times_apart():
    assert decades(20_000, 200) == [200, 2000, 20_000]
    assert decades(100, 100) == [100]
    assert decades(5, 10) == [5]


def test_exponents_are_of_the_work():
    assert math.isclose(curve("files", OURS, {10: 1.0, 100: 1.0, 1000: 10.0}).exponent, 1.0)
    assert math.isclose(curve("files", OURS, {10: 1.0, 100: 100.0}).exponent, 2.0)
    # Of lists ten times as long all pairs are about a hundred times as many.
    pairs = {10: 90.0, 100: 9900.0}
    assert math.isclose(curve("pairs", OURS, pairs).exponent, 1.0)
    assert curve("files", OURS, {10: 1.0}).exponent is None


def test_ratios_are_of_the_same_size_and_goals_of_the_largest():
    curves = [curve("rows", OURS, {10: 1.0, 100: 2.0, 1000: 4.0})]
    curves.append(curve("rows", THEIRS, {10: 3.0, 100: 4.0}))
    found = list(ratios(curves))
    assert [row.median for row in found] == [3.0, 2.0]
    assert [row.above for row in found] == [None, 2.0]


def test_each_part_has_its_place_on_the_page(tmp_path):
    page = tmp_path / "growth.md"
    page.write_text(PAGE.read_text())
    for part in PARTS:
        curves = [curve(part, OURS, {10: 1.25, 100: 12.5}), curve(part, THEIRS, {10: 3.5})]
        write(page, [curves], "on a machine")
        write(page, [curves], "on a machine")  # again, in the same place
        assert table(curves) in page.read_text()
    assert page.read_text().count("| 12.5 s | - |") == len(PARTS)
    with pytest.raises(ValueError, match="marks"):
        publish.between(page, "scale", "moons", "")
