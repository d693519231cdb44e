"""tab: optimal-scaling: Table 1, and one schedule against another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from sympy import Rational

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import growth
from fsl_num.claims.statements import Joint, Statement
from fsl_num.paper.allocation.forms import (
    HYPOTHESES,
    PROBLEMS,
    SLOW,
    UNCAPPED,
    Chosen,
    Falls,
    Rays,
    Vanishes,
    derivations_of,
    derived_choices,
    formula_of,
    printed_choices,
)
from fsl_num.paper.allocation.numeric_laws import measure_risk
from fsl_sym.allocation import optimal_allocation
from fsl_sym.domain import REGIMES
from fsl_sym.laws import BUDGETS
from fsl_sym.order import Order, OrderRange
from fsl_sym.proof import AllOf, Formula
from fsl_sym.symbols import beta, s


def table_formula() -> Formula | AllOf:
    """Table 1 as the paper prints it: the order of the least risk of each problem in each regime.

    >>> len(table_formula().parts)
    18
    """
    return formula_of(table_choices())


def table_choices() -> list[Chosen]:
    """Table 1 problem by problem, regime by regime."""
    choices = []
    for schedule, budget in PROBLEMS:
        printed = {regime.name: _printed_table(Sample(regime.name, s, beta)) for regime in REGIMES}
        orders = {name: cells[f"{schedule}/{budget}"] for name, cells in printed.items()}
        risks = {name: {"excess_risk": OrderRange(order, order)} for name, order in orders.items()}
        choices += printed_choices((schedule, budget), risks)
    return choices


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


def _table_mutants(sample: Sample) -> Mapping[str, Statement]:
    """The other regime's column, wherever it differs."""
    facing = Sample("easy" if sample.regime == "hard" else "hard", sample.s, sample.beta)
    mine, theirs = _printed_table(sample), _printed_table(facing)
    return {
        f"{cell}: the other regime's": _orders({**mine, cell: theirs[cell]})
        for cell in mine
        if not mine[cell].equals(theirs[cell])
    }


def _orders(cells: Mapping[str, Order]) -> Joint:
    return Joint({cell: growth(float(order.power), float(order.log_power)) for cell, order in cells.items()})


def _table(sample: Sample, **outside: Any) -> Mapping[str, Rays]:
    return {
        f"{name}/{budget}": (measure_risk(name, budget, *sample.point, settled=sample.effort == 0, **outside),)
        for name, budget in PROBLEMS
    }


def _risks(better: str, worse: str, sample: Sample, **outside: Any) -> dict[str, Rays]:
    """The least risks of two schedules under each budget, and their quotient."""
    measured: dict[str, Rays] = {}
    for budget in BUDGETS:
        first, second = (
            measure_risk(schedule, budget, *sample.point, settled=sample.effort == 0, **outside)
            for schedule in (better, worse)
        )
        ratio = replace(first, name=f"{better} / {worse}", values=first.values - second.values)
        measured |= {budget: (ratio,), f"{better}/{budget}": (first,), f"{worse}/{budget}": (second,)}
    return measured


def _two_risks(better: str, worse: str, sample: Sample) -> Joint:
    """The derived orders of both risks, and that their quotient vanishes."""
    parts: dict[str, Statement] = {}
    for budget in BUDGETS:
        risks = {schedule: optimal_allocation(schedule, budget).at(sample.s, sample.beta).excess_risk
                 for schedule in (better, worse)}  # fmt: skip
        ratio = risks[better] / risks[worse]
        parts[budget] = Vanishes(growth(float(ratio.power), float(ratio.log_power)))
        parts |= _orders({f"{schedule}/{budget}": order for schedule, order in risks.items()}).parts
    return Joint(parts)


def _compared(better: str, worse: str) -> list[Chosen | Falls]:
    """Both least risks under each budget in each regime, and that the quotient of their orders tends to 0."""
    stated: list[Chosen | Falls] = []
    for budget in BUDGETS:
        choices = (
            derived_choices(optimal_allocation(schedule, budget), ("excess_risk",)) for schedule in (better, worse)
        )
        for first, second, regime in zip(*choices, REGIMES, strict=True):
            ratio = first.quantities["excess_risk"].order / second.quantities["excess_risk"].order
            stated += [first, second, Falls(ratio, first.program[1], regime)]
    return stated


def _comparison(name: str, label: str, line: int, title: str, better: str, worse: str, quoted: str) -> Claim:
    return Claim(
        name, label, line, title, lambda: formula_of(_compared(better, worse)), HYPOTHESES,
        partial(_risks, better, worse), partial(_two_risks, better, worse),
        derive=lambda: derivations_of(_compared(better, worse)), family="comparisons", quoted=quoted,
        beyond=lambda sample: {UNCAPPED: _risks(better, worse, sample, capped=False),
                               SLOW: _risks(better, worse, sample, last_power=0.05)},
    )  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    _comparison(
        "sec: effect-lrs/decay-beats-constant", "thm:geometric", 964,
        "Exponential decay is strictly better than constant",
        "exp-decay", "constant", "exp-decay LRS achieves a strictly faster decay of the excess risk",
    ),
    _comparison(
        "sec: effect-lrs/wsd-beats-decay", "thm: wsd", 1040,
        "WSD is better than exponential decay by a power of the logarithm",
        "wsd", "exp-decay", "both regimes enjoy an additional logarithmic improvement in excess‐risk decay",
    ),
    Claim(
        id="tab: optimal-scaling", label="tab: optimal-scaling", line=194,
        title="Table 1: the optimal excess risk of every schedule",
        stated=table_formula, hypotheses=HYPOTHESES,
        measure=_table,
        beyond=lambda sample: {UNCAPPED: _table(sample, capped=False), SLOW: _table(sample, last_power=0.05)},
        statement=lambda sample: _orders(_printed_table(sample)), mutants=_table_mutants,
        derive=lambda: derivations_of(table_choices()),
        depends=("thm:chinchilla", "thm:geometric", "thm: wsd"), family="comparisons",
        quoted=r"an \emph{easy-learning regime} ($s \ge 1 - 1/\beta$) and a \emph{hard-learning regime} "
        r"($s < 1 - 1/\beta$)",
    ),
)  # fmt: skip
