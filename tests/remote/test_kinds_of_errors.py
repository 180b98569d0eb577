"""What kind of error a file on a server is, the same for all protocols."""

import pickle
import socket

import pytest
import treemill as tm

from tests.raising import raises
from tests.remote.conftest import skip_without
from tests.remote.test_faults import SERVERS
from tests.remote.test_reading import supported

PROTOCOLS = ["xrootd", "nginx", "s3", "dcap", pytest.param("ganesha", marks=pytest.mark.slow)]


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_file_that_is_not_there_is_missing(name, request, monkeypatch):
    server = request.getfixturevalue(name)
    for variable, value in getattr(server, "environment", {}).items():
        monkeypatch.setenv(variable, value)
    url = server.url("store/trees/none.root")
    supported(url)
    with raises(tm.SourceError, about="none.root") as caught:
        tm.dataset(url, tree="Events").num_entries  # noqa: B018
    assert caught.value.kind == "missing"
    assert pickle.loads(pickle.dumps(caught.value)).kind == "missing", "workers send it"


@pytest.mark.parametrize("scheme", ["root", "http", "dcap", "nfs"])
def test_a_server_that_takes_no_connections_is_unreachable(scheme, nothing_remembered):
    supported(f"{scheme}://127.0.0.1/")
    with socket.create_server(("127.0.0.1", 0)) as place:
        port = place.getsockname()[1]
    with raises(tm.SourceError, about=str(port)) as caught:
        tm.dataset(f"{scheme}://127.0.0.1:{port}//store/f.root", tree="Events").num_entries  # noqa: B018
    assert caught.value.kind == "unreachable"


@pytest.mark.parametrize("kind", ["root", "http"])
def test_a_file_that_this_user_may_not_read_is_denied(kind, paths, nothing_remembered):
    skip_without(SERVERS[kind].missing())
    supported(f"{kind}://127.0.0.1/")
    with SERVERS[kind]() as server:
        server.put(paths[0], "store/own.root")
        (server.data / "store/own.root").chmod(0)
        with raises(tm.SourceError, about="own.root") as caught:
            tm.dataset(server.url("store/own.root"), tree="Events").num_entries  # noqa: B018
    assert caught.value.kind == "denied"
