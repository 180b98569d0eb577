"""The query language done slowly: plain Python, one event at a time, over values as awkward reads
them. It shares nothing with treemill, so that where both agree the language means what it says.
"""

from .evaluator import evaluate
from .values import MISSING, Event, flat

__all__ = ["MISSING", "Event", "evaluate", "flat"]
