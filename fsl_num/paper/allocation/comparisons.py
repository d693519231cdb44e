"""Claims that set allocations side by side: Table 1, one schedule against another, data against model size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from sympy import Rational, oo

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import parts_of
from fsl_num.claims.records import Judgement
from fsl_num.claims.statements import Equivalent, Joint, Ray, Statement, growth
from fsl_num.paper.allocation.forms import HYPOTHESES, End, allocation_formula, family_of, measure
from fsl_num.paper.allocation.numeric_laws import measure_allocation, measure_risk
from fsl_sym.allocation import optimal_allocation
from fsl_sym.domain import EASY, HARD, REGIMES
from fsl_sym.laws import BUDGETS, SCHEDULES
from fsl_sym.order import Order, OrderRange
from fsl_sym.proof import AllOf, Formula, all_of, tends
from fsl_sym.symbols import C, D, M, N, beta, s

PROBLEMS = tuple((schedule, budget) for schedule in SCHEDULES for budget in BUDGETS)
Rays = tuple[Ray, ...]


@dataclass(frozen=True)
class Vanishes:
    """The measured ratio has the given order, and that order tends to zero."""

    order: Equivalent

    def judge(self, measured: Rays) -> Judgement:
        """The order's judgement, refused where the order does not tend to zero."""
        judged = self.order.judge(measured)
        power, log_power = self.order.exponents["power"], self.order.exponents["log power"]
        if power < 0 or (power == 0 and log_power < 0):
            return judged
        return Judgement(
            False, 99.0, judged.constants, judged.drift, f"N^{power:g} (log N)^{log_power:g} does not vanish"
        )

    def mutants(self) -> Mapping[str, Vanishes]:
        """The order's mutants, and the comparison the other way round."""
        power, log_power = self.order.exponents["power"], self.order.exponents["log power"]
        found = {name: Vanishes(mutant) for name, mutant in self.order.mutants().items()}
        return {**found, "the other way round": Vanishes(growth(-power, -log_power))}

    def neighbours(self, kind: str, size: float) -> list[Vanishes]:
        """The order's neighbours."""
        return [Vanishes(each) for each in self.order.neighbours(kind, size)]


def _ratio(better: str, worse: str, budget: str, sample: Sample) -> Rays:
    first, second = (measure_risk(each, budget, *sample.point, settled=sample.effort == 0) for each in (better, worse))
    return (replace(first, name=f"{better} / {worse}", values=first.values - second.values),)


def _derived_ratio(better: str, worse: str, budget: str, sample: Sample) -> Vanishes:
    first, second = (optimal_allocation(each, budget).at(sample.s, sample.beta).excess_risk for each in (better, worse))
    order = first / second
    return Vanishes(growth(float(order.power), float(order.log_power)))


def _ratio_formula(better: str, worse: str) -> Formula | AllOf:
    """That the quotient of the orders of both optimal risks tends to 0, under each budget in each regime."""
    parts = []
    for budget in BUDGETS:
        for regime in REGIMES:
            first, second = (optimal_allocation(each, budget).regime(regime.name) for each in (better, worse))
            quotient = (first.excess_risk / second.excess_risk).as_expr(N)
            parts.append(replace(tends(quotient, N, oo, 0), where=regime.condition))
    return all_of(parts)


def _least_fraction(budget: str) -> Order:
    lower = optimal_allocation("wsd", budget).regime("hard").quantities["decay_fraction"].lower
    assert lower is not None
    return lower


def table_formula() -> Formula | AllOf:
    """Table 1 as the paper prints it: the order of the least risk of each problem in each regime.

    >>> len(table_formula().parts)
    18
    """
    parts = [
        allocation_formula(
            (schedule, budget),
            {
                regime.name: {"excess_risk": OrderRange(order, order)}
                for regime in REGIMES
                for order in [_printed_table(Sample(regime.name, s, beta))[f"{schedule}/{budget}"]]
            },
        )
        for schedule, budget in PROBLEMS
    ]
    return all_of(part for each in parts for part in parts_of(each))


def _comparison(name: str, label: str, line: int, title: str, text: str, better: str, worse: str) -> Claim:
    return Claim(
        id=name,
        label=label,
        line=line,
        title=title,
        text=text,
        stated=partial(_ratio_formula, better, worse),
        hypotheses=HYPOTHESES,
        measure=lambda sample: {budget: _ratio(better, worse, budget, sample) for budget in BUDGETS},
        statement=lambda sample: Joint({budget: _derived_ratio(better, worse, budget, sample) for budget in BUDGETS}),
        family="comparisons",
    )


def _printed_table(sample: Sample) -> dict[str, Order]:
    """The eight cells of Table 1, the edge filed under easy as its caption says."""
    s, b = sample.s, sample.beta
    easy = sample.regime != "hard"
    zero = Rational(0)
    if easy:
        data, compute = s * b / (1 + s * b), s * b / (2 + s * b)
        wsd = ((s * b - s) / (1 + s * b), (s * b - s) / (2 + s * b))
    else:
        data, compute, wsd = s, s * b / (1 + b), (zero, zero)
    return {
        "constant/data": Order(-s / (s + 1)),
        "constant/compute": Order(-s * b / (1 + s * b + b)),
        "exp-decay/data": Order(-data, data),
        "exp-decay/compute": Order(-compute, compute),
        "wsd/data": Order(-data, wsd[0]),
        "wsd/compute": Order(-compute, wsd[1]),
    }


def _table_statement(sample: Sample) -> Statement:
    return _orders(_printed_table(sample))


def _table_mutants(sample: Sample) -> Mapping[str, Statement]:
    """The other regime's column, wherever it differs."""
    other = Sample("easy" if sample.regime == "hard" else "hard", sample.s, sample.beta)
    mine, theirs = _printed_table(sample), _printed_table(other)
    return {
        f"{cell}: the other regime's": _orders({**mine, cell: theirs[cell]})
        for cell in mine
        if not mine[cell].equals(theirs[cell])
    }


def _orders(cells: Mapping[str, Order]) -> Statement:
    return Joint({cell: growth(float(order.power), float(order.log_power)) for cell, order in cells.items()})


def _data_over_model(sample: Sample) -> dict[str, Rays]:
    """D/M = C/M^2 at the two ends of the near-optimal model sizes."""
    measured = measure_allocation("exp-decay", "compute", *sample.point, settled=sample.effort == 0)
    found: dict[str, Rays] = {}
    for end, other in (("lower", "upper"), ("upper", "lower")):
        rays = measured[f"model_size {other}"]
        assert rays is not None
        (ray,) = rays
        found[end] = (replace(ray, name=f"D/M {end}", values=ray.scale - 2 * ray.values),)
    return found


def _printed_data_over_model(sample: Sample) -> Order:
    alpha = sample.s * sample.beta
    return Order(alpha / (2 + alpha), 0)


def _derived_data_over_model(sample: Sample) -> Order:
    quantities = optimal_allocation("exp-decay", "compute").regime("easy").quantities
    return (quantities["data_size"].order / quantities["model_size"].order).subs({s: sample.s, beta: sample.beta})


def _data_over_model_claim(name: str, title: str, ratio: Callable[[Sample], Order], corrected_by: str | None) -> Claim:
    def statement(sample: Sample) -> Statement:
        order = growth(float(ratio(sample).power), float(ratio(sample).log_power))
        return Joint({"lower": End(order), "upper": End(order)})

    return Claim(
        id=name,
        label="sub:proof_for_the_exponential_decay_lrs",
        line=1002,
        title=title,
        text=f"easy: D/M ~ C^(alpha/(2 + alpha)){'' if corrected_by else ' (log C)^(2/(2 + alpha))'}, alpha = s beta",
        stated=lambda: Formula(D / M, "~", ratio(Sample("easy", s, beta)).as_expr(C), where=EASY.condition),
        hypotheses=HYPOTHESES,
        measure=_data_over_model,
        statement=statement,
        regimes=("easy",),
        corrected_by=corrected_by,
        family=family_of("exp-decay", "compute"),
        role="printed" if corrected_by else "corrected",
    )


CLAIMS = (
    _data_over_model_claim(
        "sec: effect-lrs/data-over-model",
        "Exponential decay, compute-optimal ratio of data to model size",
        _printed_data_over_model,
        "sec: effect-lrs/data-over-model-derived",
    ),
    _data_over_model_claim(
        "sec: effect-lrs/data-over-model-derived",
        "Exponential decay, compute-optimal ratio of data to model size, with its logarithm",
        _derived_data_over_model,
        None,
    ),
    _comparison(
        "sec: effect-lrs/decay-beats-constant",
        "thm:geometric",
        964,
        "Exponential decay is strictly better than constant",
        "the optimal risk of exponential decay over that of the constant schedule tends to zero like a power",
        "exp-decay",
        "constant",
    ),
    _comparison(
        "sec: effect-lrs/wsd-beats-decay",
        "thm: wsd",
        1040,
        "WSD is better than exponential decay by a power of the logarithm",
        "the optimal risk of WSD over that of exponential decay tends to zero like a power of log N",
        "wsd",
        "exp-decay",
    ),
    Claim(
        id="sec: effect-lrs/vanishing-decay-phase",
        label="thm: wsd",
        line=1040,
        title="In the hard regime an optimal decay phase may be a vanishing fraction of the steps",
        text="hard: the least near-optimal decay fraction tends to zero",
        stated=lambda: all_of(
            replace(tends(_least_fraction(budget).as_expr(N), N, oo, 0), where=HARD.condition) for budget in BUDGETS
        ),
        hypotheses=HYPOTHESES,
        measure=lambda sample: {
            budget: measure("wsd", budget, False, False, sample)["decay_fraction lower"] for budget in BUDGETS
        },
        statement=lambda sample: Joint({budget: _fraction(budget, sample) for budget in BUDGETS}),
        regimes=("hard",),
        family=family_of("wsd", "data"),
    ),
    Claim(
        id="tab: optimal-scaling",
        label="tab: optimal-scaling",
        line=194,
        title="Table 1: the optimal excess risk of every schedule",
        text="the eight cells of Table 1, regimes and log powers included, the edge filed under easy",
        stated=table_formula,
        hypotheses=HYPOTHESES,
        measure=lambda sample: {
            f"{name}/{budget}": (measure_risk(name, budget, *sample.point, settled=sample.effort == 0),)
            for name, budget in PROBLEMS
        },
        statement=_table_statement,
        mutants=_table_mutants,
        derive=lambda: [
            optimum for problem in PROBLEMS for optimum in optimal_allocation(*problem).derivations[-len(REGIMES) :]
        ],
        depends=("thm:chinchilla", "thm:geometric", "thm: wsd"),
        family="comparisons",
    ),
)
"""In the order of the paper, the table last: it gathers everything."""


def _fraction(budget: str, sample: Sample) -> Vanishes:
    lower = _least_fraction(budget).subs({s: sample.s, beta: sample.beta})
    return Vanishes(growth(float(lower.power), float(lower.log_power)))


"""Those about comparisons follow from the allocations compared and stand with them."""
