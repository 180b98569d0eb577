"""The chain of files that a node's query is over. Nodes themselves know only what a query asks of
it (query/queried.py)."""

from __future__ import annotations

from ..chain.chain import Chain
from ..query.booking import Place
from ..query.queried import Queried

__all__ = ["as_chain", "chain_at"]


def chain_at(place: Place) -> Chain:
    """The chain that the query at this place is over."""
    return as_chain(place.origin.chain)


def as_chain(queried: Queried) -> Chain:
    """Datasets make queries over chains only."""
    assert isinstance(queried, Chain)
    return queried
