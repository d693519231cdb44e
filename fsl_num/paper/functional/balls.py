"""Proven numbers where python-flint is there: the risk with its proven error, and the sums of the Neumann series."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from fsl_num.claims.claim import Sample
from fsl_num.model import Model
from fsl_num.spectrum import trace
from fsl_num.volterra import Problem, solve

DIGITS = 20


def flint_or_none() -> Any:
    """The module flint, or None where it is not installed."""
    try:
        import flint
    except ImportError:
        return None
    return flint


def exact_problem(sample: Sample, size: int, stability: float, noise: int, horizon: float) -> Problem:
    """A constant rate for M features, all numbers exact; the rate is the nearest float to what the stability asks."""
    exact: dict[str, Any] = {name: Fraction(int(value.p), int(value.q))
                             for name, value in (("s", sample.s), ("beta", sample.beta))}  # fmt: skip
    rate: Any = Fraction(2.0 * stability / float(trace(float(sample.beta), size)))
    return Problem(Model(**exact, size=size, noise=noise), gamma=rate, horizon=horizon)


def stability_of(sample: Sample) -> dict[str, Any]:
    """A stability c, and the rate that is taken for it, of ten features."""
    problem = exact_problem(sample, 10, 0.2, 1, 1e3)
    eigenvalues = np.diag(np.arange(1.0, 11.0) ** -sample.point[1])
    return {"c": 0.2, "gamma": problem.peak_gamma, "H": eigenvalues, "H_M": eigenvalues}


def enclosed_risk(flint: Any, problem: Problem, times: Sequence[Fraction]) -> list[Any]:
    """Balls around the excess risk at ``times``."""
    solution = solve(problem, list(times), digits=DIGITS, method="enclosure")
    return [flint.arb(str(value), str(error))
            for value, error in zip(solution.excess_risk, solution.error, strict=True)]  # fmt: skip


def enclosed_sums(flint: Any, problem: Problem, t: Fraction, terms: int) -> list[Any]:
    """Balls around half of delta + e, + T g, ..., + T^n g at ``t``, a constant rate and few modes.

    T^n g has the Laplace transform (gamma sum_j w_j/(p + r_j))^n ((delta + sigma^2)/p + sum_j v_j/(p + r_j)). It is the
    sum of the residues of that, at 0 and, of the order n + 1, at each -r_j, by power series.
    """
    numbers = problem.model.exact["s"], problem.model.exact["beta"], problem.exact["gamma"], t
    s, beta, rate, time = (flint.arb(flint.fmpq(value.numerator, value.denominator)) for value in numbers)
    size, noise = int(problem.model.size), flint.arb(problem.model.noise)
    eigen = [flint.arb(j) ** -beta for j in range(1, size + 1)]
    signals = [flint.arb(j) ** -(1 + s * beta) for j in range(1, size + 1)]
    pushes = [rate * eigenvalue * eigenvalue for eigenvalue in eigen]
    delta = (1 + s * beta).zeta(flint.arb(size + 1))
    source = delta + noise
    total = delta + sum(signal * (-2 * rate * time).exp() for signal, rate in zip(signals, eigen, strict=True))
    shrinks = sum(push / (2 * rate) for push, rate in zip(pushes, eigen, strict=True))
    added = [source * shrinks**n for n in range(1, terms + 1)]
    for own, push, signal in zip(eigen, pushes, signals, strict=True):
        kernel, data = [push], [signal]  # of x = p + r, times x
        gaps = [(2 * (own - pole), w, v)
                for pole, w, v in zip(eigen, pushes, signals, strict=True) if pole is not own]  # fmt: skip
        for m in range(1, terms + 1):
            kernel.append(-sum((w / gap**m for gap, w, _ in gaps), flint.arb(0)))
            data.append(-sum((v / gap**m for gap, _, v in gaps), source / (2 * own) ** m))
        fades = [(-2 * own * time).exp()]  # of exp(p t), in powers of x
        for m in range(1, terms + 1):
            fades.append(fades[-1] * time / m)
        product = _product(data, fades)
        for n in range(1, terms + 1):
            product = _product(product, kernel)
            added[n - 1] += product[n]
    sums = [total / 2]
    for term in added:
        sums.append(sums[-1] + term / 2)
    return sums


def _product(left: list[Any], right: list[Any]) -> list[Any]:
    """The product of two power series of one length, cut off there."""
    return [sum(left[i] * right[m - i] for i in range(m + 1)) for m in range(len(left))]
