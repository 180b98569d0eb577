"""One worker: carries out the packetizer's orders with a workload. Says what a workload and a task
must be able to do; must not know queries, selectors, files, other workers, sessions, transports."""
