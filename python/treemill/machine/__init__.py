"""This process and what it runs on: the processor, memory, the cache, Ctrl-C.

Knows nothing of ours but errors.
"""
