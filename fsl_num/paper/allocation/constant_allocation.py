"""thm:chinchilla: the optimal allocations of the constant schedule, as printed and derived."""

from __future__ import annotations

from typing import Any

from fsl_num.claims.claim import Claim
from fsl_num.paper.allocation.forms import Quantities, at_least, derived_claim, point, printed_claim


def _constant_data(s: Any, b: Any) -> Quantities:
    return {
        "excess_risk": point(-s / (s + 1)),
        "peak_lr": point(-s / (s + 1)),
        "model_size": at_least(1 / ((1 + s) * b)),
    }


def _constant_compute(s: Any, b: Any) -> Quantities:
    total = 1 + (s + 1) * b
    return {
        "excess_risk": point(-s * b / (1 + s * b + b)),
        "peak_lr": point(-s * b / total),
        "model_size": point(1 / total),
        "data_size": point((s + 1) * b / total),
    }


CLAIMS: tuple[Claim, ...] = (
    printed_claim(
        "eqn: data-optim-scaling-const-lrs", "eqn: data-optim-scaling-const-lrs", 916,
        "Constant schedule, data-optimal", ("constant", "data"), _constant_data, _constant_data,
        quoted=r"\gamma_{\opt} \eqsim D^{-\frac{s}{s+1}}",
    ),
    derived_claim(
        "thm:chinchilla/data-derived", "thm:chinchilla", 916, "Constant schedule, data-optimal, derived",
        ("constant", "data"), "own",
    ),
    printed_claim(
        "thm:chinchilla/compute", "sub:Proofs for The Constant LRS", 924, "Constant schedule, compute-optimal",
        ("constant", "compute"), _constant_compute, _constant_compute,
        quoted=r"\gamma_{\opt} \eqsim C^{-\frac{s\beta}{1+(s+1)\beta}}",
    ),
    derived_claim(
        "thm:chinchilla/compute-derived", "thm:chinchilla", 924, "Constant schedule, compute-optimal, derived",
        ("constant", "compute"), "own",
    ),
)  # fmt: skip
