"""Sites that take certificates only, by real servers: XRootD with GSI and with certificates over
HTTP, nginx with certificates. What a user shows and trusts is looked at once in a process, so that
each reads in one of its own.
"""

import json
import os
import subprocess
import sys

import pytest

from tests.remote.conftest import serve, skip_without
from tools.servers import certificates
from tools.servers.nginx import Nginx
from tools.servers.xrootd import XRootD

TREE = "store/trees/events_0.root"
NAME = "localhost"
"""The servers' name: GSI takes the certificate of no other one."""
READ = """
import json, sys
import treemill as tm
try:
    events = tm.dataset(sys.argv[1], "Events")
    told = {"sum": events.sum("MET_pt").value, "entries": events.num_entries}
except tm.TreemillError as error:
    told = {"error": type(error).__name__, "what": str(error)}
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    """Folder with an authority `ca.pem`, its folder `trusted`, a `host` and a `user`."""
    skip_without(certificates.missing())
    folder = tmp_path_factory.mktemp("grid")
    authority = certificates.make_authority(folder, is_rsa=True)
    certificates.trusted_folder(authority, folder / "trusted")
    certificates.make_certificate(authority, folder / "host", f"DNS:{NAME}", is_rsa=True)
    certificates.make_user(authority, folder / "user")
    return folder


@pytest.fixture(scope="module")
def site(grid, files):
    """XRootD that nobody but the user may read from: by GSI, and by HTTP with a certificate."""
    skip_without(XRootD.missing())
    users = grid / "user" / "certificate.pem", grid / "ca.pem"
    with XRootD(certificate=grid / "host", users=users) as server:
        yield serve(server, files)


@pytest.fixture(scope="module")
def nginx(grid, files):
    """nginx that nobody but the user may read from."""
    skip_without(Nginx.missing())
    with Nginx(certificate=grid / "host", users=grid / "ca.pem") as server:
        yield serve(server, files)


@pytest.fixture(scope="module")
def expected(files):
    import treemill as tm

    events = tm.dataset(str(files[TREE]), "Events")
    return {"sum": events.sum("MET_pt").value, "entries": events.num_entries}


def shown(grid, what):
    """The environment of a user who shows a `proxy`, a `certificate` or nothing."""
    known = {n: value for n, value in os.environ.items() if not n.startswith(("X509_", "BEARER_"))}
    known |= {"X509_CERT_DIR": str(grid / "trusted"), "X509_USER_PROXY": str(grid / "none")}
    if what == "proxy":
        known["X509_USER_PROXY"] = str(grid / "user" / "proxy.pem")
    if what == "certificate":
        del known["X509_USER_PROXY"]
        known["X509_USER_CERT"] = str(grid / "user" / "certificate.pem")
        known["X509_USER_KEY"] = str(grid / "user" / "key.pem")
    return known


def read(url, environment):
    """What a process of its own reads, or its error."""
    command = [sys.executable, "-W", "error", "-c", READ, url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    assert "PRIVATE KEY" not in done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def named(url):
    return url.replace("127.0.0.1", NAME)


def davs(server):
    """Of the tree by HTTP, as sites name it."""
    return named(server.http_url(TREE)).replace("https://", "davs://")


def test_root_at_a_site_with_gsi_says_both_ways(site, grid):
    told = read(named(site.url(TREE)), shown(grid, "proxy"))
    assert told["error"] == "SourceError"
    for part in ("gsi", "davs://", "xrootd+root://", f"{NAME}:{site.ports[0]}", TREE):
        assert part in told["what"]


def test_the_official_client_reads_by_gsi(site, grid, expected):
    pytest.importorskip("XRootD", reason="the official client of XRootD is not installed")
    url = f"xrootd+{named(site.url(TREE))}"
    assert read(url, shown(grid, "proxy")) == expected
    told = read(url, shown(grid, "nothing"))
    assert told["error"] == "SourceError"
    assert "X509_USER_PROXY" in told["what"]


@pytest.mark.parametrize("what", ["proxy", "certificate"])
def test_davs_shows_the_proxy_or_the_certificate(site, grid, expected, what):
    assert read(davs(site), shown(grid, what)) == expected


def test_who_shows_nothing_is_told_what_is_missing(site, nginx, grid):
    for url in (davs(site), named(nginx.url(TREE))):
        told = read(url, shown(grid, "nothing"))
        assert told["error"] == "SourceError"
        assert "40" in told["what"]
        assert url.split("/")[2] in told["what"]


def test_nginx_takes_the_certificate(nginx, grid, expected):
    assert read(named(nginx.url(TREE)), shown(grid, "certificate")) == expected
