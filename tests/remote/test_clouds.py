"""`gs://` and `az://` from servers that speak as Google's and Azure's do, where they are
installed.
"""

import awkward as ak
import pytest
import treemill as tm

from tests.remote.conftest import serve, skip_without
from tests.remote.test_bridges import NAMES
from tools.servers.clouds import Azure, Google


@pytest.fixture(params=[Google, Azure], ids=lambda kind: kind.scheme)
def cloud(request, files, monkeypatch, nothing_remembered):
    skip_without(request.param.missing())
    with request.param() as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        yield serve(server, files)


def test_results_are_those_of_the_same_files_here(cloud, paths):
    there = tm.dataset(cloud.url("store/trees/*.root"), tree="Events")
    here = tm.dataset(paths, "Events")
    assert there.num_entries == here.num_entries
    assert ak.array_equal(there.arrays(NAMES), here.arrays(NAMES))
    assert there.sum("MET_pt").value == here.sum("MET_pt").value


def test_what_is_missing_is_named(cloud):
    with pytest.raises(tm.SourceError, match=rf"{cloud.scheme}://data/none\.root"):
        tm.dataset(cloud.url("none.root"), "Events").arrays(["MET_pt"])
