"""`python -m bench agc`: the tt̄ analysis of examples/agc in treemill, coffea and RDataFrame."""
