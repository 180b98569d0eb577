"""Tokens that expire while files are read, and federations in which every server wants one by TLS:
the right result with the token that counts, or a SourceError that names server and file and no
token.
"""

import pytest
import treemill as tm

from tests.remote.conftest import TOKEN, serve, settle, skip_without
from tests.remote.test_faults import assert_names, outcome, total, url
from tools.link.link import Link
from tools.link.link import missing as link_missing
from tools.servers import certificates, tokens
from tools.servers.nginx import Nginx
from tools.servers.xrootd import Federation, XRootD

ANOTHER = "eyJhbGciOiJub25lIn0.another-secret-of-the-user.x"
STORED = "store/trees/events_2.root"
_REFUSED = "Unable to enable TLS"
"""What xrootd logs of a client that does not trust its certificate."""


@pytest.fixture
def user(monkeypatch, tmp_path):
    """The file with the user's token, which is renewed by writing it anew."""
    path = tmp_path / "token"
    path.write_text(TOKEN)
    monkeypatch.delenv("BEARER_TOKEN", raising=False)
    monkeypatch.setenv("BEARER_TOKEN_FILE", str(path))
    return path


@pytest.fixture(params=["http", "root"])
def guarded(request, files, certificate, user, nothing_remembered):
    """A server that wants a token, by TLS; and what lets the first one expire."""
    if request.param == "http":
        skip_without(Nginx.missing())
        with Nginx(certificate=certificate, token=TOKEN) as server:
            yield serve(server, files), server.renew
    else:
        skip_without(XRootD.missing() or tokens.missing())
        with XRootD(certificate=certificate, token=TOKEN) as server:

            def expire():
                """Who is logged in stays so: the connections are lost, too."""
                server.kill()
                server.renew(ANOTHER)
                server.restart()
                return ANOTHER

            yield serve(server, files), expire


def test_a_token_expires_and_is_renewed_in_its_file_while_files_are_read(guarded, user, paths):
    server, expire = guarded
    events = tm.dataset(url(server))
    assert events.num_entries == 7321
    new = expire()
    error = outcome(lambda: events.arrays("Jet_pt"))
    assert_names(error, server, "events_2.root")
    assert TOKEN not in str(error)
    user.write_text(new)
    found = outcome(lambda: events.arrays("Jet_pt"))
    expected = tm.dataset(paths[2], "Events").arrays("Jet_pt")
    assert found.Jet_pt.to_list() == expected.Jet_pt.to_list()


@pytest.fixture(scope="module")
def hosts():
    """Of a link of its own: the hosts of another one may have a federation already."""
    skip_without(link_missing() or Federation.missing() or tokens.missing())
    with Link(["client", "r", "s1", "s2"], here="client") as made:
        yield [made.hosts[name] for name in ("r", "s1", "s2")]


def guarded_federation(hosts, folder, *authorities):
    """A federation that wants a token everywhere. The certificates of the redirector and of each
    server are signed by these authorities."""
    folders = [
        certificates.make_certificate(by, folder / host.name, f"IP:{host.address}")
        for host, by in zip(hosts, authorities, strict=True)
    ]
    return Federation(hosts[0], hosts[1:], certificates=folders, token=TOKEN)


def federated(federation):
    return f"{federation.url(STORED)}:Events"


def test_a_federation_with_tls_and_tokens(
    hosts, files, paths, authority, tmp_path, user, nothing_remembered
):
    with guarded_federation(hosts, tmp_path, authority, authority, authority) as federation:
        federation.put(files[STORED], STORED)
        assert federation.url("").startswith("roots://")
        found = outcome(lambda: total(tm.dataset(federated(federation))).value)
        assert found == total(tm.dataset(paths[2], "Events")).value
        user.write_text(ANOTHER)
        # Another user, to the redirector, is another connection.
        other = federated(federation).replace("roots://", "roots://other@")
        error = outcome(lambda: len(tm.dataset(other)))
    assert isinstance(error, tm.SourceError), error
    assert "events_2.root" in str(error)
    assert ANOTHER not in str(error)


def assert_is_distrusted(error, hosts):
    """It names the file and the data server that was asked, and no token."""
    assert isinstance(error, tm.SourceError), error
    assert "certificate is not trusted" in str(error)
    assert any(f"server {host.address}:1094" in str(error) for host in hosts[1:])
    assert "events_2.root" in str(error)
    assert TOKEN not in str(error)


@pytest.mark.slow
def test_data_servers_whose_certificates_are_a_strangers(
    hosts, files, authority, tmp_path, user, nothing_remembered
):
    stranger = certificates.make_authority(tmp_path / "stranger")
    with guarded_federation(hosts, tmp_path, authority, stranger, stranger) as federation:
        federation.put(files[STORED], STORED)
        # No other test has asked this user's servers for anything.
        where = federated(federation).replace("roots://", "roots://stranger@")
        for ask in (len, lambda events: events.branches, lambda events: total(events).value):
            assert_is_distrusted(outcome(lambda ask=ask: ask(tm.dataset(where))), hosts)


@pytest.mark.slow
def test_what_is_known_of_a_file_counts_for_some_seconds_and_no_byte_is_read_from_a_stranger(
    hosts, files, authority, tmp_path, user, nothing_remembered, monkeypatch
):
    """The number of entries is from the servers that were trusted; they were asked lately."""
    monkeypatch.setattr("treemill.data.remote._RECENT", 3600.0)
    with guarded_federation(hosts, tmp_path / "1", *[authority] * 3) as federation:
        federation.put(files[STORED], STORED)
        where = federated(federation).replace("roots://", "roots://known@")
        settle(where.removesuffix(":Events"))
        events = tm.dataset(where)
        assert len(events) == 7321
    stranger = certificates.make_authority(tmp_path / "stranger")
    with guarded_federation(hosts, tmp_path / "2", authority, stranger, stranger) as federation:
        federation.put(files[STORED], STORED)
        both = events, tm.dataset(where)
        assert [len(known) for known in both] == [7321, 7321]
        for known in both:
            assert_is_distrusted(outcome(lambda known=known: total(known).value), hosts)
            assert_is_distrusted(outcome(lambda known=known: known.arrays("Jet_pt")), hosts)
        monkeypatch.setattr("treemill.data.remote._RECENT", 0.0)
        for known in (events, tm.dataset(where)):
            assert_is_distrusted(outcome(lambda known=known: len(known)), hosts)


@pytest.mark.slow
def test_the_redirector_leads_past_a_server_whose_certificate_is_a_strangers(
    hosts, files, paths, authority, tmp_path, user, nothing_remembered
):
    stranger = certificates.make_authority(tmp_path / "stranger")
    expected = total(tm.dataset(paths[2], "Events")).value
    with guarded_federation(hosts, tmp_path, authority, stranger, authority) as federation:
        federation.put(files[STORED], STORED)
        log = federation.servers[0].processes[-1].log
        # Which server the redirector names first is its own choice: until it was the stranger's.
        for attempt in range(20):
            where = federated(federation).replace("roots://", f"roots://user{attempt}@")
            found = outcome(lambda where=where: total(tm.dataset(where)).value)
            assert found == expected
            if _REFUSED in log.read_text():
                break
        assert _REFUSED in log.read_text()
