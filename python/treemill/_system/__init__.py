"""This process and its machine: the processor's level, memory, the cache, Ctrl-C, the terminal, and
files that take their names when they are complete.

Knows nothing of treemill but its errors and its core's cache.
"""
