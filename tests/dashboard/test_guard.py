"""The dashboard answers requests with its token, by one of its own names, from its own page."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from treemill.monitoring.server import Guard, HttpRequest, Refusal

TOKEN = "s3cret-t0ken_"
GUARD = Guard(TOKEN, ["node7.site.org"])
TARGET = f"/state?token={TOKEN}&query=abc"


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8080", "localhost:1", "LOCALHOST", "[::1]:8080", "node7.site.org:80"]
)
def test_own_names_are_admitted_at_any_port(host):
    request = GUARD.admit("GET", TARGET, {"host": host})
    assert request == HttpRequest("GET", "/state", {"query": "abc"})


@pytest.mark.parametrize(
    ("target", "headers", "status"),
    [
        (TARGET, {}, 403),
        (TARGET, {"host": "evil.org"}, 403),
        (TARGET, {"host": "127.0.0.1.evil.org"}, 403),
        (TARGET, {"host": "[::1].evil.org"}, 403),
        (TARGET, {"host": "localhost", "origin": "http://evil.org"}, 403),
        (TARGET, {"host": "localhost:1", "origin": "http://localhost:2"}, 403),
        (TARGET, {"host": "localhost:1", "origin": "null"}, 403),
        ("/state", {"host": "localhost"}, 403),
        ("/state?token=", {"host": "localhost"}, 403),
        (f"/state?token={TOKEN}x", {"host": "localhost"}, 403),
        (f"/state?token=x&token={TOKEN}", {"host": "localhost"}, 403),
        ("/state?" + "&".join(f"a{i}=1" for i in range(20)), {"host": "localhost"}, 400),
        (f"{TARGET}&more={'x' * 5000}", {"host": "localhost"}, 414),
        ("//[/state?token=ä", {"host": "localhost"}, 400),
    ],
)
def test_others_are_refused(target, headers, status):
    refusal = GUARD.admit("GET", target, headers)
    assert isinstance(refusal, Refusal)
    assert refusal.status == status
    assert TOKEN not in refusal.reason


def test_its_own_page_is_admitted():
    headers = {"host": "localhost:8888", "origin": "http://localhost:8888"}
    assert isinstance(GUARD.admit("POST", TARGET, headers), HttpRequest)


@given(
    target=st.text(string.printable, max_size=60),
    host=st.text(string.printable, max_size=30),
    origin=st.none() | st.text(string.printable, max_size=30),
)
def test_no_request_without_the_token_is_admitted(target, host, origin):
    headers = {"host": host} | ({} if origin is None else {"origin": origin})
    assert isinstance(GUARD.admit("GET", target, headers), Refusal)
