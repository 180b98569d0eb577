"""Makes a syntax tree of an expression's text, in Python's words, C's or TTree::Draw's.

Knows no branch, no function's meaning and no type: the core knows these, from a file's columns.
"""
