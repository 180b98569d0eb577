"""Proxies of HTTP that the environment names: one that is gone is named, and `no_proxy=*` means
that there is none. In processes of their own, whose environment is what a test says."""

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
    return run(_OPEN, url, **environment)


def run(program, *arguments, **environment):
    """What a program prints."""
    clean = {name: value for name, value in os.environ.items() if name.lower() not in VARIABLES}
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
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


_LATER = """
import os, sys, treemill as tm
url, gone, proxy = sys.argv[1:]
for named in {}, {"http_proxy": gone}, {"no_proxy": "*"}, {"no_proxy": "", "http_proxy": proxy}:
    os.environ.update(named)
    try:
        print(tm.dataset(url, tree="Events").num_entries)
    except tm.SourceError as error:
        print(error)
"""


def test_a_proxy_that_is_named_after_the_first_request_counts(nginx):
    """As in a notebook, whose first cell has failed. To nginx a request to a proxy is one to it."""
    url = "http://127.0.0.1:7/store/trees/events_0.root"  # where nothing listens
    proxy = f"http://127.0.0.1:{nginx.ports[0]}"
    direct, gone, off, through = run(_LATER, url, GONE, proxy).splitlines()
    assert "http://127.0.0.1:7" in direct
    assert "proxy" not in direct
    assert "http://127.0.0.1:9, which http_proxy names" in gone
    assert "secret" not in gone
    assert off == direct
    assert through == "5000"
