"""Oracle tests: treemill beside two readers that others wrote, uproot and ROOT itself."""
