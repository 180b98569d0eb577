"""What stands for missing values in files that have none: a value for each type, or what the user
gives. Knows Arrow; knows no file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import QueryError, UnsupportedError
from .snapshot_format import Fill

__all__ = ["Filled", "may_miss"]


def may_miss(field: Any) -> bool:
    """Whether a column of this pyarrow.Field, or an item of its lists, may be missing."""
    import pyarrow.types as types

    if field.nullable:
        return True
    nested = types.is_large_list(field.type) or types.is_list(field.type)
    nested = nested or types.is_fixed_size_list(field.type)
    return nested and may_miss(field.type.value_field)


class Filled:
    """Columns with a value for each that is missing. `fill`: see `snapshot_format.Fill`;
    `always`: also without `fill`."""

    def __init__(self, schema: Any, fill: Fill, *, always: bool) -> None:
        """Raises QueryError or UnsupportedError where a column may have missing values and none can
        stand for them."""
        self._values = {
            each.name: _value(each.name, each.type, fill)
            for each in schema
            if may_miss(each) and (always or _given(each.name, fill) is not None)
        }
        self._always = always
        self._fill = fill
        import pyarrow

        fields = [_never(each) if always or each.name in self._values else each for each in schema]
        self.schema = pyarrow.schema(fields)
        """The columns as they are then."""
        if isinstance(fill, Mapping):
            unknown = next((name for name in fill if name not in schema.names), None)
            if unknown is not None:
                raise QueryError(
                    f"fill= names {unknown}, which is not written", suggestions=list(schema.names)
                )

    def table(self, table: Any) -> Any:
        """The same columns, filled."""
        import pyarrow

        columns = []
        for column, each in zip(table.columns, self.schema, strict=True):
            if self._always or each.name in self._values:
                if any(_has_missing(chunk) for chunk in column.chunks):
                    column = self._column(each.name, column)
                if column.type != each.type:
                    column = column.cast(each.type)
            columns.append(column)
        return pyarrow.table(columns, schema=self.schema)

    def _column(self, name: str, column: Any) -> Any:
        import pyarrow

        if name not in self._values:  # one of another file: the first one's has none missing
            self._values[name] = _value(name, column.type, self._fill)
        value = self._values[name]
        return pyarrow.chunked_array([_filled(chunk, value) for chunk in column.chunks])


def _never(field: Any) -> Any:
    """The pyarrow.Field of which nothing is missing."""
    import pyarrow
    import pyarrow.types as types

    kind = field.type
    if types.is_large_list(kind):
        kind = pyarrow.large_list(_never(kind.value_field))
    elif types.is_list(kind):
        kind = pyarrow.list_(_never(kind.value_field))
    elif types.is_fixed_size_list(kind):
        kind = pyarrow.list_(_never(kind.value_field), kind.list_size)
    return pyarrow.field(field.name, kind, nullable=False)


def _given(name: str, fill: Fill) -> Any:
    return fill.get(name) if isinstance(fill, Mapping) else fill


def _value(name: str, kind: Any, fill: Fill) -> Any:
    """A pyarrow.Scalar."""
    import pyarrow
    import pyarrow.types as types

    while hasattr(kind, "value_type"):
        kind = kind.value_type
    given = _given(name, fill)
    if given is None:
        given = _own(name, kind)
    if isinstance(given, str) and (types.is_binary(kind) or types.is_large_binary(kind)):
        given = given.encode()
    try:
        if isinstance(given, bool) != types.is_boolean(kind):
            raise TypeError
        made = pyarrow.scalar(given, kind)
        if types.is_integer(kind) and made.as_py() != given:  # cut to an integer without a word
            raise ValueError
        return made
    except (pyarrow.ArrowException, TypeError, ValueError, OverflowError):
        raise QueryError(
            f"{name} is of type {kind}, which {given!r} of fill= is no value of: give fill= a "
            f"mapping of columns to values, {{{name!r}: …}}",
            branch=name,
        ) from None


def _own(name: str, kind: Any) -> Any:
    """The value that a type has for what is missing: NaN, the lowest of signed integers, the
    highest of unsigned ones, the empty string."""
    import pyarrow.types as types

    if types.is_floating(kind):
        return float("nan")
    if types.is_signed_integer(kind):
        return -(1 << (kind.bit_width - 1))
    if types.is_integer(kind):
        return (1 << kind.bit_width) - 1
    if types.is_boolean(kind):
        raise UnsupportedError(
            f"{name} may be missing, for which a bool has no value: give "
            f"fill={{{name!r}: False}}, use fill_missing({name}, False), or write Parquet",
            branch=name,
        )
    return ""


def _has_missing(array: Any) -> bool:
    if array.null_count:
        return True
    return hasattr(array.type, "value_type") and _has_missing(array.flatten())


def _filled(array: Any, value: Any) -> Any:
    import pyarrow
    import pyarrow.types as types

    kind = array.type
    if types.is_fixed_size_list(kind):
        return pyarrow.FixedSizeListArray.from_arrays(
            _filled(array.flatten(), value), kind.list_size
        )
    if types.is_large_list(kind) or types.is_list(kind):
        first = array.offsets[0].as_py() if len(array) else 0
        items = array.values.slice(first, array.offsets[-1].as_py() - first)
        made = pyarrow.LargeListArray if types.is_large_list(kind) else pyarrow.ListArray
        offsets = pyarrow.compute.subtract(array.offsets, first)
        return made.from_arrays(offsets, _filled(items, value))
    return array.fill_null(value)
