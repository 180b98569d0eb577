"""Where files lie, as a client finds out, and which of several addresses are on this host."""

import socket

import pytest
from treemill.backends.dask.dask_pass import _at_hosts
from treemill.data import source
from treemill.data.location import is_own, nearest_first
from treemill.session.run import addresses, located

FAR, NEAR = "root://far.site.org//store/a.root", "root://127.0.0.1//store/a.root"


@pytest.fixture
def named(monkeypatch):
    """Gives this host a name."""

    def name(text):
        monkeypatch.setattr(socket, "gethostname", lambda: text)
        is_own.cache_clear()

    yield name
    is_own.cache_clear()


def test_addresses_at_this_host_come_first_and_others_keep_their_order(named):
    named("Node5")
    others = [FAR, "https://other.site.org/a.root", "/data/a.root", "root://[bad//a"]
    mine = ["root://node5.site.org//a.root", "root://NODE5//a.root", "root://[::1]//a.root"]
    assert nearest_first([*others, NEAR, *mine]) == (NEAR, *mine, *others)
    named("node5.site.org")
    assert is_own("node5.site.org")
    assert is_own("node5")
    assert not is_own("node5.far.org"), "both have a domain"
    assert not is_own("192.0.2.1"), "it is for documents only"


@pytest.fixture
def asked(monkeypatch):
    """Servers that are asked for files; `redirector` leads to two others."""
    asked = []

    def hosts(paths):
        asked.append(list(paths))
        two = ["root://one//", "root://two//"]
        return {
            path: [path.replace("root://redirector//", each) for each in two]
            for path in paths
            if path.startswith("root://redirector")
        }

    monkeypatch.setattr(source, "hosts", hosts)
    return asked


def test_servers_are_asked_for_files_whose_replicas_are_not_known(asked):
    files = [FAR, "/data/b.root", "root://redirector//c.root", "root://alone//d.root", "/data/e"]
    replicas = {FAR: (FAR, NEAR), "/data/e": ("/data/e", NEAR)}
    assert addresses(files, replicas) == {0: (FAR, NEAR), 4: ("/data/e", NEAR)}
    assert _at_hosts(addresses(files, replicas)) == {0: [FAR, NEAR]}
    (found,) = located(files, replicas, range(len(files)))
    assert found == {2: ["root://one//c.root", "root://two//c.root"]}
    assert asked == [["root://redirector//c.root", "root://alone//d.root"], [files[2]]]


def test_many_files_are_told_in_parts(asked):
    files = [f"root://redirector//{number}.root" for number in range(600)]
    each = range(len(files))
    parts = list(located(files, {}, each))
    assert [len(part) for part in parts] == [256, 256, 88]
    assert not list(located(files, {each: (each, NEAR) for each in files}, range(len(files))))
