"""The commands of `treemill bench` that run queries: they make data, measure, and write reports.
Parse arguments, run sessions, print; what the figures mean is bench/scaling's."""
