"""`python -m treemill`: the same as the command `treemill`."""

from .cli import main

main()
