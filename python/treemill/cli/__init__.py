"""The commands of the shell, and the completion in IPython. No other folder may know them."""
