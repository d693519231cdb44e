r"""True enclosures of the loss: ball arithmetic throughout, defect and spectrum included (extra ``rigor``).

Two ways, each a file: constant gamma and at most 400 modes by the zeros of the secular equation, whatever the time;
everything else, with gamma piecewise polynomial in intrinsic time by panels whose defect is bounded, models of any size
included, whose modes beyond the first become few by Gauss rules of proven error.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from fsl_num.exponential_sums_digits import private_context
from fsl_num.schedules import Constant, Schedule
from fsl_num.validation import whole_count
from fsl_num.volterra.enclosure.collocation import collocation
from fsl_num.volterra.enclosure.gamma import pieces, rational
from fsl_num.volterra.enclosure.modes import ball_modes
from fsl_num.volterra.enclosure.panels import March, cut
from fsl_num.volterra.enclosure.secular import LARGEST, secular_values
from fsl_num.volterra.pieces import Piece
from fsl_num.volterra.problem import Problem

MOST_DIGITS = 100
"""The most digits where gamma varies or the modes are many."""

MOST_PIECES = 10_000

_GUARD = 25
_RATIO = 1.6  # of the ends of neighbouring panels: their polynomials then gain a digit a stage
ROUNDS = 3
_DEEPEST = 120  # digits that a round may use so that those asked for are left


def _varies(problem: Problem) -> bool:
    """Whether gamma is a schedule whose intrinsic time is not simply what the float says."""
    return isinstance(problem.gamma, Schedule) and not isinstance(problem.gamma, Constant)


def _exact_times(flint: Any, problem: Problem, times: list[Any], mp: Any) -> list[Any]:
    """Return the times as rational numbers, and None for the end of a schedule that varies."""
    exact: list[Any] = []
    for time in times:
        number = mp.convert(time)
        if not (mp.isfinite(number) and number >= 0):
            raise ValueError(f"times must be finite and at least 0, got {time!r}")
        if _varies(problem) and number == problem.end:
            exact.append(None)
        elif isinstance(time, Fraction):
            exact.append(rational(flint, time))
        else:
            mantissa, exponent = number.man_exp
            exact.append(flint.fmpq(int(mantissa)) * flint.fmpq(2) ** int(exponent))
    return exact


def _marched(
    flint: Any, problem: Problem, parts: list[Piece], times: list[Any], digits: int, stages: int
) -> tuple[list[Any], dict[str, Any]]:
    """Return balls around f = 2E at ``times`` from panels of ``stages`` stages, and facts."""
    modes = ball_modes(flint, problem, digits + 6)
    march = March(flint, modes, collocation(stages, flint.ctx.prec))
    # the first panel is as long as a short piece may be: _stages has the estimate
    root = (math.lgamma(stages + 1) - (digits - 3) * math.log(10.0)) / stages
    first = 2.0 * math.exp(root) / problem.model.fastest
    values, count = {flint.fmpq(0): march.value()}, 0
    for part in parts:
        inside = {t - part.start for t in times if t is not None and part.start < t}
        panels = cut(flint, part, [x for x in inside if x < part.length], first, _RATIO)
        for panel in panels:
            march.advance(panel)
            values[panel.time] = march.value()
        count += len(panels)
    values[None] = march.value()
    end = rational(flint, problem.end)
    for t in times:
        if t in values:
            continue
        if not _varies(problem) or not end < t <= end * (1 + flint.fmpq(1, 10**12)):
            raise ValueError(f"times must lie in [0, horizon={problem.end!r}], got {float(flint.arb(t))!r}")
        values[t] = values[None]  # beyond the end by a rounding of the end: there is nothing else to mean
    facts = {"modes": len(modes.rates), "panels": count, "stages": stages, "evaluations": stages * count}
    return [values[t] for t in times], facts


def _stages(flint: Any, parts: list[Piece], fastest: float, digits: int) -> int:
    """Return how many stages should do: one a digit where panels grow, fewer where all pieces are short.

    On short pieces the error (u/4)^s/s! of exp(-u), u = 2 lambda_1 times the length, is 1e4 times too cautious.
    """
    turn = 2.0 * fastest * max(float(flint.arb(part.length)) for part in parts)
    stages = 3
    while stages < digits + 2:
        if stages * math.log(turn / 4) - math.lgamma(stages + 1) < -(digits - 3) * math.log(10.0):
            break
        stages += 1
    return stages + max(len(part.coefficients) for part in parts) - 1


def _by_panels(flint: Any, problem: Problem, times: list[Any], digits: int) -> tuple[list[Any], dict[str, Any]]:
    """Return balls around f = 2E at ``times``, with more digits inside until their radii fit ``digits``."""
    if digits > MOST_DIGITS:
        raise ValueError(
            f"digits must be at most {MOST_DIGITS} (any number where gamma is constant and the modes at most"
            f" {LARGEST}), got {digits}"
        )
    parts = pieces(flint, problem)
    if len(parts) > MOST_PIECES:
        raise ValueError(f"enclosures follow at most {MOST_PIECES} pieces of gamma, got {len(parts)}")
    depth = digits
    best: tuple[float, list[Any], dict[str, Any]] | None = None
    for _ in range(ROUNDS):
        stages = _stages(flint, parts, problem.model.fastest, depth)
        # the eigenvectors of the collocation matrix lose about a digit a stage
        with flint.ctx.workprec(math.ceil((depth + _GUARD + 1.1 * stages) / math.log10(2.0))):
            values, facts = _marched(flint, problem, pieces(flint, problem), times, depth, stages)
            worst = max(_relative(value) for value in values)
        if best is None or worst < best[0]:
            best = worst, values, facts
        # where nothing at all is known of a loss, it may be as good as zero, and no digits help
        if worst <= 10.0**-digits or worst == math.inf or depth == _DEEPEST:
            break
        # a loss that falls by orders of magnitude needs as many digits more at the start
        lack = math.ceil(math.log10(worst)) + digits
        depth = min(depth + max(lack, 1) + 1, _DEEPEST)
    assert best is not None
    return best[1], best[2] | {"digits reached": _reached(best[0], digits)}


def _relative(value: Any) -> float:
    """Return the radius of a ball against its smallest number, inf where that is not positive."""
    if value.is_exact():
        return 0.0
    return float(value.rad() / value.lower()) if value > 0 else math.inf


def _reached(worst: float, digits: int) -> int:
    """Return the digits that a relative radius leaves, at most those asked for."""
    return digits if worst <= 10.0**-digits else max(0, math.floor(-math.log10(worst))) if worst < 1.0 else 0


def _midpoints(flint: Any, mp: Any, balls: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return midpoints and radii as mpf; the midpoint's rounding is added to the radius, and that rounded up."""
    values, radii = [], []
    for total in balls:
        mantissa, exponent = total.mid().man_exp()
        values.append(mp.ldexp(mp.mpf(int(mantissa)), int(exponent)))
        bound = total.rad() + abs(flint.arb(values[-1]) - total.mid())
        mantissa, exponent = bound.upper().man_exp()
        radii.append(mp.ldexp(mp.mpf(int(mantissa)), int(exponent)) * (1 + 2 * mp.eps))
    return values, radii


def solve_enclosure(problem: Problem, times: list[Any], digits: int) -> tuple[list[Any], list[Any], dict[str, Any]]:
    """Return midpoints of f = 2E at ``times`` >= 0, radii that are PROVEN bounds of their errors, and facts.

    gamma: constant, or piecewise polynomial in intrinsic time, which are the schedules ExponentialDecay, StableDecay,
    Discrete and phases of constant rate, and functions that are a scipy.interpolate.PPoly on [0, horizon]. Numbers
    given as floats stand for their binary values; the end and the slope of a schedule follow from its parameters in
    balls, and the float of its total intrinsic time stands for that time itself (not where gamma is constant: there a
    time is what it says).
    The spectrum: given, or the power law with any model size, infinite included. ``digits`` from 15 on, at most 100
    where panels are used; "digits reached" among the facts says what the radii amount to.
    The closure "gaussian": constant gamma > 0 and at most 400 modes.

    Raises ValueError for other problems, UnstableProblemError where gamma_max tr(H)/2 >= 1, ImportError without
    python-flint, ArithmeticError where a bound cannot be proven.

    >>> from fsl_num.model import Model
    >>> problem = Problem(Model(s=0.5, beta=2.0, size=float("inf"), noise=1.0), gamma=0.3, horizon=10.0)
    >>> values, radii, facts = solve_enclosure(problem, [10.0], 20)
    >>> bool(radii[0] < 1e-20 * values[0])
    True
    """
    try:
        import flint
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError("enclosures need python-flint: install the extra `rigor`") from missing
    problem.require_stable()
    digits = whole_count("digits", digits, least=15)
    mp = private_context(digits + _GUARD)
    secular = problem.is_constant and problem.model.size <= LARGEST and problem.peak_gamma > 0.0
    if problem.closure != "volterra" and not secular:
        raise ValueError(
            f"enclosures of the closure {problem.closure!r} need a constant gamma > 0 and at most {LARGEST} modes"
        )
    with flint.ctx.workprec(mp.prec + 30):
        moments = _exact_times(flint, problem, times, mp)
        if not secular:
            balls, facts = _by_panels(flint, problem, moments, digits)
            values, radii = _midpoints(flint, mp, balls)
            return values, radii, {**facts, "proven": "bound"}
        modes = ball_modes(flint, problem, digits, whole=True)
        gamma = flint.arb(pieces(flint, problem)[0].coefficients[0])
        balls = secular_values(flint, modes, gamma, problem.closure, [flint.arb(t) for t in moments])
        values, radii = _midpoints(flint, mp, balls)
        facts = {"modes": len(modes.rates), "digits reached": _reached(max(map(_relative, balls)), digits)}
        return values, radii, {**facts, "proven": "bound"}
