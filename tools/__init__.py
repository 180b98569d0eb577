"""Commands for those who work on treemill; no part of the package."""
