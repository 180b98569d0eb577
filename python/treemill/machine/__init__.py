"""This process and its machine: memory, the cache, Ctrl-C.

Must not know anything of treemill but its errors and its core's cache.
"""
