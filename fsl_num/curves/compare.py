"""Several laws side by side: fitted to the same training curves, scored on the same test curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from fsl_num.curves.curve import LossCurve
from fsl_num.curves.fit import fit
from fsl_num.curves.laws.base import Law
from fsl_num.curves.result import FitResult
from fsl_num.curves.score import Score, mean_score, table

COMPARED: Final = ("fsl", "fsl-full", "fsl-simplified", "fsl-ansatz", "multi-power", "momentum")
"""The laws that are compared unless others are named."""


@dataclass(frozen=True)
class Comparison:
    """The fits by law, and their scores: ``scores[law][curve]``.

    >>> Comparison({}, {}).means
    {}
    """

    fits: dict[str, FitResult]
    scores: dict[str, dict[str, Score]]

    @property
    def means(self) -> dict[str, Score]:
        """The mean score of each law over the test curves."""
        return {name: mean_score(scores.values()) for name, scores in self.scores.items()}

    def table(self) -> str:
        """Return the mean scores as a table in plain text, one law a line."""
        return table(self.means)


def compare(
    training: Sequence[LossCurve],
    tests: Sequence[LossCurve],
    laws: Sequence[str | Law] = COMPARED,
    *,
    intervals: bool = False,
    **settings: Any,
) -> Comparison:
    """Return the :class:`Comparison` of laws fitted to ``training`` and scored on ``tests``.

    ``intervals``: measure coverage too (seconds a law). ``settings``: see :class:`~fsl_num.curves.search.Settings`.
    Raises ValueError where a name is taken twice.

    >>> from fsl_num.curves.laws import law
    >>> plan = [0.01] * 300 + [0.002] * 100
    >>> loss = law("momentum").predict(plan, [2.0, 0.3, 0.5, 0.5, 0.95])
    >>> curve = LossCurve(range(20, 401, 5), loss[19::5], schedule=plan)
    >>> compare([curve], [curve], ["momentum"]).means["momentum"].rmse < 1e-4
    True
    """
    names = [curve.name for curve in tests]
    if len(set(names)) < len(names) or not names:
        raise ValueError(f"the test curves need one name each, and at least one curve, got {names}")
    fits = {}
    for each in laws:
        result = fit(training, each, intervals=intervals, **settings)
        fits[result.law.name] = result
    return Comparison(fits, {name: result.scores(tests) for name, result in fits.items()})
