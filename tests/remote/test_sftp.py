"""`sftp://` through fsspec, from a real sshd. It needs paramiko, which tests do not require."""

import awkward as ak
import pytest
import treemill as tm

from tests.remote.conftest import serve, skip_without
from tests.remote.test_bridges import NAMES
from tests.remote.test_faults import outcome
from tools.servers.sftp import SFTP


@pytest.fixture
def sftp(files, monkeypatch, nothing_remembered):
    pytest.importorskip("paramiko", reason="paramiko is not installed")
    skip_without(SFTP.missing())
    from fsspec.config import conf

    with SFTP() as server:
        monkeypatch.setitem(conf, "sftp", {"key_filename": str(server.key)})
        yield serve(server, files)


def test_results_are_those_of_the_same_files_here(sftp, paths):
    there = tm.dataset(sftp.url("store/trees/*.root"), tree="Events")
    here = tm.dataset(paths, "Events")
    assert there.num_entries == here.num_entries
    assert ak.array_equal(there.arrays(NAMES), here.arrays(NAMES))
    assert there.sum("MET_pt").value == here.sum("MET_pt").value


def test_a_file_that_is_missing_is_named_with_its_server(sftp):
    missing = outcome(lambda: tm.dataset(sftp.url("store/none.root"), "Events").arrays(["MET_pt"]))
    assert isinstance(missing, tm.SourceError)
    assert f"127.0.0.1:{sftp.ports[0]}" in str(missing)
    assert "none.root" in str(missing)
