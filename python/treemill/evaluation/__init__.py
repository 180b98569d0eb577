"""A query as a worker's work: bound to a file, with what that file lacks.

Knows no session, and no selector.
"""
