"""How a dataset's objects are arranged, where the user says it: a name, or one of coffea's schemas.
A table says what a schema means for expressions (whose references are followed) and for coffea's
processors (which class of coffea's makes the events).

Pure: imports nothing of coffea's, and knows no file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..errors import QueryError, near

__all__ = ["AUTO", "ObjectSchema", "Schema", "coffeas", "object_schema"]

Schema: TypeAlias = str | type[Any] | None
"""What users give as `schema=`: a name, or one of coffea's classes."""


@dataclass(frozen=True)
class ObjectSchema:
    """What the user has said of a dataset's objects."""

    name: str
    formats: tuple[str, ...]
    """Those whose references expressions follow."""
    coffea: str | Callable[..., object]
    """One of coffea's schemas: its name in `coffea.nanoevents`, or as the user gave it."""


AUTO = "auto"
"""Decided for each file by its columns; events of coffea's processors are NanoAODSchema's."""
_KNOWN = {
    "nanoaod": (("nanoaod",), "NanoAODSchema"),
    "pfnano": (("nanoaod",), "PFNanoAODSchema"),
    "scouting": (("nanoaod",), "ScoutingNanoAODSchema"),
    "physlite": (("physlite",), "PHYSLITESchema"),
    "edm4hep": (("podio",), "EDM4HEPSchema"),
    "fcc": (("podio",), "FCC"),
    "delphes": (("delphes",), "DelphesSchema"),
    "treemaker": ((), "TreeMakerSchema"),
    "base": ((), "BaseSchema"),
}
_NAMES = {theirs: name for name, (_, theirs) in _KNOWN.items()} | {"FCCSchema": "fcc"}
"""Our names by those of coffea's classes, which may be written as well."""


def object_schema(schema: object) -> ObjectSchema | None:
    """Returns what a user writes as `schema=` of a dataset; None if it is "auto". Raises QueryError
    for anything that is no schema."""
    if isinstance(schema, str):
        return None if schema == AUTO else _named(schema)
    if schema is None:
        return _named("base")
    if not isinstance(schema, type):
        raise _unknown(schema)
    classes = [each for each in schema.__mro__ if each.__module__.startswith("coffea.")]
    for each in classes:
        name = _NAMES.get(each.__name__)
        if name is not None:
            formats, theirs = _KNOWN[name]
            # FCC is no schema, but chooses one.
            return ObjectSchema(name, formats, theirs if schema.__name__ == "FCC" else schema)
    if classes:
        return ObjectSchema(schema.__name__, (), schema)
    raise _unknown(schema)


def coffeas(schema: object) -> str | Callable[..., object] | None:
    """Returns what a user writes as `schema=` of a run: coffea's schema, by its name in coffea or
    as it was given. Raises QueryError for a name that there is not."""
    if isinstance(schema, str):
        return None if schema == AUTO else _named(schema).coffea
    if getattr(schema, "__name__", "") == "FCC":
        return "FCC"
    if schema is None or callable(schema):
        return schema
    raise _unknown(schema)


def _named(name: str) -> ObjectSchema:
    plain = _NAMES.get(name, name.lower())
    if plain not in _KNOWN:
        raise _unknown(name)
    return ObjectSchema(plain, *_KNOWN[plain])


def _unknown(schema: object) -> QueryError:
    names = ", ".join(f'"{name}"' for name in (AUTO, *_KNOWN))
    meant = near(schema.lower(), _KNOWN) if isinstance(schema, str) else []
    return QueryError(
        f"schema is one of {names}, None, or one of coffea's classes, such as NanoAODSchema, "
        f"not {schema!r}",
        suggestions=meant,
    )
