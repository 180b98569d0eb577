"""One worker: carries out the packetizer's orders with a workload. Defines the protocols of
workloads and tasks.

Must not know queries, selectors, files, other workers, sessions or transports.
"""
