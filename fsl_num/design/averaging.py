r"""Averages of the weights at a constant rate, under the functional scaling law: what they do in the place of a decay.

A mode of eigenvalue lambda carries what it holds after the intrinsic time R with the weight exp(-lambda R), and both
terms of the law are sums of its squares. In the mean of the weights over the last A of an intrinsic time T that is

    h(R) = (1 - exp(-lambda R))/(lambda A) for R <= A, exp(-lambda (R - A)) h(A) beyond,

so that the law of the mean is half of delta_M + sum lambda theta^2 h(T)^2 + gamma int_0^T (e + sigma^2) sum lambda^2
h(R)^2 dR. A mode with lambda A > 1 leaves the noise gamma/A whatever lambda is, and there are A^(1/beta) of them: as
from the best rates, min(M, T^(1/beta)) of them over the data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from fsl_num.compression import Modes, compress
from fsl_num.gauss_rules import legendre_rule
from fsl_num.model import Model
from fsl_num.validation import Array, positive

_RTOL: Final = 1e-7  # of the sums over modes
_FIRST: Final = 1e-3  # panel, of the time 1/lambda_1 = 1
_RATIO: Final = 3.0
_POINTS: Final = 6
_A_DECADE: Final = 1  # gammas tried, from one that forgets nothing to the largest
_SHARES: Final = (0.1, 0.5, 1.0)
_LEAST_SHARE: Final = 1e-4
_SHORTEST: Final = 1e-6  # intrinsic time
_SAFE: Final = 0.5  # of the gamma at which gamma tr(H)/2 = 1


@dataclass(frozen=True)
class Average:
    """The mean of the weights over the last ``share`` of the samples at the constant ``gamma``: its ``excess_risk``."""

    gamma: float
    share: float
    excess_risk: float

    def as_dict(self) -> Mapping[str, float]:
        """Return the fields by name.

        >>> Average(0.5, 0.25, 0.01).as_dict()
        {'gamma': 0.5, 'share': 0.25, 'excess_risk': 0.01}
        """
        return {"gamma": self.gamma, "share": self.share, "excess_risk": self.excess_risk}


def largest_gamma(model: Model, data: float, gamma: float | None) -> tuple[float, float]:
    """Return a data budget and the largest gamma of a design, as floats; half of 2/tr(H) where none is given.

    Raises ValueError for a budget below one sample, a gamma at which training is unstable or nothing is
    learnt, and a given spectrum.

    >>> largest_gamma(Model(s=0.5, beta=2.0, size=1, noise=1.0), 100, None)
    (100.0, 1.0)
    """
    if model.spectrum is not None:
        raise ValueError("a design in the theory needs s and beta: the model of a given spectrum has none")
    budget = positive("data", data)
    if budget < 1.0:
        raise ValueError(f"data must be at least 1 sample, got {data!r}")
    stable = 2.0 / model.trace
    top = _SAFE * stable if gamma is None else positive("gamma", gamma)
    if top >= stable:
        raise ValueError(
            f"gamma must be below 2/tr(H) = {stable:.6g} for this model, where training becomes unstable, got {gamma!r}"
        )
    if budget * top < _SHORTEST:
        raise ValueError(
            f"gamma = {top:.4g} over {budget:g} samples is an intrinsic time of {budget * top:.3g}, in which nothing is"
            f" learnt that floats tell: it must be at least {_SHORTEST:g}, so gamma at least {_SHORTEST / budget:.3g}"
        )
    return budget, top


def averaged_risk(model: Model, data: float, gamma: float, share: float) -> float:
    """Return the excess risk of the mean of the weights over the last ``share`` of ``data`` samples at one ``gamma``.

    Parameters
    ----------
    model
        Of s and beta, of any size.
    data, gamma
        How many samples are seen, at least 1; learning rate over batch size, below 2/tr(H).
    share
        In (0, 1].

    Raises
    ------
    ValueError
        For values outside these ranges, and where :func:`~fsl_num.compression.compress` does: for modes below
        what floats hold.

    Notes
    -----
    Source: eqn: fsl, with the weights of each mode averaged.

    Examples
    --------
    >>> task = Model(s=1.0, beta=2.0, size=float("inf"), noise=1.0)
    >>> averaged_risk(task, 1e6, 0.1, 0.5) < 0.1 * averaged_risk(task, 1e6, 0.1, 1e-4)
    True
    """
    budget, top = largest_gamma(model, data, gamma)
    return _risk(model, _modes(model, budget * top), budget, top, _share(share))


def best_average(model: Model, data: float, *, gamma: float | None = None, share: float | None = None) -> Average:
    """Return the constant gamma, and the last share of the samples to average over, of least excess risk.

    Parameters
    ----------
    model, data, gamma
        As for :func:`~fsl_num.design.theory.design_for_model`.
    share
        In (0, 1], where it is not to be chosen.

    Raises
    ------
    ValueError
        As :func:`averaged_risk` does.

    Examples
    --------
    >>> found = best_average(Model(s=1.0, beta=2.0, size=float("inf"), noise=1.0), 1e6)
    >>> found.share > 0.1
    True
    """
    from scipy.optimize import minimize

    budget, top = largest_gamma(model, data, gamma)
    modes = _modes(model, budget * top)
    shares = _SHARES if share is None else (_share(share),)
    least = _LEAST_SHARE if share is None else shares[0]
    decades = 9.0 + math.log10(budget)
    gammas = np.linspace(-math.log(10.0) * decades, 0.0, 1 + math.ceil(_A_DECADE * decades))

    def risk(point: Any) -> float:
        return _risk(model, modes, budget, top * math.exp(point[0]), math.exp(point[1]))

    tried = [(float(gamma_tried), math.log(part)) for gamma_tried in gammas for part in shares]
    minimum: Any = minimize(
        risk, min(tried, key=risk), method="Nelder-Mead", options={"xatol": 1e-3, "fatol": 0.0},
        bounds=[(gammas[0], 0.0), (math.log(least), math.log(shares[-1]))],
    )  # fmt: skip
    return Average(top * math.exp(minimum.x[0]), math.exp(minimum.x[1]), float(minimum.fun))


def _share(share: float) -> float:
    part = positive("share", share)
    if part > 1.0:
        raise ValueError(f"share must be at most 1, all of the samples, got {share!r}")
    return part


def _modes(model: Model, horizon: float) -> Modes:
    return compress(model.s, model.beta, model.size, horizon, rtol=_RTOL)


def _risk(model: Model, modes: Modes, data: float, gamma: float, share: float) -> float:
    horizon = gamma * data
    averaged = share * horizon

    def carried(left: Array) -> Array:
        """h of every mode (rows) after the times ``left`` of the end."""
        inside = np.minimum(left, averaged)
        turn = np.multiply.outer(modes.rates, inside)
        mean = np.where(turn > 1e-300, -np.expm1(-turn) / np.maximum(turn, 1e-300), 1.0) * (inside / averaged)
        return np.asarray(mean * np.exp(-np.multiply.outer(modes.rates, left - inside)))

    left, width = _quadrature(horizon, averaged)
    level = model.noise + modes.signal(np.maximum(horizon - left, 0.0))
    noise = float((modes.kernel_weights @ carried(left) ** 2) @ (width * level))
    signal = float(modes.signal_weights @ carried(np.array([horizon]))[:, 0] ** 2)
    return 0.5 * (model.approximation_error + signal + gamma * noise)


def _quadrature(horizon: float, averaged: float) -> tuple[Array, Array]:
    """Gauss points of panels that shrink towards both ends and towards what is averaged; their weights."""
    steps = np.geomspace(_FIRST, max(horizon, 2.0 * _FIRST), 2 + int(math.log(1.0 + horizon / _FIRST, _RATIO)))
    edges = np.concatenate([[0.0, averaged, horizon], steps, averaged + steps, averaged - steps, horizon - steps])
    edges = np.unique(edges[(edges >= 0.0) & (edges <= horizon)])
    x, w = legendre_rule(_POINTS)
    half = 0.5 * np.diff(edges)
    points = edges[:-1, None] + half[:, None] * (1.0 + x)
    return points.ravel(), (half[:, None] * w).ravel()
