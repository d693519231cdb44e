"""Solving the Volterra equation: one entry for all methods, one result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

import numpy as np

from fsl_num.schedules import Discrete, ExponentialDecay, Schedule, StableDecay
from fsl_num.validation import Array, flag, one_of, positive, times, whole_count
from fsl_num.volterra.problem import Problem
from fsl_num.volterra.result import Solution

MOST_DIGITS: Final = 1000
_FLOAT_DIGITS = 20  # what a method with digits uses where floats are asked for: their rounding is then the error


@dataclass(frozen=True)
class _Method:
    """Where a method is, and what it can take."""

    home: str
    function: str
    precise: bool = False
    tolerance: bool = False
    constant_only: bool = False
    discrete_only: bool = False
    largest: float = np.inf

    def refusal(self, name: str, problem: Problem) -> str | None:
        """One sentence that says why the method cannot solve the problem, None where it can."""
        if self.constant_only and not problem.is_constant:
            return f"method {name!r} needs a constant gamma (a number or a Constant schedule)"
        if self.discrete_only and not isinstance(problem.gamma, Discrete):
            return f"method {name!r} needs a Discrete schedule, got {type(problem.gamma).__name__}; use 'panels'"
        if problem.model.size > self.largest:
            return (
                f"method {name!r} needs model_size <= {self.largest:g}, got {problem.model.size:g}; use 'panels',"
                " without digits"
            )
        return None

    def load(self) -> Callable[..., Any]:
        """Import and return the solver."""
        solver: Callable[..., Any] = getattr(import_module(f"fsl_num.volterra.{self.home}"), self.function)
        return solver


_MOST_SECULAR = 2000  # modes of a given spectrum: the zeros of all of them are found together

_METHODS: Final = {
    "panels": _Method("panels", "solve_panels", tolerance=True),
    "discrete": _Method("steps.discrete", "solve_discrete", tolerance=True, discrete_only=True),
    "secular": _Method("secular", "solve_secular", tolerance=True, constant_only=True),
    "constant": _Method(
        "digits.constant",
        "solve_constant",
        precise=True,
        constant_only=True,
        largest=2000,
    ),
    "laplace": _Method("digits.laplace", "solve_laplace", precise=True, constant_only=True),
    "high_precision": _Method("digits.high_precision", "solve_high_precision", precise=True),
    "enclosure": _Method("enclosure.solver", "solve_enclosure", precise=True),
    "reference": _Method("reference", "solve_reference"),
}

METHODS: Final = ("auto", *_METHODS)

_LONG_STEPS = 30.0
"""Average step, in units of the fastest mode's time, beyond which panels that grow within a step are cheaper."""

_UNSEEN = 1e-11
"""A smaller claim of the panels or of the secular equation is no miss: near instability rounding is as large."""

_STEPS_ENCLOSED = 1000  # one panel a step

_EXACT_UP_TO = 100  # modes up to which the secular equation is cheaper than a contour for every time


def choose(problem: Problem, digits: int | None) -> tuple[str, str]:
    """Return the method of choice and the reason."""
    if digits is None:
        if (
            isinstance(problem.gamma, Discrete)
            and problem.model.fastest * problem.end <= _LONG_STEPS * problem.gamma.steps
        ):
            return "discrete", "gamma is constant on each of many steps"
        if problem.is_constant and (problem.model.spectrum is None or problem.model.spectrum.size <= _MOST_SECULAR):
            return "secular", "gamma is constant"
        domain = "every gamma and size" if problem.closure == "volterra" else "the closure 'gaussian'"
        return "panels", f"the fast float64 method for {domain}"
    if not problem.is_constant:
        if problem.model.size > _EXACT_UP_TO and _enclosable(problem, digits):
            return "enclosure", f"digits asked for, gamma piecewise polynomial and more than {_EXACT_UP_TO} modes"
        return "high_precision", "digits asked for, and gamma varies"
    if problem.model.size <= _EXACT_UP_TO:
        return "constant", f"digits asked for, gamma constant and at most {_EXACT_UP_TO} modes"
    return "laplace", f"digits asked for, gamma constant and more than {_EXACT_UP_TO} modes"


def _enclosable(problem: Problem, digits: int) -> bool:
    """Whether the method "enclosure", which is then faster and proves its error, takes the problem here."""
    plan = problem.gamma
    known = type(plan) in (ExponentialDecay, StableDecay)
    known = known or (isinstance(plan, Schedule) and plan.is_piecewise_constant and len(plan.breaks) < _STEPS_ENCLOSED)
    stable = problem.closure == "volterra" and digits <= 100 and problem.stability < 1.0
    return known and stable and find_spec("flint") is not None


def solve(
    problem: Problem,
    t: Any,
    *,
    method: str = "auto",
    rtol: float = 1e-12,
    digits: int | None = None,
    allow_unstable: bool = False,
) -> Solution:
    """Solve the equation and return the excess risk at the times ``t`` (a number or an array in [0, horizon]).

    ``method``: "panels" (any gamma and size, both closures), "discrete" (Discrete schedules of up to millions of steps,
    any size, both closures), "secular" (constant gamma, any size, both closures: the zeros of the secular equation in
    float64), "constant" (the same with any ``digits``, up to 2000 modes), "laplace"
    (contour of Talbot: constant gamma, any size, any ``digits``), "high_precision" (any gamma and size, up to
    100 ``digits``), "enclosure" (gamma constant or piecewise polynomial in intrinsic time, any size: the error is
    PROVEN; needs the extra ``rigor``), "reference" (trapezoid, slow, a few digits), or "auto", which says in
    ``message`` what it chose and why. All but the last take both closures, "enclosure" the Gaussian one for constant
    gamma and up to 400 modes.
    ``rtol``: relative tolerance of "panels" and "discrete", at least 1e-13; ``success`` says whether it, or the digits,
    were reached.
    ``digits`` (>= 15): for the methods that take any number of them; times may then be Fractions, which are used
    exactly. A problem whose :attr:`~fsl_num.volterra.Problem.stability` is 1 or more is refused
    (:class:`~fsl_num.volterra.problem.UnstableProblemError`) unless ``allow_unstable``. Returns :class:`Solution`; its
    times have the order and shape (at least 1-d) of ``t``.

    >>> from fsl_num.model import Model
    >>> problem = Problem(Model(s=0.5, beta=2.0, size=float("inf"), noise=1.0), gamma=0.3, horizon=2.0**20)
    >>> solution = solve(problem, [1.0, 2.0**20])
    >>> bool((solution.error < 1e-11 * solution.excess_risk).all())
    True
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a Problem, got {type(problem).__name__}")
    one_of("method", method, METHODS)
    if not 1e-13 <= positive("rtol", rtol) < 1:
        raise ValueError(f"rtol must lie in [1e-13, 1), got {rtol!r}; for more digits use digits=")
    if digits is not None:
        digits = whole_count("digits", digits, least=15)
        if digits > MOST_DIGITS:
            raise ValueError(f"digits must be at most {MOST_DIGITS}, got {digits}: the time grows with their cube")
    reason = "as asked for"
    if method == "auto":
        method, reason = choose(problem, digits)
    kind = _METHODS[method]
    if digits is not None and not kind.precise:
        raise ValueError(
            f"digits is only for the methods {', '.join(name for name, solver in _METHODS.items() if solver.precise)},"
            f" not {method!r}"
        )
    if refusal := kind.refusal(method, problem):
        raise ValueError(refusal)
    if not flag("allow_unstable", allow_unstable):
        problem.require_stable()
    array, _ = times("t", t, upper=problem.end * (1 + 1e-12))
    shape = np.atleast_1d(array).shape
    flat = np.minimum(array.ravel(), problem.end)
    if flat.size == 0:
        raise ValueError("t must hold at least one time, got none")
    if not (problem.model.noise or problem.model.initial_risk):
        nothing: Any = np.zeros(shape)
        if digits is not None:
            nothing = np.array([_context(digits).mpf(0)] * flat.size, dtype=object).reshape(shape)
        why = "there is nothing to learn and no noise"
        return Solution(flat.reshape(shape), nothing, np.zeros(shape), method, 0, 0, why, digits)
    if kind.precise:
        exact_times = _exact_times(t, flat, digits or _FLOAT_DIGITS, fractions=method == "enclosure")
        try:
            solved, errors, facts = kind.load()(problem, exact_times, digits or _FLOAT_DIGITS)
        except ModuleNotFoundError as missing:
            raise ImportError(f"method {method!r} needs python-flint: install the extra `rigor`") from missing
        floats = np.array([float(value) for value in solved])
        values: Any = floats if digits is None else np.array(solved, dtype=object)
        error: Array = np.array([float(value) for value in errors])
        # Rounding of the value to a float, and that of the bound, which may not fall (and never to 0).
        error = np.nextafter(error + (2.3e-16 * np.abs(floats) if digits is None else 0.0), np.inf)
    else:
        solver = kind.load()
        if problem.closure == "gaussian" and method == "panels":
            from fsl_num.volterra.second_moments import solve_second_moments as solver
        distinct, position = np.unique(flat, return_inverse=True)
        with np.errstate(over="ignore", invalid="ignore"):  # a loss that grows without bound is refused below
            values, error, facts = solver(problem, distinct, rtol) if kind.tolerance else solver(problem, distinct)
        values, error = values[position], error[position]
    grown = ~np.isfinite(np.asarray(values, dtype=np.float64))
    if grown.any():
        raise ArithmeticError(f"the loss grows beyond 1.8e308 by t = {float(flat[grown].min())!r}")
    evaluations = int(facts.pop("evaluations", facts.get("modes", 0)))
    message = "; ".join([reason, *([", ".join(f"{count} {name}" for name, count in facts.items())] if facts else [])])
    worst = float((error / np.maximum(np.abs(np.asarray(values, dtype=np.float64)), 5e-324)).max())
    if kind.precise:
        allowed = _UNSEEN if digits is None else max(1.01 * 10.0**-digits, 1e-290)
    else:
        allowed = (rtol if method == "discrete" else max(rtol, _UNSEEN)) if kind.tolerance else np.inf
    success = worst <= allowed
    if not success:
        asked = f"rtol = {rtol:g}" if digits is None else f"the {digits} digits asked for; ask for more of them"
        message += f"; the relative error estimate {worst:.2g} misses {asked}"
        if method == "panels" and not isinstance(problem.gamma, (float, Schedule)):
            message += "; breaks where gamma turns, every half wave say, make it sharper"
    return Solution(
        t=flat.reshape(shape),
        excess_risk=_half(values).reshape(shape),
        error=np.maximum(0.5 * error, np.minimum(error, 5e-324)).reshape(shape),
        method=method,
        modes=int(facts.get("modes", 0)),
        evaluations=evaluations,
        message=message,
        digits=digits,
        success=success,
    )


def _half(values: Any) -> Any:
    """Return f/2, the excess risk, without a rounding."""
    if values.dtype != object:
        return 0.5 * values
    return np.array([value.context.ldexp(value, -1) for value in values], dtype=object)


def _context(digits: int) -> Any:
    from fsl_num.exponential_sums_digits import private_context

    return private_context(digits)


def _exact_times(t: Any, flat: Array, digits: int, *, fractions: bool) -> list[Any]:
    """Return the times as mpf where they were given as Fractions or mpf, else as floats within the horizon.

    ``fractions``: leave Fractions as they are.
    """
    mp = _context(digits + 30)

    def exact(time: Any, rounded: float) -> Any:
        if isinstance(time, Fraction):
            return time if fractions else mp.convert(time)
        return mp.convert(time) if hasattr(time, "_mpf_") else rounded

    raw = np.atleast_1d(np.asarray(t, dtype=object)).ravel()
    return [exact(time, float(rounded)) for time, rounded in zip(raw, flat, strict=True)]
