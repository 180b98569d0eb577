"""Histograms in pictures and as text: scales, several in one, profiles. What pictures say is asked
of matplotlib's figures."""

import hist
import numpy as np
import pytest
import treemill as tm
from treemill.pictures.histogram_labels import outside
from treemill.pictures.pictures import overlaid, paneled
from treemill.pictures.text_histogram import text

from tests.raising import raises

axis = hist.axis.Regular(10, 0, 10, label="x")


@pytest.fixture
def counts():
    made = hist.Hist(axis)
    made.view(flow=True)[...] = [3, 1000, 100, 10, 1, 0, 0, 0, 0, 0, 0, 7]
    return made


@pytest.fixture
def means():
    made = hist.Hist(axis, storage=hist.storage.Mean(), label="height")
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 5, 1000)
    return made.fill(x, sample=-1 - x)


def test_what_is_outside_is_said(counts, means):
    assert outside(counts) == "3 below (0.27 %), 7 above (0.62 %)"
    assert text(counts).splitlines()[-1] == "sum 1,111, 3 below (0.27 %), 7 above (0.62 %)"
    (place,) = paneled([counts], ["a title"]).axes
    assert place.get_title("left") == "a title\nnot shown: 3 below (0.27 %), 7 above (0.62 %)"
    inside = hist.Hist(axis).fill([1, 2])
    assert paneled([inside], [""]).axes[0].get_title("left") == ""
    assert "below" in text(means).splitlines()[-1]


def test_text_on_a_logarithmic_scale(counts):
    lines = text(counts, "", 51, log=True).splitlines()
    heights = [sum(line[11 + 3 * i] == "█" for line in lines[:14]) for i in range(10)]
    # From half of the smallest content, each factor of ten as high as the others.
    steps = -np.diff(heights[:4])
    assert heights[0] == 14
    assert max(steps) - min(steps) <= 1
    assert heights[4:] == [0] * 6
    assert lines[14].startswith("      0.5 └")
    nothing = hist.Hist(axis)
    assert text(nothing, log=True) == text(nothing)


def test_profiles_are_points(means):
    lines = text(means, "", 51).splitlines()
    assert "█" not in "".join(lines)
    assert "•" in lines[0]
    assert lines[-1].startswith(f"{means.counts().sum():.0f} entries")
    # Bins that share a character have the mean of both, not the sum.
    narrow = hist.Hist(hist.axis.Regular(400, 0, 5), storage=hist.storage.Mean())
    narrow.fill(np.linspace(0, 4.99, 4000), sample=np.full(4000, 7.0))
    assert text(narrow, "", 60).splitlines()[0].split("│")[0].strip() == "7"
    (place,) = paneled([means], ["t"]).axes
    assert place.get_ylabel() == "Mean of height"
    (points,) = place.containers
    drawn = np.array(points[0].get_ydata(), float)
    np.testing.assert_allclose(drawn, means.values()[means.counts() > 0])
    assert min(drawn) < 0


def test_profiles_say_of_what(events):
    made = events.profile("nJet", sample="MET_pt", bins=(4, 0, 4)).value
    assert paneled([made], [""]).axes[0].get_ylabel() == "Mean of MET_pt"


@pytest.mark.parametrize("storage", [hist.storage.Double(), hist.storage.Mean()])
def test_two_dimensions(storage):
    made = hist.Hist(axis, hist.axis.StrCategory(["a", "b"], label="y"), storage=storage)
    made.view()["count" if made.kind == "MEAN" else ...][:3] = 5
    figure = paneled([made], ["t"], log=True)
    place = figure.axes[0]
    assert [t.get_text() for t in place.get_yticklabels()] == ["a", "b"]
    assert place.get_ylabel() == "y"
    assert text(made, log=True)


def test_three_dimensions_are_projections():
    made = hist.Hist(axis, axis, axis).fill([1], [2], [3])
    assert len(paneled([made], ["t"]).axes) == 4  # one of them is not seen


def test_several_in_one_picture(counts, tmp_path):
    both = {"one": counts, "two": counts * 2}
    with pytest.warns(UserWarning, match="errors of 'two' are not known"):
        figure = tm.plot(both, tmp_path / "p.png", ratio=True, log=True)
    assert (tmp_path / "p.png").stat().st_size > 1000
    main, ratio = figure.axes
    assert [t.get_text() for t in main.get_legend().get_texts()] == ["one", "two"]
    assert main.get_yscale() == "log"
    (points,) = ratio.containers
    np.testing.assert_allclose(points[0].get_ydata()[:4], 2)
    assert ratio.get_xlabel() == "x"


def test_of_bookings(events):
    one = events.hist("MET_pt", bins=(10, 0, 100))
    figure = tm.plot([one, events.filter("nJet > 2").hist("MET_pt", bins=(10, 0, 100))])
    assert one.done
    legend = figure.axes[0].get_legend()
    assert [t.get_text() for t in legend.get_texts()] == ["MET_pt", "MET_pt (2)"]
    assert tm.plot(one).axes[0].get_legend() is None
    both = events.hist("MET_pt", "nJet", bins=[(10, 0, 100), (5, 0, 5)])
    assert tm.plot(both).axes[0].get_xlabel() == "MET_pt"


def test_what_cannot_be_drawn_together(counts, events):
    other = hist.Hist(hist.axis.Regular(10, 0, 11))
    with raises(tm.QueryError, said="different axes"):
        tm.plot([counts, other])
    with raises(tm.QueryError, said="one dimension"):
        tm.plot([counts, hist.Hist(axis, axis)])
    for wrong in (events.count(), 3, []):
        with pytest.raises(tm.QueryError):
            tm.plot(wrong)
    # Labels are no difference.
    named = hist.Hist(hist.axis.Regular(10, 0, 10, name="y", label="other"))
    assert overlaid({"a": counts, "b": named}).axes


def test_axes_of_decades_are_logarithmic_and_show_what_is_filled():
    import hist

    decades = hist.axis.Regular(90, 1e-6, 1e3, transform=hist.axis.transform.log, label="t [s]")
    made = hist.Hist(hist.axis.StrCategory(["a", "b"]), decades)
    made.fill(["a", "b"], [0.0015, 0.015])
    place = paneled([made], ["latencies"]).axes[0]
    assert place.get_yscale() == "log"
    low, high = place.get_ylim()
    assert 0.001 < low < 0.0015 < 0.015 < high < 0.02


def test_long_names_below_charts_stay_within_their_own():
    """Storages are named by their addresses: neither a chart's neighbour nor the picture's edge is
    written over."""
    pytest.importorskip("matplotlib")
    from treemill.pictures.line_charts import Panel, Series, _figure

    folder = "root://storage.of.a.site.org:1094//store/data/run2016/nano/"
    names = [f"{folder}{number}, {way}" for number in range(6) for way in ("processes", "streams")]
    series = [Series(name, [1, 4], [2, 3]) for name in names]
    figure = _figure([[Panel("two", "readers", "MB/s", series, below=True)] * 2])
    figure.draw_without_rendering()
    boxes = [axes.get_legend().get_window_extent() for axes in figure.axes]
    assert not boxes[0].overlaps(boxes[1])
    assert not boxes[0].overlaps(figure.axes[0].xaxis.label.get_window_extent())
    assert boxes[0].y0 >= 0
    assert boxes[0].x0 >= 0
    assert boxes[1].x1 <= figure.bbox.width
    written = [text.get_text() for axes in figure.axes for text in axes.get_legend().get_texts()]
    assert len(set(written)) == len(names)


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("Muon_pt[0]", "Entries / 10"),
        ("Muon_pt[Muon_eta > 0]", "Entries / 10"),
        ("$p_T$[GeV]", "Entries / 10 GeV"),
        ("pt [GeV]", "Entries / 10 GeV"),
        ("Muon_pt[0] [GeV]", "Entries / 10 GeV"),
    ],
)
def test_an_index_is_no_unit(label, said):
    made = hist.Hist(hist.axis.Regular(10, 0, 100, label=label))
    assert tm.plot(made).axes[0].get_ylabel() == said


def test_projections_without_a_title_have_their_label_alone():
    axes = [hist.axis.Regular(2, 0, 1, label=label) for label in ("x[0]", "y", "z")]
    made = hist.Hist(*axes)
    titles = [panel.get_title(loc="left") for panel in tm.plot(made, title="").axes[:3]]
    assert titles == ["x[0]", "y", "z"]
    titles = [panel.get_title(loc="left") for panel in tm.plot(made, title="all").axes[:3]]
    assert titles == ["all: x[0]", "all: y", "all: z"]


def ends_of_points(axes):
    _, _, (bars,) = axes.containers[0]
    return np.array([segment[:, 1] for segment in bars.get_segments()])


def counted(*counts):
    made = hist.Hist(hist.axis.Regular(len(counts), 0, 1))
    made[...] = counts
    return made


def test_the_ratio_to_other_events_has_both_errors_apart():
    figure = tm.plot({"first": counted(100, 25), "other": counted(90, 36)}, ratio=True)
    _, panel = figure.axes
    np.testing.assert_allclose(
        ends_of_points(panel), [[0.9 - 0.0948683, 0.9 + 0.0948683], [1.44 - 0.24, 1.44 + 0.24]]
    )
    (band,) = (each for each in panel.patches if each.get_fill())
    np.testing.assert_allclose(band.get_data().values, [1.1, 1.2])
    np.testing.assert_allclose(band.get_data().baseline, [0.9, 0.8])


def test_an_efficiency_has_binomial_errors():
    whole, part = counted(100, 25, 10, 4), counted(90, 25, 0, 2)
    figure = tm.plot({"all": whole, "passed": part}, ratio="efficiency")
    n, p = whole.values(), part.values() / whole.values()
    half = np.sqrt(p * (1 - p) / n + 1 / (4 * n**2)) / (1 + 1 / n)
    middle = (p + 1 / (2 * n)) / (1 + 1 / n)
    expected = np.stack([middle - half, middle + half], axis=1)
    np.testing.assert_allclose(ends_of_points(figure.axes[1]), expected, atol=1e-12)
    with raises(tm.QueryError, said="not some of the first"):
        tm.plot({"passed": part, "all": whole}, ratio="efficiency")
    with raises(tm.QueryError, about="efficiency"):
        tm.plot({"all": whole, "passed": part}, ratio="binomial")


def test_a_weighted_efficiency_is_root_s_option_b():
    def weighted(values, variances):
        made = hist.Hist(hist.axis.Regular(len(values), 0, 1), storage="Weight")
        made.view()["value"], made.view()["variance"] = values, variances
        return made

    whole, part = weighted([10.0, 8.0], [6.0, 9.0]), weighted([4.0, 6.0], [2.5, 7.0])
    figure = tm.plot({"all": whole, "passed": part}, ratio="efficiency")
    p = np.array([0.4, 0.75])
    squares = (1 - 2 * p) * np.array([2.5, 7.0]) + p**2 * np.array([6.0, 9.0])
    error = np.sqrt(abs(squares)) / [10, 8]
    expected = np.stack([p - error, p + error], axis=1)
    np.testing.assert_allclose(ends_of_points(figure.axes[1]), expected)


def test_ratios_of_variations_have_no_errors_of_their_own():
    values = {"nominal": counted(100, 25), "w:up": counted(110, 30)}
    figure = tm.Variations(values).plot(kind="lines", ratio=True)
    assert not figure.axes[1].containers
    (line,) = figure.axes[1].patches
    np.testing.assert_allclose(line.get_data().values, [1.1, 1.2])
