"""The expected risk of training with noise, for given random features, beside the integrals of the laws.

f is twice the excess risk. In the eigenbasis of W H W' the second moments of normal features obey the closed equation

    m_j' = -2 mu_j m_j + gamma (mu_j (f + sigma^2) + mu_j^2 m_j),    f = tail + sum_j mu_j m_j,

which :func:`fsl_num.volterra.solve` solves for the spectrum of W H W'. The learning rate is constant, with
gamma tr(W H W') = 1/2, up to the end T, or up to T/2 and zero afterwards. f is linear in sigma^2: one solution without
noise and one without a target serve all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from fsl_num.claims.claim import Sample
from fsl_num.claims.words import Kinds
from fsl_num.gauss_rules import legendre_rule
from fsl_num.model import Model
from fsl_num.paper.hypotheses import FEATURES, located
from fsl_num.paper.random_features.draws import Draw, decay, drawn, variance
from fsl_num.paper.random_features.statements import DrawnRay
from fsl_num.paper.random_features.terms import floor, kappa, leak_term, signal_term, top_tail
from fsl_num.validation import Array
from fsl_num.volterra import Problem, Spectrum, solve

SIZES = (16, 32, 64, 128)
RUNS = ((32, 24, 20, 16), (120, 96, 64, 48), (360, 240, 160, 96))
"""Draws of the quick, full and deep profiles."""
SHARES = (1 / 2, 2.0)
"""The ends of training are (c M)^beta for these c: on both sides of the time M^beta."""
NOISES = ("no noise", "matched noise", "loud noise")
SIGMAS = Kinds("label noise", {"no noise": "no", "matched noise": "floor-sized", "loud noise": "early and louder"})
"""sigma^2 = 0; the sigma^2 whose share of the risk is of the order of what random features never learn, since between
terms of different orders a ratio moves from one constant to another, which at these sizes looks like a drift; and,
before the time M^beta, M times that one, for which the rest soon does not count."""
LOUDNESS = 8.0
"""sigma^2 over that order: a quarter of it returns as risk at a constant rate, so that the noise decides."""
STRENGTH = 0.5
"""gamma tr(W H W'): half of what is stable for the equation of the paper."""
_FIRST_PANEL = 0.25
_ORDER = 8


@dataclass(frozen=True, eq=False)
class Nodes:
    """A rule on [0, end] that resolves both ends: ``z``, the distance ``left`` = end - z, and the ``weights``."""

    end: float
    z: Array
    left: Array
    weights: Array


def nodes(end: float) -> Nodes:
    """Gauss rules on panels that double from either end: what decays like a power is smooth on each.

    >>> rule = nodes(100.0)
    >>> bool(abs(rule.weights @ np.exp(-rule.left) - 1.0) < 1e-9)
    True
    """
    half = 0.5 * end
    count = max(1, int(np.ceil(np.log2(max(half / _FIRST_PANEL, 1.0)))))
    cuts = np.concatenate([[0.0], half * 2.0 ** -np.arange(count, -1.0, -1.0)])
    points, weights = legendre_rule(_ORDER)
    widths = np.diff(cuts)
    near = (cuts[:-1, None] + 0.5 * widths[:, None] * (points + 1.0)).ravel()
    mass = (0.5 * widths[:, None] * weights).ravel()
    return Nodes(
        end,
        np.concatenate([near, end - near[::-1]]),
        np.concatenate([end - near, near[::-1]]),
        np.concatenate([mass, mass[::-1]]),
    )


def rate_of(draw: Draw) -> float:
    """gamma, of which gamma tr(W H W') is :data:`STRENGTH`."""
    return STRENGTH / float(draw.eigenvalues.sum())


def returned_by(draw: Draw, times: Array) -> Array:
    """What noise returns as risk after ``times``: sum_j mu_j^2 exp(-2 mu_j t)."""
    return np.asarray(decay(draw.eigenvalues, times) @ draw.eigenvalues**2)


def solutions(draw: Draw, rate: float, times: Array) -> tuple[Array, Array]:
    """f of the mean target without noise, and f of noise 1 without a target, for the constant rate gamma."""
    risks = []
    for signals, tail, noise in ((draw.mean_signals, draw.mean_tail, 0.0), (0.0 * draw.mean_signals, 0.0, 1.0)):
        spectrum = Spectrum(draw.eigenvalues.tolist(), signals.tolist(), tail)
        end = float(times.max())
        problem = Problem(Model(noise=noise, spectrum=spectrum), gamma=rate, horizon=end, closure="gaussian")
        risks.append(2.0 * np.asarray(solve(problem, times, rtol=1e-9).excess_risk))
    return risks[0], risks[1]


def risks_and_terms(
    draw: Draw, s: float, beta: float, ends: Mapping[tuple[float, bool], float]
) -> dict[tuple[float, bool], dict[str, Any]]:
    """f for each of :data:`NOISES`, and the integrals of the laws, in natural logarithms, at each end.

    ``ends``: (share, cut) -> end; with ``cut`` the rate is 0 after half of the time. One solution serves all of them.
    """
    rate = rate_of(draw)
    rules = {key: nodes(0.5 * end if key[1] else end) for key, end in ends.items()}
    target, noisy = solutions(draw, rate, np.concatenate([np.append(rule.z, rule.end) for rule in rules.values()]))
    parts = np.cumsum([rule.z.size + 1 for rule in rules.values()])[:-1]
    solved = zip(np.split(target, parts), np.split(noisy, parts), strict=True)
    return {
        key: _risk_and_terms(draw, s, beta, ends[key], rate, rules[key], pair, cut=key[1])
        for key, pair in zip(rules, solved, strict=True)
    }


def _risk_and_terms(
    draw: Draw, s: float, beta: float, end: float, rate: float, rule: Nodes, solved: tuple[Array, Array], *, cut: bool
) -> dict[str, Any]:
    """The same at one end. ``rule`` reaches up to where the rate ends; ``solved``: at its nodes and there."""
    least = floor(s, beta, draw.model_size)
    matched = LOUDNESS * least * (draw.model_size ** (beta - 1.0) if cut else 1.0)
    own, stop, (target, noisy) = draw.eigenvalues, rule.end, solved
    after = end - stop
    weights = rate * rule.weights
    kernel = weights * returned_by(draw, rule.left + after)
    if cut:  # each mode keeps its own noise while the rate lasts, and only forgets afterwards
        slow = np.exp(-np.multiply.outer(rule.left, 2.0 * own - rate * own**2) - 2.0 * after * own)
        returned = weights * (slow @ own**2)
        left = float(np.exp(rate * stop * own**2 - 2.0 * end * own) @ draw.mean_signals) + draw.mean_tail
        signal_and_noise = (left + float(returned @ target[:-1]), float(returned @ (noisy[:-1] + 1.0)))
    else:
        signal_and_noise = (float(target[-1]), float(noisy[-1]))
    signal = signal_term(draw, s, beta, rule.z)
    leak = leak_term(draw, s, beta, rule.z)
    power = weights * (1.0 + rule.left + after) ** (1.0 / beta - 2.0)
    last = np.array([end])
    logs: dict[str, Any] = {
        "M": np.log(draw.model_size),
        "N": np.log(draw.width),
        "v": np.log(variance(draw.model_size)),
        "kappa": np.log(kappa(beta, draw.model_size)),
        "floor": np.log(least),
        "top": np.log(top_tail(s, beta, draw.model_size)),
        "t": np.log(end),
        "1 + t": np.log1p(end),
        "left": np.log(draw.left(np.array([end]))[0]),
    }
    with np.errstate(divide="ignore"):
        logs["signal"] = float(np.log(signal_term(draw, s, beta, last))[0])
        logs["leak"] = float(np.log(leak_term(draw, s, beta, last))[0])
    for name, noise in zip(NOISES, (0.0, matched, matched * draw.model_size), strict=True):
        loss = target[:-1] + noise * (noisy[:-1] + 1.0)
        logs |= {
            f"risk, {name}": np.log(signal_and_noise[0] + noise * signal_and_noise[1]),
            f"volterra, {name}": np.log(kernel @ loss),
            f"functional, {name}": np.log(kernel @ (signal + noise)),
            f"functional with leak, {name}": np.log(kernel @ (signal + leak + noise)),
            f"power, {name}": np.log(power @ ((1.0 + rule.z) ** -s + noise)),
        }
    return logs


@lru_cache(maxsize=64)
def _tables(s: float, beta: float, effort: int, seed: int) -> Mapping[tuple[float, bool], list[list[dict[str, Any]]]]:
    keys = [(share, cut) for share in SHARES for cut in (False, True)]
    rows = [
        [risks_and_terms(draw, s, beta, {key: (key[0] * draw.model_size) ** beta for key in keys}) for draw in draws]
        for draws in drawn(s, beta, SIZES, RUNS[effort], seed + 2)
    ]
    return {key: [[row[key] for row in draws] for draws in rows] for key in keys}


@located({FEATURES.name: "gaussian", "c": STRENGTH})
def rays(sample: Sample) -> list[DrawnRay]:
    """The risk along M for both schedules, each end and each noise, with the terms of the laws of that noise."""
    drawn = []
    for (share, cut), table in _tables(*sample.point, sample.effort, sample.seed).items():
        for noise in NOISES if share < 1.0 else NOISES[:2]:
            keys = [key for key in table[0][0] if "," not in key or key.endswith(f", {noise}")]
            columns = {key.split(",")[0]: tuple(np.array([row[key] for row in rows]) for rows in table) for key in keys}
            values = columns.pop("risk")
            name = f"t = ({share:g} M)^beta, {noise}, {'early drop' if cut else 'constant'}"
            drawn.append(DrawnRay(name, SIZES, values, columns))
    return drawn
