"""The scaling laws of the three schedules, and what ties them to the loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsl_num.theorems.claim import Claim, Sample
from fsl_num.theorems.scaling_laws import measurements as measured
from fsl_num.theorems.scaling_laws.decay_claims import DECAY_CLAIMS
from fsl_num.theorems.scaling_laws.errata import LAW_ERRATA
from fsl_num.theorems.statements import Equivalent, Law, Statement
from fsl_sym.integrals.exponential_decay import constant_noise, exponential_decay_noise, i2_bound
from fsl_sym.integrals.stable_phase import stable_bound
from fsl_sym.integrals.warmup_stable_decay import warmup_stable_decay_noise

Array = NDArray[np.float64]
Logs = Mapping[str, Array]
MODEL = "lambda_j = j^-beta, theta_j^2 = j^-1 lambda_j^(s-1), s > 0, beta > 1"
STABLE = "gamma_max tr(H) small enough (heard at 0.2)"
NOISE = "sigma^2 >= c, constants independent of sigma"
BY_PARTS = (
    "Heard at intrinsic times up to 1e40 (1e120 where M decides) on the parts of eqn: fsl-simplified, which its own "
    "claim ties to the loss."
)

GEOMETRIC = (
    r"\mathcal E_K \asymp M^{-s\beta} + T^{-s}"
    r" + \tfrac{\sigma^2}{B}\bigl(b + (a-b)\tfrac{\min\{M, T^{1/\beta}\}}{T}\bigr)"
)


def _sum(*terms: Array) -> Array:
    return np.asarray(np.logaddexp.reduce(np.broadcast_arrays(*terms), axis=0))


def _constant(power: Mapping[str, float], logs: Logs) -> Array:
    noise = power["eta"] * logs["a"] + power["B"] * logs["B"] + power["sigma^2"] * logs["sigma^2"]
    return _sum(power["M"] * logs["M"], power["eta K"] * logs["T"], noise)


def _decay_law(decay_time: str, *, final: bool = True, model_limit: bool = True, time_limit: bool = True) -> Law:
    """The law with a decay phase whose noise depends on the time ``decay_time``; mutants leave one of its parts out."""

    def law(power: Mapping[str, float], logs: Logs) -> Array:
        time = logs[decay_time]
        limits = [power["M in min"] * logs["M"]] if model_limit else []
        limits += [power["T_2 in min"] * time] if time_limit else []
        left = power["a - b"] * logs["a - b"] + np.minimum.reduce(limits) + power["T_2"] * time
        noise = _sum(power["b"] * logs["b"], left) if final else left
        noise = noise + power["B"] * logs["B"] + power["sigma^2"] * logs["sigma^2"]
        return _sum(power["M"] * logs["M"], power["T"] * logs["T"], noise)

    return law


def _constant_powers(sample: Sample) -> dict[str, float]:
    s, beta = sample.point
    return {"M": -s * beta, "eta K": -s, "eta": 1.0, "B": -1.0, "sigma^2": 1.0}


def _decay_powers(sample: Sample) -> dict[str, float]:
    s, beta = sample.point
    return {
        "M": -s * beta, "T": -s, "b": 1.0, "a - b": 1.0, "M in min": 1.0, "T_2 in min": 1.0 / beta, "T_2": -1.0,
        "B": -1.0, "sigma^2": 1.0,
    }  # fmt: skip


def _constant_statement(sample: Sample) -> Equivalent:
    return Equivalent(_constant, _constant_powers(sample))


def _decay_statement(sample: Sample) -> Equivalent:
    return Equivalent(_decay_law("T_2"), _decay_powers(sample))


def _decay_mutants(sample: Sample) -> dict[str, Statement]:
    powers = _decay_powers(sample)
    return {
        "b/B dropped": Equivalent(_decay_law("T_2", final=False), powers),
        "M for min{M, T_2^(1/beta)}": Equivalent(_decay_law("T_2", time_limit=False), powers),
        "T_2^(1/beta) for min{M, T_2^(1/beta)}": Equivalent(_decay_law("T_2", model_limit=False), powers),
    }


def _stable_decay_mutants(sample: Sample) -> dict[str, Statement]:
    whole = Equivalent(_decay_law("T"), _decay_powers(sample))
    return {**_decay_mutants(sample), "T_1 + T_2 for T_2 in the noise": whole}


def _tied(power: Mapping[str, float], logs: Logs) -> Array:
    noise = power["noise"] * logs["noise"] + power["sigma^2"] * logs["sigma^2"]
    return _sum(power["approximation"] * logs["approximation"], power["signal"] * logs["signal"], noise)


def _tied_statement(sample: Sample) -> Equivalent:
    return Equivalent(_tied, {"approximation": 1.0, "signal": 1.0, "noise": 1.0, "sigma^2": 1.0})


def _noiseless(power: Mapping[str, float], logs: Logs) -> Array:
    return _sum(logs["approximation"], logs["signal"])


def _tied_mutants(sample: Sample) -> dict[str, Statement]:
    return {"noise dropped": Equivalent(_noiseless, {})}


def _geometric_derivations() -> list[Any]:
    return [exponential_decay_noise().derivation, i2_bound().derivation]


def _stable_decay_derivations() -> list[Any]:
    return [warmup_stable_decay_noise().derivation, i2_bound().derivation, stable_bound().derivation]


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "eqn: fsl-simplified", "eqn: fsl-simplified", 883, "the loss under constant label noise, in three parts",
        "For t >= 1 and sigma^2 >= c the excess risk is of the order delta_M + e_M(t) + (sigma^2/B) int K_M phi(T^-1): "
        "the Volterra solution against its three parts, M^-(s beta) through delta_M.",
        r"\mathcal E \asymp M^{-s\beta} + e_M(t) + \tfrac{\sigma^2}{B}\int_0^t \mathcal K_M(t-r)\varphi(T^{-1}(r))\,dr",
        (MODEL, "t >= 1", NOISE, STABLE), measured.tied_rays, _tied_statement, _tied_mutants,
        depends=("approximation-error",), family="loss",
    ),
    Claim(
        "thm:chinchilla", "thm:chinchilla", 902, "the scaling law of a constant learning rate",
        "For eta K >= 1 the excess risk is of the order M^-(s beta) + (eta K)^-s + (eta/B) sigma^2. " + BY_PARTS,
        r"\mathcal E_K \asymp M^{-s\beta} + (\eta K)^{-s} + \tfrac{\eta}{B}\sigma^2",
        (MODEL, "eta K >= 1", NOISE, STABLE), measured.constant_rays, _constant_statement,
        derive=lambda: constant_noise().derivation, depends=("eqn: fsl-simplified",), family="constant",
    ),
    Claim(
        "thm:const_lrs_law", "thm:const_lrs_law", 2995, "the law of a constant rate as restated, without eta K >~ 1",
        "The restatement in the appendix asks nothing of eta K. As eta K tends to 0 the risk tends to a constant and "
        "(eta K)^-s to infinity.",
        r"\mathcal E_K \asymp (\eta K)^{-s} + \tfrac{\eta}{B}\sigma^2 + M^{-s\beta}",
        (MODEL, NOISE, STABLE), lambda sample: [*measured.constant_rays(sample), *measured.short_rays(sample)],
        _constant_statement, corrected_by="thm:chinchilla", family="constant",
    ),
    Claim(
        "thm:geometric", "thm:geometric", 944, "the scaling law of exponential decay",
        "For T >= 1 the excess risk is of the order M^-(s beta) + T^-s + sigma^2 (b + (a-b) min{M, T^(1/beta)}/T)/B. "
        + BY_PARTS,
        GEOMETRIC,
        (MODEL, "T >= 1", "b <= a", NOISE, STABLE), measured.exponential_rays,
        _decay_statement, _decay_mutants, derive=_geometric_derivations,
        depends=("eqn: fsl-simplified", "lemma: N-exp-decay", "exp-decay/I1", "exp-decay/I2"), family="geometric",
    ),
    Claim(
        "thm:geometric/restated", "thm:geometric", 3283, "the law of exponential decay as restated, without T >~ 1",
        "The restatement in the appendix asks nothing of T. As T tends to 0 the risk tends to a constant and T^-s to "
        "infinity.",
        GEOMETRIC,
        (MODEL, "b <= a", NOISE, STABLE),
        lambda sample: [*measured.exponential_rays(sample), *measured.short_decay_rays(sample)], _decay_statement,
        corrected_by="thm:geometric", family="geometric",
    ),
    Claim(
        "thm: wsd", "thm: wsd", 1023, "the scaling law of a stable phase followed by exponential decay",
        "For T_1, T_2 >= 1 the excess risk is of the order M^-(s beta) + (T_1+T_2)^-s + "
        "sigma^2 (b + (a-b) min{M, T_2^(1/beta)}/T_2)/B. " + BY_PARTS,
        r"\mathcal E_K \asymp M^{-s\beta} + (T_1+T_2)^{-s} + "
        r"\tfrac{\sigma^2}{B}\bigl(b + (a-b)\tfrac{\min\{M, T_2^{1/\beta}\}}{T_2}\bigr)",
        (MODEL, "T_1 >= 1", "T_2 >= 1", "b <= a", NOISE, STABLE), measured.stable_decay_rays,
        _decay_statement, _stable_decay_mutants, derive=_stable_decay_derivations,
        depends=("eqn: fsl-simplified", "lem: wsd-stable-noise", "thm:geometric"), family="wsd",
    ),
    *DECAY_CLAIMS,
)  # fmt: skip
ERRATA = LAW_ERRATA
