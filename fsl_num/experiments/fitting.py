"""The three constants of the physical-time law, fitted by ordinary least squares, and how well the law then fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fsl_num.simulate.curve import RiskCurve
from fsl_num.validation import Array, positive


@dataclass(frozen=True, eq=False)
class LawFit:
    """A fit E_k = c1 x1 + c2 x2 + c3 x3 to a curve.

    ``constants``: c1, c2, c3. ``step``, ``predicted``: the fitted law after each recorded step of the curve but 0.
    ``used``: which of these the fit used. ``r_squared``, ``mean_error`` and ``worst_error`` (relative errors of the
    prediction) and ``worst_step``: over the steps used. ``condition``: of the three columns, each scaled to norm 1;
    the constants are uncertain by that factor times the misfit.
    """

    constants: tuple[float, float, float]
    step: Any
    predicted: Array
    used: Any
    r_squared: float
    mean_error: float
    worst_error: float
    worst_step: int
    condition: float

    def as_dict(self) -> dict[str, Any]:
        """Return the constants and the measures of the fit, without the curve."""
        return {
            "constants": list(self.constants),
            "first_step": int(self.step[self.used][0]),
            "r_squared": self.r_squared,
            "mean_error": self.mean_error,
            "worst_error": self.worst_error,
            "worst_step": self.worst_step,
            "condition": self.condition,
        }


def fit_law(curves: Sequence[RiskCurve], terms: Sequence[Array], times: Sequence[Array], *, since: Any = 0.0) -> Any:
    """Fit one set of constants to several curves together, and return one :class:`LawFit` a curve.

    ``curves``: with step 0 or without it. ``terms``: of each, after steps 1 .. K (see
    :func:`~fsl_num.experiments.physical_time.law_terms`). ``times``: of each, the intrinsic time T(1) .. T(K).
    ``since``: steps before this intrinsic time are predicted, but not fitted. Raises ValueError where fewer than four
    steps are left.

    >>> k = np.arange(1.0, 9.0)
    >>> terms = np.stack([1.0 / k, np.ones(8), k], axis=1)
    >>> curve = RiskCurve(np.arange(1, 9), terms @ [0.5, 0.25, 2.0], np.zeros(8), "exact")
    >>> (found,) = fit_law([curve], [terms], [k])
    >>> [round(c, 12) for c in found.constants], found.worst_error < 1e-12
    ([0.5, 0.25, 2.0], True)
    """
    start = positive("since", since, zero=True)
    parts = []
    for curve, columns, time in zip(curves, terms, times, strict=True):
        recorded = curve.step > 0
        step = curve.step[recorded]
        parts.append((step, columns[step - 1], curve.excess_risk[recorded], time[step - 1] >= start))
    design = np.concatenate([columns[used] for _, columns, _, used in parts])
    target = np.concatenate([risk[used] for _, _, risk, used in parts])
    if target.size < 4:
        raise ValueError(f"a fit of 3 constants needs at least 4 recorded steps, but {target.size} are left")
    scale = np.linalg.norm(design, axis=0)
    if not (np.isfinite(scale).all() and scale.all()):
        raise ValueError(
            "a term of the law is 0 all along, or beyond what floats hold: its constant cannot be fitted; change the"
            " noise or the learning rate"
        )
    scaled, _, _, singular = np.linalg.lstsq(design / scale, target, rcond=None)
    constants = tuple(float(c) for c in scaled / scale)
    assert len(constants) == 3
    condition = float(singular[0] / singular[-1]) if singular[-1] > 0 else float("inf")
    return [_judged(constants, condition, *part) for part in parts]


def _judged(
    constants: tuple[float, float, float], condition: float, step: Any, columns: Array, risk: Array, used: Any
) -> LawFit:
    predicted = columns @ np.array(constants)
    misfit = predicted[used] - risk[used]
    relative = np.abs(misfit) / risk[used]
    spread = float(((risk[used] - risk[used].mean()) ** 2).sum())
    worst = int(np.argmax(relative))
    return LawFit(
        constants,
        step,
        predicted,
        used,
        1.0 - float((misfit**2).sum()) / spread if spread > 0 else float("nan"),
        float(relative.mean()),
        float(relative[worst]),
        int(step[used][worst]),
        condition,
    )
