"""Which versions of distributed are supported, and what is said of others."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import treemill as tm
from treemill.backends.dask import scheduler_client
from treemill.backends.dask.dask_client import NEWEST, OLDEST, check_version

from tests.raising import raises

HERE = Path(__file__).resolve().parents[2]
INSTALLED = HERE / ".venv" / "oldest"
PINNED = HERE / "requirements"

QUERY = """
import sys
import distributed
import treemill as tm

def count(chunk):
    return {"n": len(chunk)}

if __name__ == "__main__":
    with distributed.LocalCluster(n_workers=2, dashboard_address=None) as cluster:
        with tm.connect(cluster) as session:
            events = tm.dataset(sys.argv[1:], "Events")
            print(distributed.__version__, session.run(count, events)["n"])
"""


@pytest.mark.slow
def test_the_oldest_one(files, events, tmp_path):
    """In processes that have it before the others; `make test-oldest` runs more."""
    if not INSTALLED.is_dir():
        pytest.skip("the oldest distributed is not installed: make .venv/oldest/.packages")
    script = tmp_path / "query.py"
    script.write_text(QUERY)
    path = os.pathsep.join(filter(None, [str(INSTALLED), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, str(script), *files],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.split() == [OLDEST, str(events.num_entries)], done.stderr


@pytest.mark.parametrize(("named", "where"), [(OLDEST, "oldest.txt"), (NEWEST, "dev.txt")])
def test_those_that_are_named_are_those_that_are_tested(named, where):
    text = (PINNED / where).read_text()
    assert re.findall(r"^distributed==(\S+)", text, re.MULTILINE) == [named]


@pytest.mark.parametrize("given", ["2024.8.0", "2025.1", "2026.9.0rc1", "2026.8.1+5.g1234"])
def test_versions_that_are_new_enough(given):
    check_version(given)


@pytest.mark.parametrize("given", ["2024.7.1", "2023.12.0", "2.30.1"])
def test_versions_that_are_too_old(given):
    with pytest.raises(tm.UnsupportedError, match=f"2024.8.0 or newer, and this is {given}"):
        check_version(given)


def test_internals_that_have_changed(cluster, monkeypatch):
    async def install(client):
        raise AttributeError("'Scheduler' object has no attribute 'handlers'")

    monkeypatch.setattr(scheduler_client, "install", install)
    with raises(tm.UnsupportedError, said="differs 2024 8 0 to 2026 8 0 handlers"):
        tm.connect(cluster)
