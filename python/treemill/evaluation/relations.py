"""How a file's references are known where its columns' names do not say enough: by the schema that
the user has given, and by the table of collections' IDs that podio wrote beside the events before
its version 0.17.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import TreemillError
from ..query.specification import SpecifiedRelations

if TYPE_CHECKING:
    from ..chain.chain import Chain
    from ..tree.file_tree import FileTree

__all__ = ["relations"]

_TABLE = "metadata"


def relations(chain: Chain, file: int) -> SpecifiedRelations | None:
    """What is to be told of a file to a query; None: nothing."""
    schema = chain.schema
    is_podio = schema is None or "podio" in schema.formats
    ids = _ids(chain, chain.trees[file]) if is_podio else {}
    if schema is None and not ids:
        return None
    return {"formats": None if schema is None else schema.formats, "ids": ids}


def _ids(chain: Chain, tree: FileTree) -> dict[str, int]:
    """The IDs of collections; none if the file has no such table, or needs none."""
    if not any(name.endswith("#0.collectionID") for name in tree.by_name):
        return {}
    import awkward as ak  # heavy: awkward

    from ..arrays.from_core import layout  # heavy: awkward

    try:
        table = chain.sibling([tree.path], _TABLE).trees[0]
        columns = table.read(["m_names", "m_collectionIDs"], 0, 1)
    except TreemillError:
        return {}  # the query's error says that the table is missing
    names, ids = (ak.to_list(layout(column)) for column in columns)
    return dict(zip(names[0], ids[0], strict=True)) if names else {}
