"""Solving the Volterra equation: one entry for all methods, one result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fsl_num.validation import Array, positive, times, whole_size
from fsl_num.volterra.problem import Problem

METHODS = ("auto", "panels", "constant", "reference")


@dataclass(frozen=True)
class Solution:
    """The loss f (TWICE the excess risk) at intrinsic times ``t``.

    ``values``: floats, or mpf where digits were asked for. ``error``: absolute error estimate for each value.
    ``method``: the one used. ``message``: what the run took, and a warning where the tolerance was missed.
    """

    t: Array
    values: Any
    error: Array
    method: str
    message: str

    def plot(self, ax: Any = None) -> Any:
        """Draw f against t on logarithmic axes (matplotlib, imported here) and return the axes."""
        if ax is None:
            from matplotlib.figure import Figure

            ax = Figure().subplots()
        ax.loglog(self.t, np.asarray(self.values, dtype=np.float64))
        ax.set_xlabel("intrinsic time t")
        ax.set_ylabel("f(t), twice the excess risk")
        return ax


def solve(
    problem: Problem,
    t: Any,
    *,
    method: str = "auto",
    rtol: float = 1e-12,
    digits: int | None = None,
    allow_unstable: bool = False,
) -> Solution:
    """Solve the equation and return the loss at the times ``t`` (a number or an array in [0, horizon]).

    ``method``: "panels" (any gamma and size), "constant" (constant gamma, finite size up to 2000, any ``digits``),
    "reference" (trapezoid, slow, a few digits), or "auto": "constant" where ``digits`` is given and "panels" otherwise.
    ``rtol``: relative tolerance of "panels", at least 1e-13. ``digits`` (>= 15): only for "constant". A problem
    with gamma_max tr(H)/2 >= 1 is refused (:class:`~fsl_num.volterra.problem.UnstableProblemError`) unless
    ``allow_unstable``. Returns :class:`Solution`; its times have the order and shape (at least 1-d) of ``t``.

    >>> problem = Problem(s=0.5, beta=2.0, model_size=float("inf"), noise=1.0, gamma=0.3, horizon=2.0**20)
    >>> solution = solve(problem, [1.0, 2.0**20])
    >>> bool((solution.error < 1e-11 * solution.values).all())
    True
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a Problem, got {type(problem).__name__}")
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if not 1e-13 <= positive("rtol", rtol) < 1:
        raise ValueError(f"rtol must lie in [1e-13, 1), got {rtol!r}; for more digits use method='constant'")
    if method == "auto":
        method = "panels" if digits is None else "constant"
    if digits is not None and method != "constant":
        raise ValueError(f"digits is only for method 'constant', not {method!r}")
    if not allow_unstable:
        problem.require_stable()
    array, _ = times("t", t, upper=problem.end * (1 + 1e-12))
    shape = np.atleast_1d(array).shape
    flat = np.minimum(array.ravel(), problem.end)
    if flat.size == 0:
        raise ValueError("t must hold at least one time, got none")
    if method == "constant":
        from fsl_num.volterra.constant import solve_constant

        precision = 20 if digits is None else int(whole_size("digits", digits, infinite=False, least=15))
        exact = solve_constant(problem, flat.tolist(), precision)
        floats = np.array([float(value) for value in exact])
        values: Any = np.array(exact, dtype=object) if digits is not None else floats
        error = np.abs(floats) * (10.0 ** (1 - precision) if digits is not None else 2.3e-16)
        return Solution(flat.reshape(shape), values.reshape(shape), error.reshape(shape), method, f"{precision} digits")
    distinct, position = np.unique(flat, return_inverse=True)
    if method == "panels":
        from fsl_num.volterra.panels import solve_panels

        found, error, facts = solve_panels(problem, distinct, rtol)
    else:
        from fsl_num.volterra.reference import solve_reference

        found, error, facts = solve_reference(problem, distinct)
    message = ", ".join(f"{count} {name}" for name, count in facts.items())
    worst = float((error / np.abs(found)).max())
    if method == "panels" and worst > max(rtol, 1e-11):
        message += f"; the relative error estimate {worst:.2g} misses rtol = {rtol:g}"
    values, error = found[position].reshape(shape), error[position].reshape(shape)
    return Solution(flat.reshape(shape), values, error, method, message)
