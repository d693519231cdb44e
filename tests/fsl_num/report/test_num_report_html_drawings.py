"""Drawings of the page: graphs, axes and ticks keep their order."""

import itertools
import math

from hypothesis import given
from hypothesis import strategies as st

from fsl_num.claims.labels import in_reading_order
from fsl_num.claims.registry import all_claims
from fsl_num.report.html.drawings import Axis, ratio_ticks, ticks
from fsl_num.report.html.graph import BOX, graph, place

NODES = [f"n{number}" for number in range(9)]


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)).filter(lambda pair: pair[0] < pair[1]), max_size=14))
def test_arrows_go_down_and_nothing_overlaps(pairs):
    links = list(dict.fromkeys((NODES[source], NODES[target]) for source, target in pairs))
    layout = place(NODES, links, across=3)
    assert set(layout.nodes) == set(NODES) and layout.width <= 3 * (BOX[0] + 8)
    assert_it_can_be_read(layout)


def assert_it_can_be_read(layout):
    """Links go from layer to layer, boxes lie apart and inside, and no line passes through a box."""
    width, height = BOX
    heights = sorted({y for _, y in layout.nodes.values()})
    for (source, target), points in layout.routes.items():
        ys = [layout.nodes[source][1], *(y for _, y in points), layout.nodes[target][1]]
        steps = {round(later - sooner, 6) for sooner, later in itertools.pairwise(ys)}
        assert len(steps) == 1 and min(steps) > height + 20
    for (x, y), (other_x, other_y) in itertools.combinations(layout.nodes.values(), 2):
        assert abs(x - other_x) >= width + 4 or abs(y - other_y) >= height + 4
    for x, y in layout.nodes.values():
        assert 0 < x < x + width < layout.width and 0 < y < y + height < layout.height
    for x, y in itertools.chain.from_iterable(layout.routes.values()):
        beside = [left for left, top in layout.nodes.values() if top == y]
        assert 0 < x < layout.width and not any(left - 1 < x < left + width + 1 for left in beside)
    assert heights[0] < 10 and layout.height < heights[-1] + height + 10


def test_a_cycle_is_drawn_all_the_same():
    layout = place(["a", "b", "c"], [("a", "b"), ("b", "c"), ("c", "a")])
    assert len(set(layout.nodes.values())) == 3


def test_the_first_nodes_come_first_in_layers_of_their_size():
    links = [("a", "b"), ("c", "d"), ("e", "f"), ("b", "g"), ("d", "g"), ("f", "g")]
    tops = {node: y for node, (_, y) in place(list("abcdefg"), links, across=2).nodes.items()}
    layers = [{node for node in tops if tops[node] == y} for y in sorted(set(tops.values()))]
    assert layers == [{"a", "c"}, {"b", "d"}, {"e"}, {"f"}, {"g"}]


def test_the_graph_of_all_claims_fits_its_frame():
    claims = sorted(all_claims(), key=in_reading_order)
    drawn = graph(claims)
    assert drawn["width"] <= 968 and len(drawn["nodes"]) == len(claims)
    links = [(source, target) for _, _, source, target in drawn["edges"]]
    assert_it_can_be_read(place([claim.id for claim in claims], links))


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_ticks_are_inside_and_few(low, width):
    found = ticks(low, low + width)
    assert 1 <= len(found) <= 5
    assert all(low - 1e-6 * width <= tick <= low + 1.000001 * width for tick in found)


@given(st.floats(-600, 600), st.floats(0.01, 1200))
def test_ticks_of_ratios_are_inside_and_few(low, width):
    high = min(low + width, 650.0)
    found = ratio_ticks(low, high)
    assert len(found) <= 8
    assert all(low - 0.01 <= math.log(tick) <= high + 0.01 for tick in found)


def test_an_axis_keeps_what_lies_beyond_inside():
    axis = Axis(0.0, 1.0, 100.0, 0.0)
    assert [axis(value) for value in (-1.0, 0.25, 7.0)] == [100.0, 75.0, 0.0]
