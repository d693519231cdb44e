"""Problems and regressions whose numbers vary one by one from test to test."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fsl_num.model import Model
from fsl_num.simulate.regression import Regression
from fsl_num.volterra import Problem

_OF_THE_MODEL = ("s", "beta", "size", "noise", "spectrum")


def _apart(values: dict[str, Any]) -> tuple[Model, dict[str, Any]]:
    rest = {name: value for name, value in values.items() if name not in _OF_THE_MODEL}
    return Model(**{name: value for name, value in values.items() if name in _OF_THE_MODEL}), rest


def problem_of(**values: Any) -> Problem:
    """A problem from the fields of its model and its own, all by name."""
    model, rest = _apart(values)
    return Problem(model, **rest)


def regression_of(**values: Any) -> Regression:
    """A regression from the fields of its model and its own, all by name."""
    model, rest = _apart(values)
    return Regression(model, **rest)


def with_model(problem: Any, **values: Any) -> Any:
    """The problem or regression with these fields of its model changed."""
    return replace(problem, model=replace(problem.model, **values))
