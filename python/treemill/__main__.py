"""`python -m treemill`: the same as the command `treemill`."""

from .cli.main import main

main()
