"""Many files as one tree: all that workers know of a dataset.

Knows files, trees, columns and friends. Knows no query, no packet and no session.
"""
