"""What a kept partial is of, and in what it differs from what a run wants now. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

__all__ = ["Fingerprint"]


@dataclass(frozen=True)
class Fingerprint:
    """What decides the numbers of a pass, as digests by name."""

    versions: Mapping[str, str]
    """The versions of treemill and of Python."""
    parts: Mapping[str, str]
    """What is computed, on which files: digests by names that the user understands."""

    def difference(self, now: Fingerprint) -> str | None:
        """Returns what differs, in words, if this is kept and `now` is wanted; None if nothing
        does."""
        for name in sorted({*self.versions, *now.versions}):
            kept, wanted = self.versions.get(name, "none"), now.versions.get(name, "none")
            if kept != wanted:
                return f"it was written with {name} {kept}, and this is {name} {wanted}"
        differing = [
            name
            for name in sorted({*self.parts, *now.parts})
            if self.parts.get(name) != now.parts.get(name)
        ]
        if not differing:
            return None
        return f"it is of another run: not the same {_listed(differing)}"


def changed(
    kept: Mapping[int, str], now: Callable[[int], str], name: Callable[[int], str]
) -> str | None:
    """The first file that is not what it was, in words. `kept`: digests of the files' identities by
    number; `now`: of what they are; `name` of a file."""
    for number, digest in sorted(kept.items()):
        if now(number) != digest:
            return f"{name(number)} has changed since"
    return None


def _listed(names: list[str]) -> str:
    shown = names[:4] + ([f"{len(names) - 4} more"] if len(names) > 4 else [])
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]
