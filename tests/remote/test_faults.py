"""What goes wrong between a server and us, brought about with real servers: the right result, or a
SourceError that names the server and the file, in bounded time; never a wrong number, and no
credential in any message.
"""

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor

import awkward as ak
import numpy as np
import pytest
import treemill as tm
from treemill.facility.generate import write

from tests.remote.conftest import TOKEN, skip_without
from tests.remote.dcap_door import DcapDoor
from tests.remote.relay import Relay
from tests.remote.test_reading import supported
from tools.link.link import Wire
from tools.servers import certificates
from tools.servers.ganesha import Ganesha
from tools.servers.nginx import Nginx
from tools.servers.s3 import S3
from tools.servers.xrootd import XRootD

SERVERS = {"root": XRootD, "http": Nginx, "nfs": Ganesha, "s3": S3}
PATIENCE = 60
"""Seconds after which a read counts as hung; what is promised is 30."""


@pytest.fixture(params=["root", "http", pytest.param("nfs", marks=pytest.mark.slow)])
def server(request, files, nothing_remembered):
    """A server of the test's own, which it may break."""
    kind = {"root": XRootD, "http": Nginx, "nfs": Ganesha}[request.param]
    skip_without(kind.missing())
    supported(f"{request.param}://127.0.0.1/")
    with kind() as made:
        for path, source in files.items():
            made.put(source, path)
        yield made


def outcome(action):
    """What an action gives or raises, in a thread, so that one that hangs is seen."""
    found = []

    def run():
        try:
            found.append(action())
        except tm.TreemillError as error:
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    assert found, f"nothing within {PATIENCE} s"
    return found[0]


def assert_names(error, server, file):
    assert isinstance(error, tm.SourceError), error
    assert f"{server.host.address}:{server.ports[0]}" in str(error)
    assert file in str(error)


def url(server, number=2):
    return f"{server.url(f'store/trees/events_{number}.root')}:Events"


def total(events):
    return events.hist("Jet_pt", bins=(10, 0, 100))


def test_a_server_that_is_dead(server):
    server.kill()
    assert_names(outcome(lambda: len(tm.dataset(url(server)))), server, "events_2.root")


def test_a_server_that_dies_after_the_file_is_open(server):
    events = tm.dataset(url(server))
    assert events.num_entries == 7321
    server.kill()
    assert_names(outcome(lambda: events.arrays("Jet_pt")), server, "events_2.root")


def test_a_server_that_comes_back(server, paths):
    events = tm.dataset(url(server))
    assert events.num_entries == 7321
    server.kill()
    server.restart()
    expected = tm.dataset(paths[2], "Events").arrays("Jet_pt").Jet_pt
    found = outcome(lambda: events.arrays("Jet_pt"))
    assert found.Jet_pt.to_list() == expected.to_list()


@pytest.mark.slow
def test_a_server_that_dies_during_a_pass(server, paths):
    """The selector kills it with the first chunk, when later files are not open yet."""

    class Kills(tm.Selector):
        def begin_worker(self, inputs):
            self.output["entries"] = 0

        def process(self, events):
            server.kill()
            self.output["entries"] += len(events)

    with tm.connect(workers=1, mode="threads") as session:
        files = [url(server, 0), url(server, 2)]
        done = outcome(lambda: session.run(Kills(), tm.dataset(files)))
    if isinstance(done, Exception):
        assert_names(done, server, ".root")
    else:  # all of it had been read ahead
        assert done["entries"] == 5000 + 7321


@pytest.mark.slow
def test_a_server_that_sleeps(server):
    events = tm.dataset(url(server))
    assert events.num_entries == 7321
    server.freeze()
    try:
        assert_names(outcome(lambda: events.arrays("Jet_pt")), server, "events_2.root")
    finally:
        server.thaw()


@contextlib.contextmanager
def muted(kind, files, folder):
    """A server with the files: its dataset, and what silences it, and then ends it and starts it
    anew."""
    path = "store/trees/events_2.root"
    if kind == "dcap":
        doors = [DcapDoor(folder)]
        doors[0].put(files[path], path)

        def restart():
            doors[-1].stop()
            doors.append(DcapDoor(folder, port=doors[0].port))

        yield doors[0].url(path), lambda: setattr(doors[0].faults, "silent", True), restart
        doors[-1].stop()
        return
    with SERVERS[kind]() as made:
        made.put(files[path], path)

        def restart():
            made.kill()
            made.restart()

        # That of S3 has its files in memory.
        yield made.url(path), made.freeze, made.thaw if kind == "s3" else restart


@pytest.mark.slow
def test_servers_that_were_silent_and_are_restarted(
    files, paths, tmp_path, nothing_remembered, monkeypatch
):
    """Each opens a file, and says nothing until it is given up. Later it is well, for datasets that
    were there before as for new ones. All at once, for the sake of time."""
    right = tm.dataset(paths[2], "Events").arrays("Jet_pt").Jet_pt
    kinds = [kind for kind, made in SERVERS.items() if made.missing() is None]
    with contextlib.ExitStack() as stack:
        urls, silences, restarts = [], [], []
        for kind in [*kinds, "dcap"]:
            url, silence, restart = stack.enter_context(muted(kind, files, tmp_path / kind))
            urls.append(url)
            silences.append(silence)
            restarts.append(restart)
            if kind == "s3":
                for name, value in silence.__self__.environment.items():
                    monkeypatch.setenv(name, value)
        old = [tm.dataset(url, "Events") for url in urls]
        assert [events.num_entries for events in old] == [7321] * len(old)
        for silence in silences:
            silence()
        with ThreadPoolExecutor(len(old)) as pool:
            given_up = list(pool.map(lambda it: outcome(lambda: it.arrays("Jet_pt")), old))
        for url, error in zip(urls, given_up, strict=True):
            assert isinstance(error, tm.SourceError), (url, error)
        for restart in restarts:
            restart()
        for url, events in zip(urls, old, strict=True):
            for each in (events, tm.dataset(url, "Events")):
                found = outcome(lambda each=each: each.arrays("Jet_pt"))
                assert not isinstance(found, Exception), (url, found)
                assert ak.array_equal(found.Jet_pt, right), url


def test_bytes_that_are_wrong(server, paths):
    """A stretch of the file is zeros: what is read from there is refused or not needed, and not
    counted."""
    path = server.data / "store/trees/events_2.root"
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle - 20_000 : middle + 20_000] = bytes(40_000)
    path.write_bytes(content)
    expected = tm.dataset(paths[2], "Events")
    for name in ("MET_pt", "Jet_pt", "Muon_pt"):
        found = outcome(lambda name=name: tm.dataset(url(server)).hist(name, bins=(9, 0, 90)).value)
        if not isinstance(found, Exception):
            right = expected.hist(name, bins=(9, 0, 90)).value
            assert np.array_equal(found.view(flow=True), right.view(flow=True))


def test_a_file_that_was_cut_short(server):
    path = server.data / "store/trees/events_2.root"
    path.write_bytes(path.read_bytes()[:50_000])
    found = outcome(lambda: tm.dataset(url(server)).arrays("Jet_pt"))
    assert isinstance(found, tm.SourceError | tm.FormatError), found
    assert "events_2.root" in str(found)


def test_a_file_that_is_replaced_by_another_is_no_mixture(server, paths):
    """The dataset knows the first file's baskets: to find them in the second would be chance."""
    events = tm.dataset(url(server, 2))
    assert events.num_entries == 7321
    server.put(paths[0], "store/trees/events_2.root")
    found = outcome(lambda: total(events).value)
    if not isinstance(found, Exception):
        expected = [total(tm.dataset(path, "Events")).value for path in (paths[0], paths[2])]
        assert any(np.array_equal(found.view(flow=True), e.view(flow=True)) for e in expected)


@pytest.mark.parametrize("allowed", [1, 4])
def test_a_firewall_that_allows_few_connections(server, paths, allowed):
    """A run over ten files by two workers ends soon, with the right result."""
    names = [f"store/many/{i}.root" for i in range(10)]
    for i, name in enumerate(names):
        server.put(paths[i % 3], name)
    right = total(tm.dataset([paths[i % 3] for i in range(10)], "Events")).value
    with Relay(server, allowed) as relay, tm.connect(workers=2, mode="threads") as session:
        urls = [server.url(name).replace(f":{server.ports[0]}", f":{relay.port}") for name in names]
        events = tm.dataset(urls, "Events")
        found = outcome(lambda: session.run(total(events)))
    assert np.array_equal(found.view(flow=True), right.view(flow=True))


@pytest.mark.slow
@pytest.mark.parametrize(("allowed", "workers"), [(1, 1), (1, 2), (4, 2)])
def test_worker_processes_behind_a_firewall_that_allows_few_connections(
    server, paths, allowed, workers
):
    """Each needs a connection, and the session has one. Over HTTP they come to the right result;
    clients of other protocols keep their connections, and the error says so."""
    names = [f"store/many/{i}.root" for i in range(10)]
    for i, name in enumerate(names):
        server.put(paths[i % 3], name)
    right = total(tm.dataset([paths[i % 3] for i in range(10)], "Events")).value
    with Relay(server, allowed) as relay, tm.connect(workers=workers, mode="processes") as session:
        urls = [server.url(name).replace(f":{server.ports[0]}", f":{relay.port}") for name in names]
        found = outcome(lambda: session.run(total(tm.dataset(urls, "Events"))))
    if isinstance(found, Exception):
        assert not isinstance(server, Nginx), found
        assert isinstance(found, tm.SourceError)
        assert allowed == 1
        assert str(relay.port) in str(found)
        assert "each worker process needs one" in str(found)
    else:
        assert np.array_equal(found.view(flow=True), right.view(flow=True))


@pytest.mark.slow
def test_processes_take_the_connections_that_threads_have_left(server, paths):
    """A firewall counts those that the session keeps, and does not use while it has processes."""
    names = [f"store/many/{i}.root" for i in range(10)]
    for i, name in enumerate(names):
        server.put(paths[i % 3], name)
    right = total(tm.dataset([paths[i % 3] for i in range(10)], "Events")).value
    with Relay(server, 4) as relay:
        urls = [server.url(name).replace(f":{server.ports[0]}", f":{relay.port}") for name in names]

        def run(mode):
            with tm.connect(workers=2, mode=mode) as session:
                return session.run(total(tm.dataset(urls, "Events")))

        for mode in "threads", "processes", "processes", "threads", "processes":
            found = outcome(lambda mode=mode: run(mode))
            assert np.array_equal(found.view(flow=True), right.view(flow=True)), mode


@pytest.mark.slow
def test_a_connection_that_is_reset_every_second(server, tmp_path):
    """For a file that takes several seconds."""
    path = tmp_path / "large.root"
    write(path, events=60_000, index=3, cluster=2000, codec="zstd")
    assert path.stat().st_size > 5_000_000
    server.put(path, "store/large.root")
    is_over = threading.Event()

    def resets(relay):
        while not is_over.wait(1):
            relay.reset_all()

    with Relay(server, speed=1e6) as relay:
        threading.Thread(target=resets, args=(relay,), daemon=True).start()
        through = server.url("store/large.root").replace(f":{server.ports[0]}", f":{relay.port}")
        names = ["Jet_pt", "Jet_eta", "Jet_phi", "Muon_pt", "MET_pt"]
        found = outcome(lambda: tm.dataset(through, "Events").arrays(names))
        is_over.set()
    assert ak.array_equal(found, tm.dataset(path, "Events").arrays(names))
    assert relay.resets > 1


@pytest.fixture
def guarded(files, certificate):
    """A server that wants a token, by TLS."""
    skip_without(Nginx.missing())
    supported("https://127.0.0.1/")
    with Nginx(certificate=certificate, token=TOKEN) as made:
        for path, source in files.items():
            made.put(source, path)
        yield made


@pytest.mark.parametrize("wrong", [None, "a-wrong-secret"])
def test_no_token_or_a_wrong_one(guarded, monkeypatch, tmp_path, wrong):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.delenv("BEARER_TOKEN", raising=False)
    if wrong is not None:
        monkeypatch.setenv("BEARER_TOKEN", wrong)
    error = outcome(lambda: len(tm.dataset(url(guarded))))
    assert_names(error, guarded, "events_2.root")
    assert "a-wrong-secret" not in str(error)


def test_a_password_in_a_url_is_not_shown(guarded, token):
    secret = url(guarded).replace("https://", "https://someone:hunter2@")
    guarded.kill()
    error = outcome(lambda: len(tm.dataset(secret)))
    assert isinstance(error, tm.SourceError | tm.UnsupportedError), error
    assert "hunter2" not in str(error)
    assert "hunter2" not in repr(error)


def test_a_certificate_of_an_authority_that_is_not_trusted(files, token, tmp_path, authority):
    skip_without(Nginx.missing())
    supported("https://127.0.0.1/")
    stranger = certificates.make_authority(tmp_path / "stranger")
    assert stranger.read_bytes() != authority.read_bytes()
    folder = certificates.make_certificate(stranger, tmp_path / "theirs", "IP:127.0.0.1")
    assert_is_refused(folder, files)


def test_authorities_that_are_named_after_a_refusal_count(files, token, tmp_path, monkeypatch):
    skip_without(Nginx.missing())
    supported("https://127.0.0.1/")
    stranger = certificates.make_authority(tmp_path / "stranger")
    folder = certificates.make_certificate(stranger, tmp_path / "theirs", "IP:127.0.0.1")
    with Nginx(certificate=folder, token=TOKEN) as server:
        server.put(files["store/trees/events_2.root"], "store/trees/events_2.root")
        assert isinstance(outcome(lambda: len(tm.dataset(url(server)))), tm.SourceError)
        monkeypatch.setenv("SSL_CERT_FILE", str(stranger))
        assert len(tm.dataset(url(server))) == 7321


def test_a_certificate_for_another_name(files, token, tmp_path, authority):
    skip_without(Nginx.missing())
    supported("https://127.0.0.1/")
    folder = certificates.make_certificate(authority, tmp_path / "other", "DNS:else.where")
    assert_is_refused(folder, files)


def assert_is_refused(certificate, files):
    """Without a word of the token, to the user or to the server."""
    with Nginx(certificate=certificate, token=TOKEN) as server:
        server.put(files["store/trees/events_2.root"], "store/trees/events_2.root")
        error = outcome(lambda: len(tm.dataset(url(server))))
        assert_names(error, server, "events_2.root")
        assert TOKEN not in str(error)
        assert not any("GET" in line for line in server.requests())


@pytest.fixture
def replicas(federation, link):
    """A federation whose wires are whole afterwards."""
    supported("root://r/")
    yield federation
    for name in ("s1", "s2"):
        link.set(name, Wire())


def federated(federation):
    return f"{federation.url('store/trees/events_2.root')}:Events"


@pytest.mark.slow
def test_a_redirector_leads_past_a_cut_wire(replicas, link, paths, nothing_remembered):
    """Either replica will do, and one is out of reach."""
    link.set("s1", Wire(loss=100))
    found = outcome(lambda: total(tm.dataset(federated(replicas))).value)
    if isinstance(found, Exception):
        assert isinstance(found, tm.SourceError)
        assert "events_2.root" in str(found)
    else:
        right = total(tm.dataset(paths[2], "Events")).value
        assert np.array_equal(found.view(flow=True), right.view(flow=True))


def test_a_link_that_loses_packets(replicas, link, paths, nothing_remembered):
    for name in ("s1", "s2"):
        link.set(name, Wire(delay_ms=1, loss=2))
    found = outcome(lambda: total(tm.dataset(federated(replicas))).value)
    right = total(tm.dataset(paths[2], "Events")).value
    assert np.array_equal(found.view(flow=True), right.view(flow=True))
