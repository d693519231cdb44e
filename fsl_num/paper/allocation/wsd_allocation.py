"""thm: wsd: the optimal allocations of WSD, as printed and derived.

Where main text, appendix theorem and the cases of its proof print different formulas, each is a claim of its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import growth
from fsl_num.claims.statements import Joint
from fsl_num.paper.allocation import forms
from fsl_num.paper.allocation.exponential_decay_allocation import geometric_compute_easy
from fsl_sym.allocation import optimal_allocation
from fsl_sym.domain import HARD
from fsl_sym.laws import BUDGETS
from fsl_sym.order import UNIT, Order
from fsl_sym.symbols import beta, s


def _wsd_data_easy(s: Any, b: Any, sign: int) -> forms.Quantities:
    return {
        "excess_risk": forms.point(-s * b / (s * b + 1), (s * b - s) / (1 + s * b)),
        "peak_lr": forms.point(-(1 + s * b - b) / (1 + s * b), sign * (b - 1) / (1 + s * b)),
        "decay_fraction": forms.point(0),
    }


def _wsd_data_hard(s: Any, b: Any) -> forms.Quantities:
    return {
        "excess_risk": forms.point(-s),
        "peak_lr": forms.point(0),
        "decay_fraction": forms.at_least((s * b + 1 - b) / (b - 1), 1, UNIT),
    }


def _wsd_data_easy_main(s: Any, b: Any) -> forms.Quantities:
    return _wsd_data_easy(s, b, 1)


def _wsd_data_easy_appendix(s: Any, b: Any) -> forms.Quantities:
    return _wsd_data_easy(s, b, -1)


def _wsd_compute_easy_theorem(s: Any, b: Any) -> forms.Quantities:
    printed = geometric_compute_easy(s, b)
    risk = forms.point(-s * b / (2 + s * b), (s * b - s) / (2 + s * b))
    return {**printed, "excess_risk": risk, "decay_fraction": forms.point(0)}


def _wsd_compute_easy_first_case(s: Any, b: Any) -> forms.Quantities:
    risk = s * b / (2 + s * b)
    return {**geometric_compute_easy(s, b), "excess_risk": forms.point(-risk, risk + s)}


def _wsd_compute_easy_second_case(s: Any, b: Any) -> forms.Quantities:
    total = 2 + s * b
    return {
        "excess_risk": forms.point(-s * b / total, (s * b - s) / total),
        "peak_lr": forms.point(-(1 + s * b - b) / total, -(b - 1) / (1 + s * b)),
        "model_size": forms.point(1 / total, -(1 - 1 / b) / total),
        "data_size": forms.point((1 + s * b) / total, (1 - 1 / b) / total),
    }


def _wsd_compute_hard(s: Any, b: Any) -> forms.Quantities:
    # The decay fraction is printed in powers of D; here D = C^(beta / (1 + beta)) is inserted.
    return {
        "excess_risk": forms.point(-s * b / (1 + b)),
        "peak_lr": forms.point(0),
        "model_size": forms.point(1 / (1 + b)),
        "data_size": forms.point(b / (1 + b)),
        "decay_fraction": forms.at_least(-b / (1 + b) * (b - 1 - s * b) / (b - 1), 1, UNIT),
    }


def _hard(budget: str) -> forms.Chosen:
    """The least risk of hard tasks, and the least near-optimal decay fraction."""
    choices = forms.derived_choices(optimal_allocation("wsd", budget), ("excess_risk", "decay_fraction"))
    return next(replace(choice, ends=("from",)) for choice in choices if choice.regime == HARD)


def _least_fraction(budget: str) -> Order:
    lower = _hard(budget).quantities["decay_fraction"].lower
    assert lower is not None
    return lower


def _vanishing_phase() -> list[forms.Chosen | forms.Falls]:
    stated: list[forms.Chosen | forms.Falls] = []
    for budget in BUDGETS:
        hard = _hard(budget)
        stated += [hard, forms.Falls(_least_fraction(budget), hard.program[1], HARD)]
    return stated


def _phase(sample: Sample) -> dict[str, Any]:
    """The least risk and the least near-optimal decay fraction under both budgets."""
    measured = {budget: forms.measure("wsd", budget, False, False, sample) for budget in BUDGETS}
    ends = {budget: ends_of_budget["decay_fraction lower"] for budget, ends_of_budget in measured.items()}
    return ends | {f"{budget}, risk": ends_of_budget["excess_risk"] for budget, ends_of_budget in measured.items()}


def _phase_statement(sample: Sample) -> Joint:
    values = {s: sample.s, beta: sample.beta}
    parts: dict[str, Any] = {}
    for budget in BUDGETS:
        lower = _least_fraction(budget).subs(values)
        risk = _hard(budget).quantities["excess_risk"].order.subs(values)
        parts[budget] = forms.Vanishes(growth(float(lower.power), float(lower.log_power)))
        parts[f"{budget}, risk"] = growth(float(risk.power), float(risk.log_power))
    return Joint(parts)


CLAIMS: tuple[Claim, ...] = (
    forms.printed_claim(
        "thm: wsd/data", "thm: wsd", 1033, "WSD, data-optimal, main text", ("wsd", "data"), _wsd_data_easy_main,
        _wsd_data_hard, infinite_model=True, corrected_by="thm: wsd/data-appendix",
        quoted=r"D^{-\frac{1+s\beta-\beta}{1+s\beta}}(\log D)^{\frac{\beta-1}{1+s\beta}}",
    ),
    forms.printed_claim(
        "thm: wsd/data-appendix", "sub:proof_for_the_wsd_like_lrs", 3553, "WSD, data-optimal, appendix",
        ("wsd", "data"), _wsd_data_easy_appendix, _wsd_data_hard, infinite_model=True,
        quoted=r"D)^{-\frac{\beta-1}{1+s\beta}}",
    ),
    forms.derived_claim(
        "thm: wsd/data-derived", "thm: wsd", 1033, "WSD, data-optimal, derived", ("wsd", "data"), "own",
    ),
    forms.printed_claim(
        "thm: wsd/data-edge-as-hard", "sub:proof_for_the_wsd_like_lrs", 3625,
        "WSD, data-optimal: the edge belongs to the hard case of the proof", ("wsd", "data"), _wsd_data_easy_appendix,
        _wsd_data_hard, edge_is="hard", regimes=("edge",), infinite_model=True, corrected_by="thm: wsd/data-appendix",
        role="argument",
    ),
    forms.printed_claim(
        "thm: wsd/compute", "thm: wsd", 1042, "WSD, compute-optimal, main text", ("wsd", "compute"),
        _wsd_compute_easy_theorem, _wsd_compute_hard, corrected_by="thm: wsd/compute-derived",
        quoted=r"\gamma_{\opt} \eqsim (C/\log C)^{-\frac{1+s\beta-\beta}{2+s\beta}}, r_{\opt}\eqsim 1",
    ),
    forms.printed_claim(
        "thm: wsd/compute-first-case", "sub:proof_for_the_wsd_like_lrs", 3723,
        "WSD, compute-optimal, first case of the proof", ("wsd", "compute"), _wsd_compute_easy_first_case,
        _wsd_compute_hard, regimes=("easy",), corrected_by="thm: wsd/compute-derived", role="argument",
    ),
    forms.printed_claim(
        "thm: wsd/compute-second-case", "sub:proof_for_the_wsd_like_lrs", 3774,
        "WSD, compute-optimal, second case of the proof", ("wsd", "compute"), _wsd_compute_easy_second_case,
        _wsd_compute_hard, regimes=("easy",), corrected_by="thm: wsd/compute-derived", role="argument",
    ),
    forms.printed_claim(
        "thm: wsd/compute-edge-as-hard", "sub:proof_for_the_wsd_like_lrs", 3667,
        "WSD, compute-optimal: the edge belongs to the hard regime of the appendix theorem", ("wsd", "compute"),
        _wsd_compute_easy_theorem, _wsd_compute_hard, edge_is="hard", regimes=("edge",),
        corrected_by="thm: wsd/compute-derived",
        quoted=r"When $s\leq 1-1/\beta$, the optimal scaling laws are",
    ),
    forms.derived_claim(
        "thm: wsd/compute-derived", "thm: wsd", 1042, "WSD, compute-optimal, derived", ("wsd", "compute"),
    ),
    Claim(
        id="sec: effect-lrs/vanishing-decay-phase", label="thm: wsd", line=1040,
        title="In the hard regime an optimal decay phase may be a vanishing fraction of the steps",
        stated=lambda: forms.formula_of(_vanishing_phase()),
        hypotheses=forms.HYPOTHESES, measure=_phase, statement=_phase_statement,
        derive=lambda: forms.derivations_of(_vanishing_phase()), regimes=("hard",),
        family=forms.family_of("wsd", "data"),
        quoted=r"as indicated by  $r_{\opt}\to 0$ as $D\to \infty$",
    ),
)  # fmt: skip
