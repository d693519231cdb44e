"""What the parameter draws of a fit say of designs: differences between two, and the schedule best over all draws."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from fsl_num.curves.laws import Law
from fsl_num.curves.misfit import OWN, States
from fsl_num.curves.posterior import half_width
from fsl_num.curves.result import FitResult
from fsl_num.curves.sizes import constant_loss
from fsl_num.design.best import Optimum, Past
from fsl_num.design.families import step_blocks
from fsl_num.validation import Array

_BLOCKS: Final = 100
_LOWEST: Final = 1e-6  # of the peak
_MERGED: Final = 60  # groups of the past
_SAME: Final = 1e-9  # of the peak: schedules whose rates differ by no more are one
_LEAST: Final = 1e-12  # loss of a draw under which a law gives none


def losses_of_draws(law: Law, samples: Array, past: Past, rates: Array) -> Array:
    """Return the final loss of every draw of the parameters (rows of ``samples``), on some hundred blocks of steps."""
    short = _merged(past, 4 * _MERGED)
    first, lengths = step_blocks(rates.size, 4 * _BLOCKS)
    means = np.add.reduceat(rates, first) / lengths
    return np.array([short.objective(law, sample)(means, lengths)[0] for sample in samples])


def _merged(past: Past, count: int) -> Past:
    """The past with neighbouring steps merged, warmup apart: its noise is mostly forgotten at the end."""
    warm, size = past.warmup, past.rates.size
    if size <= 2 * count:
        return past
    edges = np.unique(np.concatenate([
        np.linspace(0, warm, min(warm, count) + 1), warm + np.linspace(0, size - warm, min(size - warm, count) + 1),
    ]).astype(np.int64))  # fmt: skip
    lengths = np.diff(edges).astype(np.float64)
    means = np.add.reduceat(past.rates, edges[:-1]) / lengths
    merged = replace(past, rates=means, warmup=int(np.searchsorted(edges, warm)), lengths=lengths)
    if past.batch_sizes is None:
        return merged
    return replace(merged, batch_sizes=np.exp(np.add.reduceat(np.log(past.batch_sizes), edges[:-1]) / lengths))


@dataclass(frozen=True, eq=False)
class FinalLoss:
    """The final ``loss`` of a schedule, and how a fit may err there.

    ``rates``: of all steps. ``drawn``: errors of the loss, one a draw of the parameters and of what the law misses.
    ``states``: of training at the end, with one row, where the law may miss more.

    >>> state = States(*np.ones((4, 1)))
    >>> FinalLoss(np.ones(2), 3.0, np.zeros(24), state).loss
    3.0
    """

    rates: Array
    loss: float
    drawn: Array
    states: States


def final_loss_of(fit: FitResult, past: Past, rates: Array) -> FinalLoss:
    """Return the final loss of the ``rates`` that follow a past, with the errors that the draws of a fit say.

    Raises ValueError for a fit without draws.
    """
    posterior = fit.posterior
    loss, *moved = losses_of_draws(fit.law, np.vstack([fit.theta, posterior.samples]), past, rates)
    whole = np.append(past.rates, rates)
    time, peak = float(whole.sum()), float(whole.max())
    _, lengths = step_blocks(max(round(time / peak), 1), 4 * _BLOCKS)
    alone = replace(past, rates=np.array([]), warmup=0, lengths=None, batch_sizes=None).objective(fit.law, fit.theta)
    constant = alone(np.full(lengths.size, peak), lengths)[0]
    states = States.at_end(time, peak, loss, constant, constant_loss(fit.law, fit.theta, past.model_size))
    errors = np.log(np.maximum(moved, _LEAST) / loss) - posterior.misfit.elsewhere(states)[:, 0]
    return FinalLoss(whole, float(loss), float(loss) * errors, states)


def half_width_of_difference(fit: FitResult, first: FinalLoss, second: FinalLoss, level: float) -> float:
    """Return the half-width of the interval of the difference between the final losses of two schedules.

    Both err under the same draw of the parameters and of what the law misses, as in every prediction of the fit. What
    more the law misses is common to the two as far as training ends in like states. By chance each run is off as a
    whole, and the two alike only where they are one: schedules that are the same differ by nothing.
    """
    misfit, losses = fit.posterior.misfit, np.array([first.loss, second.loss])
    common = float(np.abs(first.rates - second.rates).max() <= _SAME * first.rates.max())
    pair = (first.states, second.states)
    covariance = np.array([[misfit.conditional(state, beside)[0, 0] for beside in pair] for state in pair])
    covariance += OWN * np.array([[1.0, common], [common, 1.0]])
    signs = losses * (1.0, -1.0)
    # term by term: what is the same then cancels exactly, which a fused product of matrices does not
    missed = float((np.outer(signs, signs) * covariance).sum())
    variance = float(np.mean((first.drawn - second.drawn) ** 2)) + max(missed, 0.0)
    return float(half_width(np.array([np.sqrt(variance)]), level)[0])


def best_over_draws(
    fit: FitResult, past: Past, point: Optimum, floor: float, peak: float, shape: str
) -> tuple[Optimum, float]:
    """Return the schedule with the least mean loss over the draws of a fit, and the regret of the ``point`` optimum.

    The search moves the rates of blocks of steps from the point optimum (L-BFGS-B); where it finds nothing better the
    point optimum stays. Raises ValueError for a fit without draws, and for members of a family.
    """
    from scipy.optimize import minimize

    if shape not in ("free", "non-increasing"):
        raise ValueError(f"the best over the draws is searched among free or non-increasing rates, not of {shape!r}")
    samples, short = fit.posterior.samples, _merged(past, _MERGED)
    first, lengths = step_blocks(point.rates.size, _BLOCKS)
    losses = [short.objective(fit.law, sample) for sample in samples]

    def mean(logs: Array) -> tuple[float, Array]:
        rates = peak * np.exp(logs)
        values = [loss(rates, lengths) for loss in losses]
        return float(np.mean([value[0] for value in values])), np.mean([value[1] for value in values], axis=0) * rates

    low = np.log(max(floor / peak, _LOWEST))
    start = np.log(np.clip(np.add.reduceat(point.rates, first) / lengths / peak, np.exp(low), 1.0))
    minimum = minimize(mean, start, jac=True, method="L-BFGS-B", bounds=[(low, 0.0)] * start.size,
                     options={"maxiter": 200, "ftol": 1e-11})  # fmt: skip
    middle = first + 0.5 * (lengths - 1.0)
    rates = np.clip(peak * np.exp(np.interp(np.arange(point.rates.size), middle, minimum.x)), floor, peak)
    rates = np.minimum.accumulate(rates) if shape == "non-increasing" else rates
    plans = (point.rates, rates)
    of_point, of_rates = (float(losses_of_draws(fit.law, samples, past, plan).mean()) for plan in plans)
    if of_rates >= of_point:
        return point, 0.0
    loss = past.objective(fit.law, fit.theta)(rates, np.ones(rates.size))[0]
    return Optimum(rates, loss, float("nan"), None), of_point - of_rates
