"""Luminosity sections: sets of them in the form of the experiments' JSON files, and expressions
that ask whether an entry's section is in such a set.

Knows expressions; knows no file, no dataset and no query.
"""
