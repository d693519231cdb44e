"""What the maps of Table 1 draw is what the allocations say."""

import sys
from fractions import Fraction

import numpy as np
import pytest

from fsl_num.report.plots import BETA_RANGE, S_RANGE, exponent_grid, exponent_map, table_map
from fsl_sym.allocation import optimal_allocation, table

TASKS = [Fraction(1, 8), Fraction(1, 2), Fraction(3, 4), Fraction(3, 2)]
CAPACITIES = [Fraction(5, 4), Fraction(2), Fraction(4), Fraction(7)]
"""Exact in floats, so that both sides see one point; (1/2, 2) and (3/4, 4) lie on the edge."""


@pytest.mark.parametrize("budget", ["data", "compute"])
@pytest.mark.parametrize("schedule", ["constant", "exp-decay", "wsd"])
def test_a_grid_holds_the_exponents_of_every_point(schedule, budget):
    allocation = optimal_allocation(schedule, budget)
    powers, logs = exponent_grid(allocation, TASKS, CAPACITIES)
    for row, s_value in enumerate(TASKS):
        for column, beta_value in enumerate(CAPACITIES):
            risk = allocation.at(s=s_value, beta=beta_value).excess_risk
            # A few operations on floats of order 1, each within 2e-16.
            assert powers[row, column] == pytest.approx(-float(risk.power), abs=1e-14)
            assert logs[row, column] == pytest.approx(float(risk.log_power), abs=1e-14)


@pytest.mark.parametrize(("tasks", "capacities"), [([0.0], [2.0]), ([1.0], [1.0]), ([np.nan], [2.0])])
def test_a_grid_outside_the_plane_is_refused(tasks, capacities):
    with pytest.raises(ValueError, match="s must be positive and beta above 1"):
        exponent_grid(optimal_allocation("constant", "data"), tasks, capacities)


def test_a_map_bears_its_formulas_and_its_edge():
    allocation = optimal_allocation("wsd", "data")
    ax = exponent_map(allocation)
    written = [text.get_text() for text in ax.texts]
    for name in ("easy", "hard"):
        formula = allocation.regime(name).excess_risk.as_latex(allocation.base)
        assert f"{name}:  ${formula}$" in written
    (edge,) = ax.lines
    np.testing.assert_array_equal(edge.get_ydata(), 1.0 - 1.0 / np.asarray(edge.get_xdata()))
    assert ax.get_xlim() == BETA_RANGE and ax.get_ylim() == S_RANGE
    ax.figure.draw_without_rendering()


def test_one_formula_everywhere_has_no_edge():
    ax = exponent_map(optimal_allocation("constant", "compute"))
    assert len(ax.texts) == 1 and not ax.lines


def test_a_number_on_a_dashed_line_is_its_log_power():
    allocation = optimal_allocation("wsd", "compute")
    ax = exponent_map(allocation)
    numbers = [text for text in ax.texts if "$" not in text.get_text()]
    assert numbers
    for text in numbers:
        beta_value, s_value = text.get_position()
        _, logs = exponent_grid(allocation, [s_value], [beta_value])
        # The place is interpolated on a grid of steps below 0.03, on which q is smooth with slopes below 1.
        assert float(text.get_text()) == pytest.approx(logs[0, 0], abs=0.01)


def test_the_table_has_a_map_for_each_cell():
    figure = table_map(table())
    titles = [ax.get_title() for ax in figure.axes if ax.get_title()]
    assert len(set(titles)) == 6 and titles[0] == "constant, data-optimal"


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    allocation = optimal_allocation("constant", "data")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match="extra `plot`"):
        exponent_map(allocation)
