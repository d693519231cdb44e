"""Problems and regressions whose numbers vary one by one from test to test."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fsl_num.model import Model
from fsl_num.simulate.regression import Regression
from fsl_num.volterra import Problem, Solution, solve

_OF_THE_MODEL = ("s", "beta", "size", "noise", "spectrum")


def _apart(values: dict[str, Any]) -> tuple[Model, dict[str, Any]]:
    remaining = {name: value for name, value in values.items() if name not in _OF_THE_MODEL}
    return Model(**{name: value for name, value in values.items() if name in _OF_THE_MODEL}), remaining


def problem_of(**values: Any) -> Problem:
    """A problem from the fields of its model and its own, all by name."""
    model, own = _apart(values)
    return Problem(model, **own)


def regression_of(**values: Any) -> Regression:
    """A regression from the fields of its model and its own, all by name."""
    model, own = _apart(values)
    return Regression(model, **own)


def with_model(problem: Any, **values: Any) -> Any:
    """The problem or regression with these fields of its model changed."""
    return replace(problem, model=replace(problem.model, **values))


@dataclass(frozen=True)
class Loss:
    """A solution as the f of the equation, twice the excess risk, for which closed forms are written down."""

    solution: Solution

    def __getattr__(self, name: str) -> Any:
        return getattr(self.solution, name)

    @property
    def values(self) -> Any:
        """f, exactly twice what the solution says."""
        risk = self.solution.excess_risk
        if risk.dtype != object:
            return 2.0 * risk
        return np.array([value.context.ldexp(value, 1) for value in risk.flat], dtype=object).reshape(risk.shape)

    @property
    def error(self) -> Any:
        """The error of f."""
        return 2.0 * self.solution.error


def loss_of(problem: Problem, t: Any, **options: Any) -> Loss:
    """:func:`fsl_num.volterra.solve` in terms of f."""
    return Loss(solve(problem, t, **options))
