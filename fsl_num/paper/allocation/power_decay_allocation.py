"""The optimal allocations of power decays (1 - tau/K)^p, linear decay and the cosine among them. Ours, not the paper's.

p decides which tasks are hard: those with s below min(q, 1 - 1/beta), q = p/(p + 1). Every claim is checked at a power
on its side of beta = p + 1, in every regime of the tasks there.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from sympy import Min, Rational

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import growth
from fsl_num.claims.statements import Joint, Statement
from fsl_num.paper.allocation import forms
from fsl_num.paper.allocation.numeric_laws import measure_allocation
from fsl_num.paper.hypotheses import ORDER_OF_LAW
from fsl_sym.allocation import optimal_allocation
from fsl_sym.order import OrderRange
from fsl_sym.power_regimes import PowerRegime, sides
from fsl_sym.proof import Formula
from fsl_sym.symbols import N, beta, p, s

SCHEDULE: Final = "power-decay"
_CAPACITY: Final = Min(beta, p + 1)
SATURATED: Final = N ** -Min(s, s * _CAPACITY / (1 + s * _CAPACITY))
"""The least risk under a data budget N: that of the capacity min(beta, p + 1)."""
RESONANCE: Final = "beta = p + 1"
TITLES: Final = {"data": "data-optimal", "compute": "compute-optimal"}


def powers(sample: Sample) -> dict[str, Any]:
    """A power on each side of the resonance and at it; and where the task is hard for the plane, on each side of s."""
    gap = 1 - 1 / sample.beta
    below, above = min(sample.s, gap) / 2, (sample.s + gap) / 2
    exponents = {"q < s": below} | ({"q > s": above} if sample.s < gap else {})
    easy = {f"beta > p + 1, {name}": q / (1 - q) for name, q in exponents.items()}
    return {"beta < p + 1": 2 * sample.beta - 1, RESONANCE: sample.beta - 1, **easy}


def derived(budget: str, sample: Sample, power: Any) -> Mapping[str, OrderRange]:
    """The derived orders at a point, those that are measured."""
    quantities = optimal_allocation(SCHEDULE, budget).at(sample.s, sample.beta, power).quantities
    return {name: quantities[name] for name in forms.MEASURED if name in quantities}


def measured(budget: str, sample: Sample) -> dict[str, Any]:
    """Brute-force optima of every power.

    Where the memory of the spectrum decides, and M is at its least, the risk is flat along a thin valley towards larger
    rates: it rises by 2.2 only over a factor 2.2^(p + 1) of the rate, and the search at times misses the end of it. The
    upper end of the rate is measured with M infinite there.
    """
    rays = {}
    for name, power in powers(sample).items():
        measure = partial(measure_allocation, SCHEDULE, budget, *sample.point, settled=sample.effort == 0)
        rays[name] = dict(measure(power=float(power)))
        if budget == "data" and float(power) > sample.point[1] - 1:
            rays[name]["peak_lr upper"] = measure(power=float(power), infinite_model=True)["peak_lr upper"]
    return rays


def statement(budget: str, sample: Sample) -> Joint:
    """The derived allocation at every power."""
    return Joint({name: forms.statement_of(derived(budget, sample, power), budget)
                  for name, power in powers(sample).items()})  # fmt: skip


def mutants(budget: str, sample: Sample) -> dict[str, Statement]:
    """The allocation of a neighbouring power where that differs: the end of the rate matters for beta > p + 1."""
    statements: dict[str, Statement] = {}
    for name, power in powers(sample).items():
        three_quarters = derived(budget, sample, power * Rational(3, 4))
        if three_quarters["excess_risk"] != derived(budget, sample, power)["excess_risk"]:
            statements[f"{name}: three quarters of p"] = Joint({name: forms.statement_of(three_quarters, budget)})
    return statements


def choices(budget: str) -> list[forms.Chosen]:
    """In each regime the least risk, and the orders of the other quantities."""
    return forms.derived_choices(optimal_allocation(SCHEDULE, budget), ("excess_risk", *forms.LETTERS))


def saturation() -> list[forms.Throughout]:
    """What is left on each side of the resonance, as one order.

    >>> [str(part.where) for part in forms.formula_of(saturation()).parts]
    ['beta < p + 1', 'beta > p + 1']
    """
    risks = forms.derived_choices(optimal_allocation(SCHEDULE, "data"), ("excess_risk",))
    whole = {risk.regime: risk for risk in risks if isinstance(risk.regime, PowerRegime)}
    return [
        forms.Throughout(tuple(whole[regime] for regime in side.regimes), SATURATED) for side in sides(p) if side.sign
    ]


def saturated_risk(sample: Sample) -> dict[str, Any]:
    """The least risk under a data budget, off the resonance."""
    return {name: risks["excess_risk"] for name, risks in measured("data", sample).items() if name != RESONANCE}


def uncapped(budget: str, sample: Sample) -> dict[str, Any]:
    """The least risk at every power where a may be larger than 1."""
    return {forms.UNCAPPED: {name: forms.uncapped(SCHEDULE, budget, sample, float(power))
                             for name, power in powers(sample).items()}}  # fmt: skip


def uncapped_saturation(sample: Sample) -> dict[str, Any]:
    """The same under a data budget, off the resonance."""
    ((name, risks),) = uncapped("data", sample).items()
    return {name: {power: risk["excess_risk"] for power, risk in risks.items() if power != RESONANCE}}


def saturated(sample: Sample) -> Joint:
    """Its order, the exponent at the capacity min(beta, p + 1), and no logarithm."""
    parts = {}
    for name, power in powers(sample).items():
        if name != RESONANCE:
            exponent = SATURATED.as_base_exp()[1].subs({s: sample.s, beta: sample.beta, p: power})
            parts[name] = growth(float(exponent), 0.0)
    return Joint(parts)


def _claim(name: str, budget: str) -> Claim:
    return Claim(
        name, "sec: effect-lrs", 1005, f"Power decay, {TITLES[budget]}, derived",
        lambda: forms.formula_of(choices(budget)),
        (*forms.FREE_END, "p > 0"),
        partial(measured, budget), partial(statement, budget), partial(mutants, budget),
        derive=lambda: forms.derivations_of(choices(budget)),
        judged_by="the steps by the batch sizes that they leave", beyond=partial(uncapped, budget),
        depends=("vanishing-end/law-fast", "vanishing-end/law-slow", "vanishing-end/resonance"), role="own",
    )  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    _claim("vanishing-end/data", "data"),
    _claim("vanishing-end/compute", "compute"),
    Claim(
        "vanishing-end/saturation", "sec: effect-lrs", 1005, "A fixed shape saturates at its own capacity",
        lambda: forms.formula_of(saturation()),
        ("p > 0", Formula(p, "!=", beta - 1), "sigma^2 of order 1", "constraint: a <= 1", ORDER_OF_LAW),
        saturated_risk, saturated, derive=lambda: forms.derivations_of(saturation()), depends=("vanishing-end/data",),
        role="own", family="vanishing-end/data", beyond=uncapped_saturation,
        remark="A fixed shape gains nothing from a capacity beyond its own.",
    ),
)  # fmt: skip
