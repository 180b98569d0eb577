"""Binds a query to one file after another, with the file's aliases and with columns that the core
does not find in it. Runs nothing.
"""

from __future__ import annotations

import json
import marshal
import re
import threading
from collections import OrderedDict
from collections.abc import Collection, Container, Iterable, Mapping, Sequence, Set
from functools import partial
from typing import TYPE_CHECKING, cast

from treemill import _core

from ..data.file_constants import with_constants
from ..data.file_tree import FileTree
from ..data.foreign import IN_THE_CHAIN, NUMBERING, Field, Foreign, joined, with_entry_numbers
from ..errors import QueryError, TreemillError, UnsupportedError, quoted
from ..language.expression import constant, mentions, parse, words
from ..language.function_registry import TREE_WEIGHT
from ..language.tokens import ALIAS
from ..query.planning import Specification, SpecifiedRelations
from ..query.steps import Define

if TYPE_CHECKING:
    from treemill._core import Column

    from ..data.chain import Chain
    from ..data.column_source import BranchDescription
    from ..data.file_tree import FileTree

__all__ = ["KEPT", "RELATED", "PerFile", "compiled", "is_meant", "needed"]

# Decides which names of TTree::SetAlias a query needs, and which paths of branches such as
# `evt/P3/P3.Px`, and gives their definitions in order. Pure. As in ROOT, a branch wins over an
# alias of the same name, aliases may use each other, and none may use itself. An alias that the
# query does not mention is not parsed.


def needed(
    aliases: Mapping[str, str], branches: Container[str], known: Iterable[str]
) -> list[Define]:
    """Definitions of the aliases that expressions of these words use, each after those that it
    uses itself. Raises QueryError for an alias that uses itself, or that does not parse."""
    usable = {name: text for name, text in aliases.items() if name not in branches}
    definitions: dict[str, Define] = {}

    def make(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            circle = " → ".join([*path[path.index(name) :], name])
            raise QueryError(f"the alias {name} is used in its own definition: {circle}")
        if name in definitions:
            return
        try:
            expression = parse(usable[name], ALIAS)
        except QueryError as error:
            error.message = f"the alias {name}: {error.message}"
            raise
        inside = words(expression.tree)
        for other in usable:
            if mentions(inside, other):
                make(other, (*path, name))
        definitions[name] = Define(name, expression)

    all_words = set(known)
    for name in usable:
        if mentions(all_words, name):
            make(name, ())
    return list(definitions.values())


def tree_weight(weight: float, known: Collection[str]) -> list[Define]:
    """The definition of the tree's weight, if it is among these words."""
    return [Define(TREE_WEIGHT, constant(weight))] if TREE_WEIGHT in known else []


def paths(branches: Mapping[str, BranchDescription], known: Iterable[str]) -> list[Define]:
    """Definitions of the paths among these words, by the names of their branches. A branch that
    shares its name with another one has none: the name means the other one."""
    definitions = []
    for word in sorted(known):
        branch = branches.get(word) if "/" in word else None
        if branch is None or branch["name"] == word or branches[branch["name"]] is not branch:
            continue
        definitions.append(Define(word, parse(quoted(branch["name"]))))
    return definitions


# Specifications in the core's form. The last ones are kept: the same bookings are asked of one
# dataset after another, and to write and to parse a specification takes as long as to plan it.
# Knows no file, no chain and no worker.

KEPT = 64
"""Specifications that are kept, at most."""

_kept: OrderedDict[bytes, _core.Query] = OrderedDict()
_lock = threading.Lock()


def compiled(specification: Specification) -> _core.Query:
    """The specification in the core's form. One that calls functions of the user is made each time,
    because it holds these functions."""
    if specification.provided:
        functions = {
            key: cast(_core.Functions, each.core()) for key, each in specification.provided.items()
        }
        return _core.Query(specification.text, functions)
    form = _form(specification)
    with _lock:
        if form in _kept:
            _kept.move_to_end(form)
            return _kept[form]
    query = _core.Query(specification.text)
    with _lock:
        _kept[form] = query
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
    return query


def _form(specification: Specification) -> bytes:
    """Returns what tells specifications apart. The second version of `marshal` writes equal values
    alike, and is some times faster than JSON."""
    parts = specification.steps, specification.bookings, specification.relations
    try:
        return marshal.dumps(parts, 2)  # type: ignore[arg-type]  # dictionaries with known keys
    except ValueError:  # not of Python's plain types
        return specification.text.encode()


# How a file's references are known where its columns' names do not say enough: by the schema that
# the user has given, by the classes of podio's links, and by the tables that podio writes beside
# the events: collections' IDs before its version 0.17, collections' classes since.

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


# Decides which columns of a query the core does not find in a file, or cannot read: those get the
# defaults of missing branches, or are read by uproot. file_tree.py reads them.


class Supplied:
    """Gives the core some columns of a file's tree. Implements foreign.Foreign."""

    def __init__(self, tree: FileTree, names: list[str]) -> None:
        self._tree = tree
        self._names = names

    def schema(self) -> Sequence[Field]:
        """The columns' kinds, whether values may be missing, and which columns count items."""
        return [self._field(name) for name in self._names]

    def _field(self, name: str) -> Field:
        empty = self.read(name, 0, 0)
        own = self._tree.by_name.get(name)
        if own is not None:
            return Field(name, empty, nullable=True, counter=own["counter"])
        is_none = self._tree.missing[name] is None
        return Field(name, empty, is_none, self._tree.counter_of_default(name))

    def read(self, name: str, start: int, stop: int) -> Column:
        """The values of the entries `[start, stop)`."""
        (column,) = self._tree.read([name], start, stop)
        return column


class Rescue:
    """Reads branches for the core that it cannot read, if it notices that only while it reads."""

    def __init__(self, tree: FileTree) -> None:
        self._tree = tree

    def read(self, path: str, start: int, stop: int) -> Column:
        """The branch's entries `[start, stop)`, by uproot. Raises UnsupportedError if uproot cannot
        read it either."""
        return self._tree.read_instead(self._tree.by_name[path], start, stop)


_NUMBER = re.compile("[0-9]+$")


def is_meant(name: str, words: Set[str]) -> bool:
    """True if expressions of these words may mean the column, also as the indices of a
    reference."""
    return mentions(words, name) or _is_index(name, words)


def _is_index(name: str, words: Set[str]) -> bool:
    """True if a reference that one of the words names has its indices in the column: `Muon.jet` has
    them in `Muon_jetIdx`."""
    first = _NUMBER.sub("1", name)  # Jet_muonIdx2 is one of several, which begin with 1
    return bool(_core.referred([first], [*words]))


def supplied(tree: FileTree, words: Set[str]) -> Supplied | None:
    """The columns that expressions of these words may mean and that the core does not find in the
    tree; None if there are none. May look into other files for the types of defaults."""
    missing = tree.missing
    names = [name for name in tree.lacking() if is_meant(name, words)]
    # A glob may mean a branch that the first file lacks.
    names += [
        word
        for word in sorted(words)
        if word not in names
        and word not in tree.by_name
        and missing.has(word)
        and tree.sample(word) is not None
    ]
    names += [
        name
        for name, branch in tree.by_name.items()
        if not branch["supported"] and mentions(words, name) and tree.how(branch) == "uproot"
    ]
    return Supplied(tree, list(dict.fromkeys(names))) if names else None


RELATED = frozenset(
    {
        *("parents", "daughters", "clusters", "tracks", "particles", "particleIDs"),
        *("startVertex", "particleIDUsed", "hits", "trackerHits", "associatedParticle"),
        *("rec", "sim", "from", "to"),
    }
)
"""The relations of podio's files that columns' names do not say enough of."""


def _explain(error: Exception, chain: Chain, file: int) -> None:
    """Adds to the message what other files have of a column that this file lacks."""
    if not isinstance(error, QueryError):
        return
    if error.column is not None:
        error.message += chain.hint(error.column, file)
    if chain.schema is not None:
        error.message += f"; the dataset's schema is {chain.schema.name}"


class _Variant:
    """A specification for files that have the same aliases."""

    def __init__(self, specification: Specification, by_aliases: Set[str] = frozenset()) -> None:
        """`by_aliases`: the words of the aliases that it uses."""
        self.specification = specification
        self.by_aliases = by_aliases
        self.core = compiled(specification)


class PerFile:
    """Binds a specification to one file after another. Thread-safe."""

    def __init__(self, specification: Specification) -> None:
        self._plain = _Variant(specification)
        self._variants: dict[str, _Variant] = {}
        self._lock = threading.Lock()

    @property
    def core(self) -> _core.Query:
        """The specification as it is, for files of which nothing is to be told."""
        return self._plain.core

    @property
    def words(self) -> Set[str]:
        """The words of its expressions."""
        return self._plain.specification.words

    def bind(self, chain: Chain, file: int, more: Foreign | None = None) -> _core.Bound:
        """Binds the query to a file of a chain, with the columns of `more` in addition to the
        chain's own. Raises QueryError or UnsupportedError for what is wrong with the query
        there."""
        tree = chain.trees[file]
        foreign = chain.foreign(file)
        if more is not None:
            foreign = joined([more, foreign])
        related = None
        if chain.schema is not None or not self._plain.specification.words.isdisjoint(RELATED):
            related = relations(chain, file)
        query = self._for(tree, related)
        words = query.specification.words
        mine = query.by_aliases
        if mine and not mine.isdisjoint(IN_THE_CHAIN | chain.constant_names):
            chain.trees.borrowing.add(file)
        if chain.constants.are_there:
            foreign = with_constants(foreign, words, tree.by_name, chain.constants, file)
        if not words.isdisjoint(NUMBERING):
            foreign = with_entry_numbers(
                foreign,
                words,
                lambda name: chain.decider(file).has(name),
                partial(chain.first_number, file),
            )
        if not tree.missing.defaults:
            try:
                return query.core.bind(tree.core, foreign, Rescue(tree))
            except (QueryError, UnsupportedError) as error:
                others = supplied(tree, words)
                if others is None:
                    _explain(error, chain, file)
                    raise
        else:
            others = supplied(tree, words)
        try:
            return query.core.bind(tree.core, joined([foreign, others]), Rescue(tree))
        except (QueryError, UnsupportedError) as error:
            _explain(error, chain, file)
            raise

    def _for(self, tree: FileTree, related: SpecifiedRelations | None) -> _Variant:
        """The specification, with the aliases and the paths of this tree that it uses, and with
        what is to be told of its references."""
        plain, aliases = self._plain.specification, tree.aliases
        defines = paths(tree.by_name, plain.words) + tree_weight(tree.weight, plain.words)
        of_aliases = needed(aliases, tree.by_name, plain.words) if aliases else []
        defines += of_aliases
        if not defines and related is None:
            return self._plain
        # Most datasets have the same aliases in all files.
        key = json.dumps([[define.to_json() for define in defines], related])
        with self._lock:
            if key not in self._variants:
                specification = plain.after(defines)
                specification = (
                    specification if related is None else specification.relating(related)
                )
                by_aliases = frozenset[str]().union(*[each.expr.words for each in of_aliases])
                self._variants[key] = _Variant(specification, by_aliases)
            return self._variants[key]
