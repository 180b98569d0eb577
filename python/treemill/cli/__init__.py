"""Commands of the shell, and completion in IPython."""
