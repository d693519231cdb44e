"""thm:geometric: the optimal allocations of exponential decay, as printed and derived."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fsl_num.claims.claim import Claim, Sample
from fsl_num.paper.allocation import forms
from fsl_num.paper.allocation.numeric_laws import measure_allocation
from fsl_sym.allocation import optimal_allocation
from fsl_sym.order import Order, OrderRange
from fsl_sym.symbols import beta, s


def _geometric_data_easy(s: Any, b: Any) -> forms.Quantities:
    risk, rate = s * b / (s * b + 1), (1 + s * b - b) / (1 + s * b)
    return {"excess_risk": forms.point(-risk, risk), "peak_lr": forms.point(-rate, rate)}


def _geometric_data_hard(s: Any, b: Any) -> forms.Quantities:
    return {"excess_risk": forms.point(-s, s), "peak_lr": forms.point(0)}


def geometric_compute_easy(s: Any, b: Any) -> forms.Quantities:
    """The printed allocation under a compute budget, easy tasks; the appendix copies parts of it for WSD."""
    risk, rate, total = s * b / (2 + s * b), (1 + s * b - b) / (2 + s * b), 2 + s * b
    return {
        "excess_risk": forms.point(-risk, risk),
        "peak_lr": forms.point(-rate, rate),
        "model_size": forms.point(1 / total, -1 / total),
        "data_size": forms.point((1 + s * b) / total, 1 / total),
    }


def _geometric_compute_hard(s: Any, b: Any) -> forms.Quantities:
    return {
        "excess_risk": forms.point(-s * b / (1 + b), s * b / (1 + b)),
        "peak_lr": forms.point(0),
        "model_size": forms.point(1 / (1 + b), -1 / (1 + b)),
        "data_size": forms.point(b / (1 + b), 1 / (1 + b)),
    }


def _steps(s: Any, b: Any) -> forms.Quantities:
    # B <~ 1/gamma, so K = D/B is at least of the order gamma D.
    return {
        "excess_risk": _geometric_data_easy(s, b)["excess_risk"],
        "steps": OrderRange(forms.point(b / (1 + s * b), (1 + s * b - b) / (1 + s * b)).lower, forms.point(1).upper),
    }


def _steps_hard(s: Any, b: Any) -> forms.Quantities:
    return {"excess_risk": _geometric_data_hard(s, b)["excess_risk"], "steps": forms.point(1)}


RATIO = "data_over_model"


def _data_over_model(sample: Sample) -> dict[str, Any]:
    """The least risk, and D/M = C/M^2 at the two ends of the near-optimal model sizes."""
    measured = measure_allocation("exp-decay", "compute", *sample.point, settled=sample.effort == 0)
    ratios: dict[str, Any] = {"excess_risk": measured["excess_risk"]}
    for end, opposite in (("lower", "upper"), ("upper", "lower")):
        rays = measured[f"model_size {opposite}"]
        assert rays is not None
        (ray,) = rays
        ratios[f"{RATIO} {end}"] = (replace(ray, name=f"D/M {end}", values=ray.scale - 2 * ray.values),)
    return ratios


def _printed_data_over_model(sample: Sample) -> Order:
    alpha = sample.s * sample.beta
    return Order(alpha / (2 + alpha), 0)


def _derived_data_over_model(sample: Sample) -> Order:
    quantities = optimal_allocation("exp-decay", "compute").regime("easy").quantities
    return (quantities["data_size"].order / quantities["model_size"].order).subs({s: sample.s, beta: sample.beta})


def _data_over_model_claim(name: str, title: str, ratio: Callable[[Sample], Order], corrected_by: str | None) -> Claim:
    def quantities(sample: Sample) -> forms.Quantities:
        order = ratio(sample)
        return {"excess_risk": geometric_compute_easy(sample.s, sample.beta)["excess_risk"],
                RATIO: OrderRange(order, order)}  # fmt: skip

    def choices() -> list[forms.Chosen]:
        return forms.printed_choices(("exp-decay", "compute"), {"easy": quantities(Sample("easy", s, beta))})

    return Claim(
        name, "sub:proof_for_the_exponential_decay_lrs", 1002, title,
        lambda: forms.formula_of(choices()), forms.HYPOTHESES, _data_over_model,
        lambda sample: forms.statement_of(quantities(sample), "compute"), regimes=("easy",), corrected_by=corrected_by,
        derive=None if corrected_by else lambda: forms.derivations_of(choices()),
        family=forms.family_of("exp-decay", "compute"), role="printed" if corrected_by else "corrected",
        quoted=r"D_{\opt}/M_{\opt} \;\eqsim\; C^{\alpha/(2 + \alpha)}",
    )  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    forms.printed_claim(
        "thm:geometric/data", "sub:proof_for_the_exponential_decay_lrs", 957,
        "Exponential decay, data-optimal, as printed", ("exp-decay", "data"), _geometric_data_easy,
        _geometric_data_hard, infinite_model=True,
        quoted=r"\gamma_\opt \eqsim (D/\log D)^{-\frac{1+s\beta-\beta}{1+s\beta}}",
    ),
    forms.printed_claim(
        "thm:geometric/data-unique", "sub:proof_for_the_exponential_decay_lrs", 957,
        "Exponential decay, data-optimal: the printed peak rate is the only optimal one", ("exp-decay", "data"),
        _geometric_data_easy, _geometric_data_hard, corrected_by="thm:geometric/data-derived", role="argument",
    ),
    forms.derived_claim(
        "thm:geometric/data-derived", "thm:geometric", 957, "Exponential decay, data-optimal, derived",
        ("exp-decay", "data"),
    ),
    forms.printed_claim(
        "thm:geometric/steps", "sub:proof_for_the_exponential_decay_lrs", 3386,
        "Exponential decay, data-optimal: log K is of the order of log D", ("exp-decay", "data"), _steps, _steps_hard,
        free_steps=True, infinite_model=True,
        quoted=r"$\tilde{D}^{\frac{\beta}{1+s\beta}}$, hence $\log K \eqsim \log D$",
    ),
    forms.printed_claim(
        "thm:geometric/compute", "sub:proof_for_the_exponential_decay_lrs", 973, "Exponential decay, compute-optimal",
        ("exp-decay", "compute"), geometric_compute_easy, _geometric_compute_hard,
        corrected_by="thm:geometric/compute-derived",
        quoted=r"\gamma_{\opt} \eqsim (C/\log C)^{-\frac{1+s\beta-\beta}{2+s\beta}}",
    ),
    forms.derived_claim(
        "thm:geometric/compute-derived", "thm:geometric", 973, "Exponential decay, compute-optimal, derived",
        ("exp-decay", "compute"),
    ),
    _data_over_model_claim(
        "sec: effect-lrs/data-over-model", "Exponential decay, compute-optimal ratio of data to model size",
        _printed_data_over_model, "sec: effect-lrs/data-over-model-derived",
    ),
    _data_over_model_claim(
        "sec: effect-lrs/data-over-model-derived",
        "Exponential decay, compute-optimal ratio of data to model size, with its logarithm",
        _derived_data_over_model, None,
    ),
)  # fmt: skip
