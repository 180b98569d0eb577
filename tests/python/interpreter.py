"""How much Python's interpreter does, which unlike time is the same on every machine."""

import sys


def steps(does):
    """Steps of Python's interpreter."""
    seen = 0

    def trace(frame, what, argument):
        nonlocal seen
        seen += 1
        frame.f_trace_opcodes = True
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        does()
    finally:
        sys.settrace(before)
    return seen
