"""Chooses what makes a selector's chunks: treemill, or coffea for coffea's own processors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

from .selector import Selector

if TYPE_CHECKING:
    from ..data.schemas import ObjectSchema
    from .chunk_source import ReaderMaker

__all__ = ["reader_of"]


def reader_of(
    selector: Selector,
    schema: str | Callable[..., object] | None = None,
    datas: ObjectSchema | None = None,
) -> ReaderMaker:
    """Returns what makes the readers of the selector's chunks. `schema` is one of coffea's or
    its name in coffea, which makes the chunks; None: a coffea processor's own schema if it has one,
    else that of the data."""
    processor = getattr(selector, "processor", None)
    is_coffeas = _is_coffeas(processor)
    if schema is None and is_coffeas:
        schema = getattr(processor, "schema", None)
        if isinstance(schema, str):
            from ..data.schemas import coffeas  # start-up

            schema = coffeas(schema)
        if schema is None and datas is not None:
            schema = datas.coffea
    if schema is not None or is_coffeas:
        from .coffea_version import check_coffea  # start-up

        check_coffea()
        from .coffea import coffea_reader  # heavy: coffea

        return functools.partial(coffea_reader, schema=schema)
    from .chunk import EventReader  # heavy: awkward

    return functools.partial(EventReader, collections=selector.collections)


def _is_coffeas(processor: object) -> bool:
    return any(base.__module__.startswith("coffea.") for base in type(processor).__mro__)
