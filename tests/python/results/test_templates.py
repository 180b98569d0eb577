"""templates: names as fits expect them, what is checked before, and whether pyhf and cabinetry read
the file."""

import re

import hist
import numpy as np
import pytest
import treemill as tm
import uproot

from tests.raising import raises

RANDOM = np.random.default_rng(3)
EDGES = [0.0, 20.0, 40.0, 60.0, 100.0]


def shape(values, scale=1.0):
    made = hist.Hist(hist.axis.Variable(EDGES, name="x"), storage=hist.storage.Weight())
    made.view()["value"] = np.array(values, float) * scale
    made.view()["variance"] = np.array(values, float) * scale**2
    return made


def varied(values, names=("jes:up", "jes:down")):
    made = {"nominal": shape(values, 0.5)}
    made |= {name: shape(values, 0.5 * (1.1 if "up" in name else 0.9)) for name in names}
    return tm.Variations(made)


def analysis():
    counts = {
        "sr": {"signal": [4, 9, 3, 1], "ttbar": [40, 30, 20, 8], "data": [44, 40, 21, 9]},
        "cr": {"signal": [1, 1, 1, 1], "ttbar": [90, 60, 30, 8], "data": [91, 60, 33, 8]},
    }
    return {
        region: {name: (shape if name == "data" else varied)(each) for name, each in named.items()}
        for region, named in counts.items()
    }


def names(path):
    with uproot.open(path) as file:
        kinds = file.classnames(cycle=False)
    return [name for name, kind in kinds.items() if kind.startswith("TH")]


def test_names_are_combines(tmp_path):
    made = tm.templates(analysis(), tmp_path / "x.root")
    assert made[:4] == ["sr/signal", "sr/signal_jesUp", "sr/signal_jesDown", "sr/ttbar"]
    assert sorted(names(tmp_path / "x.root")) == sorted(made)
    found = uproot.open(tmp_path / "x.root")["sr/signal_jesUp"]
    wanted = analysis()["sr"]["signal"]["jes:up"]
    np.testing.assert_array_equal(found.values(), wanted.values())
    np.testing.assert_allclose(found.errors() ** 2, wanted.variances())
    assert found.axis().edges().tolist() == EDGES


@pytest.mark.parametrize(
    ("name", "more", "first"),
    [
        ("{process}_{region}_{variation}", {"levels": ["region", "process"]}, "signal_sr_jesUp"),
        ("{region}_{process}__{variation}", {}, "sr_signal__jesUp"),
        ("{region}/{process}/{variation}", {}, "sr/signal/jesUp"),
        ("{variation}/{region}/{process}", {}, "jesUp/sr/signal"),
        ("{region}_{variation}/{process}", {}, "sr_jesUp/signal"),
        (
            "{region}/{process}_{variation}",
            {"rename": {"jes:up": "CMS_scale_jUp"}},
            "sr/signal_CMS_scale_jUp",
        ),
        ("{region}/{process}_{variation}", {"rename": str.upper}, "sr/signal_JES:UP"),
    ],
)
def test_patterns(tmp_path, name, more, first):
    assert tm.templates(analysis(), tmp_path / "x.root", name, **more)[1] == first


WRONG_NAMES = {
    "r:s/p": {"r:s": {"p": 1}},
    "r/p;1": {"r": {"p;1": 1}},
    "r/p\\x00": {"r": {"p\0": 1}},
    "/a/p": {"/a": {"p": 1}},
    "a//b/p": {"a//b": {"p": 1}},
    "r/": {"r": {"": 1}},
    "r/p/q": {"r": {"p": 1, "p/q": 1}},
}


@pytest.mark.parametrize("name", WRONG_NAMES)
def test_names_by_which_nothing_is_found(tmp_path, name):
    made = {
        region: {process: shape([1, 2, 3, 4]) for process in named}
        for region, named in WRONG_NAMES[name].items()
    }
    said = rf"a template cannot be called '{re.escape(name)}', because .*: give .*other keys"
    with pytest.raises(tm.QueryError, match=said):
        tm.templates(made, tmp_path / "x.root")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "nominal"),
    [
        ("{region}/{process}_{variation}", "sr/signal"),
        ("{region}/{process}/{variation}", "sr/signal/nominal"),
        ("{variation}/{region}_{process}", "nominal/sr_signal"),
        ("{variation}_{region}_{process}", "sr_signal"),
        ("{region}_{variation}_{process}", "sr_signal"),
    ],
)
def test_nominal_names(tmp_path, name, nominal):
    assert tm.templates(analysis(), tmp_path / "x.root", name)[0] == nominal


def test_results_by_data_set_have_their_own_order_of_levels(tmp_path):
    by_process = {"ttbar": {"sr": shape([1, 2, 3, 4])}}
    made = tm.templates(by_process, tmp_path / "x.root", levels=["process", "region"])
    assert made == ["sr/ttbar"]


def test_category_axes_are_taken_apart(tmp_path):
    make = hist.axis
    one = hist.Hist(
        make.StrCategory(["ttbar", "dy"], name="process"),
        make.StrCategory(["nominal", "jes:up"], name="variation"),
        make.Regular(2, 0, 1, name="x"),
        storage=hist.storage.Weight(),
    )
    view = one.view(flow=True)
    view["value"] = np.arange(view.size).reshape(view.shape) + 1
    made = tm.templates({"sr": one}, tmp_path / "x.root")
    assert made == ["sr/ttbar", "sr/ttbar_jesUp", "sr/dy", "sr/dy_jesUp"]
    found = uproot.open(tmp_path / "x.root")["sr/dy_jesUp"]
    assert found.values().tolist() == one["dy", "jes:up", :].values().tolist()


def test_bookings_are_computed(events, tmp_path):
    vary = events.vary("MET_pt", {"up": "MET_pt * 1.1"}, name="met")
    booked = {"sr": {"all": vary.hist("MET_pt", bins=(5, 0, 100), storage="Weight")}}
    assert tm.templates(booked, tmp_path / "x.root") == ["sr/all", "sr/all_metUp"]


def test_negative_bins_are_refused_by_name(tmp_path):
    made = analysis()
    signal = made["sr"]["signal"]
    made["sr"]["signal"] = tm.Variations({**signal, "jes:up": shape([-4, 9, -0.5, 1])})
    said = r"sr/signal_jesUp: bins 1 \[0, 20\), 3 \[40, 60\) are negative.*negative="
    with pytest.raises(tm.QueryError, match=said):
        tm.templates(made, tmp_path / "x.root")
    assert list(tmp_path.iterdir()) == []
    with pytest.warns(UserWarning, match="sr/signal_jesUp: bins 1"):
        tm.templates(made, tmp_path / "x.root", negative="warn")
    tm.templates(made, tmp_path / "x.root", negative="ignore")
    round_ = hist.axis.Variable([0, 1, 3.5, 5], circular=True)
    made = hist.Hist(round_, storage=hist.storage.Weight()).fill([2, 0.5, 4], weight=[-1, 1, 1])
    with raises(tm.QueryError, about="bin 2 [1, 3.5)"):
        tm.templates({"sr": {"round": made}}, tmp_path / "x.root")


def test_empty_bins_are_a_warning(tmp_path):
    made = {"sr": {"ttbar": shape([0, 1, 2, 3]), "dy": shape([0, 0, 0, 0])}}
    with pytest.warns(UserWarning, match="^template") as said:
        tm.templates(made, tmp_path / "x.root")
    words = [str(each.message) for each in said]
    assert words == [
        "template sr/ttbar: bin 1 [0, 20) is empty",
        "template sr/dy: it is empty",
    ]
    with raises(tm.QueryError, about="empty"):
        tm.templates(made, tmp_path / "x.root", empty="error")
    assert tm.templates(made, tmp_path / "x.root", empty="ignore")


def test_variations_of_empty_bins(tmp_path):
    up = tm.Variations({"nominal": shape([0, 1, 1, 1]), "jes:up": shape([1, 1, 1, 1])})
    with pytest.warns(UserWarning, match="^template") as said:
        tm.templates({"sr": {"x": up}}, tmp_path / "x.root")
    assert [str(each.message).partition(": ")[2] for each in said] == [
        "bin 1 [0, 20) is empty",
        "bin 1 [0, 20) is empty in the nominal one only",
    ]
    down = tm.Variations({"nominal": shape([1, 1, 1, 1]), "jes:down": shape([1, 0, 1, 0])})
    said = r"sr/x_jesDown: bins 2 \[20, 40\), 4 \[60, 100\) are empty in this variation only"
    with pytest.warns(UserWarning, match=said):
        tm.templates({"sr": {"x": down}}, tmp_path / "x.root")
    with pytest.raises(tm.QueryError, match=said):
        tm.templates({"sr": {"x": down}}, tmp_path / "x.root", empty="error")
    mixed = tm.Variations({"nominal": shape([0, 1, 1, 1]), "jes:down": shape([0, 0, -1, 1])})
    with pytest.warns(UserWarning, match="^template") as told:
        tm.templates({"sr": {"x": mixed}}, tmp_path / "x.root", negative="warn")
    assert [str(each.message).removeprefix("template sr/") for each in told] == [
        "x: bin 1 [0, 20) is empty",
        "x_jesDown: bin 3 [40, 60) is negative",
        "x_jesDown: bin 2 [20, 40) is empty in this variation only",
    ]
    gone = tm.Variations({"nominal": shape([1, 1, 1, 1]), "jes:up": shape([0, 0, 0, 0])})
    with pytest.warns(UserWarning, match="sr/x_jesUp: it is empty, and the nominal one is not"):
        tm.templates({"sr": {"x": gone}}, tmp_path / "x.root")


def test_no_numbers_are_always_refused(tmp_path):
    made = {"sr": {"x": shape([1, float("nan"), 1, 1])}}
    with raises(tm.QueryError, said="sr/x: bin 2 20, 40 is no number"):
        tm.templates(made, tmp_path / "x.root", negative="ignore", empty="ignore")


@pytest.mark.parametrize(
    ("results", "more", "said"),
    [
        ({"sr": shape([1, 1, 1, 1])}, {}, r"has {process}, and the results below sr have no such"),
        ({"a": {"b": {"c": 1}}}, {}, "below a / b are more levels"),
        ({}, {}, "no histograms"),
        ({"a": {"b": varied([1, 1, 1, 1])}}, {"name": "{region}/{process}"}, "has no {variation}"),
        ({"a": {"b": shape([1, 1, 1, 1])}}, {"name": "shapes"}, "no pattern of names"),
        ({"a": {"b": shape([1, 1, 1, 1])}}, {"name": "{region"}, "no pattern of names"),
        ({"a": {"b": shape([1, 1, 1, 1])}}, {"levels": ["year"]}, "names 'year'"),
        (
            {"a": {"b": varied([1, 1, 1, 1])}},
            {"rename": lambda name: "same"},
            "two histograms would have the name 'a/b_same'",
        ),
    ],
)
def test_what_does_not_fit_is_an_error(tmp_path, results, more, said):
    with pytest.raises(tm.QueryError, match=said):
        tm.templates(results, tmp_path / "x.root", **more)


@pytest.mark.parametrize("value", [3, hist.Hist.new.Reg(2, 0, 1).Mean()])
def test_only_counts_are_templates(tmp_path, value):
    with raises(tm.UnsupportedError, said="a / b is a"):
        tm.templates({"a": {"b": value}}, tmp_path / "x.root")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_pyhf_reads_the_file(tmp_path):
    import pyhf.readxml

    tm.templates(analysis(), tmp_path / "shapes.root")
    (tmp_path / "HistFactorySchema.dtd").write_text("")
    histogram = 'InputFile="shapes.root" HistoPath="sr/"'
    low_high = (
        'HistoPathLow="sr/" HistoNameLow="{0}_jesDown" '
        'HistoPathHigh="sr/" HistoNameHigh="{0}_jesUp"'
    )
    samples = "".join(
        f'<Sample Name="{name}" {histogram} HistoName="{name}">'
        f'<StatError Activate="True"/><HistoSys Name="jes" {low_high.format(name)}/>{norm}</Sample>'
        for name, norm in [
            ("signal", '<NormFactor Name="mu" Val="1" Low="0" High="5"/>'),
            ("ttbar", ""),
        ]
    )
    (tmp_path / "channel.xml").write_text(
        '<Channel Name="sr" InputFile="shapes.root"><Data HistoName="data" HistoPath="sr/"/>'
        f"{samples}</Channel>"
    )
    (tmp_path / "top.xml").write_text(
        '<Combination OutputFilePrefix="x"><Input>channel.xml</Input>'
        '<Measurement Name="m" Lumi="1" LumiRelErr="0.02"><POI>mu</POI></Measurement></Combination>'
    )
    spec = pyhf.readxml.parse(tmp_path / "top.xml", tmp_path)
    workspace = pyhf.Workspace(spec)
    (channel,) = spec["channels"]
    signal, ttbar = channel["samples"]
    assert signal["data"] == [2, 4.5, 1.5, 0.5]
    jes = next(each for each in ttbar["modifiers"] if each["name"] == "jes")
    assert jes["data"]["hi_data"] == pytest.approx([22, 16.5, 11, 4.4])
    assert workspace.data(workspace.model(), include_auxdata=False) == [44, 40, 21, 9]
    fit = pyhf.infer.mle.fit(workspace.data(workspace.model()), workspace.model())
    assert np.isfinite(fit).all()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_cabinetry_reads_the_file(tmp_path):
    import cabinetry

    tm.templates(analysis(), tmp_path / "shapes.root")
    jes = {way: {"VariationPath": f"_jes{way}"} for way in ("Up", "Down")}
    config = {
        "General": {
            "Measurement": "m",
            "POI": "mu",
            "HistogramFolder": str(tmp_path / "histograms"),
            "InputPath": f"{tmp_path}/shapes.root:{{RegionPath}}/{{SamplePath}}{{VariationPath}}",
            "VariationPath": "",
        },
        "Regions": [{"Name": name, "RegionPath": name} for name in ("sr", "cr")],
        "Samples": [
            {"Name": "data", "SamplePath": "data", "Data": True},
            {"Name": "signal", "SamplePath": "signal"},
            {"Name": "ttbar", "SamplePath": "ttbar"},
        ],
        "Systematics": [{"Name": "jes", "Type": "NormPlusShape", **jes}],
        "NormFactors": [{"Name": "mu", "Samples": "signal", "Nominal": 1, "Bounds": [0, 5]}],
    }
    cabinetry.templates.collect(config)
    cabinetry.templates.postprocess(config)
    spec = cabinetry.workspace.build(config)
    cr = next(each for each in spec["channels"] if each["name"] == "cr")
    assert cr["samples"][1]["data"] == [45, 30, 15, 4]
    model, data = cabinetry.model_utils.model_and_data(spec)
    assert len(data) > model.config.nmaindata == 8


def test_many_findings_are_not_all_told(tmp_path):
    made = {"sr": {f"p{i}": shape([0, 1, 2, 3]) for i in range(9)}}
    with pytest.warns(UserWarning, match="^template") as said:
        tm.templates(made, tmp_path / "x.root")
    assert len(said) == 6
    assert str(said[-1].message) == (
        'templates: 4 more such findings; merge bins, or say empty="ignore"'
    )


def test_the_processes_of_a_region_have_the_same_bins(tmp_path):
    other = hist.Hist(hist.axis.Regular(4, 0, 100), storage=hist.storage.Weight())
    other.view()["value"] = other.view()["variance"] = 1
    results = {"sr": {"a": shape([1, 1, 1, 1])}, "cr": {"a": other, "b": other}}
    assert tm.templates(results, tmp_path / "x.root") == ["sr/a", "cr/a", "cr/b"]
    results["sr"]["b"] = other
    with raises(tm.QueryError, said="sr/b has other bins than sr/a"):
        tm.templates(results, tmp_path / "x.root")
    # Where the name has no process, it is not known what is added up.
    assert tm.templates(results, tmp_path / "x.root", name="{region}/{sample}")


def test_processes_in_another_order_keep_their_contents(tmp_path):
    def made(processes):
        axes = (
            hist.axis.StrCategory(processes, name="process", growth=True),
            hist.axis.Variable(EDGES),
        )
        return hist.Hist(*axes).fill(["tt", "tt", "w"], [10, 50, 10])

    results = {"sr": tm.Variations({"nominal": made(["tt", "w"]), "jes:up": made(["w", "tt"])})}
    tm.templates(results, tmp_path / "x.root", empty="ignore")
    with uproot.open(tmp_path / "x.root") as file:
        for name, wanted in (("tt", [1, 0, 1, 0]), ("w", [1, 0, 0, 0])):
            assert file[f"sr/{name}"].values().tolist() == wanted
            assert file[f"sr/{name}_jesUp"].values().tolist() == wanted
