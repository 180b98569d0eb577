"""A user's object as a worker's work: it gets chunks of events, and its outputs are merged.

Must not know sessions, backends or the packetizer.
"""
