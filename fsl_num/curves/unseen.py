"""What is taken for the learning rates before the first row of a log that begins late."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from fsl_num.curves.branches import as_branch
from fsl_num.curves.curve import LossCurve

if TYPE_CHECKING:
    from fsl_num.curves.result import FitResult

SAY: Final = (
    "Say it where you know it: warmup= (--warmup N, 0 for none), or the run it branched from (branched(), --branch-of)."
)
"""How to say what the rates before the first row of a log were."""

_HARDLY, _FAR_BETTER = 1.1, 100.0


def as_fitted(result: FitResult, curve: LossCurve) -> LossCurve:
    """Return a curve with the rates of its ``unseen`` first updates as a fit takes them.

    Those of the run fitted that was there, in rate and loss, where there is one. Else the rate of the first row, where
    that was found to be so of the logs fitted that begin late, or where no run fitted has a warmup; else a linear
    warmup as long as theirs, up to that rate. (After fits to two runs of 25M or 100M whose warmup was said, seven late
    logs were predicted by a mean error of 0.3 to 1.4 % with the first rate held, and of 0.03 to 0.7 % with the warmup.)

    >>> from fsl_num.curves.fit import fit
    >>> known = LossCurve(range(2, 8), [3, 2.5, 2.3, 2.2, 2.15, 2.1], lr=[0.1] * 6, warmup=2)
    >>> late = LossCurve([4, 5, 6], [2.3, 2.2, 2.15], lr=[0.1] * 3, unseen=4)
    >>> as_fitted(fit(known, "momentum", starts=1, intervals=False), late).plan.rates.round(3).tolist()
    [0.0, 0.05, 0.1, 0.1, 0.1, 0.1]
    """
    branch = as_branch(curve, result.curves)
    if not branch.unseen:
        return branch
    length = max((run.plan.warmup for run in result.curves), default=0)
    return curve if result.warmed is False else curve.warmed(length)


def words_of_prediction(result: FitResult, curve: LossCurve, say: str = SAY) -> str:
    """Return what was taken for the unseen rates of a run that is predicted; "" where all are known.

    ``say``: how to say what is known of them.

    >>> from fsl_num.curves.fit import fit
    >>> known = LossCurve(range(2, 8), [3, 2.5, 2.3, 2.2, 2.15, 2.1], lr=[0.1] * 6)
    >>> known = fit(known, "momentum", starts=1, intervals=False)
    >>> words_of_prediction(known, LossCurve([4, 5, 6], [2.3, 2.2, 2.15], lr=[0.1] * 3, unseen=4), "")[-65:]
    'There the rate of its first row is taken, as of the runs fitted. '
    """
    branch = as_branch(curve, result.curves)
    place = "".join(f"Its log {note}." for note in branch.notes[len(curve.notes) :])
    if not branch.unseen:
        return place
    count, taken = curve.unseen, as_fitted(result, curve).warmup
    taken_words = "the rate of its first row" if not taken else f"a linear warmup of {taken} updates"
    later_words = f", then the rate of its first row up to step {count}" if 0 < taken < count else ""
    if not place:
        size = curve.plan.rates.size
        place = f"Its log begins at step {count} of {size}, and nothing says what the learning rate was before."
    return f"{place} There {taken_words}{later_words} is taken, as of the runs fitted. {say}"


def words_of_fit(names: Sequence[str], held: float, rising: float, warmed: bool) -> str:
    """Return what was taken for the learning rates before logs fitted that begin late, and why.

    ``held`` and ``rising``: the least objective with the rate of the first row and with a linear warmup.

    >>> words_of_fit(["late"], 3.0, 1.0, True)[:99]
    'late: begins late, and nothing says what the learning rate was before. There a linear warmup fits 3'
    """
    ratio = max(held, rising) / max(min(held, rising), 1e-300)
    far = "hardly" if ratio < _HARDLY else f"{ratio:.2g} times" if ratio < _FAR_BETTER else "far"
    warmup, first = "a linear warmup", "the rate of the first row"
    better, worse = (warmup, first) if rising < held else (first, warmup)
    end = ", which is taken as most runs have one" if warmed and held <= rising else ", and is taken"
    taken = f"{better} fits {far} better than {worse}{end}"
    shown = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
    return f"{shown}: begins late, and nothing says what the learning rate was before. There {taken}. {SAY}"
