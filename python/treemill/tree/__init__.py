"""One file's tree, column by column: from the core, from uproot, from a default, or from elsewhere.

Knows no query, and other files of the dataset only to ask for the type of a branch.
"""
