"""`python -m bench adl`: the analysis description benchmark's eight tasks in treemill, RDataFrame
and awkward + vector. The C++ and the awkward here are oracles for the tests, too.
"""
