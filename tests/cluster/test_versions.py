"""Which versions of distributed are supported, and what is said of others."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import treemill as tm
from distributed import Client
from treemill.backends.dask import scheduler_client
from treemill.backends.dask.dask_client import NEWEST, OLDEST, check_version
from treemill.backends.dask.messages import VERSION

from tests.raising import raises

from .processes import Processes

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


def another(folder, release, messages=None):
    """A treemill installed in this folder, as `release`, with other messages if that is said."""
    package = Path(tm.__file__).parent
    left_out = shutil.ignore_patterns("__pycache__", "*.so")
    shutil.copytree(package, folder / "treemill", ignore=left_out)
    for core in package.glob("*.so"):
        (folder / "treemill" / core.name).symlink_to(core)
    if messages is not None:
        said = folder / "treemill" / "backends" / "dask" / "messages.py"
        said.write_text(
            re.sub(r"^VERSION = \d+", f"VERSION = {messages}", said.read_text(), flags=re.M)
        )
    about = folder / f"treemill-{release}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: treemill\nVersion: {release}\n")
    return {"PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}


def releases():
    """Releases that work with this one, and one that does not."""
    major, minor = map(int, tm.__version__.split(".")[:2])
    return f"{major}.{minor + 1}.0", f"{major}.{minor + 2}.0"


def test_the_next_release_works_with_this_one(tmp_path, events):
    (tmp_path / "next").mkdir()
    settings = another(tmp_path / "next", releases()[0])
    with Processes(tmp_path, settings=settings) as processes:
        processes.add(1)
        with tm.connect(processes.address) as session:
            session._pool._client.wait_for_workers(1, timeout=60)
            assert session.run(events.count()) == events.num_entries


@pytest.mark.parametrize("what", ["release", "messages"])
def test_a_scheduler_of_another_version_is_an_error_that_names_both(tmp_path, what):
    release = releases()[what == "release"]
    messages = VERSION + 1 if what == "messages" else None
    (tmp_path / "other").mkdir()
    with Processes(tmp_path, settings=another(tmp_path / "other", release, messages)) as processes:
        processes.add(1)
        about = (release, tm.__version__, processes.address)
        with raises(tm.UnsupportedError, about=about):
            tm.connect(processes.address)


def test_workers_of_another_version_take_no_part_and_are_named(tmp_path, events):
    (tmp_path / "other").mkdir()
    with Processes(tmp_path) as processes:
        processes.add(1)
        mine = processes.environment
        processes.environment = mine | another(tmp_path / "other", releases()[1])
        processes.add(1)
        with Client(processes.address, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
        with pytest.warns(RuntimeWarning, match=re.escape(releases()[1])):
            session = tm.connect(processes.address)
        with session:
            assert session.run(events.count()) == events.num_entries
            assert session.report.workers == 1
