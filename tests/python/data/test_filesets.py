"""Bookings on a fileset: for each sample what it gives by itself, in one pass, on any workers."""

import re
from pathlib import Path

import hist
import numpy as np
import pytest
import treemill as tm
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.raising import raises


def spec(paths):
    return {
        "dy": {
            "files": {paths[0]: "Events", paths[1]: "Events"},
            "metadata": {"xsec": 6.5, "is_mc": True, "process": "Z", "year": 2018},
        },
        "tt": {
            "files": [paths[2]],
            "treename": "Events",
            "metadata": {"xsec": 832, "is_mc": True, "process": "top", "year": 2017},
        },
        "data": {
            "files": {paths[0]: {"object_path": "Events", "steps": [[0, 100], [4000, 4100]]}},
            "metadata": {"xsec": 1.0, "is_mc": False, "process": "data", "year": 2018},
        },
    }


@pytest.fixture
def fs(paths):
    return tm.fileset(spec(paths))


def bookings(events):
    good = events.filter("nMuon >= 1", name="muons").define("w", "xsec * (1 + is_mc)")
    varied = good.vary("MET_pt", {"up": "MET_pt * 1.1", "down": "MET_pt * 0.9"})
    return {
        "n": good.count(),
        "met": good.hist("MET_pt", bins=(20, 0, 200)),
        "weighted": good.hist("MET_pt", bins=(20, 0, 200), weight="w"),
        "profile": good.profile("MET_pt", sample="MET_pt + w", bins=(5, 0, 100)),
        "varied": varied.hist("MET_pt", bins=(20, 0, 200)),
        "sum": good.sum("w"),
        "mean": good.mean("Muon_pt"),
        "largest": good.max("MET_pt"),
        "years": events.unique("year"),
        "muons": good.take("nMuon"),
        "flow": good.report(),
        "numbers": good.sum("entry_number"),
        "drawn": good.filter("random(seed=1) < 0.5").count(),
    }


def assert_same(one, other):
    if isinstance(one, hist.Hist):
        assert one.axes == other.axes
        for name in one.view(flow=True).dtype.names or (None,):
            a, b = (x.view(flow=True) if name is None else x.view(flow=True)[name]
                    for x in (one, other))  # fmt: skip
            assert np.allclose(a, b, rtol=1e-9, atol=1e-12, equal_nan=True)
    elif isinstance(one, dict):
        assert one.keys() == other.keys()
        for name in one:
            assert_same(one[name], other[name])
    elif isinstance(one, np.ndarray):
        assert np.array_equal(one, other)
    elif isinstance(one, tm.CutFlow):  # steps of one sample are an entry list of all of them
        cuts = [[cut for cut in flow if cut.name != "entry list"] for flow in (one, other)]
        assert cuts[0] == cuts[1]
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-9)
    else:
        assert one == other


def assert_as_apart(session, fs):
    together = session.run(bookings(fs))
    assert session.report.complete
    for name, events in fs.items():
        apart = session.run(bookings(events))
        for booked, value in apart.items():
            assert_same(together[booked][name], value)


@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_each_data_set_as_by_itself(fs, mode, shared_session):
    session = shared_session(2, mode)
    assert_as_apart(session, fs)


@settings(max_examples=6)
@given(st.data())
def test_any_division_into_data_sets(paths, data):
    """Files in any samples, with any steps, filters that leave whole samples without entries,
    and packets of two threads."""
    sizes = dict(zip(paths, (5000, 1, 7321), strict=True))
    made = {}
    for name in data.draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=4, unique=True)):
        files = {}
        for path in data.draw(st.lists(st.sampled_from(paths), min_size=1, unique=True)):
            cuts = sorted(data.draw(st.lists(st.integers(0, sizes[path]), max_size=6)))
            steps = [list(pair) for pair in zip(cuts[::2], cuts[1::2], strict=False)]
            files[path] = {"object_path": "Events"} | ({"steps": steps} if steps else {})
        metadata = {
            "xsec": data.draw(st.one_of(st.integers(0, 9), st.floats(0, 1e3))),
            "is_mc": data.draw(st.booleans()),
            "year": data.draw(st.integers(2016, 2018)),
        }
        made[name] = {"files": files, "metadata": metadata}
    fs = tm.fileset(made)
    with tm.connect(workers=2) as session:
        assert_as_apart(session, fs)


def test_stacks(fs):
    by_name, by_process, each, found = tm.run(
        fs.hist("MET_pt", bins=(20, 0, 200), weight="xsec", stack="dataset"),
        fs.hist("MET_pt", bins=(20, 0, 200), stack="year"),
        fs.hist("MET_pt", bins=(20, 0, 200)),
        fs.hist("MET_pt", bins=20, stack="dataset"),
    )
    assert list(by_name.axes[0]) == ["dy", "tt", "data"]
    assert by_name.axes.name == ("dataset", "MET_pt")
    assert by_name.storage_type is hist.storage.Weight
    assert np.allclose(by_name["tt", :].values(), 832 * each["tt"].values())
    assert list(by_process.axes[0]) == ["2018", "2017"]
    together = each["dy"] + each["data"]
    assert np.array_equal(by_process["2018", :].view(flow=True), together.view(flow=True))
    assert each.stack("process").axes[0].name == "process"
    assert found.axes[1].edges[0] == 0  # the range is that of all samples
    with raises(tm.QueryError, said="dy has no era to stack by"):
        each.stack("era")


def test_variations_are_stacked(fs):
    varied = fs.vary("MET_pt", {"up": "MET_pt * 1.1"})
    stacked = varied.hist("MET_pt", bins=(20, 0, 200), stack="dataset").value
    assert list(stacked) == ["nominal", "MET_pt:up"]
    alone = fs["tt"].hist("MET_pt * 1.1", bins=(20, 0, 200)).value
    assert np.array_equal(stacked["MET_pt:up"]["tt", :].values(), alone.values())


@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_snapshots(fs, tmp_path, mode, shared_session):
    good = fs.filter("nMuon >= 1 and is_mc").define("w", "xsec * 2")
    columns = ["MET_pt", "Muon_pt", "w"]
    session = shared_session(2, mode)
    made, n = session.run(good.snapshot(tmp_path / "skim_{dataset}.root", columns), good.count())
    for name, file in made.items():
        assert file.entries == n[name]
        alone = fs[name].filter("nMuon >= 1 and is_mc").define("w", "xsec * 2").arrays(columns)
        if not len(alone):
            continue
        back = tm.dataset(file.path).arrays(columns)
        assert back.to_list() == alone.to_list()
    assert n["data"] == made["data"].entries == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"skim_{name}.root" for name in ("data", "dy", "tt")
    ]


def test_snapshots_that_have_no_place(paths, tmp_path):
    named = tm.fileset({"/a/b": f"{paths[0]}:Events"})
    with raises(tm.QueryError, said="cannot be named after the sample /a/b"):
        tm.run(named.snapshot(tmp_path / "{dataset}.root", ["MET_pt"]))
    own = tm.fileset({"events_0": f"{paths[0]}:Events"})
    with raises(tm.QueryError, said="would replace"):
        tm.run(own.snapshot(paths[0].replace("events_0", "{dataset}"), ["MET_pt"]))


def test_constants_are_varied_and_not_hidden(fs):
    varied = fs.vary("xsec", {"up": "xsec * 1.5"}).sum("xsec").value
    assert varied["tt"]["xsec:up"] == pytest.approx(1.5 * varied["tt"].nominal)
    assert varied["tt"].nominal == 7321 * 832
    with raises(tm.QueryError, said="the constant xsec hides the item of the"):
        tm.run(fs.sum("xsec", params={"xsec": 3}))
    assert fs.define("xsec", "2.0").sum("xsec").value["tt"] == 2 * 7321


def test_templates_and_files_of_results(fs, tmp_path):
    """What is by sample is by process for those who fit."""
    varied = fs.vary("MET_pt", {"up": "MET_pt * 1.1", "down": "MET_pt * 0.9"})
    met = varied.hist("MET_pt", bins=(2, 0, 100)).value
    path = str(tmp_path / "shapes.root")
    tm.templates({"sr": met}, path, name="{region}/{process}_{variation}")
    import uproot

    with uproot.open(path) as file:
        assert np.allclose(file["sr/tt_MET_ptUp"].values(), met["tt"]["MET_pt:up"].values())
    tm.save({"met": met}, str(tmp_path / "all.json.gz"))
    back = tm.load(str(tmp_path / "all.json.gz"))["met"]
    assert list(back) == ["dy", "tt", "data"]


def test_one_value_a_file(fs, paths, shared_session):
    numbered = fs.define_per_file("number", lambda file: paths.index(file.path))
    named = numbered.define_per_file(
        "label", lambda file: f"{file.dataset}_{file.metadata['year']}"
    )
    for mode in ("threads", "processes"):
        session = shared_session(2, mode)
        numbers, n = session.run(
            named.unique("number"),
            named.filter("label == 'dy_2018' and process == 'Z'").count(),
        )
        assert {name: found.tolist() for name, found in numbers.items()} == {
            "dy": [0, 1], "tt": [2], "data": [0]
        }  # fmt: skip
        assert n == {"dy": 5001, "tt": 0, "data": 0}
    assert (
        named["tt"].arrays(["number", "xsec"], stop=2).to_list() == [{"number": 2, "xsec": 832}] * 2
    )
    plain = tm.dataset(paths, "Events", metadata={"lumi": 2.0}).define_per_file("k", lambda f: 3)
    assert plain.sum("lumi * k").value == 6 * 12322


def test_a_function_that_fails_is_an_error_of_its_file(fs, paths):
    def fails(file):
        return 1 / (file.path != paths[2])

    broken = fs.define_per_file("k", fails)
    with raises(tm.WorkerError, said="function of k raised ZeroDivisionError") as caught:
        tm.run(broken.sum("k"))
    assert caught.value.file == paths[2]
    with tm.connect(workers=1) as session:
        found = session.run(broken.sum("k"), on_error="skip")
        assert found == {"dy": 5001.0, "tt": 0.0, "data": 200.0}
        assert {missing.file for missing in session.report.missing} == {paths[2]}
    with raises(tm.QueryError, said="a constant of a file is a number"):
        tm.run(fs.define_per_file("k", lambda file: [1]).sum("k"))
    with raises(tm.QueryError, said="xsec is in the metadata"):
        fs.define_per_file("xsec", lambda file: 1)


def test_constants_that_are_not_there_or_branches(paths):
    lacking = spec(paths)
    del lacking["data"]["metadata"]["xsec"]
    for missing in ("error", {"genWeight": 1.0}):  # also if there are defaults of other columns
        with raises(tm.QueryError, said="data lacks it: add it there, or give a"):
            tm.run(tm.fileset(lacking, missing=missing).sum("xsec"))
    found = tm.fileset(lacking, missing={"xsec": 2.0}).sum("xsec").value
    assert found["data"] == 400.0
    lacking["data"]["metadata"]["nMuon"] = 3
    with raises(tm.QueryError, said="nMuon is a branch, and a constant of the"):
        tm.run(tm.fileset(lacking).sum("nMuon"))
    assert tm.fileset(lacking).sum("MET_pt").value["data"] > 0
    lacking["data"]["metadata"]["xsec"] = [1, 2]
    with raises(tm.QueryError, said="metadata of data has it, but it is a list"):
        tm.run(tm.fileset(lacking).sum("xsec"))


def test_a_file_that_is_not_there(paths, tmp_path):
    gone = spec(paths)
    gone["data"]["files"] = paths[:1]  # steps need the sizes of all files
    gone["tt"]["files"] = [str(tmp_path / "gone.root")]
    with raises(tm.SourceError, said="no such file: gone root"):
        tm.fileset(gone)
    fs = tm.fileset(gone, on_error="skip")
    with raises(tm.SourceError, about="gone.root"):
        tm.run(fs.count())
    with tm.connect(workers=2) as session:
        assert session.run(fs.count(), on_error="skip") == {"dy": 5001, "tt": 0, "data": 5000}
        assert [missing.file for missing in session.report.missing] == gone["tt"]["files"]


class Booked(tm.Selector):
    def begin(self, inputs):
        self.book("n", inputs["n"])

    def begin_worker(self, inputs):
        self.output["seen"] = 0

    def process(self, events):
        self.output["seen"] += len(events)


@pytest.mark.parametrize("first", [0, 1], ids=["one sample", "one file"])
@pytest.mark.parametrize("mode", ["threads", "processes"])
@pytest.mark.parametrize("content", [None, b"", b"no ROOT file" * 99], ids=["gone", "empty", "odd"])
def test_first_files_that_cannot_be_read(paths, tmp_path, mode, first, content, shared_session):
    """Another one says then what columns there are, and what bookings give for no entries."""
    gone = [str(tmp_path / name) for name in ("a.root", "b.root")]
    if content is not None:
        for path in gone:
            Path(path).write_bytes(content)
    files = {"gone": gone, "dy": [gone[0], paths[0]], "tt": [paths[2]]}
    files = dict([*files.items()][first:])
    fs = tm.fileset(files, tree="Events", on_error="skip")
    varied = fs.vary("MET_pt", {"up": "MET_pt * 2"}).filter("MET_pt > 20")
    columns = ["MET_pt", "Jet_*"]
    session = shared_session(2, mode)
    bookings = varied.count(), fs.sum("MET_pt"), varied.hist("MET_pt"), fs.take("nJet")
    found = session.run(*bookings, on_error="skip")
    n, _, _, taken = found
    made = session.run(fs.snapshot(str(tmp_path / "{dataset}.root"), columns), on_error="skip")
    assert {missing.file for missing in session.report.missing} == set(gone[: 2 - first])
    inputs = {"n": fs.count()}
    output = session.run(Booked(), fs, inputs=inputs, on_error="skip")
    with pytest.raises(tm.TreemillError, match=re.escape(gone[0])):
        session.run(fs.count())  # a run that leaves nothing out
    present = tm.fileset({"dy": paths[:1], "tt": paths[2:]}, tree="Events")
    assert n["dy"] == tm.run(
        present.vary("MET_pt", {"up": "MET_pt * 2"}).filter("MET_pt > 20").count()
    )["dy"]  # fmt: skip
    assert {name: each.entries for name, each in made.items()} == {
        **({} if first else {"gone": 0}), "dy": 5000, "tt": 7321
    }  # fmt: skip
    assert {name: len(each) for name, each in taken.items()} == output["n"]
    assert output["seen"] == 12321
    if not first:
        assert [each["gone"] for each in found[:2]] == [{"nominal": 0, "MET_pt:up": 0}, 0]


class Seen(tm.Selector):
    def begin_worker(self, inputs):
        self.output["n"] = 0
        self.output["weighted"] = 0.0
        self.output["wrong"] = 0

    def begin_file(self, file):
        self.file = file

    def process(self, events):
        told = events.metadata
        same = told["filename"] == self.file.path and told["dataset"] == self.file.dataset
        self.output["wrong"] += not same
        self.output["n"] += len(events)
        self.output["weighted"] += len(events) * self.file.metadata["xsec"] * told["k"]


@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_selectors_know_their_file(fs, mode, shared_session):
    doubled = fs.define_per_file("k", lambda file: 2)
    session = shared_session(2, mode)
    output = session.run(Seen(), doubled)
    assert (output["n"], output["wrong"]) == (12522, 0)
    assert output["weighted"] == pytest.approx(2 * (5001 * 6.5 + 7321 * 832 + 200))
    some = session.run(Seen(), doubled.filter("is_mc and nMuon >= 1"))
    assert some["n"] == tm.run(fs.filter("is_mc and nMuon >= 1").count())["dy"] + (
        fs["tt"].filter("nMuon >= 1").count().value
    )


def test_begin_file_that_fails(fs, paths):
    class Fails(Seen):
        def begin_file(self, file):
            if file.dataset == "tt":
                raise ValueError("no calibration")
            super().begin_file(file)

    doubled = fs.define_per_file("k", lambda file: 1)
    with tm.connect(workers=1) as session:
        with raises(tm.WorkerError, said="begin_file raised ValueError: no calib"):
            session.run(Fails(), doubled)
        assert session.run(Fails(), doubled, on_error="skip")["n"] == 5201


def test_what_is_of_one_data_set(fs, tmp_path):
    with raises(tm.QueryError, said="of one sample"):
        fs.draw("MET_pt")
    with raises(tm.QueryError, about="stack"):
        fs["dy"].hist("MET_pt", stack="dataset")
    with raises(tm.QueryError, said="put dataset into its name"):
        tm.run(fs.snapshot(tmp_path / "all.root", ["MET_pt"]))
    with pytest.raises(KeyError, match="did you mean 'data'"):
        fs["dat"]
    assert repr(fs) == "<fileset of 3 samples (dy: 2, tt: 1, data: 1 files)>"
    assert "<td" in fs._repr_html_()
    assert "xsec: 832" in fs._repr_html_()
    n = fs.count()
    assert n.value["data"] == 200
    assert "5,001</td>" in n._repr_html_()


def test_what_only_one_data_set_has_is_named(fs):
    seen = {name for name in dir(fs["dy"]) if name[0] != "_"}
    lacking = {name for name in seen if not hasattr(fs, name)}
    assert {"show", "add_friend", "select_entries", "branches", "to_numpy"} <= lacking
    for name in lacking:
        instead = rf"'{name}': .*(fs\[name\]\.{name}|list\(fs\))"
        with pytest.raises(AttributeError, match=instead):
            getattr(fs, name)
        assert name not in dir(fs)


def test_feedback_and_part_of_the_data(fs):
    seen = []
    with tm.connect(workers=1) as session:
        n = session.run(fs.count(), feedback=seen.append, entries=(4999, 5003))
    assert n == {"dy": 2, "tt": 2, "data": 0}
    assert all(isinstance(each[0], tm.ByDataset) for each in seen)


def test_some_data_sets(fs):
    assert list(fs.subset(["data", "dy"])) == ["dy", "data"]
    assert list(fs.subset("data")) == ["data"]
    simulated = fs.subset(lambda metadata: metadata["is_mc"])
    assert list(simulated) == ["dy", "tt"]
    assert list(fs.subset(lambda metadata: metadata["dataset"] == "tt")) == ["tt"]
    a, b = tm.run(simulated.count(), fs.subset(["data"]).count())
    both = a | b
    assert both == fs.count().value
    assert both.metadata == fs.metadata
    with pytest.raises(KeyError, match="no sample 'dyy'; did you mean 'dy'"):
        fs.subset(["dyy"])
    with raises(tm.QueryError, said="leaves none of the samples dy, tt, data"):
        fs.subset(lambda metadata: False)


def test_histograms_of_several_bookings_are_stacked_if_they_are_alike(fs):
    def met(name, bins=(20, 0, 200), of="MET_pt", **options):
        return fs.subset(name).hist(of, bins=bins, **options).value

    stacked = (met("tt") | met("dy")).stack()
    assert stacked["dy", :] == met("dy")["dy"]
    categories = hist.axis.IntCategory([], growth=True, name="n")
    found = [met(name, categories, "nMuon + " + name[0], params={"d": 0, "t": 3}) for name in fs]
    grown = (found[0] | found[1]).stack()
    for each in found[:2]:
        ((name, one),) = each.items()
        for category in one.axes[0]:
            assert grown[name, hist.loc(category)] == one[hist.loc(category)]
        assert grown[name, sum] == one.sum()
    for other in (
        met("tt", (20, 0, 100)), met("tt", (9, 0, 9)), met("tt", weight=2),
        met("tt", of="MET_pt + 0"),
    ):  # fmt: skip
        with raises(tm.QueryError, said="dy and tt cannot be stacked Book them"):
            (met("dy") | other).stack()
        both = met("dy") | other
        both.metadata = {name: {"process": "x"} for name in both}
        with raises(tm.QueryError, said="two samples of x cannot be stacked"):
            both.stack("process")


def test_data_sets_that_are_variations(paths):
    def of(path, **metadata):
        return {"files": {path: "Events"}, "metadata": metadata}

    fs = tm.fileset(
        {
            "up": of(paths[2], process="tt", variation="scaleup"),
            "one": of(paths[0], process="tt", variation="nominal"),
            "two": of(paths[1], process="tt", variation="nominal"),
            "w": of(paths[1], process="w", variation="nominal"),
        }
    )
    varied = fs.vary("MET_pt", {"up": "MET_pt * 1.1"}, name="jes")
    by = varied.hist("MET_pt", bins=(20, 0, 200)).value
    found = by.as_variations()
    assert {name: list(each) for name, each in found.items()} == {
        "tt": ["nominal", "jes:up", "scaleup"],
        "w": ["nominal", "jes:up"],
    }
    assert found["tt"]["jes:up"] == by["one"]["jes:up"] + by["two"]["jes:up"]
    assert found["tt"]["scaleup"] == by["up"].nominal
    assert found.metadata == {"tt": {"process": "tt"}, "w": {"process": "w"}}
    counts = fs.count().value.as_variations()
    assert counts["tt"].nominal == fs["one"].num_entries + fs["two"].num_entries
    with raises(tm.QueryError, said="tt has the variations scaleup, and no sample"):
        fs.subset(["up", "w"]).count().value.as_variations()
    same = fs.vary("MET_pt", {"scaleup": "MET_pt * 1.1"}, name="jes").sum("MET_pt").value
    same.metadata["up"]["variation"] = "jes:scaleup"
    with raises(tm.QueryError, about=["tt", "jes:scaleup"]):
        same.as_variations()
