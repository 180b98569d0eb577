"""In a wheel with several levels: loads the core for this processor in this module's place.

Where the core was compiled for one level, as in a checkout, the extension has this module's name,
and Python finds it first; this module is not run then. docs/decisions/0002-processor.md says why.
"""

from __future__ import annotations

import os
import sys
from importlib.util import module_from_spec, spec_from_file_location

from ._system.processor import VARIABLE, best, installed, this_processor


def _load() -> None:
    there = installed()
    if not there:
        raise ImportError(
            "treemill's compiled core is not here: install a wheel, or build it with `make build`",
            name=__name__,
        )
    file = there[best(there, this_processor(), os.environ.get(VARIABLE))]
    spec = spec_from_file_location(__name__, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"this Python cannot load {file}", name=__name__)
    core = module_from_spec(spec)
    # What is in sys.modules once this module has run is what `import` gives.
    sys.modules[__name__] = core
    spec.loader.exec_module(core)


_load()
