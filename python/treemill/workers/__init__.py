"""One worker: carries out the packetizer's orders with a workload, which is a query or a user's
selector bound to one file after another.

Knows no session, no transport and no other worker.
"""
