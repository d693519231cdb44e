r"""The spectrum in ball arithmetic: few exponentials, and a proven bound of what they leave out.

Small models keep all their modes. Otherwise the first J are kept, and the sums over j > J are integrals of exp(-tau x)
over a measure on [0, 1], x = ((J + 1)/j)^beta, tau = 2 t (J + 1)^-beta, with moments that are Hurwitz zeta values. As
the 2n-th derivative lies in [0, tau^(2n)], Gauss's rule of n nodes is too small by at most tau^(2n) norm/(2n)!. The
modes of :mod:`fsl_num.volterra.digits.modes` are fewer on long horizons, but their bounds are computed in floats.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fsl_num.volterra.enclosure.gamma import rational
from fsl_num.volterra.enclosure.gauss import GaussRule, gauss_rule_of_moments
from fsl_num.volterra.problem import Problem

LARGEST = 1500
"""The most modes that are followed one by one."""

_DIRECT = 160
_MOST_NODES = 120
_BITS_A_NODE = (8, 16, 32, 64)  # of the moments, tried in turn: a node loses the more, the lumpier the measure


@dataclass(frozen=True)
class Remainder:
    """0 <= (sum left out)(t) <= size (t rate)^power: ``kernel`` and ``signal`` are the two sizes."""

    kernel: Any
    signal: Any
    rate: Any
    power: int


@dataclass(frozen=True)
class BallModes:
    """Rates 2 lambda, weights of the kernel and of the signal, delta and sigma^2 as balls; what the modes leave out.

    ``multiplicities``: how many modes of a given spectrum share each rate.
    """

    rates: list[Any]
    weights: list[Any]
    signals: list[Any]
    delta: Any
    noise: Any
    remainder: Remainder | None
    multiplicities: list[int]


def parameter(flint: Any, problem: Problem, name: str) -> Any:
    """Return s, beta or noise as a ball around exactly what was given."""
    return flint.arb(rational(flint, problem.model.exact.get(name, getattr(problem.model, name))))


def _split(problem: Problem, digits: int) -> tuple[int, int]:
    """Return J and n that reach 10^-digits with the fewest modes: tau^(2n) norm/(2n)! is about (tau/4)^(2n)/(2n)!."""
    best = (math.inf, 0)
    for nodes in range(4, _MOST_NODES + 1):
        log_tau = math.log(4.0) + (math.lgamma(2 * nodes + 1) - digits * math.log(10.0)) / (2 * nodes)
        log_head = (math.log(2.0 * problem.end) - log_tau) / problem.model.beta
        head = max(math.ceil(math.exp(min(log_head, 60.0))), 4)
        best = min(best, (head + 2 * nodes, nodes))
    return int(best[0] - 2 * best[1]), best[1]


def ball_modes(flint: Any, problem: Problem, digits: int, *, whole: bool = False) -> BallModes:
    """Return the modes of ``problem``, whose remainder is about 10^-digits at the horizon or nothing at all.

    ``whole``: keep all modes of a finite model.

    Raises ValueError where more than ``LARGEST`` modes would be needed.
    """
    noise = parameter(flint, problem, "noise")
    if problem.model.spectrum is not None:
        if problem.model.spectrum.size > LARGEST:
            raise ValueError(
                f"enclosures need a spectrum of at most {LARGEST} modes, got {problem.model.spectrum.size}"
            )
        shared: dict[float, list[float]] = {}
        for rate, weight in zip(
            problem.model.spectrum.eigenvalues.tolist(), problem.model.spectrum.signals.tolist(), strict=True
        ):
            shared.setdefault(rate, []).append(weight)
        eigen = [flint.arb(x) for x in shared]
        signals = [sum((flint.arb(x) for x in equal), flint.arb(0)) for equal in shared.values()]
        weights = [len(equal) * x * x for x, equal in zip(eigen, shared.values(), strict=True)]
        rates, counts = [2 * x for x in eigen], [len(equal) for equal in shared.values()]
        return BallModes(rates, weights, signals, flint.arb(problem.model.spectrum.tail), noise, None, counts)
    s, beta = parameter(flint, problem, "s"), parameter(flint, problem, "beta")
    head, nodes = _split(problem, digits)
    size = problem.model.size
    whole = whole or size <= max(_DIRECT, 2 * head + 4 * nodes)
    if (size if whole else head) > LARGEST:
        raise ValueError(
            f"enclosures follow at most {LARGEST} modes one by one, but {digits} digits up to t = {problem.end:g} need"
            f" {size if whole else head:g} of the model_size = {size:g}; ask for fewer digits or a shorter horizon"
        )
    kept = range(1, int(size if whole else head) + 1)
    eigen = [flint.arb(j) ** -beta for j in kept]
    rates, weights = [2 * x for x in eigen], [x * x for x in eigen]
    signals = [flint.arb(j) ** -(1 + s * beta) for j in kept]

    def beyond(power: Any, last: float) -> Any:
        return flint.arb(0) if math.isinf(last) else flint.acb(power).zeta(flint.acb(int(last) + 1)).real

    delta = beyond(1 + s * beta, size)
    if whole:
        return BallModes(rates, weights, signals, delta, noise, None, [1] * len(rates))
    precision = flint.ctx.prec
    for extra in _BITS_A_NODE:
        with flint.ctx.workprec(precision + extra * nodes):
            try:
                kernel, signal, scale = _tail_rules(flint, problem, head, nodes, beyond)
            except ArithmeticError:
                if extra == _BITS_A_NODE[-1]:
                    raise
                continue
            numbers = [*kernel.nodes, *kernel.weights, *signal.nodes, *signal.weights]
            if min(x.rel_accuracy_bits() for x in numbers) >= precision:
                break
    count = flint.arb(flint.fmpz.fac_ui(2 * nodes))
    remainder = Remainder(kernel.norm / count, signal.norm / count, 2 / scale, 2 * nodes)
    rates += [2 * x / scale for x in (*kernel.nodes, *signal.nodes)]
    zeros = [flint.arb(0)] * nodes
    weights, signals = weights + kernel.weights + zeros, signals + zeros + signal.weights
    return BallModes(rates, weights, signals, delta, noise, remainder, [1] * len(rates))


def _tail_rules(
    flint: Any, problem: Problem, head: int, nodes: int, beyond: Callable[[Any, float], Any]
) -> tuple[GaussRule, GaussRule, Any]:
    """Return the rules of n nodes for kernel and signal beyond ``head``, and (head + 1)^beta, the unit of 1/lambda."""
    s, beta = parameter(flint, problem, "s"), parameter(flint, problem, "beta")
    scale = flint.arb(head + 1) ** beta
    size, rules = problem.model.size, []
    for power in (2 * beta, 1 + s * beta):
        powers = [power + i * beta for i in range(2 * nodes + 1)]
        moments = [(beyond(q, head) - beyond(q, size)) * scale**i for i, q in enumerate(powers)]
        rules.append(gauss_rule_of_moments(flint, moments))
    return rules[0], rules[1], scale
