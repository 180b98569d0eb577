"""Tells which of several addresses of a file are on this host, as far as they say so. Asks no name
service, and opens no connection.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import urlsplit

__all__ = ["is_own", "nearest_first"]


def nearest_first(addresses: Sequence[str]) -> tuple[str, ...]:
    """The addresses with those at this host first, and else in their order.

    >>> nearest_first(["root://far.site.org//a.root", "root://localhost//a.root"])
    ('root://localhost//a.root', 'root://far.site.org//a.root')
    """
    return tuple(sorted(addresses, key=lambda each: not is_own(_host(each))))


def _host(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:  # the opening says what is wrong with it
        return None


@lru_cache(maxsize=4096)
def is_own(host: str | None) -> bool:
    """True if this name or number is of this host. A name is compared without its domain if one of
    both has none.

    >>> is_own("127.0.0.1"), is_own("far.site.org"), is_own(None)
    (True, False, False)
    """
    if host is None:
        return False
    own, host = socket.gethostname().lower(), host.lower()
    if host in ("localhost", own):
        return True
    try:
        number = ipaddress.ip_address(host)
    except ValueError:
        labels = [own.split("."), host.split(".")]
        return labels[0][0] == labels[1][0] and min(map(len, labels)) == 1
    family = socket.AF_INET if number.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((host, 0))  # works with the numbers of this host only
    except OSError:
        return False
    return True
