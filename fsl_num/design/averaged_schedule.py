r"""The schedule and the mean of the weights chosen together, under the functional scaling law.

In blocks of samples, in time order, let gamma_k be the rate, w_k = gamma_k n_k the intrinsic time, and m_k the share of
the mean that lies on the weights of block k, evenly; what is left lies on the last weights. A mode of eigenvalue lambda
then carries H_0 of what it starts with into the mean, with

    H_k = m_k phi(lambda w_k) + exp(-lambda w_k) H_{k+1},    phi(x) = (1 - exp(-x))/x,

and of the noise made in block k, where u of it is left, alpha + (H_{k+1} - alpha) exp(-lambda u), alpha = m_k/(lambda
w_k). So the law of the mean is one sum over blocks and modes, exact but for e, which is taken in the middle of a block;
its slopes take one more pass. With all of the mean on the last weights it is the law of a schedule, with one rate that
of an average at a constant rate: the best of both together is no worse than either.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from fsl_num.compression import Modes, compress
from fsl_num.design.averaging import Average
from fsl_num.model import Model
from fsl_num.results import Result
from fsl_num.validation import Array

_RTOL: Final = 1e-6  # of the sums over modes
_BLOCKS: Final = 60  # towards each end
_ENDS: Final = 1e-5  # of the samples: the first and the last block
_LEAST: Final = 1e-9  # of the largest gamma, and of the mean on a block
_ITERATIONS: Final = 2000


@dataclass(frozen=True, eq=False)
class AveragedSchedule(Result):
    """The best ``gammas`` on blocks of ``samples``, in time order, for the mean of the weights with ``shares`` on the
    blocks and the rest on the last weights; its ``excess_risk``.

    >>> AveragedSchedule(np.array([0.5]), np.array([9.0]), np.array([0.25]), 0.1).as_dict()["averaged_share"]
    1.0
    """

    gammas: Array
    samples: Array
    shares: Array
    excess_risk: float

    def as_dict(self) -> dict[str, float]:
        """Return the numbers as JSON-ready values; ``averaged_share``: of the samples, with nine tenths of the mean."""
        late = np.cumsum(np.append(self.shares, 1.0 - self.shares.sum())[::-1])
        place = int(np.searchsorted(late, 0.9))
        return {
            "excess_risk": self.excess_risk,
            "peak_gamma": float(self.gammas.max()),
            "final_gamma": float(self.gammas[-1]),
            "averaged_share": float(self.samples[self.samples.size - place :].sum() / self.samples.sum()),
        }


class MeanRisk:
    """The excess risk of the mean of the weights, and its slopes, for blocks of ``samples`` with gamma up to ``most``.

    >>> risk = MeanRisk(Model(s=1.0, beta=2.0, size=20, noise=1.0), np.full(4, 25.0), 0.5)
    >>> value, by_gamma, by_share = risk(np.full(4, 0.1), np.zeros(4))
    >>> value > risk(np.full(4, 0.1), np.full(4, 0.2))[0] > 0.0
    True
    """

    def __init__(self, model: Model, samples: Array, most: float) -> None:
        self.model, self.samples = model, samples
        self.modes: Modes = compress(model.s, model.beta, model.size, 2.0 * most * float(samples.sum()), rtol=_RTOL)

    def __call__(self, gammas: Array, shares: Array) -> tuple[float, Array, Array]:
        """Return the excess risk and its derivatives by the gammas and by the shares of the mean on the blocks."""
        from fsl_num.design.averaged_kernel import carried_into_the_mean, slopes_of_what_is_carried

        rate, kernel, start = self.modes.rates, self.modes.kernel_weights, self.modes.signal_weights
        widths = gammas * self.samples
        passed = np.cumsum(widths) - 0.5 * widths
        level = 0.5 * (self.model.noise + self.modes.signal(passed))
        turn = np.maximum(np.multiply.outer(widths, rate), 1e-12)  # blocks by modes
        kept = np.exp(-turn)
        mean = -np.expm1(-turn) / turn
        carried = carried_into_the_mean(shares, mean, kept)
        # the integral over a block of the square of what is carried, and its slopes by alpha, H_{k+1} and the width
        alpha = shares[:, None] / turn
        remainder = carried[1:] - alpha
        once, twice = widths[:, None] * mean, widths[:, None] * _mean(2.0 * turn)
        square = alpha**2 * widths[:, None] + 2.0 * alpha * remainder * once + remainder**2 * twice
        by_rest = 2.0 * alpha * once + 2.0 * remainder * twice
        by_alpha = 2.0 * alpha * widths[:, None] + 2.0 * remainder * once - by_rest
        by_width = (alpha + remainder * kept) ** 2 - by_alpha * alpha / widths[:, None]
        source = (gammas * level)[:, None] * kernel
        value = 0.5 * (self.model.approximation_error + start @ carried[0] ** 2) + float((source * square).sum())
        slope = start * carried[0]
        bent = (kept - mean) / turn  # the derivative of phi
        pulls = rate * (shares[:, None] * bent - kept * carried[1:])
        of_width, by_share = slopes_of_what_is_carried(slope, pulls, mean, kept, source * by_rest)
        by_share += (source * by_alpha / turn).sum(axis=1) - slope.sum()
        of_width += (source * by_width).sum(axis=1)
        noise = (kernel * square).sum(axis=1)
        later = gammas * noise * 0.5 * self._signal_slope(passed)
        of_width += np.append(np.cumsum(later[::-1])[::-1][1:], 0.0) + 0.5 * later
        return float(value), of_width * self.samples + level * noise, by_share

    def _signal_slope(self, passed: Array) -> Array:
        rate = self.modes.rates
        return np.asarray(np.exp(np.multiply.outer(passed, -2.0 * rate)) @ (-2.0 * rate * self.modes.signal_weights))


def _mean(turn: Array) -> Array:
    return np.asarray(-np.expm1(-turn) / turn)


def best_together(
    model: Model, gammas: Array, samples: Array, largest: float, average: Average | None
) -> AveragedSchedule:
    """Return the gammas up to ``largest``, and the mean, of least excess risk together.

    Parameters
    ----------
    model
        Task and model, of s and beta.
    gammas, samples
        Of a design, on blocks in time order: where one search starts.
    largest
        The largest gamma allowed, below 2/tr(H).
    average
        The best mean at a constant rate, where another search starts, or None.

    Nothing is known to be convex in both; the better end is returned. Raises ValueError where
    :func:`~fsl_num.compression.compress` does.

    Examples
    --------
    >>> from fsl_num.design.averaging import best_average
    >>> from fsl_num.design.theory import design_for_model
    >>> task = Model(s=1.0, beta=2.0, size=float("inf"), noise=1.0)
    >>> design, mean = design_for_model(task, 1e4), best_average(task, 1e4)
    >>> best = best_together(task, design.gammas, design.samples, design.allowed, mean)
    >>> best.excess_risk < min(design.excess_risk, mean.excess_risk)
    True
    """
    from scipy.optimize import minimize

    data = float(samples.sum())
    left = np.concatenate(
        [[1.0], 1.0 - np.geomspace(_ENDS, 0.5, _BLOCKS), np.geomspace(0.5, _ENDS, _BLOCKS)[1:], [0.0]]
    )
    blocks = -data * np.diff(left)
    risk = MeanRisk(model, blocks, largest)
    middle = data * (1.0 - 0.5 * (left[1:] + left[:-1]))
    place = np.minimum(np.searchsorted(np.cumsum(samples), middle), gammas.size - 1)
    starts = [(gammas[place], np.where(left[1:] < 0.1, blocks, 0.0) / data)]
    if average is not None:
        shares = np.where(left[1:] < average.share, blocks, 0.0)
        starts.append((np.full(blocks.size, average.gamma), shares / shares.sum() * (1.0 - 1e-6)))
    minima = []
    for start, of_mean in starts:
        masses = np.append(np.maximum(of_mean, _LEAST), max(1.0 - of_mean.sum(), _LEAST))
        x = np.concatenate([np.log(np.clip(start / largest, _LEAST, 1.0)), np.log(masses)])

        def at(x: Array) -> tuple[float, Array]:
            rates, mass = largest * np.exp(x[: blocks.size]), np.exp(x[blocks.size :])
            share = mass / mass.sum()
            value, by_gamma, by_share = risk(rates, share[:-1])
            of_each = np.append(by_share, 0.0)
            slope = np.concatenate([by_gamma * rates, share * (of_each - share @ of_each)])
            return math.log(value), slope / value

        minimum: Any = minimize(
            at, x, jac=True, method="L-BFGS-B",
            bounds=[(math.log(_LEAST), 0.0)] * blocks.size + [(2.0 * math.log(_LEAST), 5.0)] * (blocks.size + 1),
            options={"maxiter": _ITERATIONS, "maxfun": 2 * _ITERATIONS, "ftol": 1e-12, "maxcor": 30},
        )  # fmt: skip
        minima.append(minimum)
    best = min(minima, key=lambda minimum: float(minimum.fun))
    mass = np.exp(best.x[blocks.size :])
    return AveragedSchedule(
        largest * np.exp(best.x[: blocks.size]), blocks, (mass / mass.sum())[:-1], float(math.exp(best.fun))
    )
