"""The command `treemill bench`: writes the dataset that the demo, tests and benchmarks share, and
simulates clusters. Must not know sessions, queries or datasets."""
