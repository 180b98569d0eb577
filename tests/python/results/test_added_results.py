"""Cut flows that are added, values by sample that are saved, templates that fits take, errors of
weighted means."""

import hist
import numpy as np
import pytest
import treemill as tm
import uproot
from treemill.pictures.picture_parts import errors_of
from treemill.results.by_dataset import ByDataset

from tests.raising import raises


def flow(scale):
    return tm.CutFlow([tm.Cut("one", 4 * scale, 2 * scale, 4 * scale, 2 * scale)])


def test_cut_flows_are_added():
    assert flow(1) + flow(2) == flow(3) == sum([flow(1), flow(2)])
    with raises(tm.QueryError, said="same cuts"):
        flow(1) + tm.CutFlow([tm.Cut("two", 1, 1, 1, 1)])


@pytest.mark.parametrize("suffix", [".root", ".h5", ".json.gz"])
def test_values_by_data_set_come_back_with_their_metadata(tmp_path, suffix):
    made = ByDataset({"dy": flow(1), "data": flow(2)}, {"dy": {"xsec": 2.5, "is_mc": True}})
    tm.save({"cuts": made}, tmp_path / f"x{suffix}")
    found = tm.load(tmp_path / f"x{suffix}")["cuts"]
    assert type(found) is ByDataset
    assert found == made
    assert found.metadata == made.metadata


def test_metadata_that_no_file_holds_are_named(tmp_path):
    made = ByDataset({"dy": 1}, {"dy": {"of": object()}})
    with raises(tm.UnsupportedError, about="metadata"):
        tm.save({"cuts": made}, tmp_path / "x.json")


def shape(*values):
    made = hist.Hist(hist.axis.Regular(len(values), 0, 1), storage=hist.storage.Weight())
    made.view()["value"], made.view()["variance"] = values, 1
    return made


def test_negative_bins_are_clipped(tmp_path):
    varied = tm.Variations({"nominal": shape(1, -2), "jes:up": shape(-1, 3)})
    results = {"sr": {"tt": varied}}
    with pytest.raises(tm.QueryError):
        tm.templates(results, tmp_path / "x.root")
    tm.templates(results, tmp_path / "x.root", negative="clip", empty="ignore")
    with uproot.open(tmp_path / "x.root") as file:
        assert file["sr/tt"].values().tolist() == [1, 0]
        assert file["sr/tt_jesUp"].values().tolist() == [0, 3]
        assert file["sr/tt"].variances().tolist() == [1, 1]
    assert varied["nominal"].values().tolist() == [1, -2]


def test_data_have_no_variations(tmp_path):
    varied = tm.Variations({"nominal": shape(1, 2), "jes:up": shape(2, 3)})
    results = {"sr": {"tt": varied, "data_obs": varied, "data": varied}}
    names = tm.templates(results, tmp_path / "x.root")
    assert names == ["sr/tt", "sr/tt_jesUp", "sr/data_obs", "sr/data"]


@pytest.mark.parametrize(
    "metadata",
    [{"is_mc": False}, {"isMC": 0}, {"is_data": True}, {"isData": "true"}, {"process": "data"}],
)
def test_data_are_known_by_their_metadata(tmp_path, metadata):
    varied = tm.Variations({"nominal": shape(1, 2), "jes:up": shape(2, 3)})
    known = {"tt": {"is_mc": True, "is_data": False}, "SingleMuon_A": metadata}
    by = ByDataset({"tt": varied, "SingleMuon_A": varied}, known)
    expected = ["sr/tt", "sr/tt_jesUp", "sr/SingleMuon_A"]
    assert tm.templates({"sr": by}, tmp_path / "x.root") == expected
    levels = ["process", "region"]
    regions = by.map(lambda each: {"sr": each})
    assert tm.templates(regions, tmp_path / "x.root", levels=levels) == expected
    with_process = {name: {"process": name, **each} for name, each in known.items()}
    for each in with_process.values():
        each["variation"] = "nominal"
    whole = ByDataset(dict(by), with_process).as_variations()
    assert tm.templates({"sr": whole}, tmp_path / "x.root")[:2] == expected[:2]
    assert len(tm.templates({"sr": whole}, tmp_path / "x.root")) == 3


@pytest.mark.parametrize("region", ["../../r", "..", ".", "a/../b"])
def test_names_that_are_paths_are_refused(tmp_path, region):
    with raises(tm.QueryError, said="cannot be called"):
        tm.templates({region: {"tt": shape(1, 2)}}, tmp_path / "x.root")


def profile(scale):
    random = np.random.default_rng(1)
    made = hist.Hist(hist.axis.Regular(3, 0, 3), storage=hist.storage.WeightedMean())
    weight = random.uniform(0.5, 2, 300) if scale else np.ones(300)
    made.fill(
        random.uniform(0, 3, 300), sample=random.normal(size=300), weight=weight * (scale or 1)
    )
    return made


def test_errors_of_means_do_not_depend_on_the_scale_of_weights(tmp_path):
    one = errors_of(profile(1))
    assert errors_of(profile(1000)) == pytest.approx(one)
    plain = hist.Hist(hist.axis.Regular(3, 0, 3), storage=hist.storage.Mean())
    random = np.random.default_rng(1)
    random_x = random.uniform(0, 3, 300)
    plain.fill(random_x, sample=random.normal(size=300))
    assert errors_of(profile(0)) == pytest.approx(errors_of(plain))
    tm.save({"p": profile(1000)}, tmp_path / "x.root")
    with uproot.open(tmp_path / "x.root") as file:
        assert file["p"].errors() == pytest.approx(np.array(one), rel=0.02)
