"""Columns in memory: from the core to awkward and numpy, types over several files, rows.

Knows no file and no query.
"""
