"""Makes a worker's workload of a query: binds it to a file, and supplies what the file lacks.

Knows no session, and no selector.
"""
