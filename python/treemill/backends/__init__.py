"""Runs passes on workers: carries the packetizer's actions to them and their events back.

Threads and processes use the same packetizer and the same worker. Knows tasks by their protocol
only; knows no query, no selector and no session.
"""
