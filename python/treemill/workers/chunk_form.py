"""The awkward form of a chunk, before any entry of it is read: forms of columns, and of NanoAOD's
collections of columns.

Knows a tree's branches, kinds of columns and awkward; reads no entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import awkward as ak
from awkward.forms import Form, RecordForm

from ..data.branch import BranchGroup, counts_items, group_of, name_in
from ..data.columns import column_of, empty, kind_of
from ..data.from_core import layout_of_node
from ..data.kinds import Kind, number
from ..errors import TreemillError

if TYPE_CHECKING:
    from .._core import Column
    from ..data.column_source import ColumnSource

__all__ = ["Layout", "form_key", "layout_of"]


@dataclass(frozen=True)
class _Branch:
    """A branch that can be read, as its tree describes it."""

    name: str
    path: str
    parent: str | None
    kind: str
    counter: str | None
    cpp_type: str

    @property
    def own_name(self) -> str:
        """Its name in its parent."""
        return name_in(self.parent, self.path)


@dataclass(frozen=True)
class _Column:
    """The part of a branch that its form depends on."""

    name: str
    kind: Kind
    counter: str | None


@dataclass(frozen=True, eq=False)
class Layout:
    """A tree's form, and the columns from which its buffers are made."""

    form: RecordForm
    keys: dict[str, list[str]]
    """The keys of each column's buffers."""
    offsets: dict[str, str]
    """The column that counts a collection's items, by the key of the collection's offsets."""
    counters: dict[str, str]
    """The column that counts a collection's items, by each of the collection's columns."""
    records: Mapping[str, tuple[str, ...]]
    """The columns of each field that is a record of columns: of a split collection."""
    groups: frozenset[str]
    """Fields that are records of columns, and no columns: of split objects."""
    optional: frozenset[str]
    """Columns whose values may be missing."""
    unreadable: Mapping[str, TreemillError]
    """Columns that the tree cannot read, each with the error that touching it raises. Their forms
    are placeholders."""


def layout_of(tree: ColumnSource, collections: bool) -> Layout:
    """The layout of a tree. `collections`: columns are grouped by their names, so that Muon_pt and
    Muon_eta, counted by nMuon, become Muon.pt and Muon.eta, and MET_pt becomes MET.pt."""
    known = [
        _Branch(b["name"], b["path"], b["parent"], b["kind"], b["counter"], b["cpp_type"])
        for b in tree.branches()
        if b["supported"] or b["kind"] == "group"
    ]
    branches = [branch for branch in known if branch.kind != "group"]
    kinds, unreadable = _kinds_of(tree, branches)
    columns = (
        _Column(b.name, kind.given(b.kind == "optional"), b.counter)
        for b, kind in zip(branches, kinds, strict=True)
    )
    groups = tuple(_groups(known)) if len(known) > len(branches) else ()
    layout = _layout(tuple(columns), tuple(_records(branches)), groups, collections)
    return replace(layout, unreadable=unreadable) if unreadable else layout


def _kinds_of(
    tree: ColumnSource, branches: Sequence[_Branch]
) -> tuple[list[Kind], dict[str, TreemillError]]:
    """The kind of each branch. A branch that cannot be read gets a placeholder, and its error is in
    the dict."""
    columns: Sequence[Column]
    try:
        columns = tree.read([b.name for b in branches], 0, 0)
        return [kind_of(column_of(each)) for each in columns], {}
    except TreemillError:
        pass  # read one by one, to find which of them cannot be read
    kinds: list[Kind] = []
    unreadable: dict[str, TreemillError] = {}
    for branch in branches:
        try:
            (column,) = tree.read([branch.name], 0, 0)
            kinds.append(kind_of(column_of(column)))
        except TreemillError as error:
            numbers = number("float64")
            unreadable[branch.name] = error
            kinds.append(Kind("list", parts=(numbers,)) if branch.counter else numbers)
    return kinds, unreadable


_Members = tuple[tuple[str, str], ...]
"""Columns and what they are called in a record."""


def _records(branches: Sequence[_Branch]) -> Iterator[tuple[str, _Members]]:
    """Branches that only count the items of a split collection, each with the collection's members.
    Such a branch reads as the record of its members, as in arrays."""
    members: dict[str, dict[str, str]] = {}
    for branch in branches:
        if branch.counter is not None and branch.parent is not None:
            members.setdefault(branch.parent, {})[branch.name] = branch.own_name
    for branch in branches:
        if branch.path in members and counts_items(branch.kind, branch.cpp_type):
            yield branch.name, tuple(members[branch.path].items())


_Group = tuple[tuple[str, "str | _Group"], ...]
"""Fields of the record of a split object, which are columns or records in it."""


def _groups(branches: Sequence[_Branch]) -> Iterator[tuple[str, _Group]]:
    """Branches that only hold others together, each with these, as in arrays."""
    children: dict[str, list[_Branch]] = {}
    for branch in branches:
        if branch.parent is not None:
            children.setdefault(branch.parent, []).append(branch)
    for branch in branches:
        is_top = branch.kind == "group" and branch.parent is None
        if is_top and (fields := _fields(group_of(branch, children))):
            yield branch.name, fields


def _fields(group: BranchGroup[_Branch]) -> _Group:
    return tuple(
        (member.branch.own_name, _fields(member))
        if isinstance(member, BranchGroup)
        else (member.own_name, member.name)
        for member in group.members
    )


def form_key(column: str) -> str:
    """The template of the keys of a column's form: awkward numbers the form's nodes."""
    return column.replace("{", "{{").replace("}", "}}") + "#{id}"


# Most files of a dataset have equal columns.
@lru_cache(maxsize=8)
def _layout(
    columns: tuple[_Column, ...],
    records: tuple[tuple[str, _Members], ...],
    groups: tuple[tuple[str, _Group], ...],
    collections: bool,
) -> Layout:
    forms: dict[str, Form] = {}
    keys: dict[str, list[str]] = {}
    for column in columns:
        forms[column.name], keys[column.name] = _form(column)
    for name, members in records:
        contents = [forms[column] for column, _ in members]
        called = [field for _, field in members]
        forms[name] = ak.forms.RecordForm(contents, called, form_key=f"{name}#record")
    fields = forms
    offsets: dict[str, str] = {}
    counters: dict[str, str] = {}
    if collections:
        fields, offsets, counters = _zipped({c.name: c for c in columns}, forms)
    made = {name: _record(name, group, forms) for name, group in groups if name not in fields}
    form = ak.forms.RecordForm(
        [*fields.values(), *made.values()],
        [*fields, *made],
        parameters={"__record__": "Events"},
        form_key="events",
    )
    optional = frozenset(column.name for column in columns if column.kind.optional)
    of_records = {name: tuple(column for column, _ in members) for name, members in records}
    return Layout(form, keys, offsets, counters, of_records, frozenset(made), optional, {})


def _record(name: str, group: _Group, forms: Mapping[str, Form]) -> Form:
    contents = [
        forms[field] if isinstance(field, str) else _record(f"{name}/{own}", field, forms)
        for own, field in group
    ]
    return _vectors(
        ak.forms.RecordForm(contents, [own for own, _ in group], form_key=f"{name}#record")
    )


_COORDINATES = {
    ("fPt", "fEta", "fPhi", "fM"): ("pt", "eta", "phi", "mass"),
    ("fPt", "fEta", "fPhi", "fE"): ("pt", "eta", "phi", "energy"),
    ("fX", "fY", "fZ", "fT"): ("px", "py", "pz", "energy"),
    ("fX", "fY", "fZ", "fM"): ("px", "py", "pz", "mass"),
}
"""vector's names of coordinates, by their names in ROOT::Math's Lorentz vectors."""


def _vectors(form: Form) -> Form:
    """The form with the records of ROOT's Lorentz vectors as four-vectors of the package vector:
    they have the coordinates under its names, too."""
    if isinstance(form, ak.forms.ListOffsetForm):
        return form.copy(content=_vectors(form.content))
    if not isinstance(form, ak.forms.RecordForm):
        return form
    parts = _parts(form)
    if {"fP", "fE"} <= parts.keys():  # TLorentzVector
        parts = _parts(parts["fP"]) | {"fT": parts["fE"]}
    else:
        parts = _parts(parts.get("fCoordinates"))
    for stored, called in _COORDINATES.items():
        if all(isinstance(parts.get(part), ak.forms.NumpyForm) for part in stored):
            _register_vector()
            return form.copy(
                contents=[*form.contents, *(parts[part] for part in stored)],
                fields=[*form.fields, *called],
                parameters={"__record__": "Momentum4D"},
            )
    return form


def _parts(form: Form | None) -> dict[str, Form]:
    """The fields of a record by their own names: those of split objects begin with others'."""
    if not isinstance(form, ak.forms.RecordForm):
        return {}
    return {
        name.rpartition(".")[2]: each for name, each in zip(form.fields, form.contents, strict=True)
    }


def _register_vector() -> None:
    """Gives records that are four-vectors the methods of the package vector, if it is there. The
    methods belong to the process, because those of single arrays cannot be pickled with them."""
    with suppress(ImportError):
        import vector

        vector.register_awkward()


def _form(column: _Column) -> tuple[Form, list[str]]:
    kind, name = column.kind, column.name
    if not kind.optional:
        if _is_number(kind):
            return _numbers(kind, f"{name}#0"), [f"{name}#0-data"]
        if kind.form == "list" and _is_number(kind.item):
            inner = _numbers(kind.item, f"{name}#1")
            form = ak.forms.ListOffsetForm("i64", inner, form_key=f"{name}#0")
            return form, [f"{name}#0-offsets", f"{name}#1-data"]
    # awkward makes forms of all kinds, but takes twenty times as long, for thousands of columns.
    none = ak.Array(layout_of_node(empty(kind)))
    form, _, buffers = ak.to_buffers(none, form_key=form_key(name))
    return _vectors(form), list(buffers)


def _is_number(kind: Kind) -> bool:
    return kind.form == "number" and not kind.optional


def _numbers(kind: Kind, key: str) -> Form:
    return ak.forms.NumpyForm(kind.dtype, form_key=key)


def _zipped(
    columns: dict[str, _Column], forms: dict[str, Form]
) -> tuple[dict[str, Form], dict[str, str], dict[str, str]]:
    """Groups columns into collections. Gives the forms of the fields, and `offsets` and `counters`
    of the Layout."""
    groups: dict[str, dict[str, Form]] = {}
    counted: dict[str, str | None] = {}
    fields: dict[str, Form] = {}
    for name, form in forms.items():
        group, _, field = name.partition("_")
        counter = columns[name].counter
        if columns[name].kind.optional and counter is not None:
            fields[name] = form  # a list that may be missing has offsets of its own
        elif not field or counted.setdefault(group, counter) != counter:
            fields[name] = form
        else:
            groups.setdefault(group, {})[field] = form
    offsets: dict[str, str] = {}
    counters: dict[str, str] = {}
    for group, parts in groups.items():
        counter = counted[group]
        if counter is not None and counter in columns:
            fields[group] = _collection(group, parts)
            offsets[f"{group}#list-offsets"] = counter
            counters |= {f"{group}_{field}": counter for field in parts}
        elif group in fields:  # a column has the name, such as Flag if there is Flag_good
            fields |= {f"{group}_{field}": form for field, form in parts.items()}
        else:
            fields[group] = ak.forms.RecordForm(
                list(parts.values()), list(parts), form_key=f"{group}#record"
            )
    return fields, offsets, counters


def _collection(group: str, parts: dict[str, Form]) -> Form:
    items = ak.forms.RecordForm(
        [form.content for form in parts.values()],
        list(parts),
        parameters={"__record__": group},
        form_key=f"{group}#items",
    )
    return ak.forms.ListOffsetForm("i64", items, form_key=f"{group}#list")
