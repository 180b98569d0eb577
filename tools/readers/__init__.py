"""treemill's core beside other readers: comparer, table of known differences, runner."""
