"""Trained models, for expressions and for arrays: `kinds.py` tells what a file is, one module for
each kind reads it. Models of trees are evaluated by the core. Knows no query."""
