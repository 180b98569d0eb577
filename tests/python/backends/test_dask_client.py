"""Clients that cannot be opened: what is said, and that nothing of them is left."""

import threading

import pytest
import treemill as tm

pytest.importorskip("distributed", reason="needs Dask: pip install 'treemill[cluster]'")

from distributed import Client
from treemill.backends.dask import dask_client

from tests.raising import raises


@pytest.mark.parametrize(
    "address", ["", "localhost", "tcp://localhost", "tcp://host:port", "host:8786:1", "tls://host"]
)
def test_what_is_no_address_is_told(address):
    with raises(tm.QueryError, said="no address of a scheduler: it is written"):
        tm.connect(address)


@pytest.mark.parametrize("address", ["host:8786", "tcp://[::1]:8786", "inproc://1/2/3"])
def test_other_addresses_are_left_to_dask(address):
    dask_client._check(address, None)


def test_certificates_are_asked_for_before_a_connection():
    with raises(tm.QueryError, said="TLS__CA_FILE connect security"):
        tm.connect("tls://127.0.0.1:9")


@pytest.mark.parametrize(
    ("address", "kind"),
    [("localhost", tm.QueryError), ("what://a:1", tm.QueryError), ("127.0.0.1:9", tm.WorkerError)],
)
def test_a_client_that_was_not_opened_is_closed(address, kind, monkeypatch):
    monkeypatch.setattr(dask_client, "_check", lambda address, security: None)
    threads = set(threading.enumerate())
    with pytest.raises(kind, match=address) as told:
        dask_client.opened(address, timeout=0.1)
    clients = [each for each in Client._instances if each._start_arg == address]
    assert {each.status for each in clients} <= {"closed"}
    left = [each for each in set(threading.enumerate()) - threads if each.name == "IO loop"]
    assert not left
    del told
