"""Several laws side by side: fitted to the same training curves, scored on the same test curves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from fsl_num.curves.curve import LossCurve
from fsl_num.curves.fit import fit
from fsl_num.curves.laws.base import Law
from fsl_num.curves.predict import said_once
from fsl_num.curves.result import FitResult
from fsl_num.curves.score import COLUMNS, Score, cell, mean_score, table
from fsl_num.curves.unseen import words_of_prediction
from fsl_num.results import html_table

COMPARED: Final = ("auto", "fsl-ansatz", "multi-power", "momentum")
"""The laws that are compared unless others are named."""


@dataclass(frozen=True)
class Comparison:
    """The fits by the name that was asked for, and their scores: ``scores[law][curve]``.

    ``reasons`` says why a law could not be fitted, ``doubts`` what a reader of its scores should know of the curves.

    >>> Comparison({}, {}).means
    {}
    """

    fits: dict[str, FitResult]
    scores: dict[str, dict[str, Score]]
    reasons: dict[str, str] = field(default_factory=dict)
    doubts: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def means(self) -> dict[str, Score]:
        """The mean score of each law over the test curves."""
        return {name: mean_score(scores.values()) for name, scores in self.scores.items()}

    @property
    def sentences(self) -> tuple[str, ...]:
        """What makes the scores of the best law doubtful, and which laws were not fitted."""
        best = min(self.means, key=lambda name: self.means[name].rmse, default="")
        missing = [f"{law}: not fitted: {reason}" for law, reason in self.reasons.items()]
        return (*[f"{best}: {doubt}" for doubt in self.doubts.get(best, ())], *missing)

    def plot(self, ax: Any = None) -> Any:
        """Draw the root mean square error of every law on every run; return the axes (needs matplotlib).

        >>> callable(Comparison.plot)
        True
        """
        from fsl_num.curves.pictures import draw_comparison

        return draw_comparison(self, ax)

    def _repr_html_(self) -> str:
        means = sorted(self.means.items(), key=lambda pair: pair[1].rmse)
        rows = [(name, *(cell(getattr(mean, column)).strip() for column in COLUMNS)) for name, mean in means]
        return html_table(("law", *COLUMNS), rows, items=self.sentences)

    def table(self) -> str:
        """Return the mean scores as a table in plain text, one law a line."""
        return table(self.means)


def compare(
    training: Sequence[LossCurve],
    tests: Sequence[LossCurve],
    laws: Sequence[str | Law] = COMPARED,
    *,
    intervals: bool = False,
    level: float = 0.9,
    progress: Callable[[int, int], None] | None = None,
    **settings: Any,
) -> Comparison:
    """Fit laws to the same training curves and score them on the same test curves.

    Parameters
    ----------
    training, tests
        The curves to fit, and those to predict.
    laws
        Names of laws ("auto" is one, the default law) or laws.
    intervals
        Measure coverage too, of intervals of ``level``.
    progress
        Called with how many of how many laws are done.
    **settings
        Those of :func:`fsl_num.curves.fit.fit`.

    Returns
    -------
    Comparison
        A law that cannot be fitted to these curves is among its ``reasons``.

    Raises
    ------
    ValueError
        Two test curves have one name, or there are none.

    Examples
    --------
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
    comparison = Comparison({}, {})
    for done, law in enumerate(laws):
        if progress is not None:
            progress(done, len(laws))
        name = law if isinstance(law, str) else law.name
        try:
            result = fit(training, law, intervals=intervals, **settings)
            comparison.scores[name] = result.scores(tests, level)
            comparison.fits[name] = result
            unseen = {curve.name: [words] for curve in tests if (words := words_of_prediction(result, curve))}
            comparison.doubts[name] = (*result.warnings, *said_once(unseen))
        except (ValueError, ArithmeticError) as error:
            comparison.reasons[name] = " ".join(str(error).split())
    return comparison
