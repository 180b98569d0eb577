"""Whether a cluster is wired right: facts of each of its processes, and what follows from them.

Knows no query and no session. What runs on workers must not need treemill, which may be what is
missing there.
"""

from .verdicts import CHECKS, Verdict, Wiring, verdicts

__all__ = ["CHECKS", "Verdict", "Wiring", "verdicts"]
