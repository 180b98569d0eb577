"""`python examples/adl/run.py FILES`: the eight tasks, drawn in the terminal."""

import importlib
import sys

import treemill as tm


def main(*analyses):
    """Runs them in one pass over the files of the command line."""
    events = tm.dataset(sys.argv[1:], tree="Events")
    booked = []
    for analysis in analyses:
        made = analysis(events)
        booked += made if isinstance(made, tuple) else [made]
    for booking in booked:
        tm.show(booking)


if __name__ == "__main__":
    main(*(importlib.import_module(f"adl{n}").analysis for n in range(1, 9)))
