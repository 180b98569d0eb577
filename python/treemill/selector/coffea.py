"""Chunks of events as coffea's schemas make them, for coffea's own processors: NanoAOD's
collections with their names, their four-vectors and the references from one to another.

coffea says which field is made from which columns, and how; treemill reads the columns. It imports
coffea, and is imported only where a processor has come from it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import awkward as ak
from coffea.nanoevents import BaseSchema, NanoAODSchema, NanoEventsFactory
from coffea.nanoevents.mapping.base import BaseSourceMapping
from coffea.nanoevents.methods.base import NanoEventsArray
from coffea.nanoevents.util import quote, tuple_to_key

from ..errors import QueryError
from .chunk import ChunkReader, Cut
from .chunk_form import Layout
from .coffea_files import OwnReader, Schema, handle, uuid_of

__all__ = ["CoffeaReader", "coffea_reader"]

_OFFSETS = quote(",!offsets")
"""What coffea puts behind the key of a list for its offsets."""
_UNNAMED = re.compile(r"_collection\d+(\.|$)")
"""Collections of RNTuples that ROOT has made of trees: all of their members have names as well."""


class _Nano(NanoAODSchema):  # type: ignore[misc]
    """NanoAOD's, of any tree that has its collections: skims lack this and that, and coffea would
    refuse those without event numbers."""

    event_ids = ()
    warn_missing_crossrefs = False


def coffea_reader(tree: Any, touched: set[str], schema: Any = None) -> Any:
    """What makes the chunks of a tree: with NanoAOD's schemas and BaseSchema of columns that
    treemill reads, with others as coffea itself does. `schema`: instead of NanoAODSchema."""
    if schema is None or schema is NanoAODSchema:
        return CoffeaReader(tree, touched, _Nano)
    is_class = isinstance(schema, type)
    if not callable(schema) or (is_class and not issubclass(schema, BaseSchema)):
        raise QueryError(
            f"schema is one of coffea's schemas, a class derived from BaseSchema, not {schema!r}"
        )
    if schema is BaseSchema or (is_class and issubclass(schema, NanoAODSchema)):
        return CoffeaReader(tree, touched, schema)
    return OwnReader(tree, schema)


class CoffeaReader(ChunkReader):
    """Makes the chunks of one tree."""

    def __init__(self, tree: Any, touched: set[str], schema: Any) -> None:
        """`tree`, `touched` as for ChunkReader; `schema`: see coffea_reader."""
        super().__init__(tree, touched)
        self._schema = _schemed(self.layout, schema)
        self._handle: Any = None

    def _file(self, path: str) -> Any:
        if self._handle is None:
            self._handle = handle(path)
        return self._handle

    def made(self, cut: Cut, metadata: dict[str, Any]) -> Any:
        """The chunk of a cut."""
        cut.prefetch()
        path = metadata["filename"]
        metadata = {**metadata, "fileuuid": uuid_of(path)}
        place = tuple_to_key((path, metadata["treename"], f"0-{len(cut)}"))
        columns = _Columns(cut, place, self._schema.own, lambda: self._file(path))
        return NanoEventsFactory(self._schema.of(metadata), columns, place, mode="virtual").events()


class _Schema(Schema):
    """A schema of columns that treemill reads."""

    def __init__(self, form: Any, behavior: Mapping[Any, Any], own: dict[str, tuple[str, str]]):
        super().__init__(form, behavior)
        self.own = own
        """Columns and keys of a Cut's buffers by keys of coffea's, for columns that it does not
        take apart."""


class _Columns(BaseSourceMapping):  # type: ignore[misc]
    """A chunk's buffers, by coffea's keys, which say how each is made from columns."""

    def __init__(
        self,
        cut: Cut,
        place: str,
        own: dict[str, tuple[str, str]],
        file: Callable[[], Any],
    ) -> None:
        super().__init__(None, 0, len(cut), virtual=True)
        self._cut = cut
        self._file = file
        self._place = place
        self._own = own

    @property
    def _file_handle(self) -> Any:
        return self._file()

    @_file_handle.setter
    def _file_handle(self, value: Any) -> None:
        pass  # coffea's base class has none

    def __getitem__(self, key: str) -> Callable[[], Any]:
        own = self._own.get(key[len(self._place) :])
        if own is not None:
            return self._cut.getter(*own)
        made: Callable[[], Any] = super().__getitem__(key)
        return made

    @classmethod
    def _extract_base_form(cls, source: Any) -> Any:
        raise NotImplementedError  # _schemed makes it

    def key_root(self) -> str:
        """See coffea."""
        return "treemill:"

    def _column_source(self, uuid: str, path_in_source: str) -> Cut:
        return self._cut

    def get_column_handle(self, columnsource: Cut, name: str, allow_missing: bool) -> str:
        """See coffea."""
        return name

    def extract_column(
        self, columnhandle: str, start: int, stop: int, allow_missing: bool, **_: Any
    ) -> Any:
        """A column of the chunk."""
        return ak.Array(self._cut.column(columnhandle))

    def __deepcopy__(self, memo: Any) -> _Columns:
        return self  # arrays in outputs remember where they are from; what was read stays as it is

    def __len__(self) -> int:
        return len(self._cut)

    def __iter__(self) -> Iterator[str]:
        raise NotImplementedError


# The files of a dataset are alike, most of them.
@lru_cache(maxsize=8)
def _schemed(layout: Layout, schema: Any) -> _Schema:
    loaded: dict[str, Any] = {}
    others: dict[str, Any] = {}
    own: dict[str, tuple[str, str]] = {}
    given = dict(zip(layout.form.fields, layout.form.contents, strict=True))
    for name, content in given.items():
        if _UNNAMED.match(name) or _is_member(given, name):
            continue
        form = None if "," in name or "!" in name else _loaded(content, f"{name},!load")
        if form is not None:
            loaded[name] = form
            continue
        others[name] = content
        for column in layout.records.get(name, (name,)):
            for key in layout.keys[column]:
                node, _, attribute = key.rpartition("-")
                place = f"/{attribute}/{node}" + (_OFFSETS if attribute == "offsets" else "")
                own[place] = column, key
    made = schema(
        {
            "class": "RecordArray",
            "fields": list(loaded),
            "contents": list(loaded.values()),
            "parameters": {"__doc__": "", "metadata": {}},
            "form_key": "",
        }
    )
    form = ak.forms.from_dict(made.form)
    others = {name: content for name, content in others.items() if name not in form.fields}
    fields, contents = [*form.fields, *others], [*form.contents, *others.values()]
    form = ak.forms.RecordForm(contents, fields, parameters=form.parameters, form_key="")
    return _Schema(form, _with_columns(made.behavior()), own)


def _is_member(forms: Mapping[str, Any], name: str) -> bool:
    """Whether a column of records holds it, as in RNTuples: coffea sees the records only."""
    record, _, member = name.rpartition(".")
    return record in forms and member in forms[record].fields


def _loaded(form: Any, program: str) -> dict[str, Any] | None:
    """A column's form for coffea, whose keys are programs; None for what it does not take apart."""
    key = {"form_key": quote(program), "parameters": dict(form.parameters)}
    if isinstance(form, ak.forms.NumpyForm):
        return {"class": "NumpyArray", "primitive": form.primitive, "inner_shape": [], **key}
    option = isinstance(form, ak.forms.IndexedOptionForm)
    if not option and not isinstance(form, (ak.forms.ListOffsetForm, ak.forms.RegularForm)):
        return None
    content = _loaded(form.content, f"{program},!content")
    if content is None:
        return None
    if option:
        key["form_key"] = quote(f"{program},!index")
        return {"class": "IndexedOptionArray", "index": "i64", "content": content, **key}
    if isinstance(form, ak.forms.RegularForm):
        return {"class": "RegularArray", "size": form.size, "content": content, **key}
    return {"class": "ListOffsetArray", "offsets": "i64", "content": content, **key}


class _Events(NanoEventsArray):  # type: ignore[misc]
    """coffea's, where columns can be named as the tree names them, too, as with BaseSchema:
    `events.Muon_pt` is `events.Muon.pt`, and `events.nMuon` how many there are."""

    def __getitem__(self, where: Any) -> Any:
        if isinstance(where, str) and where not in self.fields:
            group, _, member = where.partition("_")
            if member and group in self.fields and member in ak.fields(self[group]):
                return self[group][member]
            if not member and where[:1] == "n" and where[1:] in self.fields:
                return ak.num(self[where[1:]], axis=1)
        return super().__getitem__(where)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name.startswith("__") or ("_" not in name and name[:1] != "n"):
                raise
            try:
                return self[name]
            except Exception:
                pass
            raise


_Events.__name__ = NanoEventsArray.__name__  # as it is shown


def _with_columns(behavior: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """A schema's behaviors with events of this class, unless they have one of their own."""
    if behavior["*", "NanoEvents"] is not NanoEventsArray:
        return behavior
    return {**behavior, ("*", "NanoEvents"): _Events}
