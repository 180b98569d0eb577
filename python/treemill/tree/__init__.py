"""One file's tree, column by column: from the core, from uproot, from a default, or from elsewhere.

Knows no other file of the dataset, and no query.
"""
