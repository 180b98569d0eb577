"""treemill at another commit, for `python -m bench before`: the same modules, in a process that
imports the other commit's package. Each of the two lists has the same tasks in the same order."""

from . import Rival

_MODULES = {
    "queries": "rivals.treemill_",
    "adl": "adl.treemill_",
    "faces": "rivals.faces",
}
"""Whatever is measured -> the module that does it."""

NOW = {what: Rival(f"now-{what}", "now", module, "now") for what, module in _MODULES.items()}
BEFORE = {
    what: Rival(f"before-{what}", "before", module, "before") for what, module in _MODULES.items()
}

EARLIER_RIVALS = (*NOW.values(), *BEFORE.values())
