"""How a file's references are known where its columns' names do not say enough: by the schema that
the user has given, by the classes of podio's links, and by the tables that podio writes beside the
events: collections' IDs before its version 0.17, collections' classes since.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..errors import TreemillError
from ..query.specification import SpecifiedRelations

if TYPE_CHECKING:
    from ..data.chain import Chain
    from ..data.file_tree import FileTree

__all__ = ["relations"]

_IDS = "metadata"
_CLASSES = "podio_metadata"


def relations(chain: Chain, file: int) -> SpecifiedRelations | None:
    """Returns what is to be told of a file to a query; None: nothing."""
    schema = chain.schema
    ids: dict[str, int] = {}
    classes: dict[str, str] = {}
    if schema is None or "podio" in schema.formats:
        ids = _ids(chain, chain.trees[file])
        classes = _classes(chain, chain.trees[file])
    if schema is None and not ids and not classes:
        return None
    formats = None if schema is None else schema.formats
    return {"formats": formats, "ids": ids, "classes": classes}


def _ids(chain: Chain, tree: FileTree) -> dict[str, int]:
    """The IDs of collections; none if the file has no such table, or needs none."""
    if not any(name.endswith("#0.collectionID") for name in tree.by_name):
        return {}
    row = _first_row(chain, tree, _IDS, ("m_names", "m_collectionIDs"))
    return dict(zip(*row, strict=True)) if row else {}


def _classes(chain: Chain, tree: FileTree) -> dict[str, str]:
    """The classes of collections of links, as far as the file tells them."""
    ends = (_END.fullmatch(name) for name in tree.by_name)
    links = {end[1] for end in ends if end is not None}
    if not links:
        return {}
    stored = _told(chain, tree)
    types = {name: tree.by_name[name]["cpp_type"] for name in links if name in tree.by_name}
    return {name: stored.get(name, _item(cpp_type)) for name, cpp_type in types.items()}


def _told(chain: Chain, tree: FileTree) -> dict[str, str]:
    """The classes of collections by podio's table; none if the file lacks it."""
    info = f"{tree.name}___CollectionTypeInfo"
    named = _first_row(chain, tree, _CLASSES, (f"{info}.name", f"{info}.dataType"))
    if named:
        return dict(zip(*named, strict=True))
    numbered = _first_row(chain, tree, _CLASSES, (f"{info}._0", f"{info}._1"))
    ids = _first_row(chain, tree, _CLASSES, ("m_collectionIDs", "m_names"))
    if not numbered or not ids:
        return {}
    names = dict(zip(*ids, strict=True))
    return {
        names[each]: cpp_type for each, cpp_type in zip(*numbered, strict=True) if each in names
    }


_END = re.compile(r"_(.+)_(?:from|to|rec|sim)\.collectionID")


def _item(cpp_type: str) -> str:
    """The class of a vector's items; "" if it is no vector."""
    inner = re.fullmatch(r"(?:std::)?vector<(.+?) *>", cpp_type)
    return inner[1] if inner else ""


def _first_row(
    chain: Chain, tree: FileTree, name: str, columns: tuple[str, str]
) -> list[list[object]]:
    """The lists of two columns in the first row of a table in the file; none if it lacks them."""
    import awkward as ak  # heavy: awkward

    from ..data.from_core import layout  # heavy: awkward

    try:
        table = chain.sibling([tree.path], name).trees[0]
        rows = [ak.to_list(layout(column)) for column in table.read(columns, 0, 1)]
    except TreemillError:
        return []  # the query's error says that the table is missing
    return [column[0] for column in rows] if all(rows) else []
