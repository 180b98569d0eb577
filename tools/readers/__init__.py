"""treemill's core beside independent readers: the comparer, its table of known differences, its runner."""
