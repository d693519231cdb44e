"""What solve promises whoever asks: a reason, an error that holds, a table, a file, a picture, every method by name."""

import math
import sys
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from pkgutil import walk_packages

import mpmath
import numpy as np
import pytest
from models import loss_of, with_model
from notebook_views import as_html

import fsl_num.schedules
import fsl_num.volterra
from fsl_num.model import Model
from fsl_num.results import Result
from fsl_num.schedules import schedule
from fsl_num.volterra import Problem, Spectrum, solve

SMALL = Problem(Model(s=0.5, beta=2.0, size=5, noise=1.0), gamma=0.3, horizon=20.0)
LARGE = Problem(Model(s=0.5, beta=2.0, size=math.inf, noise=1.0), gamma=0.3, horizon=1000.0)
VARYING = Problem(Model(s=0.5, beta=2.0, size=5, noise=1.0), gamma=schedule("linear", peak=0.1, steps=90.0))


def test_the_default_method_says_why():
    assert loss_of(SMALL, 1.0).method == "secular" and "gamma is constant" in loss_of(SMALL, 1.0).message
    assert loss_of(SMALL, 1.0).modes == 5
    few, many = loss_of(SMALL, 1.0, digits=20), loss_of(LARGE, 1.0, digits=20)
    assert (few.method, many.method) == ("constant", "laplace")
    assert "at most 100 modes" in few.message and "more than 100 modes" in many.message
    varying = loss_of(VARYING, 1.0, digits=20)
    assert varying.method == "high_precision" and "gamma varies" in varying.message
    fast = loss_of(VARYING, 1.0)
    assert fast.method == "panels" and "fast float64" in fast.message
    assert abs(float(varying.values[0]) - fast.values[0]) <= fast.error[0]
    growing = replace(with_model(LARGE, size=101), gamma=2.5, horizon=2.0)
    plan = schedule("exp-decay", peak=0.3, final=0.03, steps=30.0)
    large = loss_of(replace(with_model(VARYING, size=math.inf), gamma=plan, horizon=None), 1.0, digits=20)
    assert large.method == ("enclosure" if find_spec("flint") else "high_precision")
    unstable = loss_of(growing, 1.0, digits=15, allow_unstable=True)
    assert unstable.method == "laplace"
    constant = loss_of(growing, 1.0, digits=15, method="constant", allow_unstable=True)
    assert abs(unstable.values[0] - constant.values[0]) <= unstable.error[0] + constant.error[0]
    assert few.digits == many.digits == 20


def test_digits_are_those_asked_for():
    long = loss_of(LARGE, mpmath.mpf(1000), digits=25)
    assert long.error[0] < 1e-23 * float(long.values[0]) and len(long.texts()[0][1]) >= 25


def test_a_result_is_frozen_and_shows_itself_in_a_notebook():
    found = solve(SMALL, np.linspace(0.0, 20.0, 30))
    with pytest.raises(FrozenInstanceError):
        found.method = "other"
    shown = as_html(found)
    assert shown.count("<tr>") == 10  # a head, four first, dots, four last
    assert repr(float(found.excess_risk[0])) in shown and repr(float(found.excess_risk[-1])) in shown
    assert "gamma is constant; 5 modes" in shown
    assert as_html(loss_of(SMALL, [1.0, 2.0])).count("<tr>") == 3


def test_a_result_is_written_whole(tmp_path):
    found = solve(SMALL, [1.0, 20.0])
    found.to_csv(tmp_path / "loss.csv")
    head, *rows = (tmp_path / "loss.csv").read_text(encoding="utf-8").splitlines()
    assert head == "t,excess_risk,error"
    assert [float(row.split(",")[1]) for row in rows] == found.excess_risk.tolist()
    assert [path.name for path in tmp_path.iterdir()] == ["loss.csv"]
    with pytest.raises(FileNotFoundError):
        found.to_csv(tmp_path / "nowhere" / "loss.csv")


def test_a_plot_is_one_line_in_order_of_time_without_zero():
    found = solve(SMALL, [20.0, 0.0, 1.0])
    axes = found.plot()
    (line,) = axes.lines
    assert line.get_xdata().tolist() == [1.0, 20.0]
    assert line.get_ydata().tolist() == found.excess_risk[[2, 0]].tolist()
    assert axes.get_ylabel() == "excess risk E(t)"
    assert axes.get_xscale() == axes.get_yscale() == "log"
    assert loss_of(SMALL, 2.0).plot(axes) is axes and len(axes.lines) == 2


@pytest.mark.parametrize(
    ("problem", "options", "text"),
    [
        (VARYING, {"digits": 101, "method": "high_precision"}, "digits must be at most 100"),
        (SMALL, {"digits": 3}, "digits must be a whole number of at least 15"),
        (SMALL, {"rtol": 1e-20}, r"rtol must lie in \[1e-13"),
    ],
)
def test_what_a_method_cannot_do_is_said_before_any_work(problem, options, text):
    with pytest.raises(ValueError, match=text):
        loss_of(problem, 1.0, **options)


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "flint", None)  # what an import then finds is no module
    with pytest.raises(ImportError, match="install the extra `rigor`"):
        loss_of(SMALL, 1.0, method="enclosure")


def test_an_error_below_the_smallest_float_is_not_zero():
    problem = Problem(Model(noise=0.0, spectrum=Spectrum([1.0], [1.0])), gamma=0.1, horizon=1.0)
    assert 0.0 < loss_of(problem, 1.0, digits=400).error[0] < 1e-300


def test_results_cannot_be_changed_and_compare_without_comparing_arrays_as_such():
    compared = {"Found", "Radau", "Problem", "_Tables"}  # by all of their fields
    packages = (fsl_num.volterra, fsl_num.schedules)
    found = [module for top in packages for module in walk_packages(top.__path__, f"{top.__name__}.")]
    homes = [module.name for module in found if not module.ispkg]
    for home in (*homes, "fsl_num.functional", "fsl_num.evolution", "fsl_num.growth"):
        for name, value in vars(import_module(home)).items():
            if isinstance(value, type) and is_dataclass(value) and value.__module__ == home:
                assert value.__dataclass_params__.frozen, name
                arrays = any("Array" in str(field.type) and field.compare for field in fields(value))
                as_values = issubclass(value, Result) or value.__eq__ is object.__eq__
                assert not arrays or name in compared or as_values, name
