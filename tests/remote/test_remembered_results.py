"""Results of files on servers that are remembered (`treemill.remember`): by what servers say of the
files, and not at all if they say too little."""

import os

import pytest
import treemill as tm
from treemill.session import results_folder

from tests.cluster.range_server import serving
from tests.remote.conftest import settle, skip_without
from tools.servers.ganesha import Ganesha
from tools.servers.nginx import Nginx
from tools.servers.xrootd import XRootD

PATHS = [f"store/trees/events_{number}.root" for number in range(3)]


@pytest.fixture(autouse=True)
def remembers(monkeypatch, tmp_path, core):
    monkeypatch.setattr(results_folder, "_given", [])
    tm.remember(tmp_path / "results")


def put(server, file, path, age):
    """Puts a file on a server, as if it had been written some seconds ago."""
    url = server.put(file, path)
    before = os.stat(server.data / path).st_mtime - age
    os.utime(server.data / path, (before, before))
    settle(url)
    return url


def booked(urls, *cuts):
    events = tm.dataset(urls, "Events")
    good = events.filter("MET_pt > 20")
    return [good.count(), events.sum("Jet_pt"), *(events.filter(c).count() for c in cuts)]


@pytest.mark.parametrize("mode", ["threads", "processes"])
@pytest.mark.parametrize("kind", [XRootD, Nginx, Ganesha])
def test_files_on_servers_are_known_by_what_servers_say(kind, mode, files):
    skip_without(kind.missing())
    with kind() as server, tm.connect(workers=2, mode=mode) as session:

        def run(*cuts):
            values = session.run(booked(urls, *cuts), progress=False)
            return values, session.report.remembered, session.report.io

        urls = [put(server, files[path], path, 1000) for path in PATHS]
        fresh = session.run(booked(urls), progress=False, remember=False)
        first, about, _ = run()
        assert (first, about.parts) == (fresh, 6)
        again, about, io = run()
        assert (again, about.parts, about.read) == (fresh, 0, 0)
        assert io.bytes_read == 0
        _, about, _ = run("MET_pt > 30")
        assert about.parts == 3, "the new booking"

        put(server, files[PATHS[2]], PATHS[0], 500)
        changed, about, _ = run()
        assert about.parts == 2, "the file that was replaced"
        local = [str(files[PATHS[number]]) for number in (2, 1, 2)]
        assert changed == session.run(booked(local), progress=False, remember=False)


def test_a_file_of_which_a_server_says_too_little_is_not_remembered(files):
    path = files[PATHS[0]]
    with serving(path.parent) as server, tm.connect(workers=2) as session:
        url = f"{server.url}/{path.name}"
        for _ in range(2):
            session.run(booked([url]), progress=False)
            assert session.report.remembered.found == 0
        assert "servers that do not say when they change" in str(session.report)


def test_a_friend_on_a_server_counts_by_what_the_server_says(files, monkeypatch):
    skip_without(XRootD.missing())
    monkeypatch.setattr("treemill.data.remote._RECENT", 0.0)
    near = str(files[PATHS[0]])
    with XRootD() as server, tm.connect(workers=2) as session:
        url = put(server, files[PATHS[0]], PATHS[0], 1000)

        def run():
            events = tm.dataset(near, "Events").add_friend(tm.dataset(url, "Events"), "far")
            values = session.run(events.sum("far.MET_pt"), events.count(), progress=False)
            return values, session.report.remembered.parts

        first, parts = run()
        assert parts == 2
        assert run() == (first, 0)
        put(server, files[PATHS[0]], PATHS[0], 500)
        assert run() == (first, 1)
