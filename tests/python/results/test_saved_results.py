"""save and load: the same results come back, other programs read them, and what a file cannot hold
is an error that says which."""

import gzip
import json

import awkward as ak
import boost_histogram as bh
import hist
import numpy as np
import pytest
import treemill as tm
import uhi.io.json
import uproot
from treemill.session.session import Session
from uproot.writing import identify

from tests.raising import raises
from tests.results_of_all_kinds import beyond_root, check_same, histograms, results

SUFFIXES = [".root", ".h5", ".hdf5", ".json", ".json.gz"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_same_results_come_back(tmp_path, suffix):
    path, wanted = tmp_path / f"x{suffix}", results()
    if suffix != ".root":
        wanted |= beyond_root()
    tm.save(wanted, path)
    check_same(tm.load(path), wanted)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_results_need_no_mapping(tmp_path, suffix):
    made = results()
    for one in (3, made["histograms"]["Mean"]["regular"], made["varied"], [1.5], made["cuts"]):
        tm.save(one, tmp_path / f"x{suffix}")
        check_same(tm.load(tmp_path / f"x{suffix}"), one)


def test_bookings_are_computed(events, tmp_path):
    varied = events.vary("MET_pt", {"up": "MET_pt * 1.1"})
    booked = {
        "met": varied.hist("MET_pt", bins=(20, 0, 100)),
        "cuts": events.filter("nMuon >= 2", name="two").report(),
        "n": events.count(),
    }
    tm.save(booked, tmp_path / "x.root")
    check_same(tm.load(tmp_path / "x.root"), {name: each.value for name, each in booked.items()})


def test_hist_and_boost_histogram_read_uhis_json(tmp_path):
    wanted = histograms()["Weight"]
    tm.save(wanted, tmp_path / "x.json.gz")
    found = json.loads(
        gzip.decompress((tmp_path / "x.json.gz").read_bytes()),
        object_hook=uhi.io.json.object_hook,
    )
    for name, each in wanted.items():
        assert hist.Hist(found[name]) == each
        assert bh.Histogram(found[name]).values().tolist() == each.values().tolist()


def test_hist_reads_uhis_hdf5(tmp_path):
    import h5py
    import uhi.io.hdf5

    wanted = histograms()["Mean"]
    tm.save({"deep": wanted}, tmp_path / "x.h5")
    with h5py.File(tmp_path / "x.h5") as file:
        for name, each in wanted.items():
            assert hist.Hist(uhi.io.hdf5.read(file["deep"][name])).values() == pytest.approx(
                each.values()
            )


def test_what_hist_wrote_is_loaded(tmp_path):
    import h5py
    import uhi.io.hdf5

    wanted = {"a": histograms()["Weight"]["two"], "b": histograms()["Mean"]["regular"]}
    plain = {"a": wanted["a"], "b": {"c": histograms()["Int64"]["regular"]}}
    (tmp_path / "x.json").write_text(json.dumps(plain, default=uhi.io.json.default))
    check_same(tm.load(tmp_path / "x.json"), plain)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        for name, each in wanted.items():
            uhi.io.hdf5.write(file.create_group(f"deep/{name}"), each)
    check_same(tm.load(tmp_path / "x.h5"), {"deep": wanted})


@pytest.mark.parametrize("storage", ["Int64", "Weight", "Mean"])
def test_sparse_histograms_are_loaded(tmp_path, storage):
    import h5py
    import uhi.io.hdf5

    wanted = histograms()[storage]
    sparse = {name: uhi.io.to_sparse(each._to_uhi_()) for name, each in wanted.items()}
    (tmp_path / "x.json").write_text(json.dumps(sparse, default=uhi.io.json.default))
    with h5py.File(tmp_path / "x.h5", "w") as file:
        for name, each in sparse.items():
            uhi.io.hdf5.write(file.create_group(name), each)
    for suffix in (".json", ".h5"):
        found = tm.load(tmp_path / f"x{suffix}")
        for name, each in wanted.items():
            assert found[name].axes == each.axes
            np.testing.assert_array_equal(found[name].values(), each.values())


@pytest.mark.parametrize("suffix", ["root", "h5", "json"])
@pytest.mark.parametrize("edges", [[-5, -1, 0, 3], [0, 1, 2.5, 7.7], [-0.1, 0.2, 0.35]])
def test_circular_axes_have_the_edges_by_which_they_were_filled(tmp_path, suffix, edges):
    """boost-histogram names others."""
    made = hist.Hist(hist.axis.Variable(edges, circular=True)).fill(np.linspace(-9, 9, 50))
    tm.save({"h": made}, tmp_path / f"x.{suffix}")
    assert tm.load(tmp_path / f"x.{suffix}")["h"] == made
    if suffix == "root":
        with uproot.open(tmp_path / "x.root") as file:
            assert file["h"].axis().edges().tolist() == edges


def test_what_uproot_wrote_is_loaded(tmp_path):
    made = histograms()["Weight"]["regular"]
    with uproot.recreate(tmp_path / "x.root") as file:
        file["sr/signal"] = made
        file["note"] = "words"
        file.mktree("Events", {"x": "f8"})
    with pytest.warns(UserWarning, match=r"Events \(TTree\).*tm\.dataset"):
        found = tm.load(tmp_path / "x.root")
    assert found["note"] == "words"
    np.testing.assert_array_equal(
        found["sr"]["signal"].view(flow=True), made.view(flow=True), strict=True
    )


def counts(most, label=""):
    made = hist.Hist(hist.axis.Regular(2, 0, 1, label=label), storage=hist.storage.Int64())
    made.view()[:] = [most, 1]
    return made


def with_metadata(metadata):
    return bh.Histogram(bh.axis.Regular(2, 0, 1, metadata=metadata))


@pytest.mark.parametrize("most", [2**53, -(2**53)])
def test_whole_numbers_that_doubles_have(tmp_path, most):
    tm.save(counts(most), tmp_path / "x.root")
    assert int(tm.load(tmp_path / "x.root").view()[0]) == most


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_arrays_without_dimensions_are_numbers_and_texts(tmp_path, suffix):
    tm.save({"x": np.array(3.5), "n": np.array(2), "t": np.array("a")}, tmp_path / f"x{suffix}")
    check_same(tm.load(tmp_path / f"x{suffix}"), {"x": 3.5, "n": 2, "t": "a"})


@pytest.mark.parametrize(
    ("suffix", "wrong", "said"),
    [
        (
            ".root",
            {"a": {"b": beyond_root()["four"]}},
            r"a/b, a histogram of 4 dim.*cannot be written to a ROOT file.*\.h5 or \.json",
        ),
        (".root", {"a": beyond_root()["lists"]}, r"save a, an awkward array.*\.h5.*snapshot"),
        (".root", {"a": beyond_root()["texts"]}, r"a, an array of texts.*\.h5"),
        (".root", {"a:b": 1, "a_b": 2}, r"save a_b, as ROOT has an object a_b here.*rename"),
        (".root", {"treemill": 1}, r"save treemill, .*rename"),
        (".h5", {"a": {"n": 1 << 70}}, r"a/n, a whole number.*\.json\.gz"),
        (".json", {"a": {1: 2}}, r"a\[1\], whose key is not a string"),
        (".json", {"a": [1, {3}]}, r"a/1, a set: results are histograms, numbers"),
        (".json", {"a": np.array([1j])}, r"a, a ndarray of complex128"),
        (".root", {"a": {"h": counts(2**53 + 1)}}, r"a/h, which has more than 2\^53.*\.h5"),
        (".root", {"a": counts(-(2**63))}, r"a, which has more than 2\^53"),
        (".h5", {"a": np.ma.array([1, 2], mask=[0, 1])}, r"a, a masked array.*filled.*\.mask"),
        (".json", {"a": {"b": ak.Record({"x": 1})}}, r"a/b, an awkward Record: save a mapping"),
        (".json", {"a": {"b": np.longdouble(1)}}, r"a/b, a number of type longdouble.*\.h5"),
        (".root", {"a": {"b": np.longdouble(1)}}, r"a/b, a number of type longdouble.*\.h5"),
        (".json", {"a": np.array([1], np.longdouble)}, r"a, an array of float128.*\.h5"),
        (".h5", {"a": {"b": "x\0"}}, r"a/b, of which HDF5 does not hold.*\.json\.gz"),
        (".h5", {"a": np.array(["x\0y"])}, r"a, of which HDF5 does not hold"),
        (".h5", {"a": ["\ud800"]}, r"a/0, of which HDF5 does not hold"),
        (".h5", {"\ud800": 1}, r"save \\ud800, of which HDF5 does not hold"),
        (".root", {"a": {"b": "\ud800"}}, r"a/b, which has a text that ROOT.*\.json\.gz"),
        (".root", {"a": counts(1, "\ud800")}, r"a, which has a text that ROOT"),
        (".root", {"a": with_metadata({1, 2})}, r"a, whose metadata have a set: leave it out"),
        (".json", {"a": with_metadata({1, 2})}, r"a, whose metadata have a set: leave it out"),
        (".json", {"a": tm.LumiSections({1: [[1, 2]]})}, r"a, a LumiSections: .*\.save\(.*to_json"),
        (".npz", {"a": 1}, r"\.root \.h5 \.hdf5 \.json \.json\.gz"),
    ],
)
def test_what_a_file_cannot_hold_is_named(tmp_path, suffix, wrong, said):
    with pytest.raises(tm.UnsupportedError, match=said):
        tm.save(wrong, tmp_path / f"x{suffix}")
    assert list(tmp_path.iterdir()) == []


def test_files_of_snapshots_are_saved_by_their_paths(events, tmp_path):
    file = tm.run(events.snapshot(tmp_path / "x.root", ["nJet"]))
    with raises(tm.UnsupportedError, said="save file, a SnapshotFile: file path"):
        tm.save({"file": file}, tmp_path / "x.json")
    tm.save({"file": file.path}, tmp_path / "x.json")


def test_names_of_cuts_that_root_does_not_hold(tmp_path):
    flow = tm.CutFlow([tm.Cut("\ud800", 1, 1, 1, 1)])
    with pytest.raises((tm.UnsupportedError, TypeError)) as caught:
        tm.save({"a": flow}, tmp_path / "x.root")
    # What hist says has half a character, which the processes of pytest cannot send.
    assert "cannot save a, which has a text that ROOT does not hold" in ascii(caught.value)


def test_json_has_no_infinite_edges(tmp_path):
    made = hist.Hist(hist.axis.Variable([0, 1, np.inf]))
    with raises(tm.UnsupportedError, said="save a, a histogram with inf h5"):
        tm.save({"a": made}, tmp_path / "x.json")
    tm.save({"a": made}, tmp_path / "x.h5")
    assert tm.load(tmp_path / "x.h5")["a"] == made


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_damaged_and_missing_files(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    with raises(tm.SourceError, said="No such file"):
        tm.load(path)
    tm.save(results(), path)
    whole = path.read_bytes()
    for part in (b"", whole[: len(whole) // 2], whole[:100], b"\0" * 100):
        path.write_bytes(part)
        with pytest.raises(tm.FormatError, match=path.name):
            tm.load(path)


def test_a_root_file_that_was_not_closed(tmp_path):
    path = tmp_path / "x.root"
    path.write_bytes(b"root" + bytes(100))
    with raises(tm.FormatError, said="no list of what is in it not close it x root"):
        tm.load(path)


def spoil(path, name):
    """Overwrites an object of a ROOT file without compression."""
    with uproot.open(path) as file:
        key = file.key(name)
        start, stop = key.fSeekKey + key.fKeylen, key.fSeekKey + key.fNbytes
    whole = bytearray(path.read_bytes())
    whole[start:stop] = b"\xff" * (stop - start)
    path.write_bytes(whole)


def test_what_cannot_be_read_is_named_and_the_others_are_loaded(tmp_path):
    path, made = tmp_path / "x.root", histograms()["Weight"]["regular"]
    with uproot.recreate(path, compression=None) as file:
        file["good"] = file["deep/bad"] = made
    spoil(path, "deep/bad")
    with pytest.warns(UserWarning, match=r"left out deep/bad \(TH1D: .*the others are loaded"):
        assert list(tm.load(path)) == ["good"]
    spoil(path, "good")
    with raises(tm.FormatError, said="nothing in it can be read: good deep/bad"):
        tm.load(path)


@pytest.mark.parametrize("own", [True, False])
def test_links_of_hdf5_that_point_nowhere_are_left_out(tmp_path, own):
    import h5py

    path = tmp_path / "x.h5"
    if own:
        tm.save({"deep": {"n": 1}}, path)
    with h5py.File(path, "a") as file:
        deep = file.require_group("deep")
        if not own:
            deep["n"] = 1
        deep["same"] = h5py.SoftLink("/deep/n")
        deep["soft"] = h5py.SoftLink("/nowhere")
        file["external"] = h5py.ExternalLink("no-such-file.h5", "/n")
        file["type"] = np.dtype("f8")
    said = r"left out .*deep/soft \(a link that points nowhere\).*; the others are loaded"
    with pytest.warns(UserWarning, match=said) as warned:
        assert tm.load(path) == {"deep": {"n": 1, "same": 1}}
    (one,) = warned
    assert "external (a link that points nowhere)" in str(one.message)
    assert "type (a type)" in str(one.message)
    assert one.filename == __file__


def test_links_of_a_list_that_point_nowhere_are_an_error(tmp_path):
    import h5py

    tm.save({"list": [1, 2]}, tmp_path / "x.h5")
    with h5py.File(tmp_path / "x.h5", "a") as file:
        del file["list/1"]
        file["list/1"] = h5py.SoftLink("/nowhere")
    with raises(tm.FormatError, said="not a file of results"):
        tm.load(tmp_path / "x.h5")


def labelled(labels, values):
    """ROOT's histogram of four bins, of which some have labels. `labels`: bins and their labels, in
    the order in which they were set."""
    axis = identify.to_TAxis(
        "xaxis",
        "",
        4,
        0.0,
        4.0,
        fXbins=np.array([], ">f8"),
        fLabels=identify.to_THashList([identify.to_TObjString(word) for _, word in labels]),
    )
    for (number, _), each in zip(labels, axis.member("fLabels"), strict=True):
        each._bases[0]._members["@fUniqueID"] = number
    contents = np.array(values, ">f8")
    return identify.to_TH1x(
        None, "", contents, contents.sum(), *[0.0] * 4, fSumw2=None, fXaxis=axis
    )


@pytest.mark.parametrize(
    ("labels", "below", "wanted"),
    [
        ([(3, "jets"), (1, "all")], 0, ["all", "bin 2", "jets", "bin 4"]),
        ([(1, "all"), (2, "hlt"), (3, "b"), (4, "b")], 0, ["all", "hlt", "b", "b"]),
        ([(0, "all"), (0, "hlt"), (0, "jets"), (0, "b")], 0, ["all", "hlt", "jets", "b"]),
        ([(1, "1"), (2, "2"), (3, "-7"), (4, "0")], 0, [1, 2, -7, 0]),
        ([(1, "all")], 5, "there is something below the bins of all"),
        ([(0, "all"), (0, "hlt")], 0, "it is not said which bins are all, hlt"),
    ],
)
def test_labels_of_other_programs(tmp_path, labels, below, wanted):
    path = tmp_path / "x.root"
    with uproot.recreate(path) as file:
        file["deep/cuts"] = labelled(labels, [below, 1, 2, 3, 4, 6])
    if isinstance(wanted, str):
        said = rf"numbers in place of labels: deep/cuts \(xaxis: {wanted}\)"
        with pytest.warns(UserWarning, match=said):
            found = tm.load(path)["deep"]["cuts"]
        assert found.axes[0] == hist.axis.Regular(4, 0, 4, name="xaxis")
        assert found.values(flow=True).tolist() == [below, 1, 2, 3, 4, 6]
        return
    found = tm.load(path)["deep"]["cuts"]
    assert list(found.axes[0]) == wanted
    assert found.values(flow=True).tolist() == [1, 2, 3, 4, 6]


def test_an_older_file_stays_if_the_new_one_cannot_be_written(tmp_path):
    tm.save({"n": 1}, tmp_path / "x.root")
    with pytest.raises(tm.UnsupportedError):
        tm.save({"n": 2, "x": beyond_root()["four"]}, tmp_path / "x.root")
    assert tm.load(tmp_path / "x.root") == {"n": 1}
    with raises(tm.SourceError, said="cannot write"):
        tm.save({"n": 1}, tmp_path / "none" / "x.json")


def test_equal_results_are_equal_files(tmp_path):
    for name in ("a", "b"):
        tm.save(results(), tmp_path / f"{name}.json.gz")
    assert (tmp_path / "a.json.gz").read_bytes() == (tmp_path / "b.json.gz").read_bytes()


def test_without_h5py_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(ImportError, match=r"treemill\[hdf5\]"):
        tm.save({"n": 1}, tmp_path / "x.h5")


@pytest.mark.parametrize(
    "write",
    [
        lambda results, folder: tm.save(results, folder / "out.json"),
        lambda results, folder: tm.templates(results, folder / "out.root", "{region}/{process}"),
    ],
)
def test_the_bookings_of_all_data_sets_are_computed_in_one_run(paths, tmp_path, monkeypatch, write):
    runs = []
    compute = Session.compute

    def noted(self, what, *how):
        runs.append(what)
        return compute(self, what, *how)

    monkeypatch.setattr(Session, "compute", noted)
    one, other = (tm.dataset(paths, tree="Events") for _ in range(2))
    mine = [each.hist("MET_pt", bins=(1, 0, 1e6)) for each in (one, other)]
    not_wanted = one.count()
    write({"signal": {"dy": mine[0], "tt": mine[1]}}, tmp_path)
    assert [set(what) for what in runs] == [set(mine)]
    assert not not_wanted.done
