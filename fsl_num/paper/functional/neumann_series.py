"""ineq: inf_sum and sec: proof_sketch: the solution as a series of powers of T, and how these powers compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import numpy as np
from sympy import Function, Rational, Sum, Symbol, oo, zeta

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.hypotheses import Located, logarithm
from fsl_num.claims.statements import Direction, Equivalent, Ray, Sharp
from fsl_num.claims.words import Where
from fsl_num.design.shapes import shape
from fsl_num.paper.block_constants import AS_A_POWER, PERIOD, UP_TO_CONSTANTS, Constants, exact_powers, given_constants
from fsl_num.paper.functional.balls import enclosed_risk, enclosed_sums, exact_problem, flint_or_none, stability_of
from fsl_num.paper.functional.runs import bound, equation_up_to_constants
from fsl_num.paper.hypotheses import MODEL, SCHEDULES, of_constant_rate
from fsl_num.paper.statements import Between
from fsl_num.spectrum import approximation_error
from fsl_num.validation import Array
from fsl_num.volterra import Problem, solve
from fsl_num.volterra.mesh import mesh_equation
from fsl_num.volterra.neumann import neumann_series
from fsl_sym.best_constants import supersolutions
from fsl_sym.proof import at_least, order_at_most, tends, within
from fsl_sym.symbols import beta, t

G_MAX = Symbol("gamma_max", positive=True)
TERMS = (2, 4, 8)
BITS = 1000
"""The rates of the slowest of 50 modes are so close that the residues cancel to a hundred digits and more."""
LOSS, POWER = (Function(name, positive=True) for name in ("f", "T^k g"))
"""The solution f of f = g + T f, and the k-th power of T applied to g, at an intrinsic time."""
k, n = (Symbol(name, integer=True, nonnegative=True) for name in "kn")
_c, _largest = Symbol("c", positive=True), Symbol("g_max", positive=True)
SERIES = within(LOSS(t), Sum(POWER(k, t), (k, 0, n)), _c ** (n + 1) / (1 - _c) * _largest)


def second_over_first(sample: Sample) -> Located:
    """(T^2 g)/(gamma tr(H) T g) at t = 1e6 for the signal alone, constant gamma, M = 1e40; two rates."""
    s, beta = sample.point
    setting = {"M": 1e40, "t": 1e6, "sigma": 0.0}
    equation = mesh_equation(s, beta, setting["M"], setting["t"])
    ratios = []
    for stability in (0.02, 0.2):
        operator = equation.operator(bound(equation, stability) * shape("constant", equation))
        first = operator @ equation.signal
        ratio = float((operator[-1] @ first) / first[-1]) / (2.0 * stability)
        ratios.append(("ratio", f"c = {stability:g}", ratio))
    return Located(ratios, setting)


def series(sample: Sample) -> list[tuple[dict[str, Any], Any]]:
    """The excess risk at t = 1000, enclosed, beside the number of terms of the series that it is compared with."""
    problem = _series_problem(sample)
    flint = flint_or_none()
    if flint is None:
        risk: Any = float(solve(problem, problem.end, rtol=1e-11).excess_risk[0])
    else:
        with flint.ctx.workprec(BITS):
            (risk,) = enclosed_risk(flint, problem, [Fraction(problem.end)])
    return [({"n": terms, "t": problem.end, "M": problem.model.size, "c": problem.stability}, risk) for terms in TERMS]


def _series_problem(sample: Sample) -> Problem:
    return exact_problem(sample, 50, 0.2, 1, 1e3)


@lru_cache(maxsize=64)
def partial_sums(sample: Sample) -> tuple[Sequence[Any], float]:
    """Partial sums g', g' + T g, ... of the series at t = 1000 (g' = (delta + e)/2), and gamma_max tr(H)/2."""
    problem = _series_problem(sample)
    flint = flint_or_none()
    if flint is None:
        return neumann_series(problem, [1e3], terms=TERMS[-1]).partial_sums[:, 0].tolist(), problem.stability
    with flint.ctx.workprec(BITS):
        return enclosed_sums(flint, problem, Fraction(problem.end), TERMS[-1]), problem.stability


@lru_cache(maxsize=64)
def sketch_rays(sample: Sample) -> tuple[Ray, ...]:
    """T^2 g/T g and T^3 g/T^2 g, over tr(H): along M at t = M^beta and t = 4, and along gamma_max alone.

    g = delta + e + noise (the constant source stands for sigma^2); schedules that switch on and off, one to rates that
    fall with M; spectra that are powers, and powers up to constants.
    """
    s, beta = sample.point
    # what M features lack of the trace fades like M^-(beta-1): the smaller beta, the longer the ray
    last = max(min(6.0, 16.0 / beta), min(4.0 / (beta - 1.0), 24.0))
    sizes = np.floor(np.geomspace(8.0, 10.0**last, 7))
    repeating = np.unique(np.floor(PERIOD ** (np.arange(1.0, 8.0) / beta) * (1.0 + 1e-12)))
    kinds = [(None, sizes), *((constants, repeating[repeating > 3.0]) for constants in given_constants(sample.seed))]
    runs = [
        (clock, power, name, noise)
        for name, noise in (("constant", 0.0), ("step down", 0.0), ("oscillation", 1.0))
        for clock, power in (("t = M^beta", beta), ("t = 4", 0.0))
    ]
    rays: list[Ray] = []
    for constants, along in kinds:
        kind = "" if constants is None else f", {constants.name}"
        # later than M^beta the high rates of the beginning are forgotten, and the low ones alone count
        for clock, power, name, noise in (*runs, ("t = M^(3 beta/2)", 1.5 * beta, _FALLS, 1.0)):
            path = [(float(size), max(float(size) ** power, 4.0), 0.2) for size in along]
            rays += _sketch_rays(f"{clock}, {name}, sigma^2 = {noise:g}{kind}", sample, name, noise, path, constants)
        slower = [(float(along[2]), 4.0, 0.2 * 10.0**-power) for power in range(9)]
        rays += _sketch_rays(f"constant, gamma_max alone{kind}", sample, "constant", 0.0, slower, constants)
    return tuple(rays)


_FALLS = "step down to rates over M"


def _sketch_rays(
    name: str, sample: Sample, shape_name: str, noise: float, path: Sequence[tuple[float, float, float]],
    constants: Constants | None = None,
) -> list[Ray]:  # fmt: skip
    """Both quotients along a path of M, t and gamma_max tr(H)/2."""
    values, rates = [], []
    for size, time, stability in path:
        equation = equation_up_to_constants(constants, *sample.point, size, time)
        rate = bound(equation, stability)
        shaped = shape("step down" if shape_name == _FALLS else shape_name, equation)
        if shape_name == _FALLS:
            shaped = np.where(shaped == shaped.max(), shaped, shaped / size)
        operator = equation.operator(rate * shaped)
        first = operator @ (equation.signal + equation.delta + noise)
        second = operator @ first
        third = operator[-1] @ second
        values.append(np.log(np.array([second[-1] / first[-1], third / second[-1]]) / equation.trace))
        rates.append(rate)
    sizes, times, _ = (np.array(column) for column in zip(*path, strict=True))
    logs = {"M": np.log(sizes), "t": np.log(times), "1/gamma_max": -np.log(rates),
            "sigma^2": np.full(sizes.size, logarithm(noise))}  # fmt: skip
    scale = logs["M"] if np.ptp(sizes) else logs["1/gamma_max"]
    return [
        Ray(f"T^{k + 2} g, {name}", scale - scale[0] + 1.0, logs, quotient)
        for k, quotient in enumerate(np.transpose(values))
    ]


def _sketch(sample: Sample, direction: Direction = "upper") -> Equivalent:
    """T^(k+1) g over T^k g is of the order gamma_max, which the rays name by its inverse: that grows where it falls."""

    def law(powers: Mapping[str, float], logs: Mapping[str, Array]) -> Array:
        return np.asarray(powers["M"] * logs["M"] + powers["1/gamma_max"] * logs["1/gamma_max"])

    return Equivalent(law, {"M": 0.0, "1/gamma_max": -1.0}, direction=direction)


def largest(sample: Sample) -> float:
    """sup g of E: half of delta + e(0) + sigma^2 = zeta(1 + s beta) + 1."""
    return 0.5 * float(approximation_error(*sample.point, 1)) + 1.0


def _powers(sample: Sample) -> list[dict[Any, Any]]:
    """The solution, and the terms of the series as differences of partial sums."""
    (sums, stability), (point, risk) = partial_sums(sample), series(sample)[0]
    terms = np.diff([0.0, *map(float, sums)])
    return [{LOSS: lambda t: 2.0 * float(risk), POWER: lambda k, t: 2.0 * terms[int(k)], t: point["t"], n: count,
             _c: stability, _largest: 2.0 * largest(sample)} for count in TERMS]  # fmt: skip


def _series(sample: Sample) -> Sharp:
    sums, stability = partial_sums(sample)
    first, enclosed = sums[1] - sums[0], flint_or_none() is not None

    def remainder(point: dict[str, Any]) -> float:
        # T^n g <= c^n sup g, so the terms after the n-th add at most c^(n+1)/(1 - c) sup g; 1e-12 of it may be
        # rounding, 1e-9 the error of a solver that proves none
        tail = stability ** (point["n"] + 1) / (1.0 - stability) * largest(sample)
        return float(tail / float(sums[-1]) * (1.0 - 1e-12) + (0.0 if enclosed else 1e-9))

    def partial(point: dict[str, Any]) -> Any:
        return sums[point["n"]]

    return Sharp(
        partial, remainder,
        {"without its first term": lambda point: partial(point) - first,
         "one term twice": lambda point: partial(point) + 0.5 * first},
        rigorous=enclosed,
    )  # fmt: skip


TWICE = tends(POWER(2, t) / POWER(1, t), t, oo, G_MAX * zeta(beta))
"""What the second term of the series is over the first; measured over gamma tr(H)."""


_OFF = 0.2
"""So far off a limit is refused wherever the slack, which is up to .1 at beta = 3/2, leaves it open."""


def _twice(sample: Sample) -> Between:
    # The mesh errs by up to 1.2e-2 here (measured by refining it); the next term of the limit is t^(1/beta - 1).
    slack = 0.02 + 8.0 * 1e6 ** (1.0 / sample.point[1] - 1.0)
    limit = float((TWICE.right / (G_MAX * zeta(beta))).subs(beta, sample.beta))
    ranges, halves = ({"ratio": (end, end)} for end in (limit, limit / 2.0))
    near = {f"{share - 1:+.1%} of it": {"ratio": (share * limit, share * limit)} for share in (1 - _OFF, 1 + _OFF)}
    return Between(ranges, slack, {"gamma tr(H)/2, as in the largest norm": halves, **near}, formulas=(TWICE,))


def _steep(s: Any, beta: Any) -> tuple[Any, Any]:
    raised = max(beta, Rational(3, 2))
    return max(s, Rational(5, 2) - 1 / raised), raised


def _source(sample: Sample) -> dict[str, Any]:
    """The solution, and the source of the equation, at a time and from the start."""
    problem, known = _series_problem(sample), _powers(sample)[0]
    model, times = problem.model, np.append(0.0, np.geomspace(1e-3, 1e3, 50))
    g = float(model.approximation_error) + model.signal(times) + float(model.noise)
    risk = float(solve(problem, problem.end, rtol=1e-11).excess_risk[0])
    return {"t": known[t], "f": known[LOSS], "the excess risk at t": risk, "g_max": known[_largest], "g": g}


SOURCE: Final = Where("f(t) is 2 (the excess risk at t); g_max is the largest of g", _source)
CLAIMS: tuple[Claim, ...] = (
    Claim(
        "ineq: inf_sum", "ineq: inf_sum", 732, "the solution as a series of powers of T",
        SERIES,
        (MODEL, SCHEDULES("constant"), Where("c is gamma tr(H)/2", stability_of), SOURCE,
         "c = 0.2", "t = 1000, M = 50", "n = 2, 4 and 8",
         exact_powers("the series is that of whatever kernel; balls hold its sum for these")),
        of_constant_rate(series), _series, instances=_powers, derive=supersolutions,
        quoted=r"f = (\cI - \cT)^{-1} g = g + \cT g + \cT^2 g + \cT^3 g + \cdots",
    ),
    Claim(
        "sec: proof_sketch/neumann", "sec: proof_sketch", 792, "higher powers of T against the first",
        order_at_most(POWER(k + 1, t) / POWER(k, t), G_MAX),
        (MODEL, at_least(t, 4), SCHEDULES("constant", "step down", "oscillation"), "sigma = 0 and 1", UP_TO_CONSTANTS),
        sketch_rays, _sketch, lambda sample: {"of that order": _sketch(sample, "both")}, role="argument",
        depends=("cor: contraction",),
    ),
    Claim(
        "sec: proof_sketch/contraction-constant", "sec: proof_sketch", 792, "the pointwise contraction is gamma tr(H)",
        TWICE,
        (MODEL, "sigma = 0", "s >= 5/2 - 1/beta", SCHEDULES("constant"), "beta >= 3/2",
         "M = 1e40, t = 1e6", exact_powers(AS_A_POWER)),
        of_constant_rate(second_over_first), _twice, moved=_steep, regimes=("easy",), role="own",
        depends=("cor: contraction/sharp",),
        remark="It is twice the factor by which the operator shrinks the largest value, and the sketch needs it: "
               "the constant of the subconvolution.",
    ),
)  # fmt: skip
