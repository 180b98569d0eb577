"""Saved results and templates as real ROOT reads them."""

import json

import numpy as np
import pytest
import treemill as tm

from tests.results_of_all_kinds import WEIGHTED, results


@pytest.fixture(scope="module")
def read(root_program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    tm.save(results(), folder / "x.root")
    root_program(
        "read_results.py", *(folder / name for name in ("x.root", "merged.root", "x.json"))
    )
    found = json.loads((folder / "x.json").read_text())
    return folder, found["one"], found["two"]


def padded(histogram, values, others=False):
    """ROOT's bins, in ROOT's order. `others`: what is in no category is in a bin of its own."""
    axes = histogram.axes
    others = [others and not axis.traits.ordered and axis.traits.overflow for axis in axes]
    made = np.zeros([axis.size + 2 + other for axis, other in zip(axes, others, strict=True)])
    first = [0 if axis.traits.underflow else 1 for axis in axes]
    made[tuple(slice(i, i + axis.extent) for i, axis in zip(first, axes, strict=True))] = values
    return made.T.reshape(-1)


def test_root_has_every_bin_and_error(read):
    _, found, merged = read
    for storage, named in results()["histograms"].items():
        for name, made in named.items():
            theirs = found[f"histograms/{storage}/{name}"]
            profile = "Mean" in storage
            dims = {1: "", 2: "2D"}[made.ndim] if profile else f"{made.ndim}D"
            assert theirs["class"] == (f"TProfile{dims}" if profile else f"TH{dims}")
            values = padded(made, made.values(flow=True), True)
            np.testing.assert_allclose(theirs["values"], values, rtol=1e-12, atol=1e-14)
            assert theirs["title"] == "title"
            assert theirs["axis"] == made.axes[0].label
            if profile:
                continue
            errors = made.variances(flow=True) if storage in WEIGHTED[:1] else np.abs(values)
            errors = padded(made, errors, True) if storage in WEIGHTED[:1] else errors
            np.testing.assert_allclose(theirs["errors"], np.sqrt(errors), rtol=1e-12)
            twice = merged[f"histograms/{storage}/{name}"]["values"]
            np.testing.assert_allclose(twice, 2 * values, rtol=1e-12)


def test_root_has_edges_and_labels(read):
    found = read[1]
    for name, made in results()["histograms"]["Weight"].items():
        theirs = found[f"histograms/Weight/{name}"]
        axis = made.axes[0]
        if axis.traits.continuous:
            assert theirs["edges"] == pytest.approx(axis.edges.tolist())
        elif name == "integers":
            assert theirs["labels"] == ["3", "7", "(other)"]
    assert found["cuts/passed"]["labels"] == ["two muons", "charge"]
    assert found["cuts/total"]["values"] == [0, 10, 5, 0]


def test_root_takes_means_and_entries_of_what_it_reads(read):
    made, theirs = results()["histograms"]["Double"]["regular"], read[1]
    theirs = theirs["histograms/Double/regular"]
    assert theirs["entries"] == 30
    assert theirs["mean"] == pytest.approx(np.average(made.axes[0].centers, weights=made.values()))


def test_root_has_numbers_texts_and_arrays(read):
    found = read[1]
    assert found["numbers/n"]["text"] == "3"
    assert found["text"]["text"] == "tēxt"
    assert found["array"]["values"] == [[0, 1], [2, 3], [4, 5]]
    assert found["varied/jes_up"]["class"] == "TH1D"


def test_of_what_hadd_joined_only_sums_are_taken(read):
    with pytest.warns(UserWarning, match="joined from several files"):
        found = tm.load(read[0] / "merged.root")
    assert not found.get("numbers")
    assert "array" not in found
    assert "varied" in found


@pytest.fixture(scope="module")
def written(root_program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("written")
    path = folder / "x.root"
    root_program("write_results.py", path, folder / "x.json")
    with pytest.warns(UserWarning, match="x.root") as said:
        loaded = tm.load(path)
    return loaded, json.loads((folder / "x.json").read_text()), [str(each.message) for each in said]


COUNTED = ["turned", "full", "below", "cut_flow", "plane", "integers", "deep/turned"]
MEANS = ["means", "weighted_means", "two", "weighted_two"]


@pytest.mark.parametrize("name", [*COUNTED, *MEANS])
def test_all_bins_of_what_root_wrote_are_loaded(written, name):
    loaded, found, _ = written
    for part in name.split("/"):
        loaded = loaded[part]
    theirs = found[name]
    np.testing.assert_allclose(padded(loaded, loaded.values(flow=True)), theirs["values"], 1e-12)
    if name in MEANS:
        return
    squares = padded(loaded, loaded.variances(flow=True))
    np.testing.assert_allclose(np.sqrt(squares), theirs["errors"], 1e-6)


@pytest.mark.parametrize("name", MEANS)
def test_profiles_that_root_wrote_have_their_sums(written, name):
    loaded, theirs = written[0][name], written[1][name]
    view = loaded.view(flow=True)
    is_weighted = name.startswith("weighted")
    weights = view["sum_of_weights" if is_weighted else "count"]
    squares = view["sum_of_weights_squared"] if is_weighted else weights
    off = view["_sum_of_weighted_deltas_squared" if is_weighted else "_sum_of_deltas_squared"]
    with np.errstate(invalid="ignore"):  # ROOT's error of a mean
        errors = np.nan_to_num(np.sqrt(off / weights * squares / weights**2))
    np.testing.assert_allclose(padded(loaded, errors), theirs["errors"], 1e-6, 1e-9)


def test_labels_are_at_their_bins(written):
    loaded, found, said = written
    assert list(loaded["turned"].axes[0]) == ["a", "bin 2", "c"]
    assert list(loaded["full"].axes[0]) == list(loaded["plane"].axes[0])[:3] == ["a", "b", "c"]
    for name in ("turned", "full", "plane", "cut_flow"):
        pairs = zip(found[name]["labels"], loaded[name].axes[0], strict=True)
        assert all(ours == theirs for theirs, ours in pairs if theirs)
    assert loaded["below"].axes[0].traits.continuous
    assert any("below (xaxis: there is something below the bins" in each for each in said)
    assert any("left out efficiency (TEfficiency)" in each for each in said)
