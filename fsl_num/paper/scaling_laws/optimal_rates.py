"""The best rates of the functional law under a data or a compute budget: how all of it grows. Ours, not the paper's.

With w = 1/gamma samples a unit of intrinsic time, the noise int K(T - t)/w dt is convex in w and the data int w dt
linear, so that the Karush-Kuhn-Tucker conditions decide: w is in proportion to sqrt(K(T - t)), cut where gamma reaches
its bound. Uncut, the noise is (int sqrt K)^2/D, of the order min(M, T^(1/beta))/D. In the easy regime it balances the
signal T^-s, and gamma ~ T/D falls with D; in the hard one that T would be beyond D, so that gamma stays at its bound
but for a last R at which the price of a sample, K(R) ~ R^-(2 - 1/beta), is what a sample learns, T^(-s-1). Under
C = M D the model is as large as T lets it learn, M ~ T^(1/beta). The measurement is the designer, which knows no law.

In the hard regime all of it comes slowly near the edge: what the decay leaves lies above D^-s by a factor 1 + c D^-d,
d = (beta - 1 - s beta)/(2 beta - 1), the exponent of the share of the decay, and no logarithm. At s = 10/17 and
beta = 7/2, with label noise of variance 1, the exponent of the loss between 1e18 and 1e25 of compute is still off by
0.012, and by 0.002 around 1e36. As c falls with the label noise, designs settle early where that is as low as what is
left of the signal allows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np
from sympy import Expr

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import order_statement
from fsl_num.claims.statements import Joint, Ray, Statement
from fsl_num.claims.words import Where
from fsl_num.design.model_water import model_water
from fsl_num.design.theory import best_gammas
from fsl_num.model import Model
from fsl_num.paper.block_constants import DESIGNED, exact_powers
from fsl_num.paper.hypotheses import INFINITE, LABELS, MODEL, located, of_infinite_size
from fsl_num.validation import Array
from fsl_sym.domain import EASY, HARD, REGIMES, Regime
from fsl_sym.near_optimal import written
from fsl_sym.optimal_rates import (
    DECAY,
    LATE,
    LAWS,
    LEAST_PRICE,
    above_least_price,
    best_quantity,
    least_orders,
    price,
    samples_spent,
    stationary_rate,
)
from fsl_sym.order import Order
from fsl_sym.proof import AllOf, Derivation, Formula, equals, same_order
from fsl_sym.symbols import HALF, K2, C, D, E, K, M, T, a, b, beta, gamma, s

_LONGEST: Final = 40.0
"""Decades of the largest budget, more where horizons grow more slowly."""
_LONGEST_HARD: Final = {"data": 28.0, "compute": 34.0}
"""Of hard tasks; beyond, the time that a decay gives away falls below what rounding leaves of the whole. (At 36 decades
of compute releases of scipy end 3 % apart, at 34 less than one.)"""
_SETTLED: Final = {"data": 12.0, "compute": 18.0}
"""Decades of the least budget: before it neither the sums over features nor the start of training are powers."""
_OUTWEIGHS: Final = 100.0
_CLOSE, _AROUND = 0.01, 0.5
"""To so much, of its logarithm, the best model size is searched, and so far around where it is expected."""
_EASIER: Final = 1 + s * beta
DATA_EASY: Final = {
    "loss": same_order(E, D ** (-s * beta / _EASIER)),
    "horizon": same_order(T, D ** (beta / _EASIER)),
    "peak": same_order(a, D ** (beta / _EASIER - 1)),
    "end": same_order(b, D ** (HALF / _EASIER - 1)),
}
DATA_HARD: Final = {
    "loss": same_order(E, D**-s),
    "horizon": same_order(T, D),
    "decay": same_order(K2 / K, D ** (-(beta - _EASIER) / (2 * beta - 1))),
    "end": same_order(b, D ** (-(1 + s) / 2)),
}
COMPUTE_EASY: Final = {
    "loss": same_order(E, C ** (-s * beta / (1 + _EASIER))),
    "size": same_order(M, C ** (1 / (1 + _EASIER))),
    "samples": same_order(D, C ** (_EASIER / (1 + _EASIER))),
    "horizon": same_order(T, C ** (beta / (1 + _EASIER))),
    "peak": same_order(a, C ** ((beta - _EASIER) / (1 + _EASIER))),
}
LEAST: Final = {
    "data": (D ** (-s * beta / _EASIER), D ** -((beta - 1) / beta), D**-s),
    "compute": (C ** (-s * beta / (1 + _EASIER)), C ** -((beta - 1) / (beta + 1)), C ** (-s * beta / (1 + beta))),
}
FAMILY: Final = "optimal-schedule"
"""Claims that share designs."""
"""Of the excess risk, for easy tasks, at the edge, and for hard tasks."""
STATIONARY: Final = equals(price(gamma), above_least_price(gamma) + LEAST_PRICE)
"""At every rate gamma; what lies above the least price is a square that vanishes at sqrt(mu/k)."""
COMPUTE_HARD: Final = {
    "loss": same_order(E, C ** (-s * beta / (1 + beta))),
    "size": same_order(M, C ** (1 / (1 + beta))),
    "horizon": same_order(T, C ** (beta / (1 + beta))),
    "decay": same_order(K2 / K, C ** (-beta * (beta - _EASIER) / ((1 + beta) * (2 * beta - 1)))),
}


@dataclass(frozen=True)
class Derived:
    """What of an optimum is proved: its least value, and of near-optimal choices quantities of one order.

    ``quantities``: a quantity, its order and which of :data:`~fsl_sym.near_optimal.ENDS`, under the law of the name.
    ``measured`` is what is stated and not proved.
    """

    budget: str
    regime: Regime
    quantities: tuple[tuple[str, Expr, Expr, str], ...]
    rates: bool = False
    measured: tuple[Formula, ...] = ()

    def formulas(self) -> list[Formula]:
        """The least value, where the rates are what spends the samples how, and each quantity."""
        least = LEAST[self.budget][REGIMES.index(self.regime)]
        stated = [_least_of(self.budget, least, self.regime)] + ([samples_spent().conclusion] if self.rates else [])
        for name, quantity, order, end in self.quantities:
            law, *program = DECAY if name == "decay" else LAWS[name]
            near = (law, LEFT_BY_DECAY if name == "decay" else least, *program)
            exact = written(Order(order.as_base_exp()[1])).as_expr(near[3])
            stated.append(Formula(quantity, f"near-optimal {end}", exact, program=near, where=self.regime.condition))
        return [*stated, *self.measured]

    def derivations(self) -> list[Derivation]:
        """The theorems that are to be that."""
        spent = [samples_spent()] if self.rates else []
        return [least_orders(self.budget)[REGIMES.index(self.regime)], *spent, *(
            best_quantity(name, self.regime, quantity, Order(order.as_base_exp()[1]), end)
            for name, quantity, order, end in self.quantities
        )]  # fmt: skip


def _least_of(budget: str, order: Expr, regime: Regime) -> Formula:
    law, *program = LAWS[budget]
    return Formula(law, "optimum", order, program=tuple(program), where=regime.condition)


LEFT_BY_DECAY: Final = D ** -((1 + s) * (beta - 1) / (2 * beta - 1))
"""Above the signal of the largest rate throughout."""
_FALL: Final = 1 - HALF / beta
"""Rates are in proportion to R to this power where R of intrinsic time is left."""
DERIVED: Final = {
    "data-easy": Derived(
        "data", EASY,
        (("data", T, DATA_EASY["horizon"].right, "at"), ("data", T / D, DATA_EASY["peak"].right, "at"),
         ("data", T ** (HALF / beta) / D, DATA_EASY["end"].right, "at")), rates=True,
    ),
    "data-hard": Derived(
        "data", HARD,
        (("data", T, D, "at"), ("decay", LATE / D, DATA_HARD["decay"].right, "at"),
         ("decay", LATE**-_FALL, DATA_HARD["end"].right, "at")), rates=True,
    ),
    "compute-easy": Derived(
        "compute", EASY,
        (("compute", M, COMPUTE_EASY["size"].right, "at"), ("compute", D, COMPUTE_EASY["samples"].right, "at"),
         ("compute", T, COMPUTE_EASY["horizon"].right, "from"), ("compute", T, COMPUTE_EASY["samples"].right, "up to"),
         ("compute", T / D, COMPUTE_EASY["peak"].right, "from")),
        measured=(COMPUTE_EASY["horizon"], COMPUTE_EASY["peak"]),
    ),
    "compute-hard": Derived(
        "compute", HARD,
        (("compute", M, COMPUTE_HARD["size"].right, "at"), ("compute", T, COMPUTE_HARD["horizon"].right, "at")),
        measured=(COMPUTE_HARD["decay"],),
    ),
}  # fmt: skip
"""Budget and regime -> what is proved of the best rates."""


def decay_samples(gammas: Array, samples: Array) -> float:
    """The samples after gamma has left its peak: the line of log samples left over log gamma, followed to the peak."""
    left = np.append(np.cumsum(samples[::-1])[::-1], 0.0)
    middle, peak = 0.5 * (left[1:] + left[:-1]), gammas.max()
    falls = (gammas < 0.99 * peak) & (gammas > 0.5 * peak)
    line = np.polyfit(np.log(gammas[falls]), np.log(middle[falls]), 1)
    return float(np.exp(np.polyval(line, np.log(peak))))


@dataclass(frozen=True)
class Optimum:
    """The best gamma, of those that never rise, for one model and so many samples: its blocks in time order."""

    model: Model
    data: float
    loss: float
    gammas: Array
    samples: Array

    @cached_property
    def quantities(self) -> Mapping[str, float]:
        """Model size, samples, excess risk, intrinsic time, largest and last gamma, and the share of the decay."""
        peak, horizon = float(self.gammas.max()), float(self.gammas @ self.samples)
        share = decay_samples(self.gammas, self.samples) / self.data
        return {"size": self.model.size, "samples": self.data, "loss": self.loss, "horizon": horizon, "peak": peak,
                "end": float(self.gammas[-1]), "decay": share}  # fmt: skip


def _noise(sample: Sample) -> float:
    """The label noise of the designs: 1, in the hard regime what outweighs the signal left at the least budget."""
    unlearnt = Model(*sample.point, math.inf, 1.0).signal(10.0 ** _SETTLED["data"])
    return _OUTWEIGHS * float(unlearnt) if sample.regime == "hard" else 1.0


of_noise = located(lambda sample: {"sigma^2": _noise(sample), "B": 1.0})
"""A measurement of the designs, which names their label noise."""


def _optimum(sample: Sample, size: float, data: float) -> Optimum:
    model = Model(*sample.point, size, _noise(sample))
    return Optimum(model, data, *best_gammas(model, data, falling=True))


def _budgets(sample: Sample, budget: str) -> Array:
    farther = max(1.0, float(sample.s + 1 / sample.beta))  # horizons of up to about 1e40, of easy tasks too
    longest = _LONGEST_HARD[budget] if sample.regime == "hard" else _LONGEST
    return farther * np.linspace(_SETTLED[budget], longest, 4 + 2 * sample.effort)


@lru_cache(maxsize=16)
def data_designs(sample: Sample) -> tuple[Optimum, ...]:
    """The designs of infinitely many features along the data."""
    return tuple(_optimum(sample, math.inf, 10.0**decade) for decade in _budgets(sample, "data"))


def _rays(designs: Sequence[Optimum], grown: str, budgets: Array) -> dict[str, tuple[Ray, ...]]:
    tables = [design.quantities for design in designs]
    return {
        name: (
            Ray(f"{grown} to infinity", budgets, {grown: budgets}, np.log([float(table[name]) for table in tables])),
        )
        for name in tables[0]
        if math.isfinite(tables[0][name])
    }


def data_rays(sample: Sample) -> Mapping[str, tuple[Ray, ...]]:
    """The same by quantity."""
    return _rays(data_designs(sample), "D", math.log(10.0) * _budgets(sample, "data"))


def _best_size(sample: Sample, compute: float, before: list[float]) -> float:
    """The logarithm of the model size of the least excess risk; near where two of smaller budgets lead."""

    from scipy.optimize import minimize_scalar

    noise = _noise(sample)

    def log_risk(log_size: float) -> float:
        size = round(math.exp(log_size))
        return math.log(best_gammas(Model(*sample.point, size, noise), compute / size)[0])

    low, high = before[-1], math.log(compute)
    if len(before) > 2:
        low, high = (2.0 * before[-1] - before[-2] + offset for offset in (-_AROUND, _AROUND))
    minimum: Any = minimize_scalar(log_risk, bounds=(low, high), method="bounded", options={"xatol": _CLOSE})
    if len(before) > 2 and min(minimum.x - low, high - minimum.x) < 0.1 * _AROUND:
        return _best_size(sample, compute, before[-1:])
    return float(minimum.x)


@lru_cache(maxsize=16)
def compute_rays(sample: Sample) -> Mapping[str, tuple[Ray, ...]]:
    """The designs along the compute, each at the model size of the least excess risk."""
    decades, sizes, optima = _budgets(sample, "compute"), [0.0], []
    for decade in decades:
        sizes.append(_best_size(sample, 10.0**decade, sizes))
        size = round(math.exp(sizes[-1]))
        optima.append(_optimum(sample, size, 10.0**decade / size))
    return _rays(optima, "C", math.log(10.0) * decades)


def letters_of_design(sample: Sample) -> dict[str, Any]:
    """One design of infinitely many features, and the excess risks of others that never rise at the same data."""
    design = _optimum(sample, math.inf, _SHOWN)
    water, known = model_water(design.model, design.data, None, falling=True), design.quantities
    others = [min(scale, water.high / known["peak"]) * design.gammas for scale in (0.8, 0.97, 1.03, 1.2)]
    others += [np.full_like(design.gammas, share * water.high) for share in (1.0, 0.1, 0.01)]
    risks = [water.risk(gammas, design.samples) for gammas in (design.gammas, *others)]
    return {
        "E": risks[0], "the excess risks of gamma that never rise, up to a bound": np.array(risks),
        "gamma": design.gammas, "the samples at each": design.samples,
        "a": known["peak"], "b": known["end"], "T": known["horizon"],
        "g": water.high,
    }  # fmt: skip


def _letters_of_size(sample: Sample) -> dict[str, Any]:
    """The design of one compute, and the least excess risks of models half, twice and four times as large.

    Nearer ones may be better by what a whole number of features is from the best size, which may be as small as 3.
    """
    log_size, noise = _best_size(sample, _SHOWN, [0.0]), _noise(sample)
    sizes = [max(1, round(math.exp(log_size) * share)) for share in (1.0, 0.5, 2.0, 4.0)]
    risks = [best_gammas(Model(*sample.point, size, noise), _SHOWN / size, falling=True)[0] for size in sizes]
    return {"E": _optimum(sample, sizes[0], _SHOWN / sizes[0]).loss, "the excess risks at each M": np.array(risks)}


_SHOWN: Final = 1e6
"""The budget at which letters are tried."""
BEST: Final = Where("E is the least of the excess risks of gamma that never rise, up to a bound", letters_of_design)
LARGEST: Final = Where("a is the largest of gamma", letters_of_design)
CHOSEN_SIZE: Final = Where("E is the least of the excess risks at each M", _letters_of_size)
BEST_LAW: Final = (
    Where("T is the sum of gamma times the samples at each", letters_of_design),
    Where("T is an intrinsic time over which the best rates leave the signal and the noise (int sqrt K)^2/D, "
          "of the order min(M, T^(1/beta))/D"),
)


def _claim(
    name: str, title: str, orders: Mapping[str, Formula],
    rays: Callable[[Sample], Mapping[str, tuple[Ray, ...]]], remark: str, *hypotheses: str,
) -> Claim:  # fmt: skip
    def measured(sample: Sample) -> dict[str, Any]:
        rays_of = rays(sample)
        return {order: rays_of[order] for order in orders}

    def statement(sample: Sample) -> Statement:
        return Joint({name: order_statement(formula, sample) for name, formula in orders.items()})

    derived = DERIVED[name.partition("/")[2]]
    return Claim(
        name, "eqn: FSL-optimization", 1583, title, lambda: AllOf(tuple(derived.formulas())),
        (MODEL, str(derived.regime.condition),
         BEST, LABELS, *BEST_LAW,
         exact_powers(DESIGNED), *hypotheses),
        of_noise(of_infinite_size(measured) if INFINITE in hypotheses else measured), statement,
        derive=derived.derivations, regimes=(derived.regime.name,), role="own", depends=("eqn: fsl-simplified",),
        family=FAMILY, remark=remark,
    )  # fmt: skip


def _least(
    budget: str, rays: Callable[[Sample], Mapping[str, Any]], depends: tuple[str, ...],
    before: tuple[Any, ...] = (), derive: Callable[[], tuple[Any, ...]] = tuple, where: tuple[Where, ...] = (),
) -> Claim:  # fmt: skip
    """The least risk of a budget regime by regime, of the law that the best rates leave.

    ``before``: what is stated first, and derived by ``derive``, with letters defined by ``where``.
    """
    orders = dict(zip([regime.name for regime in REGIMES], LEAST[budget], strict=True))
    optima = [_least_of(budget, orders[regime.name], regime) for regime in REGIMES]

    def measured(sample: Sample) -> Any:
        return rays(sample)["loss"]

    def statement(sample: Sample) -> Statement:
        return order_statement(same_order(E, orders[sample.regime]), sample)

    return Claim(
        f"optimal-schedule/{budget}", "eqn: FSL-optimization", 1583, f"the least risk of all schedules, {budget}",
        AllOf((*before, *optima)),
        (MODEL, LABELS, *BEST_LAW, *where, exact_powers(DESIGNED)),
        of_noise(measured), statement, derive=lambda: (*derive(), *least_orders(budget)), role="own", depends=depends,
        family=FAMILY,
    )  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    _least(
        "data",
        data_rays, ("eqn: fsl-simplified", "lemma:ke-power/kernel-window"), (STATIONARY,),
        lambda: (stationary_rate(),), (Where("mu is the price of a sample; k is the noise of a unit of gamma"),),
    ),  # fmt: skip
    _least(
        "compute",
        compute_rays, ("optimal-schedule/data", "approximation-error"),
    ),  # fmt: skip
    _claim(
        "optimal-schedule/data-easy", "the best schedule of a data budget, easy regime",
        DATA_EASY, data_rays,
        "No fixed shape beats that order; a power decay that ends slowly enough reaches it.",
        INFINITE,
    ),
    _claim(
        "optimal-schedule/data-hard", "the best schedule of a data budget, hard regime",
        DATA_HARD, data_rays,
        "The peak is the bound, and a vanishing share of the samples comes after it.",
        INFINITE, Where("R is the intrinsic time after the rate has left its bound"),
    ),
    _claim(
        "optimal-schedule/compute-easy", "the best schedule of a compute budget, easy regime",
        COMPUTE_EASY, compute_rays,
        "Up to constants the law does not determine the intrinsic time; the designs take the lower end.",
        CHOSEN_SIZE, LARGEST,
    ),
    _claim(
        "optimal-schedule/compute-hard", "the best schedule of a compute budget, hard regime",
        COMPUTE_HARD, compute_rays,
        "That the last share of samples falls as under a data budget is not proved where the kernel of M features "
        "ends.",
        CHOSEN_SIZE,
        Where("K_2 is the number of samples after the rate has left its bound"),
    ),
)  # fmt: skip
