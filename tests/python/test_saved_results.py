"""save and load: the same results come back, other programs read them, and what a file cannot hold
is an error that says which."""

import gzip
import json

import boost_histogram as bh
import hist
import numpy as np
import pytest
import treemill as tm
import uhi.io.json
import uproot

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


@pytest.mark.parametrize(
    ("suffix", "wrong", "said"),
    [
        (
            ".root",
            {"a": {"b": beyond_root()["four"]}},
            r"a/b, a histogram of 4 dim.*\.h5 or \.json",
        ),
        (".root", {"a": beyond_root()["lists"]}, r"save a, an awkward array.*\.h5.*snapshot"),
        (".root", {"a": beyond_root()["texts"]}, r"a, an array of texts.*\.h5"),
        (".root", {"a:b": 1, "a_b": 2}, r"save a_b, as ROOT has an object a_b here.*rename"),
        (".root", {"treemill": 1}, r"save treemill, .*rename"),
        (".h5", {"a": {"n": 1 << 70}}, r"a/n, a whole number.*\.json\.gz"),
        (".json", {"a": {1: 2}}, r"a\[1\], whose key is not a string"),
        (".json", {"a": [1, {3}]}, r"a/1, a set: results are histograms, numbers"),
        (".json", {"a": np.array([1j])}, r"a, a ndarray of complex128"),
        (".npz", {"a": 1}, r"\.root \.h5 \.hdf5 \.json \.json\.gz"),
    ],
)
def test_what_a_file_cannot_hold_is_named(tmp_path, suffix, wrong, said):
    with pytest.raises(tm.UnsupportedError, match=said):
        tm.save(wrong, tmp_path / f"x{suffix}")
    assert list(tmp_path.iterdir()) == []


def test_json_has_no_infinite_edges(tmp_path):
    made = hist.Hist(hist.axis.Variable([0, 1, np.inf]))
    with pytest.raises(tm.UnsupportedError, match=r"save a, a histogram with inf.*\.h5"):
        tm.save({"a": made}, tmp_path / "x.json")
    tm.save({"a": made}, tmp_path / "x.h5")
    assert tm.load(tmp_path / "x.h5")["a"] == made


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_damaged_and_missing_files(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    with pytest.raises(tm.SourceError, match="No such file"):
        tm.load(path)
    tm.save(results(), path)
    whole = path.read_bytes()
    for part in (b"", whole[: len(whole) // 2], whole[:100], b"\0" * 100):
        path.write_bytes(part)
        with pytest.raises(tm.FormatError, match=path.name):
            tm.load(path)


def test_an_older_file_stays_if_the_new_one_cannot_be_written(tmp_path):
    tm.save({"n": 1}, tmp_path / "x.root")
    with pytest.raises(tm.UnsupportedError):
        tm.save({"n": 2, "x": beyond_root()["four"]}, tmp_path / "x.root")
    assert tm.load(tmp_path / "x.root") == {"n": 1}
    with pytest.raises(tm.SourceError, match="cannot write"):
        tm.save({"n": 1}, tmp_path / "none" / "x.json")


def test_equal_results_are_equal_files(tmp_path):
    for name in ("a", "b"):
        tm.save(results(), tmp_path / f"{name}.json.gz")
    assert (tmp_path / "a.json.gz").read_bytes() == (tmp_path / "b.json.gz").read_bytes()


def test_without_h5py_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(ImportError, match=r"treemill\[hdf5\]"):
        tm.save({"n": 1}, tmp_path / "x.h5")
