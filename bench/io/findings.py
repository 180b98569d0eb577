"""What a run finds out beside its table: which files were read, remarks, and what was wrong. Data
only."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from .field import Run

__all__ = ["Findings"]


@dataclass
class Findings:
    """Filled by parts as they run."""

    files: dict[str, str] = field(default_factory=dict)
    """Part -> what was read."""
    notes: list[str] = field(default_factory=list)

    @property
    def is_wrong(self) -> bool:
        """Whether somebody read something else than the others."""
        return any(note.startswith("WRONG") for note in self.notes)

    def differ(self, what: str, found: object, expected: object) -> None:
        """Notes that `what` has read something else than expected."""
        self.notes.append(f"WRONG: {what}: {found!r} instead of {expected!r}")

    def look_at(self, what: str, runs: Sequence[Run], expected: float | None) -> bool:
        """Notes what the table does not say of runs: errors, wrong sums, and what was counted.
        Gives whether there is something for the table."""
        for run in runs:
            if run.error:
                self.notes.append(f"{what}: {run.error}")
            elif run.seconds is not None and expected is not None and not _same(run, expected):
                self.differ(what, run.total, expected)
        if runs and (counted := runs[-1].counters):
            told = ", ".join(f"{name} {value:,.6g}" for name, value in counted.items())
            self.notes.append(f"{what}: {told}")
        return bool(runs) and not runs[-1].error


def _same(run: Run, expected: float) -> bool:
    return abs(run.total - expected) <= 1e-9 * abs(expected)
