"""Designed schedules as text and as CSV."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.text import Text

from fsl_num.report.tables import table
from fsl_num.results import as_loss
from fsl_num.schedules.discrete import Discrete

if TYPE_CHECKING:
    from fsl_num.design.averaged_schedule import AveragedSchedule
    from fsl_num.design.design import Design
    from fsl_num.design.theory import TheoryDesign
    from fsl_num.design.under_volterra import VolterraOptimum

_NOTHING = 1e-6  # of the peak: a last rate that is 0 for a reader


def design_text(design: Design) -> list[Any]:
    """The schedule in a sentence, its predicted loss, the baselines with their regret, and what is certain of it."""
    share = f"{100 * design.stable_fraction:.3g} % of the steps near its peak {design.peak:.4g}"
    end = design.final if design.final > _NOTHING * design.peak else 0.0
    shape = "" if design.decay_shape == "constant" else f", then {design.decay_shape} down to {end:.3g}"
    head = f"{design.steps} steps: {share}{shape}"
    last = f"predicted final loss {design.prediction.final_words()}"
    parameters = _parameters(design.optimum.parameters)
    second_law = design.second_law
    where = f", in the last {design.steps - design.done} steps" if design.done else ""
    headings = [f"instead{where}", "loss", "regret"]
    headings += [f"{100 * design.level:g} % of the regret"] if design.interval is not None else []
    headings += [second_law.name] if second_law is not None else []
    rows = []

    def difference(value: float) -> str:
        return as_loss(value, design.loss, sign="+")

    for name, baseline in design.baselines.items():
        span = [] if baseline.interval is None else [" .. ".join(map(difference, baseline.interval))]
        second = [] if second_law is None else [difference(second_law.baselines[name] - second_law.loss)]
        rows.append([name, as_loss(baseline.loss), difference(baseline.regret), *span, *second])
    lines = [Text(head), Text(last)]
    if design.as_good is not None:
        low, high = design.as_good
        parameters += f"; the fit cannot separate it from decay fractions of {low:.2g} to {high:.2g}"
    lines += [Text(f"of the family {design.family}: {parameters}")] if parameters else []
    certain = [Text(line) for line in design.sentences]
    return [*lines, "", table(headings, rows, right=range(1, len(headings))), "", *certain]


def design_csv(design: Design) -> str:
    """The schedule as CSV: step (from 0) and lr, one row an update."""
    return "\n".join(["step,lr", *(f"{step},{rate!r}" for step, rate in enumerate(design.rates.tolist()))]) + "\n"


def theory_text(design: TheoryDesign) -> list[Any]:
    """The schedule of a model in sentences, what the usual shapes reach at their best peaks, and how it grows."""
    share = f"{100 * design.stable_fraction:.3g} % of them near the peak gamma {design.peak:.4g}"
    final = float(design.gammas[-1])
    shape = "" if design.decay_shape == "constant" else f", then {design.decay_shape} to {final:.3g}"
    bound = (
        "the largest allowed" if design.peak > 0.999 * design.allowed else f"at most {design.allowed:.4g} is allowed"
    )
    rows = [(name, f"{risk:.4g}", f"{risk / design.excess_risk:.3f}") for name, risk in design.baselines.items()]
    chosen = "" if design.compute is None else f"compute {design.compute:g}: {design.model.size:g} features and "
    least = "any other schedule" + ("" if design.compute is None else " of this size") + ", without averages"
    return [
        Text(f"{chosen}{design.data:g} samples: {share} ({bound}){shape}; horizon {design.horizon:.4g}"),
        Text(f"excess risk {design.excess_risk:.5g}, at most {design.gap:.1g} above that of {least}"),
        *_family(design),
        "",
        table(("instead, at its best peak", "excess risk", "times"), rows, right=[1, 2]),
        *_average(design),
        *_growth(design),
    ]


def _parameters(parameters: Mapping[str, float] | None) -> str:
    return ", ".join(f"{name} {value:.4g}" for name, value in (parameters or {}).items())


def _family(design: TheoryDesign) -> list[Any]:
    """Which member of which family it is, and what the family costs."""
    if design.free is None:
        return []
    price = f"{design.excess_risk / design.free:.4f} times the excess risk of the best gamma of all, {design.free:.5g}"
    return [Text(f"of the family {design.family}: {_parameters(design.parameters)}; {price}")]


def volterra_text(best: VolterraOptimum) -> list[Any]:
    """What the design, and the best rates, leave under the Volterra equation."""
    return [
        Text(
            f"Under the Volterra equation it leaves {best.of_design:.5g}, the best rates there {best.excess_risk:.5g}"
            f" ({best.excess_risk / best.of_design:.3f} times; peak gamma {best.gammas.max():.4g}, horizon"
            f" {best.horizon:.4g}; residual of Karush, Kuhn and Tucker {best.kkt_residual:.1g})"
        )
    ]


def with_average_text(design: TheoryDesign, averaged: AveragedSchedule) -> list[Any]:
    """What schedule and mean of the weights reach together."""
    _, peak, final, share = averaged.as_dict().values()
    return [
        Text(
            f"Schedule and mean chosen together: gamma from {peak:.4g} to {final:.4g}, nine tenths of the mean over the"
            f" last {100 * share:.3g} % of the samples: excess risk {averaged.excess_risk:.4g},"
            f" {averaged.excess_risk / design.excess_risk:.3f} times"
        )
    ]


def _average(design: TheoryDesign) -> list[Any]:
    """What the mean of the weights at a constant rate reaches."""
    mean = design.average
    if mean is None:
        return []
    return [
        Text(
            f"The mean of the weights over the last {100 * mean.share:.3g} % of the samples, at the constant gamma"
            f" {mean.gamma:.4g}: excess risk {mean.excess_risk:.4g}, {mean.excess_risk / design.excess_risk:.3f} times"
        )
    ]


def _growth(design: TheoryDesign) -> list[Any]:
    """What grows with which power of the budget; nothing where the theory has no single one."""
    if design.exponents is None:
        return []
    base = "D" if design.compute is None else "C"
    values = {
        "excess_risk": design.excess_risk, "peak_gamma": design.peak, "horizon": design.horizon,
        "decay_share": 1.0 - design.stable_fraction, "model_size": design.model.size, "data": design.data,
    }  # fmt: skip
    rows = [
        (name.replace("_", " "), f"{values[name]:.4g}", f"{base}^{exponent:.3g}" if abs(exponent) > 1e-12 else "1")
        for name, exponent in design.exponents.items()
    ]
    return ["", table(("of the best design", "here", "grows as"), rows, right=[1])]


def batches_text(design: TheoryDesign, batches: Discrete) -> list[Any]:
    """The design as batch sizes at its rates: when they grow, and what the whole numbers cost."""
    sizes, data = batches.batch_sizes, batches.batch_sizes.sum()
    small = 100.0 * float((sizes < 2.0 * sizes.min()).mean())
    same = Discrete(rates=batches.rates, batch_sizes=data / sizes.size)
    risks = [_risk_in_steps(design, plan) for plan in (batches, same)]
    low, high = batches.rates.min(), batches.rates.max()
    rates = f"the learning rate {high:.4g}" if low == high else f"learning rates from {low:.4g} to {high:.4g}"
    return [
        Text(
            f"at {rates}: {sizes.size:,} steps; the batch is {sizes.min():g} at least,"
            f" less than twice that for {small:.3g} % of them, and grows to {sizes.max():g}"
        ),
        Text(
            f"excess risk by the Volterra equation, in whole batches: {risks[0]:.5g}; with the same data in batches of"
            f" one size ({data / sizes.size:.4g}): {risks[1]:.5g}"
        ),
        "",
    ]


def batches_json(batches: Discrete) -> dict[str, Any]:
    """The batch sizes, the largest rate, and where they differ the rates."""
    rates = {} if np.ptp(batches.rates) == 0.0 else {"rates": batches.rates.tolist()}
    return {"lr": float(batches.rates.max()), **rates, "batch_sizes": batches.batch_sizes.tolist()}


def _risk_in_steps(design: TheoryDesign, plan: Discrete) -> float:
    from fsl_num.volterra.problem import Problem
    from fsl_num.volterra.solution import solve

    return float(solve(Problem(design.model, gamma=plan), [plan.total_intrinsic_time]).excess_risk[0])


def batches_csv(batches: Discrete) -> str:
    """Step (from 0), lr and batch_size, one row an update."""
    rows = zip(batches.rates.tolist(), batches.batch_sizes.tolist(), strict=True)
    return (
        "\n".join(["step,lr,batch_size", *(f"{k},{rate!r},{size:.0f}" for k, (rate, size) in enumerate(rows))]) + "\n"
    )


def theory_csv(design: TheoryDesign) -> str:
    """Blocks of samples at one gamma each, in time order."""
    rows = zip(design.samples.tolist(), design.gammas.tolist(), strict=True)
    return "\n".join(["samples,gamma", *(f"{count!r},{gamma!r}" for count, gamma in rows)]) + "\n"
