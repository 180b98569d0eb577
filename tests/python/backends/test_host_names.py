"""Hosts that workers and files name in different ways are one host to the packetizer."""

from treemill.backends.dask.pass_processes import HostNames


def test_a_worker_known_by_its_number_reads_files_that_name_its_host():
    places = HostNames(["root://node5/data", None])
    assert places.worker("10.0.0.5", ["Node5", "node5.site.org"]) == "node5"
    assert places.worker("10.0.0.6", ["localhost"]) == "10.0.0.6"
    assert places.nodes({3: ["root://node5.site.org//data/a.root"]}) == {3: "root://node5/data"}
    assert places.nodes({4: ["root://10.0.0.6//data/a.root"]}) == {4: "root://10.0.0.6/data"}


def test_a_worker_that_joins_later_gets_the_name_that_files_have():
    places = HostNames([])
    assert places.nodes({0: ["root://node7//a/b.root"]}) == {0: "root://node7/a"}
    assert places.worker("10.0.0.7", ["node7"]) == "node7"
    assert places.worker("10.0.0.7", ["node7"]) == "node7", "another process of the host"


def test_hosts_of_one_machine_stay_apart_if_files_name_both():
    places = HostNames(["root://127.0.0.1/a", "root://127.0.0.2/a"])
    assert places.worker("127.0.0.1", ["machine"]) == "127.0.0.1"
    assert places.worker("127.0.0.2", ["machine"]) == "127.0.0.2"


def test_of_a_files_hosts_one_with_workers_and_few_files_is_taken():
    places = HostNames([])
    for host in ("a", "b"):
        places.worker(host, [])
    at = ["root://far//d/x.root", "root://a//d/x.root", "root://b//d/x.root"]
    found = places.nodes(dict.fromkeys(range(4), at))
    assert sorted(found.values()) == ["root://a/d"] * 2 + ["root://b/d"] * 2
    assert places.nodes({9: at[:1]}) == {9: "root://far/d"}
    assert places.nodes({9: []}) == {}


def test_a_file_belongs_to_a_host_that_is_known_later_to_have_a_worker():
    places = HostNames(["root://far/d"] * 4)
    at = {file: [f"root://far//d/{file}", f"root://node{file % 2}//d/{file}"] for file in range(4)}
    first = places.nodes(at)
    assert set(first.values()) == {"root://far/d", "root://node0/d", "root://node1/d"}
    places.worker("10.0.0.1", ("Node1", "localhost"))
    moved = places.nodes_beside("10.0.0.1", ("Node1", "localhost"))
    assert moved
    assert first | moved == {**first, 1: "root://node1/d", 3: "root://node1/d"}
    assert places.nodes_beside("10.0.0.1", ("Node1",)) == {}, "these belong there already"
    places.worker("far", ())
    assert set(places.nodes_beside("far", ()).values()) <= {"root://far/d"}
    assert places.nodes_beside("far", ()) == {}
    assert places.nodes_beside("elsewhere", ("other",)) == {}
