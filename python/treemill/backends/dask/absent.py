"""What is said of workers that take no part in a session, because treemill is not on them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

__all__ = ["absent"]

_SHOWN = 3
"""Addresses that are told."""


def absent(refused: Mapping[str, str], silent: Sequence[str]) -> str:
    """Which workers take no part, why, and what to do. `refused`: why a worker cannot load
    treemill, by address. `silent`: those that do not answer.

    >>> absent({}, ["tcp://a:1", "tcp://b:1"])[:40]
    'nothing is heard of tcp://a:1, tcp://b:1'
    """
    by_reason: dict[str, list[str]] = {}
    for address, reason in refused.items():
        by_reason.setdefault(reason, []).append(address)
    parts = [
        f"treemill cannot be loaded on {_named(addresses)}: {reason} (install the client's version "
        "there, and start these workers anew)"
        for reason, addresses in by_reason.items()
    ]
    if silent:
        parts.append(
            f"nothing is heard of {_named(silent)} (look for processes that are stopped or "
            "overloaded; a worker takes part once it answers)"
        )
    return "; ".join(parts)


def _named(addresses: Sequence[str]) -> str:
    named = ", ".join(addresses[:_SHOWN])
    more = len(addresses) - _SHOWN
    return named if more <= 0 else f"{named} and {more} more"
