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


def padded(histogram, values):
    """ROOT's bins, in ROOT's order."""
    axes = histogram.axes
    made = np.zeros([axis.size + 2 for axis in axes])
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
            values = padded(made, made.values(flow=True))
            np.testing.assert_allclose(theirs["values"], values, rtol=1e-12, atol=1e-14)
            assert theirs["title"] == "title"
            assert theirs["axis"] == made.axes[0].label
            if profile:
                continue
            errors = made.variances(flow=True) if storage in WEIGHTED[:1] else np.abs(values)
            errors = padded(made, errors) if storage in WEIGHTED[:1] else errors
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
            assert theirs["labels"] == ["3", "7"]
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


def test_what_hadd_joined_is_not_taken_for_one_result(read):
    with pytest.raises(tm.UnsupportedError, match="several files were joined"):
        tm.load(read[0] / "merged.root")
