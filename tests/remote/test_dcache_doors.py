"""dCache's WebDAV door as far as nginx can show it: each request is redirected to a pool, and every
connection ends after one answer. Its xroot door as far as xrootd can: it sends clients to a pool,
also to one that they have tried. Its dCap door is in `test_dcap.py`.
"""

import numpy as np
import pyarrow as pa
import pytest
import treemill as tm

from tests.raising import raises
from tests.remote.conftest import serve, skip_without
from tools.servers.nginx import Nginx
from tools.servers.xrootd import XRootD

PATH = "store/trees/events_2.root"


@pytest.fixture(scope="module")
def webdav(files):
    """A door and its pool."""
    skip_without(Nginx.missing())
    with Nginx(closes=True) as pool:
        serve(pool, files)
        with Nginx(pool=pool.url("").rstrip("/"), closes=True) as door:
            yield door, pool


@pytest.mark.usefixtures("nothing_remembered")
def test_redirects_and_connections_that_end_after_each_answer(webdav, files):
    door, _ = webdav

    def histogram(address):
        return tm.dataset(address, "Events").hist("MET_pt", bins=(50, 0, 200)).value.view(flow=True)

    found = histogram(door.url(PATH))
    assert np.array_equal(found, histogram(str(files[PATH])))
    assert any(line.startswith("307") for line in door.requests())


@pytest.mark.usefixtures("nothing_remembered")
def test_a_file_that_a_pool_does_not_have_names_the_door(webdav):
    door, _ = webdav
    with pytest.raises(tm.SourceError) as caught:
        len(tm.dataset(door.url("store/none.root"), "Events"))
    assert f"{door.host.address}:{door.ports[0]}" in str(caught.value)


@pytest.fixture
def xroot(files):
    """A door and its pool."""
    skip_without(XRootD.missing())
    with XRootD() as pool:
        serve(pool, files)
        with XRootD(pool=pool) as door:
            yield door, pool


@pytest.mark.usefixtures("nothing_remembered")
def test_the_xroot_door_leads_to_a_pool(xroot, files):
    door, pool = xroot
    with tm.connect(workers=1, mode="threads") as session:
        found = session.run(tm.dataset(door.url(PATH), "Events").sum("MET_pt"), progress=False)
        # Sources of the tests before may still be counting.
        sources = [each.source for each in session.report.io.sources]
        servers = {each for each in sources if each.startswith("root:")}
    assert found == tm.dataset(str(files[PATH]), "Events").sum("MET_pt").value
    assert servers == {f"root://{pool.host.address}:{pool.ports[0]}"}


def columns(tree, start, stop):
    return [pa.array(each).to_pylist() for each in tree.read(["MET_pt", "Jet_pt"], start, stop)]


def test_a_door_that_sends_us_to_the_pool_that_was_lost(xroot, files, core):
    """`tried=` is not heard. The pool comes back, and nothing is lost."""
    door, pool = xroot
    tree, here = (core.File(each).tree("Events") for each in (door.url(PATH), str(files[PATH])))
    assert columns(tree, 0, 3000) == columns(here, 0, 3000)
    pool.freeze()
    asked = tree.ask(["MET_pt", "Jet_pt"], 3000, 7321)
    assert asked is not None
    pool.kill()
    pool.restart()
    assert columns(tree, 3000, 7321) == columns(here, 3000, 7321)


@pytest.mark.slow  # the pool is waited for
def test_a_door_whose_pool_stays_away_is_an_error(xroot, core):
    door, pool = xroot
    tree = core.File(door.url(PATH)).tree("Events")
    pool.kill()
    with pytest.raises(tm.SourceError) as caught:
        columns(tree, 0, 7321)
    assert "events_2.root" in str(caught.value)


@pytest.fixture(scope="module")
def encrypted(files, certificate):
    """A door with TLS, and its pool, which has none."""
    skip_without(Nginx.missing())
    with Nginx() as pool:
        serve(pool, files)
        with Nginx(pool=pool.url("").rstrip("/"), certificate=certificate) as door:
            yield door, pool


@pytest.mark.usefixtures("nothing_remembered")
@pytest.mark.parametrize("scheme", ["https", "davs"])
def test_what_is_asked_for_by_tls_comes_without_it_only_if_the_user_allows_it(
    encrypted, files, scheme, monkeypatch
):
    door, pool = encrypted
    address, before = door.url(PATH).replace("https:", f"{scheme}:"), len(pool.requests())
    with raises(tm.SourceError, said="TREEMILL_HTTPS_TO_HTTP allow"):
        len(tm.dataset(address, "Events"))
    assert len(pool.requests()) == before
    monkeypatch.setenv("TREEMILL_HTTPS_TO_HTTP", "allow")
    found = tm.dataset(address, "Events").sum("MET_pt").value
    assert found == tm.dataset(str(files[PATH]), "Events").sum("MET_pt").value
