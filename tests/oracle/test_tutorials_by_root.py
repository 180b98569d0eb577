"""The tutorials for users of RDataFrame and TTree::Draw show code for ROOT beside treemill's: both
are run, and fill the same bins."""

import json

import hist
import numpy as np
import pytest
from treemill.facility.samples import write_samples

from tests.tutorials import cells


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tutorials_by_root")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        list(write_samples("samples", scale=0.05))
    return folder


def filled(histogram):
    """As ROOT numbers its bins: x first."""
    return histogram.values(flow=True).T.ravel()


@pytest.mark.parametrize(
    ("page", "least"),
    [
        pytest.param(  # ROOT compiles for several seconds
            "from-rdataframe", ["mass", "met", "ht", "isolated", "up"], marks=pytest.mark.slow
        ),
        ("from-ttree-draw", ["met", "jets", "first", "weighted", "count", "map"]),
    ],
)
def test_both_sides_fill_the_same_bins(page, least, folder, root_program, monkeypatch):
    monkeypatch.chdir(folder)
    names = {"__name__": "__main__"}
    for code in cells(page):
        if not code.startswith("!"):
            exec(compile(code, "a cell", "exec"), names)
    root_program("tutorial.py", page, folder / f"{page}.json")
    by_root = json.loads((folder / f"{page}.json").read_text())
    assert set(least) <= set(by_root)
    for name, bins in by_root.items():
        ours = names[name]
        assert isinstance(ours, hist.Hist), name
        assert sum(bins) > 10, name
        np.testing.assert_allclose(filled(ours), bins, rtol=1e-6, err_msg=name)
