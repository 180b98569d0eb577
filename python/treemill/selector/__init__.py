"""A user's object as a worker's work: chunks of events go in, its output is merged.

Knows no session and no packetizer.
"""
