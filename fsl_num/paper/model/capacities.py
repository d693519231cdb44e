"""What more capacity does to one task, alpha = s beta fixed: the laws tuned at growing budgets, for two capacities.

The laws are those of :mod:`fsl_num.paper.allocation.numeric_laws`, as printed. Their least values are searched here
on grids that close in, over the peak rate and the model size; the decay fraction of WSD is 1/2, which is optimal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.records import Judgement
from fsl_num.claims.statements import Equivalent, Joint, Ray, growth
from fsl_num.paper.allocation.comparisons import PROBLEMS, Vanishes
from fsl_num.paper.allocation.numeric_laws import LOG_BUDGETS, SETTLED, BudgetedLaw
from fsl_num.paper.model import formulas as said
from fsl_sym.allocation import optimal_allocation
from fsl_sym.capacity_comparison import capacity_derivation, peak_rate_derivation
from fsl_sym.order import Order

Array = NDArray[np.float64]
GRID, SIZES, CLOSE = 13, 17, 1e-2
"""Points of a grid of peak rates and of one of model sizes, and the width at which a search ends: the law is within
some 1e-5 of its least value there."""
PLATEAU, NARROW, FINE = 18.0, 2000.0, 401
"""Peak rates that lose at most a factor exp(18) may differ by powers of the log budget (whose logarithm is below 17)
alone. The ends of their range are searched as well, with so many points once they are known to that many units."""


def _over_sizes(function: Callable[[Array, Array], Array], peaks: Array, low: float, high: float) -> Array:
    """The least value over model sizes for each peak rate, of a function that falls and then rises with the size."""
    first, last = np.full(peaks.shape, low), np.full(peaks.shape, high)
    while True:
        sizes = np.linspace(first, last, SIZES, axis=-1)
        values = function(np.broadcast_to(peaks[:, None], sizes.shape), sizes)
        place = np.argmin(values, axis=-1)
        rows = np.arange(peaks.size)
        if float((last - first).max()) < SIZES * CLOSE:
            return np.asarray(values[rows, place])
        first = sizes[rows, np.maximum(place - 1, 0)]
        last = sizes[rows, np.minimum(place + 1, SIZES - 1)]


@lru_cache(maxsize=512)
def least_risk(
    schedule: str,
    budget: str,
    s: float,
    beta: float,
    peak: tuple[float, float] | None = None,
    budgets: tuple[float, ...] = LOG_BUDGETS,
) -> Ray:
    """The least risk over growing budgets; ``peak``: with the peak rate N^power (log N)^log_power, not the best."""
    values = []
    for log in budgets:
        law = BudgetedLaw(schedule, budget, s, beta, log)

        def risk(peaks: Array, sizes: Array, law: BudgetedLaw = law) -> Array:
            given = [peaks, sizes, np.full(peaks.shape, -np.log(2.0))]
            return law.log_risk(np.stack(given[: len(law.variables)], axis=-1))

        def tuned(peaks: Array, law: BudgetedLaw = law, log: float = log, risk: Any = risk) -> Array:
            low, high = law.bounds[1]
            return _over_sizes(risk, peaks, low * log, high * log)

        if peak is not None:
            values.append(float(tuned(np.array([peak[0] * log + peak[1] * np.log(log)]))[0]))
            continue
        ends = (None,) if schedule == "constant" else (None, 0, -1)  # a constant rate has one best value
        values.append(min(_over_peaks(tuned, -log, end) for end in ends))
    scale = np.array(budgets)
    settled = len(budgets) - len(LOG_BUDGETS[SETTLED:])
    return Ray(f"{schedule}, {budget}", scale, {"N": scale}, np.array(values), settled)


def budgets_of(sample: Sample) -> tuple[float, ...]:
    """The budgets of a profile: under the quick one those alone at which all is judged."""
    return LOG_BUDGETS if sample.effort else LOG_BUDGETS[SETTLED:]


def _over_peaks(tuned: Callable[[Array], Array], least: float, end: int | None) -> float:
    """The least value by grids, each around the best point of the last, or at an ``end`` of the plateau while wide."""
    low, high = least, 0.0
    while True:
        narrow = end is not None and high - low < NARROW
        peaks = np.linspace(low, high, FINE if narrow else GRID)
        values = tuned(peaks)
        place = int(np.argmin(values))
        cell = float(peaks[1] - peaks[0])
        end = None if narrow else end
        if not np.isfinite(values[place]) or cell < CLOSE:
            return float(values[place])
        if end is not None:
            place = int(np.flatnonzero(values <= values[place] + PLATEAU)[end])
        low, high = max(peaks[place] - 2 * cell, least), min(peaks[place] + 2 * cell, 0.0)


def richer(sample: Sample) -> dict[str, tuple[Any, Any]]:
    """Higher capacities for the same task, as exact (s, beta): half way to beta = 1, or to the edge, or across it."""
    alpha, beta = sample.s * sample.beta, sample.beta
    others = {"within": (1 + beta) / 2}
    if sample.regime == "hard":
        others = {"within": (1 + alpha + beta) / 2, "across": (2 + alpha) / 2}
    return {name: (alpha / other, other) for name, other in others.items()}


def capacity_ratios(sample: Sample) -> Mapping[str, tuple[Ray, ...]]:
    """Least risk at the higher capacity over that at the lower one."""
    found = {}
    for schedule, budget in PROBLEMS:
        own = least_risk(schedule, budget, *sample.point, budgets=budgets_of(sample))
        for name, (s, beta) in richer(sample).items():
            other = least_risk(schedule, budget, float(s), float(beta), budgets=budgets_of(sample))
            ray = Ray(f"{schedule}, {budget}, {name}", own.scale, own.logs, other.values - own.values, own.settled)
            found[ray.name] = (ray,)
    return found


def _orders(sample: Sample) -> dict[str, Order]:
    found = {}
    for schedule, budget in PROBLEMS:
        own = optimal_allocation(schedule, budget).at(sample.s, sample.beta).excess_risk
        for name, (s, beta) in richer(sample).items():
            found[f"{schedule}, {budget}, {name}"] = optimal_allocation(schedule, budget).at(s, beta).excess_risk / own
    return found


def _growth(order: Order) -> Equivalent:
    return growth(float(order.power), float(order.log_power))


def strictly_better(sample: Sample) -> Joint:
    """As printed: the ratio tends to 0 for every schedule and budget."""
    return Joint({name: Vanishes(_growth(order)) for name, order in _orders(sample).items()})


@dataclass(frozen=True)
class NeverWorse:
    """The measured ratio has the given order, which does not grow."""

    order: Equivalent

    def judge(self, measured: tuple[Ray, ...]) -> Judgement:
        """The order's judgement, refused where the order grows."""
        judged = self.order.judge(measured)
        if (self.order.exponents["power"], self.order.exponents["log power"]) > (0.0, 0.0):
            return Judgement(False, 99.0, judged.constants, judged.drift, "the order of the ratio grows")
        return judged

    def mutants(self) -> Mapping[str, NeverWorse]:
        """The order's mutants."""
        return {name: NeverWorse(each) for name, each in self.order.mutants().items()}

    def neighbours(self, kind: str, size: float) -> list[NeverWorse]:
        """The order's neighbours."""
        return [NeverWorse(each) for each in self.order.neighbours(kind, size)]


def never_worse(sample: Sample) -> Joint:
    """Corrected: the ratio has the derived order, which is at most 1."""
    return Joint({name: NeverWorse(_growth(order)) for name, order in _orders(sample).items()})


EXPONENTIAL = ("exp-decay", "compute")


def _ends(s: Any, beta: Any) -> tuple[Order, Order]:
    found = optimal_allocation(*EXPONENTIAL).at(s, beta).quantities["peak_lr"]
    assert found.lower is not None and found.upper is not None
    return found.lower, found.upper


def _priced(s: Any, beta: Any, rate: Order, budgets: tuple[float, ...]) -> tuple[Ray, ...]:
    """The risk at a peak rate over the least risk."""
    best = least_risk(*EXPONENTIAL, float(s), float(beta), budgets=budgets)
    own = least_risk(*EXPONENTIAL, float(s), float(beta), (float(rate.power), float(rate.log_power)), budgets)
    return (Ray(own.name, own.scale, own.logs, own.values - best.values, own.settled),)


def _wanted(sample: Sample) -> tuple[tuple[Any, Any], tuple[Any, Any], Order, Order]:
    own, other = (sample.s, sample.beta), richer(sample)["within"]
    return own, other, _ends(*own)[0], _ends(*other)[0]


def peak_rate_costs(sample: Sample) -> Mapping[str, tuple[Ray, ...]]:
    """What peak rates cost under exponential decay and a compute budget: of order 1, and the smallest optimal ones."""
    own, other, low, lower = _wanted(sample)
    budgets = budgets_of(sample)
    return {
        "order 1": _priced(*own, Order(0), budgets),
        "order 1, higher capacity": _priced(*other, Order(0), budgets),
        "the smallest": _priced(*own, low, budgets),
        "the smallest, higher capacity": _priced(*other, lower, budgets),
        "that of the higher capacity at the lower one": _priced(*own, lower, budgets),
    }


def peak_rate_statement(sample: Sample) -> Joint:
    """Corrected: order 1 and the smallest are optimal; the smallest of the higher capacity is too small for the lower.

    With too small a rate bias and approximation decide, (gamma C/(M log C))^-s and M^-alpha, at their balance (gamma
    C/log C)^(-alpha/(1 + beta)): a rate smaller by a factor costs the power -alpha/(1 + beta) of it.
    """
    own, _, low, lower = _wanted(sample)
    lost = -own[0] * own[1] / (1 + own[1])
    free = growth(0.0, 0.0)
    power, log_power = (float(lost * (one - other)) for one, other in (
        (lower.power, low.power), (lower.log_power, low.log_power)))  # fmt: skip
    return Joint(
        {
            "order 1": free,
            "order 1, higher capacity": free,
            "the smallest": free,
            "the smallest, higher capacity": free,
            "that of the higher capacity at the lower one": growth(power, log_power),
        }
    )


def printed_peak_rate(sample: Sample) -> Joint:
    """As printed: gamma_opt must fall with C, so that a rate of order 1 costs more and more, at either capacity.

    By how much is not printed: as much as a rate that is too small by the same factor.
    """
    own, other, low, lower = _wanted(sample)
    alpha = own[0] * own[1]
    bad = {
        "order 1": -low.power * alpha / (1 + own[1]),
        "order 1, higher capacity": -lower.power * alpha / (1 + other[1]),
    }
    parts = dict(peak_rate_statement(sample).parts)
    return Joint(parts | {name: growth(float(power), 0.0) for name, power in bad.items()})


def _only(found: Mapping[str, Any], start: str) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name.startswith(start)}


def some_ratios(start: str, sample: Sample) -> Mapping[str, tuple[Ray, ...]]:
    """The ratios of the schedules and budgets whose names begin so."""
    return _only(capacity_ratios(sample), start)


def some_better(start: str, sample: Sample) -> Joint:
    """Their ratios tend to 0, by the derived orders."""
    return Joint({name: Vanishes(_growth(order)) for name, order in _only(_orders(sample), start).items()})


def no_gain(start: str, sample: Sample) -> Joint:
    """Their ratios are of order 1."""
    return Joint({name: growth(0.0, 0.0) for name in _only(_orders(sample), start)})


ONE_TASK = ("alpha = s beta fixed", "sigma^2 >~ 1", "M, gamma <~ 1 free", "two capacities")

CAPACITY_CLAIMS: tuple[Claim, ...] = (
    Claim(
        "sec:intro/capacity", "sec:intro", 184, "more capacity is consistently more efficient, as printed",
        "For one task (alpha = s beta fixed) a higher capacity (smaller beta) makes the optimal risk decay faster in "
        "data and in compute, for every schedule. In the easy regime under exponential decay it does not.",
        said.CAPACITY_PRINTED, (*ONE_TASK, *said.TWO),
        capacity_ratios, strictly_better, corrected_by="sec:intro/capacity-never-worse",
        family="capacities",
    ),
    Claim(
        "sec:intro/capacity-never-worse", "sec:intro", 184, "more capacity is never worse, and where it is better",
        "A higher capacity never makes the optimal risk decay slower. It wins a power of the budget for constant rates "
        "and in the hard regime, a power of the logarithm for WSD in the easy regime, and nothing for exponential "
        "decay there.",
        said.CAPACITY, (*ONE_TASK, *said.TWO),
        capacity_ratios, never_worse, derive=capacity_derivation, family="capacities", role="corrected",
    ),
    Claim(
        "sec: effect-lrs/constant-rate-capacity", "sec: effect-lrs", 929,
        "more capacity at a constant rate",
        "For one task a higher capacity makes the optimal risk of a constant rate decay faster by a power, in data "
        "(alpha/(alpha + beta)) and in compute (alpha/(1 + alpha + beta)).",
        said.CONSTANT_RATE, ONE_TASK,
        partial(some_ratios, "constant"), partial(some_better, "constant"), derive=capacity_derivation,
        family="capacities",
    ),
    Claim(
        "sec: effect-lrs/easy-no-gain", "sec: effect-lrs", 1000, "easy, exponential decay: no gain from capacity",
        "For one task in the easy regime a higher capacity leaves the order of the compute-optimal risk of exponential "
        "decay as it is.",
        said.EASY_DECAY, ONE_TASK,
        partial(some_ratios, "exp-decay, compute"), partial(no_gain, "exp-decay, compute"),
        derive=capacity_derivation, regimes=("easy",), family="capacities",
    ),
    Claim(
        "sec: effect-lrs/hard-gain", "sec: effect-lrs", 1009, "hard, exponential decay: a gain from capacity",
        "For one task in the hard regime a higher capacity makes the compute-optimal risk of exponential decay decay "
        "faster by a power, within the regime and beyond it.",
        said.HARD_DECAY, ONE_TASK,
        partial(some_ratios, "exp-decay, compute"), partial(some_better, "exp-decay, compute"),
        derive=capacity_derivation, regimes=("hard",), family="capacities",
    ),
    Claim(
        "sec: effect-lrs/peak-rate-and-capacity", "sec: effect-lrs", 1005,
        "gamma_opt falls with C and with a smaller beta, as printed",
        "Exponential decay, easy, compute: the optimal peak rate falls with C and is smaller for a higher capacity. A "
        "rate of order 1 is as good, at every C and every capacity.",
        said.PEAK_PRINTED, ONE_TASK,
        peak_rate_costs, printed_peak_rate, regimes=("easy",),
        corrected_by="sec: effect-lrs/smallest-peak-rate-and-capacity", family="capacity-peak-rates",
    ),
    Claim(
        "sec: effect-lrs/smallest-peak-rate-and-capacity", "sec: effect-lrs", 1005,
        "the smallest optimal gamma falls with C and with a smaller beta",
        "Exponential decay, easy, compute: the smallest optimal peak rate falls with C and is smaller for a higher "
        "capacity, at which a lower one would be undertrained; a rate of order 1 stays optimal.",
        said.PEAK_RANGE, ONE_TASK,
        peak_rate_costs, peak_rate_statement, derive=peak_rate_derivation, regimes=("easy",),
        family="capacity-peak-rates", role="corrected",
    ),
)  # fmt: skip
