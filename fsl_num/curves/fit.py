"""Fit a law to measured loss curves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from fsl_num.curves.batches import batch_words, with_batches
from fsl_num.curves.branches import LATE
from fsl_num.curves.curve import CurveError, LossCurve
from fsl_num.curves.identify import identifiability
from fsl_num.curves.laws import FunctionalLaw
from fsl_num.curves.laws import law as law_of
from fsl_num.curves.laws.base import Law
from fsl_num.curves.posterior import FEWEST_DRAWS, Posterior, draw
from fsl_num.curves.repeats import seed_variance
from fsl_num.curves.result import FitResult
from fsl_num.curves.search import Found, Residuals, Settings, Task, search, task
from fsl_num.curves.transfer import transfer, transfer_words
from fsl_num.curves.unseen import words_of_fit
from fsl_num.results import as_loss, percent
from fsl_num.validation import Array, described, entries, flag, known_options, whole_seed

_GROWN = {
    "auto": "fsl-full",
    "fsl-sgd": "fsl-sgd",
    "fsl-weights": "fsl-weights",
}  # laws with the terms that the curves say something of
# Nearly all runs have a warmup. Where one precedes the log, the rate of the first row fitted up to 1.3 times as well
# (two constant runs of 25M). To deny one wrongly made predictions up to 78 % wrong there; to take one wrongly cost runs
# that the law made without one at most 0.6 %, and 2 % after a run of constant rate alone, which is 4 % off either way.
_CLEARLY = 2.0
_LAST_ROWS, _DIVERGED = 5, 0.2
_BACK, _RISES = 0.1, 0.01  # of a rise of the loss; of the peak
_ONE_UNIT = 100.0  # times: no sweep of peaks is so wide
_FLAT = 1e-6  # relative: losses in single precision that are one
_UNSEEN = 0.5  # of a run: more updates of unknown rates are not guessed
_MISSED, _NOISES = 0.03, 3.0  # of log loss; fits of real runs miss half of their rows by .001 to .008
_EARLY, _EARLY_TIMES, _EARLY_OFF = 0.05, 10.0, 0.005  # of intrinsic time; of the median residual; of log loss
_SEEDS = 0.01  # seeds differ by a tenth of a per cent or two
_NO_SEEDS = (
    " That is more than seeds do: of models of several sizes say them (model_size=, --model-size), of several kinds of"
    " data or batches fit each alone."
)


def fit(
    curves: LossCurve | Sequence[LossCurve],
    law: str | Law = "auto",
    *,
    seed: int = 0,
    intervals: bool = True,
    **settings: Any,
) -> FitResult:
    """Return the fit of a law to one curve or to several at once.

    ``curves``: one :class:`~fsl_num.curves.curve.LossCurve` or a list; of several model sizes where the law has a term
    for them. ``law``: a name of :data:`~fsl_num.curves.laws.LAWS`, a Law, or "auto": the functional law with all its
    terms, with one for the model size where the curves have several, and with the batch sizes where all say theirs. It
    expects adaptive updates, as of Adam; "fsl-sgd" is the same for plain stochastic gradient descent, "fsl-weights" a
    law that predicts better from two runs or more, and designs members of families alone. ``intervals``: draw
    parameters too; without, the predictions have no intervals and the report on the parameters no ranges.
    ``seed``: of the draws. Further arguments are those of :class:`~fsl_num.curves.search.Settings`. Curves of more rows
    than max_rows are averaged; the notes of the result say so.

    Raises CurveError where the curves have fewer rows than the law parameters.

    >>> from fsl_num.curves.laws import law
    >>> plan = [0.01] * 300 + [0.002] * 100
    >>> truth = {"L0": 2.0, "A": 0.5, "B": 0.05, "s": 0.6, "c": 20.0, "gamma": 0.8, "c_e": 9.0}
    >>> loss = law("fsl-simplified").predict(plan, truth)
    >>> result = fit(LossCurve(range(20, 401, 5), loss[19::5], schedule=plan), "fsl-simplified", intervals=False)
    >>> round(result.parameters["L0"], 2), round(result.parameters["s"], 1)
    (2.0, 0.6)
    """
    known_options("of a fit", settings, [field.name for field in fields(Settings)])
    listed, used = _curves(curves), Settings(**settings)
    intervals, seed = flag("intervals", intervals), whole_seed(seed)
    recovered = {curve.name: words for curve in listed if (words := _recovered_words(curve))}
    warnings = [*_unlike_words(listed), *_warnings(listed, used), *recovered.values()]
    tried, warmed, about_warmup = _searched_with_warmup(law, listed, used)
    chosen, theta = tried.whole.law, tried.search.best.theta
    logs = _logs(tried.whole, theta)
    missed = _missed_words(tried.curves, logs)  # where no law holds, none says that early rows lie off it
    warnings += [*about_warmup, *(missed or _early_words(tried, logs, set(recovered)))]
    notes = list(tried.notes)
    words, alarming = batch_words(chosen, tried.whole.plans)
    if words:
        (warnings if alarming else notes).append(words)
    posterior: Posterior | None = None
    if intervals:
        seeds, pairs = seed_variance(tried.measured)
        if pairs:
            (warnings if math.sqrt(seeds) > _SEEDS else notes).append(_seed_words(seeds, pairs))
        posterior = _posterior(tried, seeds, seed)
    return FitResult(
        chosen,
        tuple(float(value) for value in theta),
        tuple(tried.curves),
        used,
        tried.search.best.objective,
        identifiability(tried.whole, theta, tried.search, theta[None] if posterior is None else posterior.samples),
        posterior,
        (*notes, *_notes(tried, used, posterior)),
        max(float(curve.plan.times[-1]) for curve in tried.curves),
        warmed,
        tuple(warnings),
    )


def _curves(curves: LossCurve | Sequence[LossCurve]) -> list[LossCurve]:
    """The curves given, as a list, checked: of each the rates of half of its updates are known."""
    needed = "one LossCurve or more, as read_curve makes of a file and curve_from of a table"
    listed = [curves] if isinstance(curves, LossCurve) else entries("curves", curves, least=1, needed=needed)
    if not all(isinstance(curve, LossCurve) for curve in listed):
        raise TypeError(f"curves must be {needed}, got {described(curves)}")
    for curve in listed:
        if curve.unseen > _UNSEEN * curve.plan.rates.size:
            raise CurveError(
                f"{curve.name}: begins at step {curve.step[0]} of {curve.step[-1]}, and nothing says the learning rates"
                " of most of its updates, on which every prediction rests. Where it went on from a checkpoint, read it"
                " together with that run (read_curves) or name it (branched(), --branch-of), or subtract the steps done"
                " before; else say how long it warmed up (warmup=, --warmup; 0: the first rate throughout)"
            )
    return listed


@dataclass(frozen=True, eq=False)
class _Searched:
    """The best parameters for curves ``measured``, as they were reduced to ``curves``, with what was bound to them."""

    measured: Sequence[LossCurve]
    curves: list[LossCurve]
    whole: Task
    thinned: Task
    settings: Settings
    search: Found
    notes: list[str]


def _searched(law: str | Law, curves: Sequence[LossCurve], settings: Settings) -> _Searched:
    """Reduce the curves, bind the law to them, search."""
    reduced, notes = list(curves), []
    grown = _GROWN.get(law) if isinstance(law, str) else None
    chosen = law_of(law if grown is None else grown)
    if not chosen.final_only:
        reduced = [settings.reduced(curve) for curve in curves]
        notes = _reduced_words(curves, reduced)
    if grown is not None:
        plans = [curve.plan for curve in reduced]
        if isinstance(chosen, FunctionalLaw):
            sizes = len({plan.model_size for plan in plans} - {None}) > 1
            chosen = with_batches(replace(chosen, sizes=sizes), plans)
        chosen = chosen.with_peaks(max(plan.peak for plan in plans))
    whole, thinned = (task(chosen, reduced, settings, coarse=coarse) for coarse in (False, True))
    rows = whole.target.observed.size
    if rows < len(chosen.parameters):
        raise CurveError(
            f"the law {chosen.name!r} has {len(chosen.parameters)} parameters, but the curves have {rows} rows that"
            f" count{' (one a curve: it is a law of final losses)' if chosen.final_only else ''}; give more, or a"
            " simpler law"
        )
    best = search(whole, thinned, chosen.start_grid(whole.plans)[: settings.starts])
    return _Searched(curves, reduced, whole, thinned, settings, best, notes)


def _searched_with_warmup(
    law: str | Law, curves: Sequence[LossCurve], settings: Settings
) -> tuple[_Searched, bool | None, list[str]]:
    """Search; where logs begin late, with and without a linear warmup before them.

    Return the one that is taken, whether it is that with the warmup (None where nothing was to be decided), and in
    words why.
    """
    held = _searched(law, curves, settings)
    unseen = [curve.name for curve in curves if curve.unseen]
    if not unseen or held.whole.law.final_only:
        return held, None, []
    rising = _searched(law, [curve.warmed() for curve in curves], settings)
    objectives = held.search.best.objective, rising.search.best.objective
    usual = all(curve.unseen <= LATE * curve.plan.rates.size for curve in curves)
    warmed = objectives[1] < (_CLEARLY if usual else 1.0) * objectives[0]
    return rising if warmed else held, warmed, [words_of_fit(unseen, *objectives, warmed)]


def _posterior(tried: _Searched, seeds: float, seed: int) -> Posterior:
    """Draws of the parameters about the best ones; ``seeds``: the variance of log loss between runs trained alike."""
    theta = tried.search.best.theta
    # a curve alone leaves the most open, and draws of it take the least time
    count = max(FEWEST_DRAWS, 3 * FEWEST_DRAWS // len(tried.curves))
    samples, misfit, residuals = draw(tried.thinned, theta, Residuals.of(tried.whole, theta, seeds), seed, count)
    scatter = math.sqrt(float(np.mean([curve.scatter**2 for curve in tried.curves])))
    return Posterior(samples, residuals, misfit, scatter)


def _notes(tried: _Searched, settings: Settings, posterior: Posterior | None) -> list[str]:
    """What was expected, whether the search settled, and of which schedules the curves say something."""
    notes, law, chart, best = [], tried.whole.law, tried.whole.chart, tried.search.best
    shown = [
        f"{name} {mean:.2g} +- {settings.prior_width * width:.2g}"
        for name, mean, width in zip(law.names, chart.centre, chart.width, strict=True)
        if math.isfinite(settings.prior_width * width)
    ]
    if shown:
        logs = ", ".join(name for name in ("p", "q", "s", "gamma") if name != "q" or name in law.names)
        notes.append(
            f"Expected before any loss is seen: {', '.join(shown)} (of logarithms: of {logs}, of c (1 + gamma)"
            f" T{', of x T' * ('x' in law.names)}{', of P_c over the largest peak fitted' * ('P_c' in law.names)} and,"
            f" for B, of the noise at the peak as a share of the loss{'; of (E/A)/(B/loss)' * ('E' in law.names)}"
            f"{'; of m/(1 - m) at the peak over that share' * ('m' in law.names)}; prior_width widens it)."
        )
    if not best.settled and tried.search.agreed < 2:
        notes.append("The descent was stopped before it settled: the parameters may not be the best.")
    if posterior is not None and not law.final_only:
        notes.append(transfer_words(transfer(law, tried.curves, best.theta, posterior)))
    if len(tried.curves) == 1 and not law.final_only:
        notes.append(
            "Fitted to one curve: the noise law and the signal are distinguished only where its learning rate both"
            " stays high and falls. Check the prediction of another schedule on at least one more run."
        )
    return notes


def _reduced_words(curves: Sequence[LossCurve], reduced: Sequence[LossCurve]) -> list[str]:
    """What was done to curves of too many rows."""
    pairs = [pair for pair in zip(curves, reduced, strict=True) if pair[0] is not pair[1]]
    notes = [
        f"{curve.name}: {len(short)} of {curve.plan.recorded.size} rows are used, evenly spaced (max_rows)."
        for curve, short in pairs
        if short.counts is None
    ]
    averaged = [(curve, short) for curve, short in pairs if short.counts is not None]
    if averaged:
        names = ", ".join(curve.name for curve, _ in averaged[:3]) + ", ..." * (len(averaged) > 3)
        rows = _span([curve.plan.recorded.size for curve, _ in averaged], "{:d}")
        ranges = _span([len(short) for _, short in averaged], "{:d}")
        scatter = _span([100 * short.scatter for _, short in averaged], "{:.2g}")
        notes.append(
            f"{names}: {rows} rows are averaged over {ranges} ranges of updates (max_rows), none of which crosses a"
            " jump of the learning rate; the learning rate itself is kept at every update. Single rows scatter by"
            f" {scatter} % about these averages: intervals are for single rows, the table of the curves fitted is for"
            " the averages."
        )
    return notes


def _span(values: Sequence[float], form: str) -> str:
    """The least and the largest of some numbers, in words."""
    low, high = form.format(min(values)), form.format(max(values))
    return low if low == high else f"{low} to {high}"


def _missed_words(curves: Sequence[LossCurve], logs: Sequence[tuple[Array, Array]]) -> list[str]:
    """Which curves the law found misses by far more than their rows scatter, and what that may mean."""
    missed = []
    for curve, (measured, law) in zip(curves, logs, strict=True):
        off = float(np.median(np.abs(measured - law)))
        scatter = float(np.median(np.abs(np.diff(measured)))) if measured.size > 1 else 0.0
        if off > max(_MISSED, _NOISES * scatter):
            missed.append(f"{curve.name} ({percent(off)})")
    if not missed:
        return []
    together = " Runs of other models, data or batches do not share one: fit each kind alone." * (len(curves) > 1)
    return [
        f"{', '.join(missed[:4])}{', ...' * (len(missed) > 4)}: no law was found that describes this; half of the rows"
        " lie so far off it or farther, more than they scatter. Are the learning rates, steps and losses what they are"
        f" taken for?{together}"
    ]


def _logs(whole: Task, theta: Array) -> list[tuple[Array, Array]]:
    """The logarithms of the losses of each curve, as measured and by the law."""
    ends = np.cumsum([plan.recorded.size for plan in whole.plans])[:-1]
    logs = (np.log(whole.target.observed), np.log(np.maximum(whole.bound.losses(theta), 1e-300)))
    return list(zip(*(np.split(log, ends) for log in logs), strict=True))


def _early_words(tried: _Searched, logs: Sequence[tuple[Array, Array]], recovered: set[str]) -> list[str]:
    """That the law does not hold for the first rows of a curve, which it follows at the cost of the others.

    ``recovered``: the curves that miss the law by rows of their own.
    """
    law, settings = tried.whole.law, tried.settings
    if law.final_only or (law.late if settings.early is None else settings.early):
        return []
    words = []
    for curve, (measured, by_law) in zip(tried.curves, logs, strict=True):
        off = np.abs(measured - by_law)
        early = curve.plan.intrinsic_time <= _EARLY * curve.plan.times[-1]
        bad = early & (off > _EARLY_TIMES * np.median(off)) & (curve.name not in recovered)
        if bad.any() and off[bad].max() > _EARLY_OFF and not bad.all():
            step = int(curve.plan.recorded[int(np.flatnonzero(bad)[-1]) + 1])
            words.append((step, f"{curve.name} by {percent(float(off[bad].max()))}"))
    if not words:
        return []
    return [
        f"Early rows lie far off the law: {', '.join(word for _, word in words[:3])}{', ...' * (len(words) > 3)}, more"
        f" than {_EARLY_TIMES:g} times as far as half of the others. No law here holds so early, and what follows them"
        f" misses the later ones: leave them out (--first-step {max(step for step, _ in words)}, between_steps)."
    ]


def _unlike_words(curves: Sequence[LossCurve]) -> list[str]:
    """That the peak rates of runs are hardly in one unit, where they lie so far apart."""
    low, high = (choose(curves, key=lambda curve: curve.plan.peak) for choose in (min, max))
    if high.plan.peak <= _ONE_UNIT * low.plan.peak:
        return []
    return [
        f"The peak rates lie between {low.plan.peak:.3g} ({low.name}) and {high.plan.peak:.3g} ({high.name}): are they"
        " in one unit? A multiplier is none of a rate: say all rates in one (LOG+RATES), or fit each kind alone."
    ]


def _seed_words(variance: float, pairs: Sequence[tuple[str, str]]) -> str:
    """How far runs that were trained alike lie apart, and what that means."""
    shown = ", ".join(f"{first} and {second}" for first, second in pairs[:3]) + (", ..." if len(pairs) > 3 else "")
    return (
        f"Trained alike, up to some update, but not the same run: {shown}. Their losses differ as a whole by a standard"
        f" deviation of {100 * math.sqrt(variance):.2g} %, which no schedule explains: intervals hold it."
        + (_NO_SEEDS if math.sqrt(variance) > _SEEDS else "")
    )


def _recovered_words(curve: LossCurve) -> str:
    """That a run left its course and came back, by losses that rise where its rates do not; "" where none did."""
    loss, step = curve.observed, curve.plan.recorded
    if loss.size < 2 * _LAST_ROWS:
        return ""
    middle = np.median([loss[:-2], loss[1:-1], loss[2:]], axis=0)  # of three rows: of one alone reading says it
    risen = middle / np.minimum.accumulate(middle) - 1.0
    top = int(np.argmax(risen))
    rates, before = curve.plan.rates[step[1:-1]], int(np.argmin(middle[: top + 1]))
    back = np.flatnonzero(risen[top:] < _BACK * risen[top])
    noise = _NOISES * float(np.median(np.abs(np.diff(middle) / middle[1:])))
    rises = np.diff(rates[max(before - _LAST_ROWS, 0) : top + 1]) > _RISES * curve.plan.peak  # losses follow rates late
    if risen[top] < max(_DIVERGED, noise) or not back.size or rises.any():
        return ""
    first, last = step[before + 2], step[min(top + int(back[0]), middle.size - 1) + 1]
    return (
        f"{curve.name}: its losses rise by {percent(float(risen[top]))} behind step {step[before + 1]} and come back,"
        f" though its rates do not rise: did it diverge and recover? No law here describes that; drop the rows of the"
        f" steps {first} to {last} from its log."
    )


def _warnings(curves: Sequence[LossCurve], settings: Settings) -> list[str]:
    """What of the losses themselves no law of this package explains."""
    sentences = []
    for curve in curves:
        loss, step = curve.observed, curve.plan.recorded
        if loss.size > 1 and np.ptp(loss) <= _FLAT * loss.max():
            sentences.append(
                f"{curve.name}: its losses are all {as_loss(float(loss[0]))}: is it the right column, and did the run"
                " learn? What is predicted is what is expected before any loss is seen."
            )
        # half of the rows lie so far off the middle of their neighbours, which a steep fall does not move; of values
        # that scatter independently that is 0.6745 sqrt(3/2) of their deviation, and a step between two sqrt(2) of it
        middles = 0.5 * (np.log(loss[2:]) + np.log(loss[:-2]))
        off = np.abs(np.log(loss[1:-1]) - middles)
        noise = math.sqrt(2.0) * float(np.median(off)) / (0.6745 * math.sqrt(1.5)) if loss.size > 3 else 0.0
        averaged = loss.size > settings.max_rows and settings.reduce == "average"
        if noise > 0.05 and curve.smoothing == "none" and not averaged:
            sentences.append(
                f"{curve.name}: the losses scatter by {100 * noise:.0f} %; consider smoothed() (--smooth ROWS)."
            )
        lowest = int(np.argmin(loss))
        last = np.median(loss[max(lowest, loss.size - _LAST_ROWS) :])
        risen = float(last / np.median(loss[max(lowest - 1, 0) : lowest + 2])) - 1.0
        if risen > _DIVERGED:
            sentences.append(
                f"{curve.name}: its losses end {percent(risen)} above those at step {step[lowest]}: did it diverge, or"
                f" overfit? No law here describes that; leave these rows out (--last-step {step[lowest]})."
            )
    return sentences
