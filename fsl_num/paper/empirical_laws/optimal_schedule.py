"""eqn: FSL-optimization: the schedule that the fitted ansatz calls optimal."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
from sympy import Function, Rational

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.hypotheses import Located
from fsl_num.claims.statements import Ray
from fsl_num.claims.words import Kinds, Where
from fsl_num.design import Objective, ansatz_objective, best_falling_rates, blocks
from fsl_num.design.optimise import BestSchedule
from fsl_num.paper.empirical_laws.ansatz import ansatz_reduction
from fsl_num.paper.empirical_laws.formulas import best, best_known, peak, share
from fsl_num.paper.empirical_laws.measurements import FITTED_STEPS
from fsl_num.paper.hypotheses import located
from fsl_num.paper.statements import Ranges, quotients
from fsl_num.validation import Array
from fsl_sym.ansatz import rate
from fsl_sym.proof import AllOf, at_most, less, same_order
from fsl_sym.symbols import K, r, s

_LAST, _SHARE, _BETTER = at_most(rate(K), peak / 20), at_most(share, Rational(7, 20)), less(best, best_known)
WSD_LIKE: Final = AllOf((_LAST, _SHARE, _BETTER))
_of_rate = Function("L")
UNBOUNDED: Final = same_order(-_of_rate(r), r**-s)
"""L(r) is the ansatz with a first step at rate r."""
MODELS = Kinds("language models to whose curves the constants are fitted", {"25M": "25M", "100M": "100M"})
FIT = (MODELS("25M", "100M"), "K = 33907")
LAST, SHARE, GAIN = *quotients(_LAST, _SHARE), f"{_BETTER.right} less {_BETTER.left}"
WSD_RANGES = {**quotients(_LAST, _SHARE), "largest rate": (0.999, 1.0), GAIN: (0.0, 1.0)}
_NOT_WSD = {
    "decays from the start": WSD_RANGES | {SHARE: (0.9, 1.0)},
    "ends at a tenth of the peak": WSD_RANGES | {LAST: (0.08, 0.12)},
    "a cosine, WSD or 8-1-1 is better": WSD_RANGES | {GAIN: (-1.0, 0.0)},
    "a peak of half": WSD_RANGES | {"largest rate": (0.4, 0.6)},
}


@dataclass(frozen=True)
class Fitted:
    """The ansatz as fitted to a curve of a language model, in units of the peak rate; ``gain`` is c_2 c_3."""

    signal: float
    gain: float
    scale: float
    s: float
    power: float

    def objective(self, level: float, at: str) -> Objective:
        """The law to be minimised: c_3 = ``level`` with c_2 c_3 held."""
        return ansatz_objective(
            self.s, level, scale=self.scale, power=self.power, signal=self.signal, gain=self.gain / level, at=at
        )


FITTED = {
    "25M": Fitted(31.4, 0.136, 0.0772, 0.506, 0.39),
    "100M": Fitted(22.3, 0.145, 0.0089, 0.445, 1.385),
}
"""Fits of the printed ansatz to three curves each of two language models (cosine, constant, and a step down, 24,000
steps each), rounded: sizes to be expected. c_3 ran off to 1e7 in both, so that the fits see no term T(i)^-s."""


def rivals(steps: Array) -> dict[str, Array]:
    """Cosine, WSD (linear decay of the last fifth) and 8-1-1, all down to a tenth, at the starts of the blocks."""
    gone = 1.0 - np.cumsum(steps[::-1])[::-1] / steps.sum()
    return {
        "cosine": 0.55 + 0.45 * np.cos(math.pi * gone),
        "WSD": np.interp(gone, [0.8, 1.0], [1.0, 0.1]),
        "8-1-1": np.where(gone < 0.8, 1.0, np.where(gone < 0.9, math.sqrt(0.1), 0.1)),
    }


@lru_cache(maxsize=16)
def _best(model: str, level: float, at: str) -> BestSchedule:
    """The best schedule that never rises found from the usual ones, and from a constant one."""
    objective, steps = FITTED[model].objective(level, at), blocks(FITTED_STEPS, 14, 20.0)
    starts = [*rivals(steps).values(), np.full(steps.size, 0.5)]
    return min((best_falling_rates(objective, steps, start) for start in starts), key=lambda end: end.loss)


def _found(level: float, at: str) -> dict[str, Any]:
    """What is said of the best schedule, and its rates and those of the others under the law."""
    best, numbers, steps = _best("25M", level, at), dict(fitted_shapes(level, at)), blocks(FITTED_STEPS, 14, 20.0)
    objective = FITTED["25M"].objective(level, at)
    below = best.rates < 0.99 * best.rates.max()
    return {
        "w": numbers[f"25M {SHARE}"],
        "the share of the steps of eta below 0.99 eta_max": steps[below].sum() / steps.sum(),
        "L_opt": best.loss, "the loss of eta": float(objective(best.rates, steps)[0]),
        "L_known": numbers[f"25M {GAIN}"] + best.loss, "the losses of cosine, WSD and 8-1-1 that end at a tenth":
        np.array([objective(rates, steps)[0] for rates in rivals(steps).values()]),
    }  # fmt: skip


@lru_cache(maxsize=16)
def fitted_shapes(level: float, at: str) -> tuple[tuple[str, float], ...]:
    """What the best schedules that never rise look like under the fitted law: shares and ratios, by model.

    The share of steps below 99 % of the largest rate; the last rate over the largest; the largest; the loss of the
    best rival less that of the schedule found.
    """
    steps = blocks(FITTED_STEPS, 14, 20.0)
    numbers: dict[str, float] = {}
    for model, fit in FITTED.items():
        objective = fit.objective(level, at)
        best = _best(model, level, at)
        numbers[f"{model} {SHARE}"] = best.decaying
        numbers[f"{model} {LAST}"] = best.last_over_peak
        numbers[f"{model} largest rate"] = float(best.rates.max())
        numbers[f"{model} {GAIN}"] = min(objective(rates, steps)[0] for rates in rivals(steps).values()) - best.loss
    return tuple(numbers.items())


def _letters(level: float, at: str) -> tuple[Where, ...]:
    return (
        Where("eta is the best of rates that never rise"),
        Where("w is the share of the steps of eta below 0.99 eta_max; L_opt is the loss of eta; "
              "L_known is the least of the losses of cosine, WSD and 8-1-1 that end at a tenth",
              lambda sample: _found(level, at)),
    )  # fmt: skip


def _fitted(level: float, at: str) -> Callable[[Sample], Located]:
    return located({"c_3": level, "K": FITTED_STEPS})(lambda sample: fitted_shapes(level, at))


def early_drop_ray(sample: Sample) -> list[Ray]:
    """What the printed ansatz gains from one step at a small first rate, as that rate goes to 0; then rate 1."""
    s, beta = sample.point
    steps = np.array([1.0, 999.0])
    objective = ansatz_objective(s, 1.0, scale=1.0, power=1.0 - 1.0 / beta, signal=1.0, gain=1.0, at="the drop")
    # far enough down that the power of the first rate is large beside the rest, however small s is
    small = np.linspace(2.0, 8.0, 13) / min(s, 1.0) * math.log(10.0)
    values = [math.log(-objective(np.array([math.exp(-log_rate), 1.0]), steps)[0]) for log_rate in small]
    return [Ray("one small first step", small, {"r": -small}, np.array(values))]


def _dropped(sample: Sample) -> dict[str, Any]:
    """The law of a small first step, as it is measured, and by the loops of the ansatz with all constants 1."""
    own, power, rate_of_one = sample.point[0], 1.0 - 1.0 / sample.point[1], 0.01
    rates = [rate_of_one, *[1.0] * 999]
    law = math.fsum(rates) ** -own - ansatz_reduction(rates, 1.0, 1.0, own, 1.0, power)
    objective = ansatz_objective(own, 1.0, scale=1.0, power=power, signal=1.0, gain=1.0, at="the drop")
    value = float(objective(np.array([rate_of_one, 1.0]), np.array([1.0, 999.0]))[0])
    words = "the printed ansatz from eta_0 = 1 through one step at rate r to others at 1"
    return {"r": rate_of_one, "L": lambda r: value, words: law}


DROPPED: Final = Where("L(r) is the printed ansatz from eta_0 = 1 through one step at rate r to others at 1", _dropped)


def _wsd_like(sample: Sample) -> Ranges:
    return Ranges(WSD_RANGES, _NOT_WSD, formulas=(_LAST, _SHARE, _BETTER))


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "eqn: FSL-optimization", "eqn: FSL-optimization", 1583, "the optimal schedule of the fitted ansatz",
        WSD_LIKE, (*FIT, "c_3 = 1e7", *_letters(1e7, "the drop")),
        _fitted(1e7, "the drop"), _wsd_like, regimes=("easy",), family="optimum",
        quoted=r"\quad \st\, \sum_{k=0}^{K-1} \delta_k \le \eta_0",
        remark="The constants are such as fits give, so large that the signal at the drop is not seen.",
    ),
    Claim(
        "eqn: FSL-optimization/signal-at-the-drop", "eqn: FSL-optimization", 1583,
        "the optimal schedule of the ansatz where its signal counts",
        WSD_LIKE, (*FIT, "c_3 = 1", *_letters(1.0, "the drop")),
        _fitted(1.0, "the drop"), _wsd_like, regimes=("easy",), role="argument",
        corrected_by="eqn: FSL-optimization/signal-at-the-end", family="optimum",
        remark="The minimiser is paid for an early drop, for good.",
    ),
    Claim(
        "eqn: FSL-optimization/signal-at-the-end", "eqn: FSL-optimization", 1583,
        "the optimal schedule with the signal at the end",
        WSD_LIKE,
        (*FIT,
         Where("L_opt is that of c_2 (c_3 + T(k)^-s) sum (eta_(i-1) - eta_i)(1 - (1 + c_4 (T(k) - T(i-1)))^-gamma)"),
         "c_3 = 1", *_letters(1.0, "the end")),
        _fitted(1.0, "the end"), _wsd_like,
        regimes=("easy",), role="corrected", family="optimum",
        remark="With the signal at the end the minimiser is like WSD for these constants as well.",
    ),
    Claim(
        "eqn: FSL-optimization/unbounded", "eqn: FSL-optimization", 1120,
        "over all schedules the ansatz has no minimum",
        UNBOUNDED, (DROPPED, "r <= 1/100"),
        early_drop_ray, role="own", family="optimum",
        remark="The constraint that rates never rise is needed for the ansatz; the functional itself does not "
               "need it.",
    ),
)  # fmt: skip
