"""Rates that know no horizon, a (1 + tau)^-g, averaged over the last half of the run: their law, the best g. Ours.

The average over the steps K/2 to K forgets what is older like exp(-lambda (T - t)) and counts the rest as one of K/2
samples. Followers of the paper say that g = max(1 - a/b, 0) is best for every horizon at once, a their capacity and b
their source: in our notation max(1 - beta/(1 + s beta), 0). That holds for s < 2 - 1/beta (b < 2 a). On easier tasks
the noise of the first steps, whose rate is of order 1, is remembered like K(T), and the best g is 1/2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np
from sympy import Max, Min, Rational, Symbol

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import order_mutants, order_statement
from fsl_num.claims.hypotheses import Located, logarithm
from fsl_num.claims.statements import Joint, Ray, Statement
from fsl_num.claims.words import Where
from fsl_num.compression import compress
from fsl_num.gauss_rules import legendre_rule
from fsl_num.paper.block_constants import PERIOD, UP_TO_CONSTANTS, Constants, exact_powers, given_constants
from fsl_num.paper.block_spectra import infinite_modes
from fsl_num.paper.hypotheses import INFINITE, LABELS, MODEL, located, of_infinite_size, of_unit_noise
from fsl_num.paper.scaling_laws.laws import STABLE
from fsl_num.paper.scaling_laws.training import LONGEST, even_grid, peak_rate
from fsl_num.validation import Array
from fsl_sym.proof import AllOf, Formula, at_least, less, same_order
from fsl_sym.symbols import B, E, K, T, a, beta, s, sigma

GENTLE: Final = same_order(E, T**-s + sigma**2 / B * T ** (1 / beta) / K)
STEEP: Final = same_order(E, T**-s + sigma**2 / B * a**2 * T ** (1 / beta - 2))
"""The laws for g below 1/2 and above, where the first steps decide; g = 1/2 leaves a logarithm."""
REMEMBERED: Final = 2 - 1 / beta
"""The exponent of the forgetting kernel: tasks with s above it have lost what they learned when K(T) is left."""
BEST: Final = (
    same_order(E, K ** -Min(s, s * beta / (1 + s * beta))),
    same_order(T, K ** Min(1, beta / (1 + s * beta))),
)
"""The least excess risk over g, and the intrinsic time K^(1 - g) of the best g."""
FORGETS: Final = same_order(E, K ** (-REMEMBERED * beta / (1 + s * beta)))
"""The risk at the followers' g where s > 2 - 1/beta."""
APART: Final = Rational(1, 4)
"""By so much tasks are away from s = 2 - 1/beta, where two terms meet in a logarithm."""
_POWER: Final = Symbol("g", nonnegative=True)
"""g of the rates (1 + tau)^-g."""
_STEEPEST: Final = 0.95
"""Searches for the best g end here, and at 0, the constant rate."""
_NOISE: Final = 0.01
"""sigma^2/B where the best g is sought. For s < 1 - 1/beta the constant rate is best, and the noise is C sigma^2/B K^-d
of its signal, d = 1 - 1/beta - s: the risk drifts by C sigma^2/B (d log K) K^-d per log log K, whatever d at most by
C sigma^2/(B e). C is up to 5.9 for beta <= 6, so that sigma^2/B = 1 would drift by 2.2 where d log K = 1, and a
hundredth of it by .02. For s > 1 - 1/beta the constant rate is best until C sigma^2/B K^-d, which grows, is s beta."""
_RTOL: Final = 1e-4
"""Relative accuracy of the modes: drifts are judged to 1e-2 over tens of units of log(scale)."""
BALANCED: Final = "what the best power balances is measured over other spectra by horizon-free/law and law-steep"
_NODES: Final = legendre_rule(5)
_INNER: Final = np.concatenate([[0.0], np.geomspace(0.05, 1.0, 4)])
_FORGOTTEN: Final = 40.0
"""What is forgotten by exp(-40) is left out."""


def _nodes(edges: Array) -> tuple[Array, Array]:
    """Gauss-Legendre nodes and weights on the panels between edges (the last axis)."""
    x, w = _NODES
    half, middle = 0.5 * np.diff(edges), 0.5 * (edges[..., 1:] + edges[..., :-1])
    shape = (*edges.shape[:-1], -1)
    return (middle[..., None] + half[..., None] * x).reshape(shape), (half[..., None] * w).reshape(shape)


@lru_cache(maxsize=8)
def _modes(s: float, beta: float, constants: Constants | None) -> tuple[Array, Array, Array]:
    """The eigenvalues, and the weights in K and in the signal."""
    if constants is not None:
        rates, weights, signals = infinite_modes(constants, s, beta, 10.0 ** (LONGEST + 1))
        return 0.5 * rates, weights, signals
    modes = compress(s, beta, math.inf, 10.0 ** (LONGEST + 1), rtol=_RTOL)
    return modes.rates, modes.kernel_weights, modes.signal_weights


def averaged_risk(
    s: float, beta: float, fall: float, log_steps: float, peak: float = 0.5, noise: float = 1.0,
    constants: Constants | None = None,
) -> float:  # fmt: skip
    """The excess risk of the average over the last half of the steps, M infinite, rates peak (1 + tau)^-fall.

    ``noise`` is sigma^2/B; ``constants`` are those of the spectrum, if it is no exact power. With n = 1 + K,
    zeta = ((1 + tau)/n)^(1 - g) and X = lambda peak n^(1-g)/(1-g) a mode that is c at zeta has the average c A(zeta),
    A = 2 int exp(-X (y^(1-g) - zeta)) dy over y from max(1/2, z) to 1.
    """
    eigenvalues, kernel_weights, signal_weights = _modes(s, beta, constants)
    growth, bend = 1.0 - fall, fall / (1.0 - fall)
    log_n = float(np.logaddexp(0.0, log_steps))
    start, half = math.exp(-growth * log_n), 0.5**growth
    rates = (eigenvalues * (peak / growth * math.exp(growth * log_n)))[:, None]  # X of each mode

    def average(zeta: Array) -> Array:
        """A at zeta between half and 1, for each mode: an array (modes, zetas)."""
        span = np.minimum(1.0 - zeta, _FORGOTTEN / np.maximum(rates, 1e-300))
        x, w = _nodes(_INNER)
        later = span[..., None] * x
        density = (zeta[:, None] + later) ** bend * np.exp(-rates[..., None] * later)
        return np.asarray(2.0 / growth * span * (density @ w))

    tail, tail_weights = _nodes(1.0 - (1.0 - half) * np.concatenate([np.geomspace(1.0, 1e-6, 13), [0.0]]))
    late = (tail**-bend * average(tail) ** 2) @ tail_weights
    panels = np.geomspace(start, half, 2 + math.ceil(0.5 * math.log(half / start)))
    near = half - (half - panels[-2]) * np.concatenate([np.geomspace(1.0, 1e-12, 13), [0.0]])
    before, weights = _nodes(np.concatenate([panels[:-2], near]))
    kept = average(np.array([half]))[:, 0] ** 2
    early = kept * (np.exp(-2.0 * rates * (half - before)) @ (before**-bend * weights))
    # lambda^2 a^2 n^(1 - 2g) int z^(-2g) A^2 dz, with dz = zeta^bend d zeta/(1 - g)
    injected = kernel_weights * peak**2 / growth * math.exp((1.0 - 2.0 * fall) * log_n) @ (early + late)
    learned = signal_weights * kept * np.exp(-2.0 * rates[:, 0] * (half - start))
    return 0.5 * (float(learned.sum()) + noise * float(injected))


@lru_cache(maxsize=64)
def _law_rays(sample: Sample, fall: float) -> tuple[Ray, ...]:
    """The excess risk where the signal decides, and along K, a, B and sigma^2 where the noise does."""
    growth, ray = 1.0 - fall, partial(_risk_along, sample, fall)
    time, near = even_grid(LONGEST, sample), even_grid(8.0, sample)
    first = math.log10(peak_rate(sample.point[1]))
    return (
        ray("signal, T alone", time, [((u + 2) / growth, first, 150.0, 0.0) for u in time]),
        ray("signal; a, B and sigma^2", near, [(40.0 / growth, first - u, 150.0 + 1.7 * u, 0.6 * u) for u in near]),
        ray(
            "signal, from T = 1 on",
            time,
            [(log_steps, first, 150.0, 0.0) for log_steps in _steps_to(time, fall, first)],
        ),
        ray("noise, K alone", time, [((u + 2) / growth, first, 0.0, 150.0) for u in time]),
        ray("noise, a alone", near, [(30.0 / growth, first - u, 0.0, 150.0) for u in near]),
        ray("noise, B alone", near, [(9.0, first, u, 150.0) for u in near]),
        ray("noise, sigma^2 alone", time, [(9.0, first, 0.0, 12.0 + u) for u in time]),
        *_block_rays(sample, fall),
    )


def _block_rays(sample: Sample, fall: float) -> list[Ray]:
    """Over spectra up to constants, at intrinsic times of whole periods: where the signal decides, and the noise."""
    first, period = math.log10(peak_rate(sample.point[1])), math.log10(PERIOD)
    time = period * np.unique(np.round(even_grid(LONGEST, sample) / period))
    steps = _steps_to(time, fall, first)
    return [
        _risk_along(sample, fall, f"{name}, T alone, {constants.name}", time,
                    [(log_steps, first, *logs) for log_steps in steps], constants)
        for constants in given_constants(sample.seed)
        for name, logs in (("signal", (150.0, 0.0)), ("noise", (0.0, 150.0)))
    ]  # fmt: skip


def _risk_along(
    sample: Sample, fall: float, name: str, scale: Array, runs: list[tuple[float, float, float, float]],
    constants: Constants | None = None,
) -> Ray:  # fmt: skip
    """``runs`` are log10 of the steps, of the rate, of B and of sigma^2."""
    steps, rate, batch, noise = (math.log(10.0) * np.array(column) for column in zip(*runs, strict=True))
    times = rate + np.array([_log_time(fall, step) for step in steps])
    logs = {"K": steps, "T": times, "a": rate, "B": batch, "sigma^2": noise, "g": logarithm(fall) + 0.0 * steps}
    values = [averaged_risk(*sample.point, fall, k, math.exp(a), math.exp(v - b), constants)
              for k, a, b, v in zip(steps, rate, batch, noise, strict=True)]  # fmt: skip
    return Ray(name, math.log(10.0) * scale, logs, np.log(values))


def _outside(sample: Sample, part: str, fall: float, power: float) -> dict[str, dict[str, tuple[Ray, ...]]]:
    """One of the parts of a law at another power, and for times below 1."""
    time, first = even_grid(6.0, sample), math.log10(peak_rate(sample.point[1]))
    runs = [(log_steps, first, 150.0, 0.0) for log_steps in _steps_to(-time, fall, first)]
    return {
        f"g = {power}": {part: _law_rays(sample, power)},
        "T to 0": {part: (_risk_along(sample, fall, "T to 0", time, runs),)},
    }


def _steps_to(decades: Array, fall: float, log_rate: float) -> list[float]:
    """log10 of the steps after which the intrinsic time is 1 and more, given as its powers of ten."""
    growth = 1.0 - fall
    grown = np.log1p(growth * 10.0 ** (decades - log_rate)) / growth
    return [float(log_steps) for log_steps in np.log10(np.expm1(grown))]


def _log_time(fall: float, log_steps: float) -> float:
    """log of the intrinsic time at the rate 1."""
    growth = 1.0 - fall
    return math.log(math.expm1(growth * np.logaddexp(0.0, log_steps)) / growth)


def _grown(sample: Sample) -> Array:
    """log K up to 1e40."""
    return math.log(10.0) * np.linspace(0.5 * LONGEST, LONGEST, 5 + 4 * sample.effort)


def _ray(logs: Array, values: list[float], name: str = "K to infinity") -> Ray:
    return Ray(name, logs, {"K": logs}, np.array(values), 0)


def _harder(difficulty: Any, capacity: Any) -> tuple[Any, Any]:
    """A task below s = 2 - 1/beta."""
    return Min(difficulty, REMEMBERED.subs(beta, capacity) - APART), capacity


def _easier(difficulty: Any, capacity: Any) -> tuple[Any, Any]:
    """A task above s = 2 - 1/beta."""
    return Max(difficulty, REMEMBERED.subs(beta, capacity) + APART), capacity


def _best(sample: Sample) -> Mapping[str, tuple[Ray, ...]]:
    """The least risk over g at growing budgets, and the intrinsic time of the best g over a."""
    from scipy.optimize import minimize_scalar

    point, logs = sample.point, _grown(sample)
    risks, times = [], []
    for log_end in logs:

        def risk(fall: float, log_steps: float = log_end) -> float:
            return math.log(averaged_risk(*point, fall, log_steps, noise=_NOISE))

        minimum = minimize_scalar(risk, bounds=(0.0, _STEEPEST), method="bounded", options={"xatol": 1e-3})
        risks.append(float(minimum.fun))
        times.append(_log_time(float(minimum.x), log_end))
    return {str(part): (_ray(logs, values),) for part, values in zip(BEST, (risks, times), strict=True)}


def _best_mutants(sample: Sample) -> dict[str, Statement]:
    wrong = {
        "a constant rate": (0, K ** -Min(s, 1 - 1 / beta)),
        "every task as an easy one": (0, K ** (-s * beta / (1 + s * beta))),
        "every task as a hard one": (0, K**-s),
        "capacity and source exchanged": (1, K ** Min(1, (1 + s * beta) / beta)),
        "the time of a best constant rate": (1, K ** Min(1, 1 / (1 + s))),
    }
    statements: dict[str, Statement] = {}
    for name, (place, order) in wrong.items():
        part = BEST[place]
        if order.subs({s: sample.s, beta: sample.beta}) != part.right.subs({s: sample.s, beta: sample.beta}):
            statements[name] = Joint({str(part): order_statement(same_order(part.left, order), sample)})
    return statements


def _their_power(sample: Sample) -> float:
    s, beta = sample.point
    return 1.0 - beta / (1.0 + s * beta)


def _at_their_power(sample: Sample) -> tuple[Ray, ...]:
    """The risk at g = 1 - beta/(1 + s beta)."""
    (s, beta), logs, fall = sample.point, _grown(sample), _their_power(sample)
    rays = [_ray(logs, [math.log(averaged_risk(s, beta, fall, log_steps)) for log_steps in logs])]
    # where spectra up to constants repeat themselves: at intrinsic times of whole periods
    period = math.log10(PERIOD)
    times = np.unique(np.round([_log_time(fall, log_steps) / math.log(PERIOD) for log_steps in logs]))
    repeating = math.log(10.0) * np.array(_steps_to(period * times, fall, 0.0))
    for constants in given_constants(sample.seed):
        values = [math.log(averaged_risk(s, beta, fall, log_steps, constants=constants)) for log_steps in repeating]
        rays.append(_ray(repeating, values, f"K to infinity, {constants.name}"))
    return tuple(rays)


def _law_claim(
    name: str,
    title: str,
    formula: Formula,
    falls: Mapping[str, float],
    neighbour: Formula,
    power: tuple[Formula, ...],
    beyond: float,
    remark: str,
) -> Claim:
    """A law that holds for each of the powers; the law of the other powers, one of which is ``beyond``, is a mutant."""

    def mutants(sample: Sample) -> dict[str, Statement]:
        wrong = {**order_mutants(formula, sample), "the law of other powers": order_statement(neighbour, sample)}
        return {f"{fall}: {mutant}": Joint({fall: version}) for fall in falls for mutant, version in wrong.items()}

    return Claim(
        name, "eqn: fsl-simplified", 883, title, formula,
        (MODEL, INFINITE, *power, at_least(T, 1), STABLE, UP_TO_CONSTANTS),
        of_infinite_size(lambda sample: {name: _law_rays(sample, fall) for name, fall in falls.items()}),
        lambda sample: Joint({name: order_statement(formula, sample) for name in falls}), mutants,
        beyond=lambda sample: {name: {part: Located(rays, {"M": math.inf}) for part, rays in parts.items()}
                               for name, parts in _outside(sample, *max(falls.items()), beyond).items()},
        role="own", depends=("eqn: fsl-simplified",), remark=remark,
    )  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    _law_claim(
        "horizon-free/law", "the law of gentle horizon-free rates with tail averaging",
        GENTLE, {"g = 0": 0.0, "g = 2/5": 0.4}, STEEP, (less(_POWER, Rational(1, 2)),), 0.8,
        "The noise is that of the modes that are learned, over the samples.",
    ),
    _law_claim(
        "horizon-free/law-steep", "the law of steep horizon-free rates with tail averaging",
        STEEP, {"g = 3/5": 0.6, "g = 4/5": 0.8}, GENTLE, (less(Rational(1, 2), _POWER), less(_POWER, 1)), 0.2,
        "The kernel remembers the noise of the first steps.",
    ),
    Claim(
        "horizon-free/best-power", "eqn: fsl-simplified", 883, "the best power of a horizon-free rate",
        AllOf(BEST), (MODEL, INFINITE, less(s, REMEMBERED), Where("E is the least risk over g in [0, 1)"),
               LABELS, exact_powers(BALANCED)),
        of_unit_noise(_best),
        lambda sample: Joint({str(part): order_statement(part, sample) for part in BEST}),
        _best_mutants, moved=_harder, role="own", depends=("horizon-free/law", "horizon-free/law-steep"),
        remark="It has the order of the best schedules that know the horizon.", also_in=("capacity-source",),
    ),
    Claim(
        "horizon-free/easier-tasks", "eqn: fsl-simplified", 883, "where the power of the followers is too steep",
        FORGETS, (MODEL, INFINITE, less(REMEMBERED, s), "g = 1 - beta/(1 + s beta)", LABELS,
         UP_TO_CONSTANTS),
        located(lambda sample: {"g": _their_power(sample)})(of_unit_noise(_at_their_power)),
        lambda sample: order_statement(FORGETS, sample),
        lambda sample: {
            name: order_statement(same_order(E, order), sample)
            for name, order in {
                "the order of the best schedules": K ** (-s * beta / (1 + s * beta)),
                "the order at g = 1/2": K ** (1 / (2 * beta) - 1),
            }.items()
        },
        regimes=("easy",), moved=_easier, role="own", depends=("horizon-free/law-steep",),
        remark="The noise of the first steps decides, so that the power of the followers leaves more than the law "
               "allows.",
        also_in=("capacity-source",),
    ),
)  # fmt: skip
