"""Proxies of HTTP that the environment names: one that is gone is named, and `no_proxy=*` means
that there is none. In processes of their own, since a process looks once."""

import os
import subprocess
import sys

import pytest

from .conftest import settle

_OPEN = """
import sys, treemill as tm
try:
    print(tm.dataset(sys.argv[1], tree="Events").num_entries)
except tm.SourceError as error:
    print(error)
"""
GONE = "http://me:secret@127.0.0.1:9"
VARIABLES = "http_proxy", "https_proxy", "all_proxy", "no_proxy"


def said(url, **environment):
    clean = {name: value for name, value in os.environ.items() if name.lower() not in VARIABLES}
    done = subprocess.run(
        [sys.executable, "-c", _OPEN, url],
        capture_output=True,
        text=True,
        timeout=120,
        env=clean | environment,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize("name", ["http_proxy", "all_proxy"])
def test_a_proxy_that_is_gone_is_named_without_its_login(nginx, name):
    url = nginx.url("store/trees/events_0.root")
    told = said(url, **{name: GONE})
    assert "http://127.0.0.1:9" in told
    assert name in told
    assert "secret" not in told


@pytest.mark.parametrize("hosts", ["*", "site.org, *", "127.0.0.1"])
def test_hosts_may_be_reached_without_it(nginx, hosts):
    url = nginx.url("store/trees/events_0.root")
    settle(url)
    assert said(url, http_proxy=GONE, no_proxy=hosts) == "5000\n"
