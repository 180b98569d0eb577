"""Whether this processor can run the core as it is built by default. Knows nothing else.

The core is compiled for x86-64-v3 (docs/decisions/0002-processor.md). An older processor would end
the process without a word at some instruction it lacks, so it is said before.
"""

from __future__ import annotations

import sys
import warnings

__all__ = ["warn_if_too_old"]

_NEEDED = {"avx2", "bmi2", "fma"}


def missing(cpuinfo: str) -> set[str]:
    """Features that the first processor of /proc/cpuinfo's text lacks; none where it lists none."""
    for line in cpuinfo.splitlines():
        name, _, values = line.partition(":")
        if name.strip() == "flags":
            return _NEEDED - set(values.split())
    return set()


def warn_if_too_old() -> None:
    """Warns where the default build cannot run."""
    if sys.platform != "linux":
        return
    try:
        # The first processor's part is enough; there may be hundreds.
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
