"""The chain of files that a node's query is over. Nodes themselves know only what a query asks of
it (query/data_protocols.py)."""

from __future__ import annotations

from ..data.chain import Chain
from ..query.booking import Place
from ..query.data_protocols import QueriedData

__all__ = ["as_chain", "chain_at"]


def chain_at(place: Place) -> Chain:
    """The chain that the query at this place is over."""
    return as_chain(place.origin.chain)


def as_chain(queried: QueriedData) -> Chain:
    """Datasets make queries over chains only."""
    assert isinstance(queried, Chain)
    return queried
