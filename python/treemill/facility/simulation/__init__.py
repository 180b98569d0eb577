"""Simulated clusters, on which the sessions' own packetizer is tried: an event queue with nodes,
disks, links, noise, deaths and joins. Pure: seeded, no clock, no thread.

Knows the messages of the packetizer, and nothing else of treemill.
"""
