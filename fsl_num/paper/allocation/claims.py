"""Every optimal allocation that the paper prints, checked; beside each the derived one.

Where main text, appendix theorem and the cases of its proof print different formulas, each is a claim of its own.
"""

from __future__ import annotations

from typing import Any

from fsl_num.paper.allocation.forms import at_least, derived_claim, point, printed_claim
from fsl_sym.order import UNIT, OrderRange

Formula = dict[str, OrderRange]


def _constant_data(s: Any, b: Any) -> Formula:
    return {
        "excess_risk": point(-s / (s + 1)),
        "peak_lr": point(-s / (s + 1)),
        "model_size": at_least(1 / ((1 + s) * b)),
    }


def _constant_compute(s: Any, b: Any) -> Formula:
    total = 1 + (s + 1) * b
    return {
        "excess_risk": point(-s * b / (1 + s * b + b)),
        "peak_lr": point(-s * b / total),
        "model_size": point(1 / total),
        "data_size": point((s + 1) * b / total),
    }


def _geometric_data_easy(s: Any, b: Any) -> Formula:
    risk, rate = s * b / (s * b + 1), (1 + s * b - b) / (1 + s * b)
    return {"excess_risk": point(-risk, risk), "peak_lr": point(-rate, rate)}


def _geometric_data_hard(s: Any, b: Any) -> Formula:
    return {"excess_risk": point(-s, s), "peak_lr": point(0)}


def _geometric_compute_easy(s: Any, b: Any) -> Formula:
    risk, rate, total = s * b / (2 + s * b), (1 + s * b - b) / (2 + s * b), 2 + s * b
    return {
        "excess_risk": point(-risk, risk),
        "peak_lr": point(-rate, rate),
        "model_size": point(1 / total, -1 / total),
        "data_size": point((1 + s * b) / total, 1 / total),
    }


def _geometric_compute_hard(s: Any, b: Any) -> Formula:
    return {
        "excess_risk": point(-s * b / (1 + b), s * b / (1 + b)),
        "peak_lr": point(0),
        "model_size": point(1 / (1 + b), -1 / (1 + b)),
        "data_size": point(b / (1 + b), 1 / (1 + b)),
    }


def _wsd_data_easy(s: Any, b: Any, sign: int) -> Formula:
    return {
        "excess_risk": point(-s * b / (s * b + 1), (s * b - s) / (1 + s * b)),
        "peak_lr": point(-(1 + s * b - b) / (1 + s * b), sign * (b - 1) / (1 + s * b)),
        "decay_fraction": point(0),
    }


def _wsd_data_hard(s: Any, b: Any) -> Formula:
    return {
        "excess_risk": point(-s),
        "peak_lr": point(0),
        "decay_fraction": at_least((s * b + 1 - b) / (b - 1), 1, UNIT),
    }


def _wsd_data_easy_main(s: Any, b: Any) -> Formula:
    return _wsd_data_easy(s, b, 1)


def _wsd_data_easy_appendix(s: Any, b: Any) -> Formula:
    return _wsd_data_easy(s, b, -1)


def _wsd_compute_easy_theorem(s: Any, b: Any) -> Formula:
    printed = _geometric_compute_easy(s, b)
    risk = point(-s * b / (2 + s * b), (s * b - s) / (2 + s * b))
    return {**printed, "excess_risk": risk, "decay_fraction": point(0)}


def _wsd_compute_easy_first_case(s: Any, b: Any) -> Formula:
    risk = s * b / (2 + s * b)
    return {**_geometric_compute_easy(s, b), "excess_risk": point(-risk, risk + s)}


def _wsd_compute_easy_second_case(s: Any, b: Any) -> Formula:
    total = 2 + s * b
    return {
        "excess_risk": point(-s * b / total, (s * b - s) / total),
        "peak_lr": point(-(1 + s * b - b) / total, -(b - 1) / (1 + s * b)),
        "model_size": point(1 / total, -(1 - 1 / b) / total),
        "data_size": point((1 + s * b) / total, (1 - 1 / b) / total),
    }


def _wsd_compute_hard(s: Any, b: Any) -> Formula:
    # The decay fraction is printed in powers of D; here D = C^(beta / (1 + beta)) is inserted.
    return {
        "excess_risk": point(-s * b / (1 + b)),
        "peak_lr": point(0),
        "model_size": point(1 / (1 + b)),
        "data_size": point(b / (1 + b)),
        "decay_fraction": at_least(-b / (1 + b) * (b - 1 - s * b) / (b - 1), 1, UNIT),
    }


def _steps(s: Any, b: Any) -> Formula:
    # B <~ 1/gamma, so K = D/B is at least of the order gamma D.
    return {"steps": OrderRange(point(b / (1 + s * b), (1 + s * b - b) / (1 + s * b)).lower, point(1).upper)}


def _steps_hard(s: Any, b: Any) -> Formula:
    return {"steps": point(1)}


CLAIMS = (
    printed_claim(
        "eqn: data-optim-scaling-const-lrs",
        "eqn: data-optim-scaling-const-lrs",
        916,
        "Constant schedule, data-optimal",
        ("constant", "data"),
        _constant_data,
        _constant_data,
    ),
    derived_claim(
        "thm:chinchilla/data-derived",
        "thm:chinchilla",
        916,
        "Constant schedule, data-optimal, derived",
        ("constant", "data"),
        "own",
    ),
    printed_claim(
        "thm:chinchilla/compute",
        "sub:Proofs for The Constant LRS",
        924,
        "Constant schedule, compute-optimal",
        ("constant", "compute"),
        _constant_compute,
        _constant_compute,
    ),
    derived_claim(
        "thm:chinchilla/compute-derived",
        "thm:chinchilla",
        924,
        "Constant schedule, compute-optimal, derived",
        ("constant", "compute"),
        "own",
    ),
    printed_claim(
        "thm:geometric/data",
        "sub:proof_for_the_exponential_decay_lrs",
        957,
        "Exponential decay, data-optimal, with M = oo as printed",
        ("exp-decay", "data"),
        _geometric_data_easy,
        _geometric_data_hard,
        infinite_model=True,
    ),
    printed_claim(
        "thm:geometric/data-unique",
        "sub:proof_for_the_exponential_decay_lrs",
        957,
        "Exponential decay, data-optimal: the printed peak rate is the only optimal one",
        ("exp-decay", "data"),
        _geometric_data_easy,
        _geometric_data_hard,
        corrected_by="thm:geometric/data-derived",
    ),
    derived_claim(
        "thm:geometric/data-derived",
        "thm:geometric",
        957,
        "Exponential decay, data-optimal, derived",
        ("exp-decay", "data"),
    ),
    printed_claim(
        "thm:geometric/steps",
        "sub:proof_for_the_exponential_decay_lrs",
        3386,
        "Exponential decay, data-optimal: log K is of the order of log D",
        ("exp-decay", "data"),
        _steps,
        _steps_hard,
        free_steps=True,
        infinite_model=True,
    ),
    printed_claim(
        "thm:geometric/compute",
        "sub:proof_for_the_exponential_decay_lrs",
        973,
        "Exponential decay, compute-optimal",
        ("exp-decay", "compute"),
        _geometric_compute_easy,
        _geometric_compute_hard,
        corrected_by="thm:geometric/compute-derived",
    ),
    derived_claim(
        "thm:geometric/compute-derived",
        "thm:geometric",
        973,
        "Exponential decay, compute-optimal, derived",
        ("exp-decay", "compute"),
    ),
    printed_claim(
        "thm: wsd/data",
        "thm: wsd",
        1033,
        "WSD, data-optimal, main text",
        ("wsd", "data"),
        _wsd_data_easy_main,
        _wsd_data_hard,
        infinite_model=True,
        corrected_by="thm: wsd/data-appendix",
    ),
    printed_claim(
        "thm: wsd/data-appendix",
        "sub:proof_for_the_wsd_like_lrs",
        3553,
        "WSD, data-optimal, appendix",
        ("wsd", "data"),
        _wsd_data_easy_appendix,
        _wsd_data_hard,
        infinite_model=True,
    ),
    derived_claim("thm: wsd/data-derived", "thm: wsd", 1033, "WSD, data-optimal, derived", ("wsd", "data"), "own"),
    printed_claim(
        "thm: wsd/data-edge-as-hard",
        "sub:proof_for_the_wsd_like_lrs",
        3625,
        "WSD, data-optimal: the edge belongs to the hard case of the proof",
        ("wsd", "data"),
        _wsd_data_easy_appendix,
        _wsd_data_hard,
        edge_is="hard",
        regimes=("edge",),
        infinite_model=True,
        corrected_by="thm: wsd/data-appendix",
        role="argument",
    ),
    printed_claim(
        "thm: wsd/compute",
        "thm: wsd",
        1042,
        "WSD, compute-optimal, main text",
        ("wsd", "compute"),
        _wsd_compute_easy_theorem,
        _wsd_compute_hard,
        corrected_by="thm: wsd/compute-derived",
    ),
    printed_claim(
        "thm: wsd/compute-first-case",
        "sub:proof_for_the_wsd_like_lrs",
        3723,
        "WSD, compute-optimal, first case of the proof",
        ("wsd", "compute"),
        _wsd_compute_easy_first_case,
        _wsd_compute_hard,
        regimes=("easy",),
        corrected_by="thm: wsd/compute-derived",
        role="argument",
    ),
    printed_claim(
        "thm: wsd/compute-second-case",
        "sub:proof_for_the_wsd_like_lrs",
        3774,
        "WSD, compute-optimal, second case of the proof",
        ("wsd", "compute"),
        _wsd_compute_easy_second_case,
        _wsd_compute_hard,
        regimes=("easy",),
        corrected_by="thm: wsd/compute-derived",
        role="argument",
    ),
    printed_claim(
        "thm: wsd/compute-edge-as-hard",
        "sub:proof_for_the_wsd_like_lrs",
        3667,
        "WSD, compute-optimal: the edge belongs to the hard regime of the appendix theorem",
        ("wsd", "compute"),
        _wsd_compute_easy_theorem,
        _wsd_compute_hard,
        edge_is="hard",
        regimes=("edge",),
        corrected_by="thm: wsd/compute-derived",
    ),
    derived_claim("thm: wsd/compute-derived", "thm: wsd", 1042, "WSD, compute-optimal, derived", ("wsd", "compute")),
)
"""In the order of the paper."""
