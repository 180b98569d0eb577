"""The benchmark suite's commands and the dataset that demo, tests and benchmarks share."""
