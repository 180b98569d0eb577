"""What expressions may call that is no function of the language: corrections and the like.

Pure: knows no document and no core.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

__all__ = ["ExternalFunction", "Preloaded"]


@runtime_checkable
class ExternalFunction(Protocol):
    """A function, or functions by name, given to expressions as a parameter. It can be pickled."""

    @property
    def identity(self) -> str:
        """What tells it from all others: equal ones have equal texts."""

    def core(self) -> object:
        """The core's object, `_core.Functions`."""


@runtime_checkable
class Preloaded(Protocol):
    """A function with things to do once for all workers of a template, before they are forked."""

    def preload(self) -> None:
        """Does them."""
