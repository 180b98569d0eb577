"""Checks that this processor can run the core as it is built by default.

The core is compiled for x86-64-v3 (docs/decisions/0002-processor.md). On an older processor the
process would end without a message at the first instruction that the processor lacks.
"""

from __future__ import annotations

import sys
import warnings

__all__ = ["warn_if_too_old"]

_NEEDED = {"avx2", "bmi2", "fma"}


def missing(cpuinfo: str) -> set[str]:
    """Features that the first processor in the text of /proc/cpuinfo lacks. Empty if the text lists
    no features."""
    for line in cpuinfo.splitlines():
        name, _, values = line.partition(":")
        if name.strip() == "flags":
            return _NEEDED - set(values.split())
    return set()


def warn_if_too_old() -> None:
    """Warns if the processor cannot run the default build."""
    if sys.platform != "linux":
        return
    try:
        # The first processor's part is enough: there may be hundreds of processors.
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            lacks = missing(file.read(8192))
    except OSError:
        return
    if lacks:
        warnings.warn(
            f"this processor lacks {', '.join(sorted(lacks))}: treemill ends with 'illegal "
            'instruction\' unless it was built here with RUSTFLAGS="-C target-cpu=x86-64"',
            RuntimeWarning,
            stacklevel=3,
        )
