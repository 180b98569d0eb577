"""Draws histograms, stacks, ratios and charts, as matplotlib's figures, as text and as HTML.

Looks at plain values and hist's histograms that it is given; knows no query and no file.
"""
