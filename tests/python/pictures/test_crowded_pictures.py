"""Pictures with more in them than usual: far points, bins without an end, many processes, long
names. Nothing is lost, hidden or cut off.
"""

import hist
import numpy as np
import pytest
import treemill as tm
from treemill.pictures.picture_parts import check_formulas, shortened

from tests.raising import raises

pytest.importorskip("mplhep")
pytestmark = pytest.mark.slow


def filled(values, axis=None, **more):
    made = hist.Hist(axis or hist.axis.Regular(len(values), 0, len(values), **more))
    made.view()[...] = values
    return made


def arrows(place):
    """The arrows of a panel of ratios, as pairs of a direction and an x."""
    lines = [line for line in place.lines if line.get_marker() in ("^", "v")]
    return [(line.get_marker(), float(x)) for line in lines for x in line.get_xdata()]


def box(artist, figure):
    figure.draw_without_rendering()
    return artist.get_window_extent()


# Ratios.


def test_points_beyond_the_panel_of_ratios_have_arrows():
    process, data = filled([100] * 40), filled([100] * 38 + [1, 200])
    stacked = tm.plot.stack({"W": process, "data": data}, ratio=True).axes[1]
    assert arrows(stacked) == [("v", 38.5), ("^", 39.5)]
    low, high = stacked.get_ylim()
    assert 0.5 < low < high < 1.5
    plotted = tm.plot({"a": process, "b": data}, ratio=True).axes[1]
    assert arrows(plotted) == [("v", 38.5), ("^", 39.5)]


def test_the_panel_of_ratios_becomes_wider_for_points_that_are_not_far():
    figure = tm.plot.stack({"W": filled([100] * 10), "data": filled([100] * 9 + [118])}, ratio=True)
    assert arrows(figure.axes[1]) == []
    assert figure.axes[1].get_ylim()[1] > 1.18


def test_data_without_a_process_have_an_arrow():
    figure = tm.plot.stack({"W": filled([9, 0, 0]), "data": filled([9, 2, 0])}, ratio=True)
    assert arrows(figure.axes[1]) == [("^", 1.5)]
    figure = tm.plot({"a": filled([9, 0, 0]), "b": filled([9, 2, 0])}, ratio=True)
    assert arrows(figure.axes[1]) == [("^", 1.5)]


def test_profiles_have_no_ratios_where_they_have_no_entries():
    one, other = (
        hist.Hist(hist.axis.Regular(3, 0, 3), storage="Mean").fill(x, sample=[2.0] * len(x))
        for x in ([0.5, 1.5], [0.5, 2.5])
    )
    place = tm.plot({"a": one, "b": other}, ratio=True).axes[1]
    assert arrows(place) == []
    (points,) = place.containers
    assert list(points[0].get_xdata()) == [0.5]


# Axes.


@pytest.mark.parametrize(
    ("edges", "drawn", "ends"),
    [
        ([0, 10, 20, np.inf], [0, 30], [r"$\infty$"]),
        ([-np.inf, 0, 10], [-10, 10], [r"$-\infty$"]),
        ([-np.inf, 3, np.inf], [2, 4], [r"$-\infty$", r"$\infty$"]),
        ([-np.inf, np.inf], [-1, 1], [r"$-\infty$", r"$\infty$"]),
    ],
)
def test_bins_without_an_end(edges, drawn, ends):
    made = filled([2.0] * (len(edges) - 1), hist.axis.Variable(edges, label="x [GeV]"))
    for figure in (tm.plot(made), tm.plot.stack({"W": made, "data": made}, ratio=True)):
        assert list(figure.axes[-1].get_xlim()) == drawn
        words = [each.get_text() for each in figure.axes[-1].get_xticklabels()]
        assert [word for word in words if "infty" in word] == ends
        assert figure.axes[0].get_ylabel() == "Entries"
    flat = hist.Hist(hist.axis.Variable([0, 10, np.inf]), hist.axis.Variable([-np.inf, 0, 10]))
    assert tm.plot(flat).axes[0].get_ylim() == (-10, 10)


def test_widths_are_named_if_all_bins_have_the_same():
    decades = hist.axis.Regular(4, 1, 100, transform=hist.axis.transform.log, label="x [GeV]")
    assert tm.plot(filled([1] * 4, decades)).axes[0].get_ylabel() == "Entries"
    for axis in (hist.axis.Variable, lambda edges, **more: hist.axis.Regular(2, 0, 10, **more)):
        made = filled([1, 1], axis([0, 5, 10], label="x [GeV]"))
        assert tm.plot.stack({"W": made}).axes[0].get_ylabel() == "Entries / 5 GeV"


def test_names_below_bins_do_not_overlap():
    names = [f"category number {number}" for number in range(12)]
    figure = tm.plot.stack({"W": filled([1] * 12, hist.axis.StrCategory(names))})
    labels = figure.axes[0].get_xticklabels()
    assert [each.get_text() for each in labels] == names
    assert {each.get_rotation() for each in labels} == {45}
    figure = tm.plot(filled([1, 1], hist.axis.StrCategory(["ee", "x" * 40])))
    labels = figure.axes[0].get_xticklabels()
    assert [len(each.get_text()) for each in labels] == [2, 24]
    assert {each.get_rotation() for each in labels} == {0}


@pytest.mark.parametrize(
    "words", ["invariant mass of three jets " * 3, r"$\sqrt{x}$ and much that is not short " * 3]
)
def test_long_labels_are_not_cut_off(words):
    figure = tm.plot.stack({"W": filled([1, 2], label=words + "[GeV]")}, ratio=False)
    label = box(figure.axes[0].xaxis.label, figure)
    assert label.x0 >= 0
    assert label.x1 <= figure.bbox.width
    assert figure.axes[0].get_xlabel().replace("\n", " ") == words + "[GeV]"


# Legends.

CAMPAIGN = "RunIISummer20UL18NanoAODv9-106X_upgrade2018_realistic_v16_L1v1-v1/NANOAODSIM"
NAMES = [
    f"/{name}_TuneCP5_13TeV-amcatnloFXFX-pythia8/{CAMPAIGN}"
    for name in ("DYJetsToLL_M-50", "WJetsToLNu", "TTToSemiLeptonic")
]


def legend_of(figure):
    return figure.axes[0].get_legend() or figure.legends[0]


@pytest.mark.slow
@pytest.mark.parametrize("names", [NAMES[:2], NAMES, [f"process {i}" for i in range(25)]])
@pytest.mark.parametrize("ratio", [False, True])
def test_legends_leave_the_panel_its_room(names, ratio):
    named = {name: filled([20, 10, 10], label="MET [GeV]") for name in names}
    one = tm.plot.stack({"W": filled([20, 10, 10])})
    usual = box(one.axes[0], one)
    for figure in (
        tm.plot.stack(named | {"data": filled([30] * 3)}, ratio=ratio),
        tm.plot(named, ratio=ratio),
    ):
        panel, legend = box(figure.axes[0], figure), box(legend_of(figure), figure)
        assert panel.width > 0.9 * usual.width
        assert min(legend.x0, legend.y0) >= 0
        assert legend.x1 <= figure.bbox.width
        assert legend.y1 <= figure.bbox.height
        if figure.legends:
            assert legend.x0 >= panel.x1
        else:
            assert legend.height <= 0.5 * panel.height
        words = [each.get_text() for each in legend_of(figure).get_texts()]
        assert len(set(words)) == len(words)
        assert max(map(len, words)) <= 40


def test_shortened_names_are_different_still():
    assert shortened(["short", "x" * 50]) == ["short", "x" * 27 + "…" + "x" * 12]
    alike = [f"{'a' * 30}{number}{'b' * 30}" for number in range(2)]
    assert shortened(alike) == [f"{'a' * 30}{number}{'b' * 9}…{'b' * 19}" for number in range(2)]
    formula = rf"${' + '.join(['x'] * 20)}$"
    assert shortened([formula]) == [formula]


def test_many_processes_can_be_told_apart():
    named = {f"p{number}": filled([1, 2]) for number in range(25)}
    areas = [each for each in tm.plot.stack(named).axes[0].patches if each.get_label() in named]
    assert len({(each.get_facecolor(), each.get_hatch()) for each in areas}) == 25
    lines = tm.plot(named).axes[0].patches
    assert len({(each.get_edgecolor(), each.get_linestyle()) for each in lines}) == 25
    few = {name: named[name] for name in ("p0", "p1")}
    areas = [each for each in tm.plot.stack(few).axes[0].patches if each.get_label() in few]
    assert [each.get_hatch() for each in areas] == [None, None]


def test_lines_of_a_text_are_looked_at_one_by_one(caplog):
    """matplotlib says on its log that it has no letter for the end of a line within a formula."""
    check_formulas(["two lines\n$m_{\\mu\\mu}$"])
    assert not caplog.records
    with raises(tm.QueryError, said="cannot draw the formula"):
        check_formulas(["two lines\n$\\nosuch$"])
