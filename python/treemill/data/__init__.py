"""Files as one table: a tree of one file, column by column, and many files as one chain, with
friends, entry lists, filesets, columns in memory and sets of luminosity sections.

`source.py` alone asks the storage. Knows expressions, to look up columns; knows no query, no packet
and no session.
"""
