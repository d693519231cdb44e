"""Drawings of the page: graphs, axes and ticks keep their order."""

import itertools
import math

from hypothesis import given
from hypothesis import strategies as st

from fsl_num.report.html.drawings import Axis, ratio_ticks, ticks
from fsl_num.report.html.graph import place

NODES = [f"n{number}" for number in range(9)]


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)).filter(lambda pair: pair[0] < pair[1]), max_size=14))
def test_arrows_go_to_the_right_and_nothing_overlaps(pairs):
    links = list(dict.fromkeys((NODES[source], NODES[target]) for source, target in pairs))
    layout = place(NODES, links)
    assert set(layout.nodes) == set(NODES)
    for source, target in links:
        columns = [layout.nodes[source].column, *(at.column for at in layout.routes[source, target])]
        columns.append(layout.nodes[target].column)
        assert columns == list(range(columns[0], columns[-1] + 1))
        assert len(columns) >= 2
    for one, other in itertools.combinations(layout.nodes.values(), 2):
        assert one.column != other.column or abs(one.row - other.row) > 0.99
    for node in layout.nodes.values():
        assert 0 <= node.column < layout.columns and 0.49 < node.row < layout.rows
        for at in itertools.chain.from_iterable(layout.routes.values()):
            assert at.column != node.column or abs(at.row - node.row) > 0.69  # half a node and half a bend


def test_a_cycle_is_drawn_all_the_same():
    layout = place(["a", "b", "c"], [("a", "b"), ("b", "c"), ("c", "a")])
    assert len({(at.column, at.row) for at in layout.nodes.values()}) == 3


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_ticks_are_inside_and_few(low, width):
    found = ticks(low, low + width)
    assert 1 <= len(found) <= 5
    assert all(low - 1e-6 * width <= each <= low + 1.000001 * width for each in found)


@given(st.floats(-600, 600), st.floats(0.01, 1200))
def test_ticks_of_ratios_are_inside_and_few(low, width):
    high = min(low + width, 650.0)
    found = ratio_ticks(low, high)
    assert len(found) <= 8
    assert all(low - 0.01 <= math.log(each) <= high + 0.01 for each in found)


def test_an_axis_keeps_what_lies_beyond_inside():
    axis = Axis(0.0, 1.0, 100.0, 0.0)
    assert [axis(value) for value in (-1.0, 0.25, 7.0)] == [100.0, 75.0, 0.0]
