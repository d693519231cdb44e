"""The schedule to train with next, from a fit: what is asked, and the search for it."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from fsl_num.curves.batches import asked_batch, last_batch, said_batches
from fsl_num.curves.curve import LossCurve
from fsl_num.curves.laws import law
from fsl_num.curves.plan import Plan
from fsl_num.curves.predict import SHORTEST, check_peak, left_over
from fsl_num.curves.result import FitResult
from fsl_num.curves.unseen import words_of_prediction
from fsl_num.design.best import SHAPES, Optimum, Past, best_peak, least_loss, optimum, past_of
from fsl_num.design.design import Design
from fsl_num.design.draws import best_over_draws
from fsl_num.design.families import FAMILIES
from fsl_num.design.final_loss import has_gradient
from fsl_num.results import percent
from fsl_num.schedules.catalogue import BYTES_OF_A_STEP
from fsl_num.validation import Array, affordable, flag, instance_of, one_of, positive, proper_share, whole_count

_FAR: Final = 3.0  # half-widths of the interval of 90 %: five standard deviations
_LOWER: Final = 0.1  # of the largest peak fitted: the least one that is tried where the peak is free
_BOUND: Final = 1.0 - 1e-6


def design_schedule(
    fit: FitResult,
    steps: int,
    *,
    peak: Any = None,
    family: str | None = None,
    floor: float = 0.0,
    warmup: int | None = None,
    run: LossCurve | Plan | None = None,
    from_step: int | None = None,
    batch_size: float | None = None,
    model_size: float | None = None,
    level: float = 0.9,
    over_draws: bool = False,
    second: FitResult | str | None = "multi-power",
) -> Design:
    """Return the schedule of ``steps`` updates whose final loss a fitted law predicts to be least.

    Parameters
    ----------
    fit
        A fit of a law that follows a schedule.
    steps
        Updates in all, warmup and those already done included.
    peak
        The largest rate. Default: the largest peak fitted; of a run under way its own (the last rate where rates must
        not rise). "free": the best one between a tenth of the largest peak fitted, or the smallest, and the largest.
    family
        "non-increasing" (the default: after warmup rates never rise), "free", or a name of
        :data:`~fsl_num.design.families.FAMILIES`. Laws are fitted to runs after warmup and say little of low rates
        early, which free rates may exploit. A law without a gradient by the rates (fsl-weights, fsl-physical) has the
        families alone, and "linear" by default: tails of other decays were worth less than laws said.
    floor
        The least rate after warmup, 0 or more; the baselines keep to it too.
    warmup
        Updates in which the rate rises linearly from 0 to the peak. Default 0; a run under way has its own.
    run, from_step
        A run under way and the update from which its schedule is still open (default: its last row). The steps before
        are fixed; predictions are conditioned on its last losses, as in :func:`~fsl_num.curves.forecast.forecast`.
    batch_size, model_size
        Of the steps designed, and of the model; for laws that know batch sizes, or have a term for the model size.
        Default: the batch size with which the run under way goes on, or that at which the law has its noise. Steps that
        are done keep theirs, where the run says any.
    level
        Nominal level of the intervals.
    over_draws
        Make least the mean over the parameter draws of the fit, in the place of the loss of the best fit.
    second
        Another fit, or a law to be fitted to the same curves (of the design's model size, where they have several),
        under which the design is scored when that is asked for.

    Returns
    -------
    Design
        The rates, what is predicted of them, the baselines with their regret, and what certifies the optimum.

    Raises
    ------
    ValueError
        For a request that no schedule meets, with the bound that it breaks.
    TypeError
        For a run that is neither a curve nor a plan.

    Notes
    -----
    Source: eqn: FSL-optimization.

    Examples
    --------
    >>> from fsl_num.curves.laws import law
    >>> from fsl_num.curves.fit import fit
    >>> plan = [0.01] * 300 + [0.002] * 100
    >>> loss = law("fsl-simplified").predict(plan, [2.0, 0.5, 0.05, 0.6, 20.0, 0.8, 9.0])
    >>> fitted = fit(LossCurve(range(20, 401, 5), loss[19::5], schedule=plan), "fsl-simplified", intervals=False)
    >>> found = design_schedule(fitted, 1000)
    >>> found.peak, bool(found.rates[-1] < 0.002), all(baseline.regret > 0.0 for baseline in found.baselines.values())
    (0.01, True, True)
    """
    instance_of("fit", fit, FitResult)
    total = whole_count("steps", steps)
    affordable("steps", total, 4 * BYTES_OF_A_STEP, "design for fewer")
    shape = ("non-increasing" if has_gradient(fit.law) else "linear") if family is None else family
    known = (*SHAPES, *FAMILIES)
    one_of("family", shape, known, f"there is no family {family!r}; choose {', '.join(known)}")
    level, off = proper_share("level", level), (0.0, 1.0)
    if not (second is None or isinstance(second, FitResult) or (isinstance(second, str) and second == "auto")):
        law(second)  # an unknown name is refused now, not when the design is scored
    unseen = words_of_prediction(fit, run) if isinstance(run, LossCurve) else ""
    run = fit.as_fitted(run) if isinstance(run, LossCurve) else run
    lowest, done = positive("floor", floor, zero=True), _done(run, from_step, warmup, total)
    usual = 1.0 if done is None else last_batch(done)
    batch = float(said_batches(fit.law, usual if batch_size is None else asked_batch(fit.law, batch_size)))
    silent, strange = done is not None and done.batches_unsaid, ""
    if isinstance(run, LossCurve):
        of_run = fit.at_batch(batch) if silent else fit
        moved, share, _ = left_over(of_run, run)
        off, strange = (moved, float(run.plan.times[-1])), _words_of_another(of_run, run, moved / share)
    fitted = fit.peaks
    least, most = _range_of_peak(peak, done, fitted, shape)
    for end in (least, most):
        check_peak(end, fitted)
    if lowest > most:
        raise ValueError(f"floor must be at most the peak, {most:g}, got {lowest!r}: a rate lies between the two")
    least = max(least, lowest)
    rising = 0 if done is not None else int(warmup or 0)

    def begun(top: float, rates: Array) -> Plan:
        """The steps that are fixed, and some that follow them."""
        if done is None:
            whole = np.append(top * np.arange(rising) / max(rising, 1), rates)
            return Plan(whole, [whole.size], rising, batch, model_size, "design")
        own = np.broadcast_to(batch if silent else done.batch_sizes, done.rates.shape)
        batches = np.append(own, np.full(rates.size, batch))
        size = model_size if model_size is not None else done.model_size
        return Plan(np.append(done.rates, rates), [done.rates.size + rates.size], done.warmup, batches, size, "design")

    first = rising if done is None else done.rates.size

    def past(top: float) -> Past:
        return past_of(begun(top, np.array([top])), first)

    def best(top: float, search: Any) -> Any:
        return search(fit.law, fit.theta, past(top), total - first, lowest, top, shape)

    top = most if least == most else best_peak(lambda peak_tried: best(peak_tried, least_loss), least, most)
    chosen: Optimum = best(top, optimum)
    regret = None
    if flag("over_draws", over_draws):
        chosen, regret = best_over_draws(fit, past(top), chosen, lowest, top, shape)
    plan = begun(top, chosen.rates)
    if plan.times[-1] < SHORTEST * fit.reach:
        raise ValueError(
            f"steps must be more than {total}: their intrinsic time, {plan.times[-1]:.3g} at most, is less than"
            f" {SHORTEST:g} of that of the runs fitted ({fit.reach:.3g}), which say nothing of it"
        )
    notes = _notes(chosen, fitted, lowest, top, (least, most), fit)
    notes = (f"Of the run under way: {unseen[0].lower()}{unseen[1:]}", *notes) if unseen else notes
    notes = (strange, *notes) if strange else notes
    return Design(fit, plan, first, top, lowest, shape, chosen, level, off, second, regret, notes)


def _words_of_another(fit: FitResult, run: LossCurve, off: float) -> str:
    """That the last losses of a run lie farther ``off``, of log loss, than those of the runs fitted should; else ""."""
    if fit.drawn is None:  # without intervals nothing says how far is far
        return ""
    half = fit.predict(run.plan).mean_half_width
    if half is None or abs(off) <= _FAR * half:
        return ""
    return (
        f"The last losses of the run under way lie {percent(abs(math.expm1(off)))} {'above' if off > 0.0 else 'below'}"
        f" what the fit predicts there, which is known to {percent(half)}: is it a run of another model? Fit it too."
    )


def _done(run: LossCurve | Plan | None, from_step: int | None, warmup: int | None, total: int) -> Plan | None:
    """The steps that are fixed, None of a fresh run."""
    rising = 0 if warmup is None else whole_count("warmup", warmup, least=0)
    if run is None:
        if from_step is not None:
            raise ValueError("from_step says from where a run goes on: give the run too (run=, --log)")
        if rising >= total:
            raise ValueError(f"warmup must be less than the steps, {total}, got {rising}: none is left to design")
        return None
    if not isinstance(run, LossCurve | Plan):
        raise TypeError(f"run must be a LossCurve, as read_curve gives one, or a Plan, got {type(run).__name__}")
    plan = run if isinstance(run, Plan) else run.plan
    if warmup is not None and rising != plan.warmup:
        raise ValueError(f"the run under way had a warmup of {plan.warmup} updates: give no other, got {rising}")
    done = plan.rates.size if from_step is None else whole_count("from_step", from_step)
    if done > plan.rates.size:
        raise ValueError(f"from_step must be at most the {plan.rates.size} updates of the run, got {done}")
    if done < max(plan.warmup, 1):
        raise ValueError(f"from_step must lie after the warmup of {plan.warmup} updates, got {done}")
    if total <= done:
        raise ValueError(f"steps must exceed the {done} updates that are done, got {total}: none is left to design")
    return plan.first(done, [done])


def _range_of_peak(peak: Any, done: Plan | None, fitted: tuple[float, ...], shape: str) -> tuple[float, float]:
    """The least and the largest peak that are tried, the same where it is given."""
    if peak is not None and not isinstance(peak, str):
        asked = positive("peak", peak)
        if done is not None and shape != "free" and asked > done.rates[-1] * (1.0 + 1e-9):
            raise ValueError(
                f"the last rate of the run is {done.rates[-1]:g}: rates that never rise cannot reach the peak"
                f" {asked:g}; leave the peak out, or ask for free rates"
            )
        return asked, asked
    if peak not in (None, "free"):
        raise ValueError(f"peak must be a rate or 'free', got {peak!r}")
    if done is not None:
        top = done.peak if shape == "free" else float(done.rates[-1])
        if top == 0.0:
            raise ValueError("the last rate of the run is 0, and rates that never rise stay there: ask for free rates")
        return top, top
    return (min(min(fitted), _LOWER * max(fitted)) if peak == "free" else max(fitted)), max(fitted)


def _notes(
    solved: Optimum, fitted: tuple[float, ...], floor: float, top: float, tried: tuple[float, float], fit: FitResult
) -> tuple[str, ...]:
    """Which bounds bind, and what of the design lies outside the rates that were fitted."""
    said = []
    least, most = tried
    if least < most and top >= most * _BOUND:
        said.append(f"The best peak is the largest that was fitted, {most:g}: fit a run at a larger one to go on.")
    if least < most and top <= least / _BOUND:
        said.append(f"The best peak is the least that was tried, {least:g}.")
    if floor == top:
        said.append(f"The floor is the peak, {top:g}: no other schedule is allowed.")
    elif floor > 0.0 and (share := float(np.mean(solved.rates <= floor / _BOUND))) > 0.0:
        said.append(f"The floor {floor:g} binds in {percent(share)} of the steps designed.")
    lowest = _lowest_fitted(fit)
    if lowest is not None and (share := float(np.mean(solved.rates < 0.5 * lowest))) > 0.01:
        said.append(
            f"In {100 * share:.2g} % of the steps designed its rate, down to {solved.rates.min():.2g}, is below all"
            f" that were fitted after warmup (from {lowest:.2g}): they rest on the formula of the law alone; a floor"
            " keeps to what was measured."
        )
    if fitted and (top > fitted[-1] / _BOUND or top < fitted[0] * _BOUND):
        said.append(f"No run was fitted at the peak {top:g} (fitted: {', '.join(f'{peak:g}' for peak in fitted)}).")
    fastest = dict(zip(fit.law.names, fit.theta.tolist(), strict=True)).get("P_c", np.inf)
    if top > fastest:
        said.append(
            f"The peak {top:g} is above the P_c of the fit, {fastest:.2g}: a higher one does harm there, as far"
            " as the law holds (--peak-lr free stays among the peaks fitted)."
        )
    if not has_gradient(fit.law):
        said.append(
            f"The law {fit.law.name} has no gradient by the rates: members of this family were tried, and nothing"
            " proves that no other schedule is better."
        )
    if solved.starts > 1:
        said.append(
            f"{solved.agreed} of {solved.starts} starts end within 1e-8 of the least loss found: under this law nothing"
            " proves that no other schedule is better."
        )
    return tuple(said)


def _lowest_fitted(fit: FitResult) -> float | None:
    """The least positive rate after warmup of the runs fitted, None where they are not at hand."""
    lowest = [rates[rates > 0.0].min() for curve in fit.curves if (rates := _after_warmup(curve)).any()]
    return float(min(lowest)) if lowest else None


def _after_warmup(curve: LossCurve) -> Array:
    return np.asarray(curve.plan.rates[curve.plan.warmup :])
