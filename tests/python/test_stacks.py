"""tm.plot.stack: what is stacked, the band of variations, data and their ratio. Tables of cuts."""

import hist
import numpy as np
import pytest
import treemill as tm

pytest.importorskip("mplhep")


def shape(values, storage="Weight", label="MET [GeV]"):
    made = hist.Hist(
        hist.axis.Regular(len(values), 0, 40, label=label), storage=getattr(hist.storage, storage)()
    )
    view = made.view()
    if storage == "Weight":
        view["value"], view["variance"] = values, np.abs(values)
    else:
        view[...] = values
    return made


def varied(values, **scales):
    made = {"nominal": shape(values)}
    return tm.Variations(made | {name: shape(values) * scale for name, scale in scales.items()})


def parts(figure):
    """The areas, lines and points of the main panel by their words in the legend."""
    from matplotlib.container import ErrorbarContainer

    handles, labels = figure.axes[0].get_legend_handles_labels()
    return {
        label: each[0].get_ydata() if isinstance(each, ErrorbarContainer) else each.get_data()
        for label, each in zip(labels, handles, strict=True)
    }


RESULTS = {
    "dy": varied([4.0, 3.0, 1.0], jes=1.1, lumi=1.02),
    "tt": varied([1.0, 2.0, 5.0], jes=1.2),
    "data": shape([6, 4, 7], "Double"),
}


def test_processes_lie_on_top_of_each_other():
    found = parts(tm.plot.stack(RESULTS))
    np.testing.assert_allclose(found["dy"].values, [4, 3, 1])
    np.testing.assert_allclose(found["tt"].baseline, [4, 3, 1])
    np.testing.assert_allclose(found["tt"].values, [5, 5, 6])
    np.testing.assert_allclose(found["data"], [6, 4, 7])


def test_variations_of_all_processes_are_added_before_they_are_squared():
    dy, tt = np.array([4.0, 3.0, 1.0]), np.array([1.0, 2.0, 5.0])
    found = parts(tm.plot.stack(RESULTS))["stat. + syst."]
    up = np.sqrt(dy + tt + (0.1 * dy + 0.2 * tt) ** 2 + (0.02 * dy) ** 2)
    np.testing.assert_allclose(found.values, dy + tt + up)
    np.testing.assert_allclose(found.baseline, dy + tt - np.sqrt(dy + tt))
    only = parts(tm.plot.stack(RESULTS, systematics=False))["stat."]
    np.testing.assert_allclose(only.values, dy + tt + np.sqrt(dy + tt))


def test_the_ratio_is_data_over_the_sum():
    figure = tm.plot.stack(RESULTS, ratio=True, title="words")
    points = figure.axes[1].containers[0][0]
    np.testing.assert_allclose(points.get_ydata(), [6 / 5, 4 / 5, 7 / 6])
    assert figure.axes[1].get_xlabel() == "MET [GeV]"
    assert figure.axes[0].get_title(loc="left") == "words"


def test_signals_are_lines_and_not_part_of_the_sum(tmp_path):
    figure = tm.plot.stack(RESULTS, tmp_path / "x.png", signal="tt", log=True, colors={"tt": "red"})
    found = parts(figure)
    np.testing.assert_allclose(found["tt"].values, [1, 2, 5])
    np.testing.assert_allclose(found["stat. + syst."].baseline, [4 - 2, 3 - 3**0.5, 0])
    assert figure.axes[0].get_yscale() == "log"
    assert (tmp_path / "x.png").stat().st_size > 1000


def test_the_legend_is_in_the_picture_s_order():
    legend = tm.plot.stack(RESULTS).axes[0].get_legend()
    words = [each.get_text() for each in legend.get_texts()]
    assert words == ["data", "tt", "dy", "stat. + syst."]


def test_forms_of_results(events):
    categories = hist.Hist(
        hist.axis.StrCategory(["dy", "tt", "data"], name="process"), hist.axis.Regular(3, 0, 40)
    )
    categories.view(flow=True)[:3, 1:-1] = [[4, 3, 1], [1, 2, 5], [6, 4, 7]]
    wanted = parts(tm.plot.stack(RESULTS))
    for given in (categories, tm.Variations({"nominal": categories, "jes": categories * 1.1})):
        found = parts(tm.plot.stack(given))
        np.testing.assert_allclose(found["tt"].values, wanted["tt"].values)
        np.testing.assert_allclose(found["data"], wanted["data"])
    systematic = {name: RESULTS[name].to_hist() for name in ("dy", "tt")}
    found = parts(tm.plot.stack(systematic | {"data": RESULTS["data"]}))
    np.testing.assert_allclose(found["stat. + syst."].values, wanted["stat. + syst."].values)
    stack = hist.Stack.from_dict({"dy": shape([1, 2, 3]), "tt": shape([1, 2, 3])})
    assert list(parts(tm.plot.stack(stack))) == ["dy", "tt", "stat."]
    booked = {"dy": events.hist("MET_pt", bins=(5, 0, 100))}
    assert list(parts(tm.plot.stack(booked, data=None))) == ["dy", "stat."]
    apart = {name: RESULTS[name] for name in ("dy", "tt")}
    found = parts(tm.plot.stack(apart, data=RESULTS["data"]))
    np.testing.assert_allclose(found["data"], [6, 4, 7])


@pytest.mark.parametrize(
    ("given", "more", "error", "said"),
    [
        ({"dy": 3}, {}, TypeError, "3 is not a histogram"),
        (shape([1, 2]), {}, TypeError, "mapping of names"),
        ({"data": shape([1, 2])}, {}, ValueError, "needs a process"),
        ({"dy": shape([1, 2])}, {"ratio": True}, ValueError, "ratio=True needs data"),
        ({"dy": shape([1, 2])}, {"signal": "H"}, ValueError, "no histogram 'H'.*there are dy"),
        ({"a": shape([1, 2]), "b": shape([1, 2, 3])}, {}, ValueError, "different bins"),
        ({"a": hist.Hist.new.Reg(2, 0, 1).Reg(2, 0, 1).Double()}, {}, ValueError, "one dimension"),
        ({"a": hist.Hist.new.Reg(2, 0, 1).Mean()}, {}, ValueError, "no profiles"),
    ],
)
def test_what_cannot_be_stacked(given, more, error, said):
    with pytest.raises(error, match=said):
        tm.plot.stack(given, **more)


def test_plot_is_a_function_still(tmp_path):
    assert tm.plot.__name__ == "plot"
    tm.plot({"a": shape([1, 2]), "b": shape([2, 3])}, tmp_path / "x.png")
    assert (tmp_path / "x.png").exists()


# Tables of cut flows.

COUNTS = tm.CutFlow(
    [tm.Cut("μ_1 & 2", 1000, 500, 1000, 500), tm.Cut("MET > 20 %", 500, 20, 500, 20)]
)
SUMS = tm.CutFlow(
    [tm.Cut("μ_1 & 2", 10.5, 5.25, 4.0, 1.0), tm.Cut("MET > 20 %", 5.25, 0.0, 1.0, 0.0)]
)


def test_cut_flows_side_by_side():
    made = tm.cut_table({"dy": COUNTS, "tt": SUMS})
    assert str(made).splitlines() == [
        "cut            dy        tt",
        "---------------------------",
        "all         1,000  10.5 ± 2",
        "μ_1 & 2       500  5.25 ± 1",
        "MET > 20 %     20     0 ± 0",
    ]
    assert tm.cut_table({"dy": COUNTS}, "cumulative").rows[1] == ["MET > 20 %", "2.00 %"]
    assert tm.cut_table({"dy": SUMS}, "efficiency").rows[1] == ["MET > 20 %", "0.00 %"]
    assert "<td style='text-align:left'>MET &gt; 20 %</td>" in made._repr_html_()


def test_latex():
    made = tm.cut_table({"dy_1": SUMS}).to_latex()
    assert made.splitlines()[2] == r"cut & dy\_1 \\"
    assert made.splitlines()[5] == r"μ\_1 \& 2 & 5.25 $\pm$ 1 \\"
    flow = COUNTS.to_latex().splitlines()
    assert flow[0] == r"\begin{tabular}{lrrrr}"
    assert flow[5] == r"MET $>$ 20 \% & 500 & 20 & 4.00 \% & 2.00 \% \\"


def test_reports_of_data_sets_and_variations(events):
    cuts = events.vary("MET_pt", {"up": "MET_pt * 1.5"}).filter("MET_pt > 20", name="MET")
    made = tm.cut_table(cuts.report())
    assert made.head == ["cut", "nominal", "MET_pt:up"]
    plain = events.filter("MET_pt > 20", name="MET").report()
    assert tm.cut_table(plain).rows[1][1] == made.rows[1][1]


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"a": 3}, "a is no cut flow"),
        (3, "no mapping"),
        ({"a": {"b": COUNTS}}, "a has several cut flows"),
        ({"a": tm.CutFlow([])}, "named filters"),
    ],
)
def test_what_is_no_table(given, error):
    with pytest.raises(TypeError, match=error):
        tm.cut_table(given)


def test_different_cuts_are_not_put_side_by_side():
    with pytest.raises(tm.QueryError, match="the cuts of tt are not those of dy"):
        tm.cut_table({"dy": COUNTS, "tt": tm.CutFlow([tm.Cut("x", 1, 1, 1, 1)])})
