"""The text of an expression becomes a syntax tree, in Python's words, C's or TTree::Draw's.

Knows no branch, no function's meaning and no type: these are the core's, against a file's columns.
"""
