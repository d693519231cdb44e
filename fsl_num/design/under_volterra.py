"""The best gamma under the Volterra equation itself, in the place of the functional law that approximates it.

The risk feeds back into its own noise, which the functional law leaves out. With gamma on cells of intrinsic time, at a
given horizon, the equation is one triangular system, and the slope of the final risk in every gamma takes a second one,
its transpose. Where the budget, the sum of lengths over gamma, is used best, that slope times gamma^2 over the length
is one price in all cells where gamma is below its bound, and no more in the others: gamma is filled to that until it
stands still. The horizon is one number, which is searched. Nothing is known to be convex here: the fall that is left to
first order is reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from fsl_num.model import Model
from fsl_num.results import Result
from fsl_num.schedules.discrete import Discrete
from fsl_num.validation import Array
from fsl_num.volterra.mesh import MeshEquation, mesh_equation
from fsl_num.volterra.problem import Problem
from fsl_num.volterra.solution import solve

_ITERATIONS: Final = 200
_STILL: Final = 1e-10  # of every gamma
_HALVINGS: Final = 100
_SHORTEST, _LONGEST = 1.0, 1e6  # horizons; half of the least has cells
_PARTS: Final = 16  # of a cell, between which gamma is interpolated
_AROUND: Final = (0.2, 1.5)  # times the horizon of the design, which is that of a law nearby


@dataclass(frozen=True, eq=False)
class VolterraOptimum(Result):
    """The best ``gammas`` on blocks of ``samples``, in time order, and their ``excess_risk`` under the equation.

    ``of_design``: what the design of the functional law has under it. ``kkt_residual``: the largest difference of a
    price from that of all cells, or excess over it where gamma is at its bound, over that price.

    >>> callable(VolterraOptimum.as_dict)
    True
    """

    gammas: Array
    samples: Array
    excess_risk: float
    of_design: float
    kkt_residual: float

    @property
    def horizon(self) -> float:
        """The intrinsic time of the whole."""
        return float(self.gammas @ self.samples)

    def as_dict(self) -> dict[str, float]:
        """Return the numbers as JSON-ready values."""
        return {
            "excess_risk": self.excess_risk,
            "of_design": self.of_design,
            "peak_gamma": float(self.gammas.max()),
            "horizon": self.horizon,
            "kkt_residual": self.kkt_residual,
        }


def under_volterra(model: Model, gammas: Array, samples: Array, largest: float) -> VolterraOptimum:
    """Return the gammas of least final risk under the Volterra equation, beside those of a design.

    Parameters
    ----------
    model
        Task and model, of s and beta.
    gammas, samples
        Of the design, on blocks in time order; the samples are the budget.
    largest
        The largest gamma allowed, below 2/tr(H).

    Raises
    ------
    ValueError
        For a horizon outside [1, 1e6], and where the equation cannot be solved.

    Examples
    --------
    >>> from fsl_num.design.theory import design_for_model
    >>> design = design_for_model(Model(s=0.5, beta=2.0, size=20, noise=1.0), 300.0)
    >>> found = under_volterra(design.model, design.gammas, design.samples, design.allowed)
    >>> found.excess_risk < 0.98 * found.of_design, found.kkt_residual < 1e-6
    (True, True)
    """
    from scipy.optimize import minimize_scalar

    data, horizon = float(samples.sum()), float(gammas @ samples)
    if not _SHORTEST <= horizon <= _LONGEST:
        raise ValueError(
            f"the intrinsic time of the design, {horizon:.3g}, must lie in [{_SHORTEST:g}, {_LONGEST:g}] for its best"
            " rates under the Volterra equation: below, cells are hardly shorter; beyond, its risk takes minutes."
            " Change the samples or the largest gamma"
        )

    def risk(logarithm: float) -> float:
        equation = mesh_equation(model.s, model.beta, model.size, float(np.exp(logarithm)))
        return _filled(equation, model.noise, data, largest)[1]

    most = data * largest * (1.0 - 1e-9)
    bounds = np.log([max(_AROUND[0] * horizon, 0.5 * _SHORTEST), min(_AROUND[1] * horizon, most)])
    minimum: Any = minimize_scalar(risk, bounds=tuple(bounds), method="bounded", options={"xatol": 1e-5})
    ends = [float(minimum.x), float(bounds[1])]
    best = min(ends, key=risk)
    equation = mesh_equation(model.s, model.beta, model.size, float(np.exp(best)))
    cells, _, residual = _filled(equation, model.noise, data, largest)
    lengths = np.repeat(equation.mesh.lengths / _PARTS, _PARTS)
    place = (np.arange(lengths.size) + 0.5) / _PARTS  # among the cells, whose lengths grow evenly from both ends
    between = np.exp(np.interp(place, np.arange(cells.size) + 0.5, np.log(cells)))
    chosen = _of_one_price(between, lengths, data, largest)
    spent = lengths / chosen
    least, of_design = _exact(model, chosen, spent), _exact(model, gammas, samples)
    if of_design < least:  # by a rounding of the cells, where gamma is so small that both laws agree
        chosen, spent, least = gammas, samples, of_design
    return VolterraOptimum(chosen, spent, least, of_design, residual)


def _exact(model: Model, gammas: Array, samples: Array) -> float:
    """The final risk by the solver with error bounds."""
    plan = Discrete(rates=gammas * samples, batch_sizes=samples)
    return float(solve(Problem(model, gamma=plan), [plan.total_intrinsic_time]).excess_risk[0])


def _filled(equation: MeshEquation, noise: float, data: float, largest: float) -> tuple[Array, float, float]:
    """The best gammas of one horizon, half the loss there, and the residual of their prices."""
    lengths = equation.mesh.lengths
    gammas = np.full(lengths.size, float(lengths.sum()) / data)
    for _ in range(_ITERATIONS):
        risk, slope = equation.final_risk(gammas, noise)
        better = _of_one_price(np.sqrt(lengths / slope), lengths, data, largest)
        change = float(np.abs(np.log(better / gammas)).max())
        gammas = better
        if change < _STILL:
            break
    risk, slope = equation.final_risk(gammas, noise)
    prices, inside = slope * gammas**2 / lengths, gammas < largest * (1.0 - 1e-9)
    price = float(np.median(prices[inside])) if inside.any() else float(prices.max())
    off = np.where(inside, np.abs(prices - price), np.maximum(prices - price, 0.0))
    return gammas, risk, float(off.max() / price)


def _of_one_price(shape: Array, lengths: Array, data: float, largest: float) -> Array:
    """min(height * shape, largest) at the height at which the lengths over it are the data."""
    low, high = np.log(lengths.sum() / data / shape.max()), np.log(largest / shape.min())
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        spent = float((lengths / np.minimum(np.exp(middle) * shape, largest)).sum())
        low, high = (middle, high) if spent > data else (low, middle)
    return np.asarray(np.minimum(np.exp(high) * shape, largest))
