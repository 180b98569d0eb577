"""Files on a mount of a server that is far away, which a file system in user space shows: what
treemill asks of the kernel there, and that it is the same bytes. Reads are counted where they
come in; nothing is timed.
"""

import os
import subprocess
import sys

import numpy as np
import pytest
import treemill as tm

from tests.remote.conftest import skip_without
from tools.servers.mount import SlowMount

PATH = "store/trees/events_0.root"
NAME = "events_0.root"
DELAY = 0.1


@pytest.fixture
def mount(files):
    """The folder of a file, mounted; nothing of it is in the system's cache."""
    skip_without(SlowMount.missing())
    with SlowMount(files[PATH].parent, DELAY) as made:
        yield made


def numbers(path):
    found = tm.dataset(path, "Events").to_numpy(["MET_pt", "nMuon", "nJet"])
    return {name: values.tobytes() for name, values in found.items()}


def wanted(path, names):
    branches = tm.dataset(path, "Events").branches
    return sum(branches[name].zip_bytes for name in names)


@pytest.mark.usefixtures("nothing_remembered")
@pytest.mark.parametrize("switch", ["", "off"])
def test_the_same_bytes_and_what_is_asked_for(mount, files, monkeypatch, switch):
    expected = numbers(str(files[PATH]))
    monkeypatch.setenv("TREEMILL_MOUNTS", switch)
    assert numbers(str(mount.place / NAME)) == expected
    counts = mount.counts()
    # Plain reads wait for one another, and the kernel reads ahead of them at most.
    assert counts.at_once >= 4 if not switch else counts.at_once <= 3


@pytest.mark.usefixtures("nothing_remembered")
@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_a_query_in_workers(mount, files, mode):
    def histogram(path):
        return tm.dataset(path, "Events").filter("nMuon >= 1").hist("MET_pt", bins=(50, 0, 200))

    with tm.connect(workers=2, mode=mode) as session:
        found = session.run(histogram(str(mount.place / NAME)), progress=False)
        expected = session.run(histogram(str(files[PATH])), progress=False)
    assert np.array_equal(found.view(flow=True), expected.view(flow=True))
    assert mount.counts().reads


@pytest.mark.usefixtures("nothing_remembered")
def test_the_report_names_the_mount(mount):
    with tm.connect(workers=1, mode="threads") as session:
        session.run(tm.dataset(str(mount.place / NAME), "Events").sum("MET_pt"), progress=False)
        servers = {each.source: each for each in session.report.io.sources}
    found = servers[f"fuse.slow at {mount.place}"]
    assert found.bytes_read > 0


@pytest.mark.usefixtures("nothing_remembered")
def test_a_mount_that_goes_is_an_error(mount):
    events = tm.dataset(str(mount.place / NAME), "Events")
    assert len(events) == 5000
    # As when a server is gone for good: the kernel ends all that waits.
    mount._process.kill()
    mount._process.wait()
    with pytest.raises(tm.SourceError) as caught:
        events.to_numpy(["Jet_pt"] if "Jet_pt" in events.branches else ["MET_pt"])
    assert NAME in str(caught.value)
    subprocess.run(["umount", "-l", str(mount.place)], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what a file system is")
def test_files_on_this_disk_are_read_as_ever(core, files):
    """No thread is started for them, and no server is counted."""
    code = f"""
import os
import treemill as tm
assert tm.dataset({str(files[PATH])!r}, "Events").to_numpy(["MET_pt"])["MET_pt"].size == 5000
names = [open(f"/proc/self/task/{{each}}/comm").read() for each in os.listdir("/proc/self/task")]
assert not any("treemill-mount" in name for name in names), names
"""
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ)
