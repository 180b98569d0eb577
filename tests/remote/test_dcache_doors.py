"""dCache's WebDAV door as far as nginx can show it: each request is redirected to a pool, and every
connection ends after one answer. Its dCap door is in `test_dcap.py`.
"""

import numpy as np
import pytest
import treemill as tm

from tests.remote.conftest import serve, skip_without
from tools.servers.nginx import Nginx

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
