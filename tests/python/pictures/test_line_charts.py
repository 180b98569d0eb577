"""Line charts: an axis has one unit, and a line's name is said once."""

import re

from treemill.pictures.line_charts import Panel, Series, svg


def words(rows):
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg(rows))


def test_an_axis_is_in_one_unit():
    seconds = words([[Panel("time of packets", "x", "s", [Series("", [0, 1], [0.001, 0.015])])]])
    assert "ms" in seconds
    assert not any(each.endswith("m") for each in seconds)
    rates = words([[Panel("rate", "x", "events/s", [Series("", [0, 1], [0, 1_500_000])])]])
    assert {each[-1] for each in rates if each[0].isdigit() and each[-1].isalpha()} == {"M"}


def test_a_line_is_named_once_in_a_figure():
    series = [Series("there", [0, 1], [1, 2]), Series("busy", [0, 1], [1, 1])]
    rows = [[Panel("a", "x", "y", series)], [Panel("b", "x", "y", series)]]
    assert words(rows).count("there") == 1
    other = [Series("busy", [0, 1], [1, 2])]  # in another colour
    assert words([[Panel("a", "x", "y", series), Panel("b", "x", "y", other)]]).count("busy") == 2
