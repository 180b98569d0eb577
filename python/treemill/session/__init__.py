"""Sessions: run queries on workers, wait for them and report on them.

Knows backends by their pools only. No folder below may know sessions.
"""
