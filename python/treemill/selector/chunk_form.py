"""What a chunk of a tree looks like to awkward before anything of it is read: forms of columns, and
of NanoAOD's collections made from them.

Knows what a tree says of its branches, kinds of columns and awkward; reads no entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import awkward as ak

from ..arrays.columns import column_of, empty, kind_of
from ..arrays.from_core import layout_of_node
from ..arrays.kinds import Kind, number
from ..errors import TreemillError
from ..tree.branch_group import counts_items

__all__ = ["Layout", "form_key", "layout_of"]


@dataclass(frozen=True)
class _Column:
    """All of a branch that its form depends on."""

    name: str
    kind: Kind
    counter: str | None


@dataclass(frozen=True, eq=False)
class Layout:
    """A tree's form, and which of its buffers are made from which column."""

    form: Any
    keys: dict[str, list[str]]
    """Of each column's buffers."""
    offsets: dict[str, str]
    """By the key of a collection's offsets: the column that counts its items."""
    counters: dict[str, str]
    """By column of a collection: the column that counts its items."""
    records: Mapping[str, tuple[str, ...]]
    """The columns of fields that are records of columns: of split collections."""
    optional: frozenset[str]
    """Columns whose values may be missing."""
    unreadable: Mapping[str, TreemillError]
    """Columns that cannot be read, as it turns out, and why: that is raised where one is touched.
    What their forms say is made up."""


def layout_of(tree: Any, collections: bool) -> Layout:
    """Of a file's tree or foreign.Table. `collections`: Muon_pt and Muon_eta, counted by nMuon, as
    Muon.pt and Muon.eta; MET_pt and MET_phi as MET.pt and MET.phi."""
    branches = [b for b in tree.branches() if b["supported"] and b["kind"] != "group"]
    kinds, unreadable = _kinds_of(tree, branches)
    columns = (
        _Column(b["name"], kind.given(b["kind"] == "optional"), b["counter"])
        for b, kind in zip(branches, kinds, strict=True)
    )
    made = _layout(tuple(columns), tuple(_records(branches)), collections)
    return replace(made, unreadable=unreadable) if unreadable else made


def _kinds_of(
    tree: Any, branches: Sequence[Mapping[str, Any]]
) -> tuple[list[Kind], dict[str, TreemillError]]:
    """Of what kind each branch is; of those that cannot be read any numbers, and why they
    cannot."""
    try:
        read = tree.read([b["name"] for b in branches], 0, 0)
        return [kind_of(column_of(each)) for each in read], {}
    except TreemillError:
        pass  # which one it is, they tell one by one
    found, unreadable = [], {}
    for branch in branches:
        try:
            (read,) = tree.read([branch["name"]], 0, 0)
            found.append(kind_of(column_of(read)))
        except TreemillError as error:
            numbers = number("float64")
            unreadable[branch["name"]] = error
            found.append(Kind("list", parts=(numbers,)) if branch["counter"] else numbers)
    return found, unreadable


def _records(branches: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Branches that only count the items of a split collection, and its members, of which they are
    the record, as in arrays."""
    members: dict[str, list[str]] = {}
    for branch in branches:
        counter = branch["counter"]
        if counter is not None and branch["name"].startswith(f"{counter}."):
            members.setdefault(counter, []).append(branch["name"])
    for branch in branches:
        name = branch["name"]
        if name in members and counts_items(branch["kind"], branch["cpp_type"]):
            yield name, tuple(dict.fromkeys(members[name]))


def form_key(column: str) -> str:
    """A column is a tree of nodes: awkward numbers them."""
    return column.replace("{", "{{").replace("}", "}}") + "#{id}"


# The files of a dataset are alike, most of them, and so are the columns of a tree.
@lru_cache(maxsize=8)
def _layout(
    columns: tuple[_Column, ...],
    records: tuple[tuple[str, tuple[str, ...]], ...],
    collections: bool,
) -> Layout:
    forms, keys = {}, {}
    for column in columns:
        forms[column.name], keys[column.name] = _form(column)
    for name, members in records:
        contents = [forms[member] for member in members]
        forms[name] = ak.forms.RecordForm(contents, list(members), form_key=f"{name}#record")
    fields: dict[str, Any] = forms
    offsets: dict[str, str] = {}
    counters: dict[str, str] = {}
    if collections:
        fields, offsets, counters = _zipped({c.name: c for c in columns}, forms)
    form = ak.forms.RecordForm(
        list(fields.values()),
        list(fields),
        parameters={"__record__": "Events"},
        form_key="events",
    )
    optional = frozenset(column.name for column in columns if column.kind.optional)
    return Layout(form, keys, offsets, counters, dict(records), optional, {})


def _form(column: _Column) -> tuple[Any, list[str]]:
    kind, name = column.kind, column.name
    if not kind.optional:
        if _is_number(kind):
            return _numbers(kind, f"{name}#0"), [f"{name}#0-data"]
        if kind.form == "list" and _is_number(kind.item):
            inner = _numbers(kind.item, f"{name}#1")
            form = ak.forms.ListOffsetForm("i64", inner, form_key=f"{name}#0")
            return form, [f"{name}#0-offsets", f"{name}#1-data"]
    # Awkward's own way takes any kind, and twenty times as long: there may be thousands.
    none = ak.Array(layout_of_node(empty(kind)))
    form, _, buffers = ak.to_buffers(none, form_key=form_key(name))
    return form, list(buffers)


def _is_number(kind: Kind) -> bool:
    return kind.form == "number" and not kind.optional


def _numbers(kind: Kind, key: str) -> Any:
    return ak.forms.NumpyForm(kind.dtype, form_key=key)


def _zipped(
    columns: dict[str, _Column], forms: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, str], dict[str, str]]:
    """The forms of fields; see Layout for the others."""
    groups: dict[str, dict[str, Any]] = {}
    counted: dict[str, str | None] = {}
    fields: dict[str, Any] = {}
    for name, form in forms.items():
        group, _, field = name.partition("_")
        counter = columns[name].counter
        if columns[name].kind.optional and counter is not None:
            fields[name] = form  # a list that may be missing has no offsets of its counter's
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
        elif group in fields:  # the name is taken, as by Flag beside Flag_good
            fields |= {f"{group}_{field}": form for field, form in parts.items()}
        else:
            fields[group] = ak.forms.RecordForm(
                list(parts.values()), list(parts), form_key=f"{group}#record"
            )
    return fields, offsets, counters


def _collection(group: str, parts: dict[str, Any]) -> Any:
    items = ak.forms.RecordForm(
        [form.content for form in parts.values()],
        list(parts),
        parameters={"__record__": group},
        form_key=f"{group}#items",
    )
    return ak.forms.ListOffsetForm("i64", items, form_key=f"{group}#list")
