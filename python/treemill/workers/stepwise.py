"""A task whose workers keep what they do, step by step, for a trace. Knows no step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .wrapped_task import WrappedTask

if TYPE_CHECKING:
    from treemill._core import Control

__all__ = ["StepwiseTask"]


class StepwiseTask(WrappedTask):
    """See Task."""

    def control(self) -> Control:
        """See Task."""
        control = super().control()
        control.keep_steps()
        return control
