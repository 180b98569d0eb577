"""Made-up files on hosts with disks of their own: each is made once, on one of them. Each host is a
worker in namespaces of its own, with a name and a folder that the others do not see.
"""

import json
import os
import shutil
import subprocess

import pytest
from treemill.errors import QueryError
from treemill.facility.generate import noted
from treemill.facility.generate_command import generate
from treemill.facility.recipe import Recipe

from tests.raising import raises

from .processes import Processes

HOSTS = ("n1", "n2", "n3")
RECIPE = Recipe(files=7, events_per_file=30, events_per_cluster=10, schema="demo")
_ENTER = 'hostname "$0" && mount --bind "$1" "$2" && shift 2 && exec "$@"'


def missing():
    """Why there can be no such hosts here; None if there can."""
    tool = shutil.which("unshare")
    if tool is None or subprocess.run([tool, "--mount", "--uts", "true"], check=False).returncode:
        return "hosts in namespaces need unshare, and root"
    return None


class Disks:
    """A cluster whose workers have the folder `data`, each its own."""

    def __init__(self, folder, processes):
        self.folder, self.processes = folder, processes
        self.data = folder / "data"
        self.data.mkdir()
        self.hosts = []
        for host in HOSTS:
            self.add(host)

    def add(self, host):
        from distributed import Client

        disk = self.disk(host)
        disk.mkdir()
        self.hosts.append(host)
        enter = ("unshare", "--mount", "--uts", "sh", "-c", _ENTER, host, str(disk), str(self.data))
        address = f"127.0.0.{len(self.hosts) + 1}"
        self.processes.add(1, 1, "--no-nanny", "--host", address, enter=enter)
        with Client(self.processes.address, set_as_default=False) as client:
            client.wait_for_workers(len(self.hosts), timeout=60)
            there = client.run(lambda: __import__("socket").gethostname())
        assert sorted(there.values()) == sorted(self.hosts)

    def disk(self, host):
        return self.folder / host

    def generate(self, recipe=RECIPE, **options):
        url = "root://{host}/{path}"
        return generate(self.data, recipe, self.processes.address, url=url, **options)

    def files(self):
        """When each was written, by host and name."""
        return {
            (host, path.name): path.stat().st_mtime_ns
            for host in self.hosts
            for path in self.disk(host).iterdir()
        }

    def described(self):
        (dataset,) = json.loads((self.data / "dataset.json").read_text()).values()
        return list(dataset["files"])


@pytest.fixture
def disks(tmp_path):
    if (reason := missing()) is not None:
        pytest.skip(reason)
    with Processes(tmp_path) as processes:
        yield Disks(tmp_path, processes)


@pytest.mark.slow
def test_each_file_is_made_once_on_one_of_the_hosts(disks, monkeypatch):
    hexadecimal = "0123456789abcdef"
    monkeypatch.setattr("uuid.uuid4", lambda: type("Known", (), {"hex": hexadecimal}))
    for host in HOSTS:  # as workers leave them that are killed
        (disks.disk(host) / f"events_000.1-1.{hexadecimal[:12]}.tmp").write_bytes(b"half")
        (disks.disk(host) / "events_000.2-2.other.tmp").write_bytes(b"of another run")
    said = disks.generate()
    assert "7 files on " in said[0]
    first = disks.files()
    names = {RECIPE.name(index) for index in range(7)}
    assert sorted(name for _, name in first if name.endswith(".root")) == sorted(names)
    assert {name for _, name in first} == names | {"events_000.2-2.other.tmp"}
    described = disks.described()
    assert [address.rsplit("/", 1)[1] for address in described] == sorted(names)
    for address in described:
        host, name = address.removeprefix("root://").split("/")[0], address.rsplit("/", 1)[1]
        assert (host, name) in first, "it is where the description says"

    assert "(7 were there already)" in disks.generate()[0]
    assert disks.files() == first
    assert disks.described() == described

    # Only what is missing is made, wherever the others are.
    gone = {(host, name) for host, name in first if name in (RECIPE.name(2), RECIPE.name(5))}
    for host, name in gone:
        (disks.disk(host) / name).unlink()
    disks.add("n4")
    assert "(5 were there already)" in disks.generate()[0]
    again = disks.files()
    assert {name for _, name in again} == {name for _, name in first}
    assert {key: when for key, when in first.items() if key not in gone}.items() <= again.items()
    assert {name for key, name in again if (key, name) not in first} <= {n for _, n in gone}


@pytest.mark.slow
def test_other_events_are_overwritten_on_all_hosts_or_on_none(disks):
    disks.generate()
    before = disks.files()
    other = Recipe(**{**vars(RECIPE), "seed": 2})
    os.remove(disks.data / "dataset.json")
    with raises(QueryError, said="on n is there and has other events"):
        disks.generate(other)
    assert disks.files() == before
    said = disks.generate(other, force=True)
    assert "already" not in said[0]
    for host, name in disks.files():
        assert noted(disks.disk(host) / name) == other.note(other.number(name))
