"""tm.plot.stack: what is stacked, the band of variations, data and their ratio. Tables of cuts."""

import hist
import numpy as np
import pytest
import treemill as tm

from tests.raising import raises

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


def test_counts_of_data_have_poisson_intervals_at_0_too():
    from scipy.stats import chi2

    counts = np.array([0, 1, 7, 250, 0])
    low = chi2.ppf(0.15865525393145707, 2 * counts) / 2
    high = chi2.ppf(1 - 0.15865525393145707, 2 * counts + 2) / 2
    low[counts == 0] = 0
    process = shape([2.0, 1.0, 6.0, 250.0, 0.0])
    figure = tm.plot.stack({"dy": process, "data": shape(counts, "Double")}, ratio=True)
    # Where nothing is expected and nothing came there is no point.
    for axes, over in zip(figure.axes, (1, process.values()[:-1]), strict=True):
        points, _, (_, up) = axes.containers[0]
        np.testing.assert_allclose(points.get_ydata(), counts[:-1] / over)
        ends = np.array([segment[:, 1] for segment in up.get_segments()])
        np.testing.assert_allclose(ends[:, 0], low[:-1] / over, atol=1e-6, rtol=2e-4)
        np.testing.assert_allclose(ends[:, 1], high[:-1] / over, rtol=2e-4)
    weighted = shape([0.0, 1.5, 2.5, 4.0, 0.0])
    points, _, (_, up) = tm.plot.stack({"dy": process, "data": weighted}).axes[0].containers[0]
    ends = np.array([segment[:, 1] for segment in up.get_segments()])
    np.testing.assert_allclose(ends[:, 1] - ends[:, 0], 2 * np.sqrt([1.5, 2.5, 4.0]))


def test_a_process_keeps_its_colour_whatever_others_there_are():
    def colours(*names, **more):
        figure = tm.plot.stack({name: shape([1.0, 2.0]) for name in names}, **more)
        handles, labels = figure.axes[0].get_legend_handles_labels()
        return {
            label: each.get_facecolor()[:3]
            for label, each in zip(labels, handles, strict=True)
            if label in names
        }

    first = colours("ours W", "ours Z", "ours tt")
    assert len(set(first.values())) == 3
    fewer = colours("ours tt", "ours H")
    assert fewer["ours tt"] == first["ours tt"]
    assert fewer["ours H"] not in first.values()
    many = colours("ours Z", *(f"other {i}" for i in range(12)))
    assert many["ours Z"] == first["ours Z"]
    chosen = colours("ours Z", "ours W", colors={"ours Z": "black"})
    assert chosen == {"ours Z": (0.0, 0.0, 0.0), "ours W": first["ours W"]}


def test_on_a_logarithmic_scale_nothing_small_is_hidden():
    results = {"large": shape([5e4, 4e3, 1e3]), "small": shape([0.0, 3.0, 0.01])}
    figure = tm.plot.stack(results, log=True)
    found = parts(figure)
    np.testing.assert_allclose(found["small"].baseline, [0, 0, 0])
    np.testing.assert_allclose(found["large"].baseline, [0, 3, 0.01])
    low, high = figure.axes[0].get_ylim()
    # The highest bin of the smallest process is there, and its lowest one makes no decades.
    assert 0.5 < low < 3
    assert high > 5e4
    low, _ = tm.plot.stack({"large": results["large"]}, log=True).axes[0].get_ylim()
    assert 300 < low < 1000


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


@pytest.mark.slow
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
        ({"dy": 3}, {}, tm.QueryError, "3 is not a histogram"),
        (shape([1, 2]), {}, tm.QueryError, "mapping of names"),
        ({"data": shape([1, 2])}, {}, tm.QueryError, "needs a process"),
        ({"dy": shape([1, 2])}, {"ratio": True}, tm.QueryError, "ratio=True needs data"),
        (
            {"dy": shape([1, 2])},
            {"signal": "H"},
            tm.QueryError,
            "'H'.*the names are dy",
        ),
        (RESULTS, {"data": "Data"}, tm.QueryError, "'Data' for data=: the names are dy, tt, data"),
        (
            {"a": shape([1, 2]), "b": shape([1, 2, 3])},
            {},
            tm.QueryError,
            r"different bins.*'a' has the axis Regular\(2, 0, 40.*'b' has Regular\(3, 0, 40",
        ),
        (
            {"a": hist.Hist.new.Reg(2, 0, 1).Reg(2, 0, 1).Double()},
            {},
            tm.QueryError,
            "one dimension.*'a' has 2 dimensions",
        ),
        (
            {"a": hist.Hist.new.Reg(2, 0, 1).Mean()},
            {},
            tm.QueryError,
            "no profiles: 'a' is a profile",
        ),
        ({"sr": {"dy": shape([1, 2])}}, {}, tm.QueryError, "'sr' is a mapping of dy"),
        (
            {"dy": ["x" * 100]},
            {},
            tm.QueryError,
            f"'dy' cannot.*\\['{'x' * 57}… is not a histogram",
        ),
        ({"dy": shape([1, np.nan])}, {}, tm.QueryError, "contents of 'dy' are not finite in 1 of"),
        ({"dy": varied([1.0, 2.0], jes=np.nan)}, {}, tm.QueryError, "'dy, jes' are not finite"),
        (
            {r"$\nosuch$": shape([1, 2])},
            {},
            tm.QueryError,
            r"formula in .*nosuch\$' \(Unknown symbol",
        ),
        ({"dy": shape([1, 2])}, {"title": r"$\nosuch$"}, tm.QueryError, "formula in .*nosuch"),
    ],
)
def test_what_cannot_be_stacked(given, more, error, said):
    with pytest.raises(error, match=said):
        tm.plot.stack(given, **more)


def test_variations_that_are_not_drawn_may_have_any_contents():
    found = tm.plot.stack({"dy": varied([1.0, 2.0], jes=np.nan)}, systematics=False)
    assert list(parts(found)) == ["dy", "stat."]


def test_the_usual_name_of_data_may_be_absent():
    assert list(parts(tm.plot.stack({"dy": shape([1, 2])}, data="data"))) == ["dy", "stat."]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "shown"),
    [((None, None), ["MET [GeV]", "MET [GeV] (2)"]), (("dy", "dy"), ["dy", "dy (2)"])],
)
def test_no_histogram_of_a_stack_is_lost(names, shown):
    pair = [shape([1, 2]), shape([3, 4])]
    for histogram, name in zip(pair, names, strict=True):
        histogram.name = name
    found = parts(tm.plot.stack(hist.Stack(*pair)))
    assert list(found) == [*shown, "stat."]
    np.testing.assert_allclose(found[shown[1]].values, [4, 6])
    keys = parts(tm.plot.stack({1: pair[0], "1": pair[1]}))
    np.testing.assert_allclose(keys["1 (2)"].values, [4, 6])


def test_any_name_is_in_the_legend():
    names = ["_other", "", "stat.", "dy"]
    legend = tm.plot.stack({name: shape([1, 2]) for name in names}).axes[0].get_legend()
    words = [each.get_text() for each in legend.get_texts()]
    assert words == ["dy", "stat.", "(2)", "_other", "stat."]


def test_errors_that_are_not_known_are_left_out_with_a_warning():
    lost = shape([1, 2], "Double") * 2.0
    with pytest.warns(UserWarning, match=r"statistical errors of 'dy' .*storage=\"Weight\""):
        found = parts(tm.plot.stack({"dy": lost}))
    assert list(found) == ["dy"]
    changed = tm.Variations({"nominal": lost, "jes": lost * 1.5})
    with pytest.warns(UserWarning, match="'dy', 'data'"):
        found = parts(tm.plot.stack({"dy": changed, "data": lost}))
    assert list(found) == ["dy", "syst.", "data"]
    np.testing.assert_allclose(found["syst."].values, [3, 6])
    with pytest.warns(UserWarning, match="errors of 'b' are not known"):
        tm.plot({"a": shape([1, 2]), "b": lost}, ratio=True)


def test_the_band_of_negative_sums_is_shown():
    found = tm.plot.stack({"nlo": shape([-50, 100, 0])})
    band = parts(found)["stat."]
    assert found.axes[0].get_ylim()[0] < min(band.baseline) < -50
    # Errors of small sums do not reach below 0.
    assert tm.plot.stack({"nlo": shape([0.5, 100, 0])}).axes[0].get_ylim()[0] == 0


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
        "cut            dy          tt",
        "-----------------------------",
        "all         1,000  10.5 ± 2.0",
        "μ_1 & 2       500   5.2 ± 1.0",
        "MET > 20 %     20       0 ± 0",
    ]
    assert tm.cut_table({"dy": COUNTS}, "cumulative").rows[1] == ["MET > 20 %", "2.00 %"]
    assert tm.cut_table({"dy": SUMS}, "efficiency").rows[1] == ["MET > 20 %", "0.00 %"]
    assert "<td style='text-align:left'>MET &gt; 20 %</td>" in made._repr_html_()


def test_latex():
    made = tm.cut_table({"dy_1": SUMS}).to_latex()
    assert made.splitlines()[2] == r"cut & dy\_1 \\"
    assert made.splitlines()[5] == r"$\mu$\_1 \& 2 & 5.2 $\pm$ 1.0 \\"
    flow = COUNTS.to_latex().splitlines()
    assert flow[0] == r"\begin{tabular}{lrrrr}"
    assert flow[5] == r"MET $>$ 20 \% & 500 & 20 & 4.00 \% & 2.00 \% \\"


@pytest.mark.parametrize(
    ("value", "error", "shown"),
    [
        (719972.3, 4000.2, "719,972 ± 4,000"),
        (-160711.0, 843.7, "-160,711 ± 840"),
        (1234.5678, 0.0456, "1,234.568 ± 0.046"),
        (2.5e9, 3.2e6, "2,500,000,000 ± 3,200,000"),
        (4.9383e13, 2.5e11, "(4.938 ± 0.025)×10¹³"),  # noqa: RUF001
        (5.2e-6, 3e-7, "(5.20 ± 0.30)×10⁻⁶"),  # noqa: RUF001
        (1e6, 0.0, "1,000,000 ± 0"),
    ],
)
def test_sums_of_weights_are_written_with_their_errors(value, error, shown):
    flow = tm.CutFlow([tm.Cut("x", value, value, error**2, error**2)])
    assert tm.cut_table(flow).rows[0][1] == shown


def test_large_sums_of_weights_in_a_cut_flow():
    flow = tm.CutFlow([tm.Cut("x", 1234567.0, 123456.7, 1.0, 1.0)])
    assert str(flow).startswith("x: pass=123457       all=1234567      -- eff=10.00 %")
    assert r"x & 1234567 & 123457 & 10.00 \%" in flow.to_latex()
    assert "1,234,567" in flow._repr_html_()


def test_a_share_of_nothing_is_a_dash():
    flow = tm.CutFlow([tm.Cut("none", 0, 0, 0, 0)])
    assert str(flow).endswith("eff=- cumulative eff=-")
    assert r"none & 0 & 0 & - & - \\" in flow.to_latex()
    assert "nan" not in flow._repr_html_()


def test_signs_of_formulas_in_latex():
    flow = tm.CutFlow([tm.Cut("≥ 1 μ, Δφ ≠ π", 1e10, 1e10, 1e16, 1e16)])
    rows = tm.cut_table(flow).to_latex().splitlines()
    name = r"$\geq$ 1 $\mu$, $\Delta$$\varphi$ $\neq$ $\pi$"
    assert rows[5] == rf"{name} & (1.000 $\pm$ 0.010)$\times$10$^{{1}}$$^{{0}}$ \\"


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
        (3, "takes a mapping of names to cut flows, not int"),
        ({}, "the mapping has no cut flow"),
        ({"a": {"b": COUNTS}}, "a has several cut flows"),
        ({"a": tm.CutFlow([])}, "named filters"),
    ],
)
def test_what_is_no_table(given, error):
    with pytest.raises(tm.QueryError, match=error):
        tm.cut_table(given)


def test_different_cuts_are_not_put_side_by_side():
    with raises(tm.QueryError, said="the cuts of tt are not those of dy"):
        tm.cut_table({"dy": COUNTS, "tt": tm.CutFlow([tm.Cut("x", 1, 1, 1, 1)])})


@pytest.mark.slow
@pytest.mark.parametrize("flag", [{"is_data": True}, {"is_mc": False}, {"process": "data"}])
def test_metadata_say_what_is_data(flag):
    """As they do for templates; several samples of data are added."""
    values = {"dy": shape([4.0, 2.0]), "Run2016B": shape([3.0, 1.0]), "data": shape([9.0, 9.0])}
    metadata = {"Run2016B": flag, "data": {"is_mc": True}}
    container = tm.plot.stack(tm.ByDataset(values, metadata)).axes[0].containers[0]
    assert container.get_label() == "Run2016B"
    assert container[0].get_ydata().tolist() == [3.0, 1.0]
    metadata = {"Run2016B": flag, "data": flag}
    container = tm.plot.stack(tm.ByDataset(values, metadata)).axes[0].containers[0]
    assert container.get_label() == "data"
    assert container[0].get_ydata().tolist() == [12.0, 10.0]
    assert not tm.plot.stack(tm.ByDataset(values, metadata), data=None).axes[0].containers
    with raises(tm.QueryError, about="ratio"):
        tm.plot.stack({"dy": values["dy"]}, ratio=True)
