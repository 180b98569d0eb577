"""Chunks of events as coffea's schemas make them, for coffea's own processors: NanoAOD's
collections with their four-vectors and their references to one another.

coffea decides which field is made from which columns, and how; treemill reads the columns. This
module imports coffea, and is imported only for a processor of coffea's.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

import awkward as ak
import coffea.nanoevents
from coffea.nanoevents import BaseSchema, NanoAODSchema, NanoEventsFactory
from coffea.nanoevents.mapping.base import BaseSourceMapping, UUIDOpener
from coffea.nanoevents.methods.base import NanoEventsArray
from coffea.nanoevents.util import key_to_tuple, quote, tuple_to_key

from ..data.file_tree import FileTree
from ..data.foreign import ExtendedTree
from ..errors import QueryError, TreemillError, UnsupportedError
from .chunk import ChunkColumns, EventReader
from .chunk_form import Layout

if TYPE_CHECKING:
    from awkward.forms import Form, RecordForm

    from ..data.column_source import ColumnSource
    from .chunk import Buffer
    from .chunk_source import ChunkReader

__all__ = ["CoffeaReader", "coffea_reader"]

# Files that coffea reads by itself: chunks of schemas that use uproot's names of branches, the
# file as uproot opens it, and the file's UUID. Knows files by their paths only. Only this module
# and coffea.py import coffea.

if TYPE_CHECKING:
    from awkward.forms import RecordForm

    from .._core import Control
    from ..data.column_source import ColumnSource
    from .chunk_source import Places

    Behavior = Mapping[object, object]


class Schema:
    """What a schema of coffea's has made of a tree: a form, and the behaviors of its records."""

    def __init__(self, form: RecordForm, behavior: Behavior) -> None:
        self.form = form
        self._behavior = behavior

    def behavior(self) -> Behavior:
        """The behaviors; coffea calls this."""
        return self._behavior

    def of(self, metadata: Mapping[str, object]) -> Schema:
        """A copy with a chunk's metadata, which coffea keeps in the form."""
        form = self.form
        parameters = {**form.parameters, "metadata": metadata}
        record_form = ak.forms.RecordForm(
            form.contents, form.fields, parameters=parameters, form_key=""
        )
        return Schema(record_form, self._behavior)


class OwnReader:
    """Makes the chunks of one tree as coffea's runner does: coffea reads the file. Columns that are
    not in the tree are not seen. Implements `chunk_source.ChunkReader`."""

    def __init__(self, tree: ColumnSource, schema: Callable[..., object]) -> None:
        if not isinstance(tree, FileTree):
            raise UnsupportedError(
                f"with {_name(schema)} coffea reads the file by itself, without the columns of "
                "friends and arrays"
            )
        self._tree = tree
        self._schema = schema
        self._opened: tuple[NanoEventsFactory, Schema] | None = None

    def refuse(self, columns: Mapping[str, TreemillError]) -> None:
        """See ChunkReader. No column may be refused: coffea would show the file's."""
        for name in columns:
            raise UnsupportedError(
                f"with {_name(self._schema)} coffea reads the file by itself, and {name} as the "
                "file has it: give your definition a name of its own"
            )

    def chunk(
        self,
        start: int,
        stop: int,
        metadata: Mapping[str, object],
        control: Control | None = None,
        kept: Places | None = None,
        ahead: int = 0,
    ) -> ak.Array:
        """See ChunkReader. coffea reads a field when it is touched."""
        if self._opened is None:
            file = self._tree.in_uproot()
            whole = NanoEventsFactory.from_root(
                file,
                treepath=self._tree.path_in_file,
                schemaclass=self._schema,
                mode="virtual",
            )
            whole._mapping._fileopener = _Opened(file)
            form = ak.forms.from_dict(whole._schema.form)
            self._opened = whole, Schema(form, whole._schema.behavior())
        whole, schema = self._opened
        columns = copy.copy(whole._mapping)
        columns._start, columns._stop = start, stop
        of_file, tree, _ = key_to_tuple(whole._partition_key)
        key = tuple_to_key((of_file, tree, f"{start}-{stop}"))
        described = schema.of({**metadata, "fileuuid": of_file})
        events = NanoEventsFactory(described, columns, key, mode="virtual").events()
        return events if kept is None else events[kept]


class _Opened(UUIDOpener):  # type: ignore[misc]
    """Gives coffea the file that is open, whatever else it wants to read of it."""

    def __init__(self, file: object) -> None:
        self._file = file

    def open_uuid(self, uuid: str) -> object:
        return self._file


def file_tree(tree: ColumnSource) -> FileTree | None:
    """The tree of a file among its columns; None if they are not of a file."""
    while isinstance(tree, ExtendedTree):
        tree = tree.tree
    return tree if isinstance(tree, FileTree) else None


def partition_key(tree: FileTree | None, start: int, stop: int) -> str:
    """coffea's name of the entries `[start, stop)` of a file: its UUID, the tree's key and the
    entries. Processors name the files that they write after it."""
    file, path = ("", "") if tree is None else (tree.uuid or "", tree.key)
    key: str = tuple_to_key((file, path, f"{start}-{stop}"))
    return key


def _name(schema: Callable[..., object]) -> str:
    return getattr(schema, "__name__", type(schema).__name__)


SchemaMaker = Callable[[dict[str, object]], BaseSchema]
"""A schema of coffea's: a class, or a function that makes one from a form."""


_OFFSETS = quote(",!offsets")
"""What coffea appends to the key of a list for the list's offsets."""
_UNDESCRIBED = {"__doc__": "no docstring available"}
"""coffea before 2026.9 makes a collection's description from that of its counts, which must have
one. The words are coffea's own."""
_UNNAMED = re.compile(r"_collection\d+(\.|$)")
"""Collections of RNTuples that ROOT has made from trees: their members are fields as well."""


class _Nano(NanoAODSchema):  # type: ignore[misc]
    """NanoAOD's schema for any tree with collections like NanoAOD's. Skims may lack columns: coffea
    would refuse a tree without event numbers."""

    event_ids = ()
    warn_missing_crossrefs = False


def coffea_reader(
    tree: ColumnSource, touched: set[str], schema: str | Callable[..., object] | None = None
) -> ChunkReader:
    """Returns what makes the chunks of a tree. With BaseSchema and NanoAOD's schemas treemill reads
    the columns; with other schemas coffea reads the file. `schema`: a class, or its name in coffea;
    None is NanoAODSchema."""
    if isinstance(schema, str):
        schema = _by_name(schema, tree)
    if schema is None or schema is NanoAODSchema:
        return CoffeaReader(tree, touched, _Nano)
    kind = schema if isinstance(schema, type) else None
    if not callable(schema) or (kind is not None and not issubclass(kind, BaseSchema)):
        raise QueryError(
            f"schema is one of coffea's schemas, a class derived from BaseSchema, not {schema!r}"
        )
    if schema is BaseSchema or (kind is not None and issubclass(kind, NanoAODSchema)):
        return CoffeaReader(tree, touched, schema)
    return OwnReader(tree, schema)


def _by_name(name: str, tree: ColumnSource) -> Callable[..., object]:
    """One of coffea's schemas. FCC's depends on the file: relations had numbers once."""
    schema: Callable[..., object] = getattr(coffea.nanoevents, name)
    if name == "FCC":
        is_old = any("#" in branch["name"] for branch in tree.branches())
        schema = coffea.nanoevents.FCC.get_schema("pre-edm4hep1" if is_old else "latest")
    return schema


class CoffeaReader(EventReader):
    """Makes the chunks of one tree, as a schema of coffea's arranges the columns."""

    def __init__(self, tree: ColumnSource, touched: set[str], schema: SchemaMaker) -> None:
        """`touched`: see EventReader. `schema`: see coffea_reader."""
        super().__init__(tree, touched)
        self._schema = _schemed(self.layout, schema)
        self._of = file_tree(tree)
        self._handle: object = None

    def _file(self) -> object:
        if self._handle is None and self._of is not None:
            self._handle = self._of.in_uproot()
        return self._handle

    def made(self, cut: ChunkColumns, metadata: Mapping[str, object]) -> ak.Array:
        """See EventReader."""
        cut.prefetch()
        place = partition_key(self._of, *cut.span)
        metadata = {**metadata, "fileuuid": key_to_tuple(place)[0]}
        columns = _Columns(cut, place, self._schema.own, self._file)
        return _Factory(self._schema.of(metadata), columns, place, mode="virtual").events()


class _Factory(NanoEventsFactory):  # type: ignore[misc]
    """coffea's maker of events, of which some entries of its partition may be left out."""

    def __len__(self) -> int:
        return len(self._mapping)


class _Schema(Schema):
    """A schema whose columns treemill reads."""

    def __init__(
        self, form: RecordForm, behavior: Behavior, own: dict[str, tuple[str, str]]
    ) -> None:
        super().__init__(form, behavior)
        self.own = own
        """Columns that coffea does not take apart, by coffea's key: the column, and the key of
        its buffer in `ChunkColumns`."""


class _Columns(BaseSourceMapping):  # type: ignore[misc]
    """A chunk's buffers. coffea's keys say how each is made from columns."""

    def __init__(
        self,
        cut: ChunkColumns,
        place: str,
        own: dict[str, tuple[str, str]],
        file: Callable[[], object],
    ) -> None:
        super().__init__(None, 0, len(cut), virtual=True)
        self._cut = cut
        self._file = file
        self._place = place
        self._own = own

    @property
    def _file_handle(self) -> object:
        return self._file()

    @_file_handle.setter
    def _file_handle(self, value: object) -> None:
        pass  # coffea's base class sets it to None

    def __getitem__(self, key: str) -> Callable[[], Buffer]:
        own = self._own.get(key[len(self._place) :])
        if own is not None:
            return self._cut.getter(*own)
        buffer: Callable[[], Buffer] = super().__getitem__(key)
        return buffer

    @classmethod
    def _extract_base_form(cls, source: object) -> dict[str, object]:
        raise NotImplementedError  # _schemed makes it

    def key_root(self) -> str:
        """See coffea."""
        return "treemill:"

    def _column_source(self, uuid: str, path_in_source: str) -> ChunkColumns:
        return self._cut

    def get_column_handle(self, columnsource: ChunkColumns, name: str, allow_missing: bool) -> str:
        """See coffea."""
        return name

    def extract_column(
        self, columnhandle: str, start: int, stop: int, allow_missing: bool, **_: object
    ) -> ak.Array:
        """See coffea."""
        return ak.Array(self._cut.column(columnhandle))

    def __deepcopy__(self, memo: object) -> _Columns:
        return self  # arrays in outputs refer to this; what was read does not change

    def __len__(self) -> int:
        return len(self._cut)

    def __iter__(self) -> Iterator[str]:
        raise NotImplementedError


# Most files of a dataset have equal layouts.
@lru_cache(maxsize=8)
def _schemed(layout: Layout, schema: SchemaMaker) -> _Schema:
    loaded: dict[str, dict[str, object]] = {}
    others: dict[str, Form] = {}
    own: dict[str, tuple[str, str]] = {}
    columns = dict(zip(layout.form.fields, layout.form.contents, strict=True))
    for name, content in columns.items():
        if _UNNAMED.match(name) or name in layout.groups or _is_member(columns, name):
            continue
        form = None if "," in name or "!" in name else _loaded(content, f"{name},!load")
        if form is not None:
            if isinstance(content, ak.forms.NumpyForm):
                form["parameters"] = {**_UNDESCRIBED, **content.parameters}
            loaded[name] = form
            continue
        others[name] = content
        for column in layout.records.get(name, (name,)):
            for key in layout.keys[column]:
                node, _, attribute = key.rpartition("-")
                place = f"/{attribute}/{node}" + (_OFFSETS if attribute == "offsets" else "")
                own[place] = column, key
    schemed = schema(
        {
            "class": "RecordArray",
            "fields": list(loaded),
            "contents": list(loaded.values()),
            "parameters": {"__doc__": "", "metadata": {}},
            "form_key": "",
        }
    )
    form = ak.forms.from_dict(schemed.form)
    others = {name: content for name, content in others.items() if name not in form.fields}
    fields, contents = [*form.fields, *others], [*form.contents, *others.values()]
    form = ak.forms.RecordForm(contents, fields, parameters=form.parameters, form_key="")
    return _Schema(form, _with_columns(schemed.behavior()), own)


def _is_member(forms: Mapping[str, Form], name: str) -> bool:
    """True if a column of records has this column as a member, as in RNTuples. coffea sees only the
    records."""
    record, _, member = name.rpartition(".")
    return record in forms and member in forms[record].fields


def _loaded(form: Form, program: str) -> dict[str, object] | None:
    """A column's form for coffea, in which keys are programs; None if coffea does not take such a
    column apart."""
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
    """coffea's events, whose columns also have the tree's names, as with BaseSchema:
    `events.Muon_pt` is `events.Muon.pt`, and `events.nMuon` is the number of muons."""

    def __getitem__(self, where: object) -> ak.Array:
        if isinstance(where, str) and where not in self.fields:
            group, _, member = where.partition("_")
            if member and group in self.fields and member in ak.fields(self[group]):
                return self[group][member]
            if not member and where[:1] == "n" and where[1:] in self.fields:
                return ak.num(self[where[1:]], axis=1)
        return super().__getitem__(where)

    def __getattr__(self, name: str) -> ak.Array:
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


_Events.__name__ = NanoEventsArray.__name__  # users see coffea's name


def _with_columns(behavior: Behavior) -> Behavior:
    """A schema's behaviors, with events of the class above unless the schema has its own class."""
    if behavior["*", "NanoEvents"] is not NanoEventsArray:
        return behavior
    return {**behavior, ("*", "NanoEvents"): _Events}
