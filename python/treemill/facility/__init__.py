"""For those who run a facility: made-up data, the benchmark, load tests of storages, simulated
clusters, and checks of a cluster.

The folders in it are plain values in and out; the modules beside them start queries and processes.
What `facts.py` runs on workers does not need treemill, which may be what is missing there.
"""
