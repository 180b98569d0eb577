"""Names and behaviours that coffea gives to NanoAOD's collections, for coffea's own processors: so
`events.Muon[:, 0] + events.Muon[:, 1]` has a mass there, too.

The only module that imports coffea, and only where a processor has come from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Records", "records_for"]


@dataclass(frozen=True)
class Records:
    """How records of collections are called, and what they can do."""

    names: Mapping[str, str] = field(default_factory=dict)
    """By collection; others are called as they are."""
    behavior: Mapping[Any, Any] = field(default_factory=dict)


_PLAIN = Records()


def records_for(selector: Any) -> Records:
    """Of the chunks that a selector gets. References from one collection to another
    (`Jet.matched_gen`) are not among what they can do."""
    processor = getattr(selector, "processor", None)
    if not any(base.__module__.startswith("coffea.processor") for base in type(processor).__mro__):
        return _PLAIN
    from coffea.nanoevents import NanoAODSchema
    from coffea.nanoevents.methods import nanoaod

    return Records(dict(NanoAODSchema.mixins), dict(nanoaod.behavior))
