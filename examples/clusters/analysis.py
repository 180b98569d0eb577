"""The analysis of the examples beside this file: the same on a laptop and on any cluster."""

import treemill as tm


def analyse(session, files):
    """Fills a histogram and counts, in one pass over the files, and prints both."""
    events = tm.dataset(files, tree="Events")
    good = events.filter("nMuon >= 2")
    met, count = session.run(good.hist("MET_pt", bins=(20, 0, 100)), good.count())
    print(f"{count} of {session.report.entries} events pass, mean {mean(met):.1f} GeV")


def mean(histogram):
    """The mean of a histogram's entries."""
    centers = histogram.axes[0].centers
    return (histogram.values() * centers).sum() / max(histogram.values().sum(), 1)
