"""`make bench`: treemill beside ROOT's RDataFrame, uproot and the limit of the machine, in one run.

Timings live here and nowhere else; correctness is `tests/`. `python -m bench --help` for options.
"""
