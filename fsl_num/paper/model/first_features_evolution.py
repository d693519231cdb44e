"""eqn: 123: the expected risk of the first M features, coordinate by coordinate."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from sympy import Derivative, Function, Integral, Sum, Symbol, exp

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.words import Where
from fsl_num.paper.hypotheses import FEATURES as FEATURE_LAWS
from fsl_num.paper.hypotheses import PROJECTIONS
from fsl_num.paper.model.formulas import SOLUTIONS, SOLVED, Stated, continuous, gamma_at, moment_at, risk_at
from fsl_num.paper.model.moments import MODEL, TIMES, gamma, history, intrinsic_path, models, of_models
from fsl_num.paper.model.tables import Numbers, table
from fsl_num.validation import Array
from fsl_sym import model_identities as identities
from fsl_sym import stochastic_identities as stochastic
from fsl_sym.model_identities import FEATURES, SIZE
from fsl_sym.proof import AllOf, Formula, Hypothesis, Property, equals
from fsl_sym.symbols import j, lam, t, z

noise_at = Function("q")


def _coordinate() -> Stated:
    """Ito's formula for (nu - theta)^2 at one coordinate, and the mean m of that square."""
    nu, theta = Symbol("nu", real=True), Symbol("theta", real=True)
    square = (nu - theta) ** 2
    generator = (
        -lam * (nu - theta) * Derivative(square, nu) + gamma_at(t) * noise_at(t) * Derivative(square, nu, nu) / 2
    )
    moment = theta**2 * exp(-2 * lam * t) + Integral(exp(-2 * lam * (t - z)) * gamma_at(z) * noise_at(z), (z, 0, t))
    formula = equals(generator, -2 * lam * square + gamma_at(t) * noise_at(t))
    mean = equals(noise_at(z), (Derivative(moment_at(z), z) + 2 * lam * moment_at(z)) / gamma_at(z))
    smooth = (*continuous("gamma", "q", slopes=("m",)), Property("m", "a real continuous function"))
    hypotheses: tuple[Hypothesis, ...] = (mean, equals(moment_at(0), theta**2), *smooth)
    return AllOf((formula, equals(moment_at(t), moment))), hypotheses


def _first_features_evolution() -> Formula:
    own, theta, noise = Function("lambda"), Function("theta"), Function("q")
    start = own(j) * theta(j) ** 2
    gathered = Integral(exp(-2 * own(j) * (t - z)) * gamma_at(z) * noise(j, z), (z, 0, t))
    learned = Sum(start * exp(-2 * own(j) * t), (j, 1, SIZE)) + Sum(own(j) * gathered, (j, 1, SIZE))
    return equals(2 * risk_at(t), learned + Sum(start, (j, SIZE + 1, FEATURES)))


COORDINATE: Final = _coordinate()
FIRST_FEATURES_EVOLUTION: Final = _first_features_evolution()
AT_FIRST: Final = equals(2 * risk_at(0), Sum(Function("lambda")(j) * Function("theta")(j) ** 2, (j, 1, FEATURES)))
"""That nothing is learned yet."""


def coordinate_moments(sample: Sample) -> Numbers:
    """E (nu_j - theta_j)^2 of first features, from the solved moments."""
    path = intrinsic_path(sample, "first")
    return {f"t = {t:g}": np.diag(path(t))[:MODEL] for t in TIMES}


def _forgotten(sample: Sample, t: float, rate: float, lag: bool, start: float, noise: float, shift: int) -> Array:
    model = models(sample)["first"]
    points, weights, noises, _ = history(sample, "first", t)
    own, theta = model.own[:MODEL], model.theta[:MODEL]
    moments = start * theta**2 * np.exp(-rate * own * t)
    for then, weight, covariance in zip(points, weights, noises, strict=True):
        q = np.roll(np.diag(covariance), shift)
        moments = moments + noise * weight * np.exp(-rate * own * (t - then if lag else then)) * q
    return np.asarray(moments)


def coordinate_formula(
    sample: Sample, *, rate: float = 2.0, lag: bool = True, start: float = 1.0, noise: float = 1.0, shift: int = 0
) -> Numbers:
    """theta_j^2 exp(-2 lambda_j t) + int exp(-2 lambda_j (t-z)) gamma E q_j dz; the keywords are for mutants."""
    return {f"t = {t:g}": _forgotten(sample, t, rate, lag, start, noise, shift) for t in TIMES}


def first_risks(sample: Sample) -> Numbers:
    """2E of first features at intrinsic times."""
    model, path = models(sample)["first"], intrinsic_path(sample, "first")
    return {"2E": np.array([model.risk(path(t)) for t in TIMES])}


def risk_sum(
    sample: Sample, *, half: float = 1.0, tail: float = 1.0, rate: float = 2.0, power: float = 1.0, noise: float = 1.0
) -> Numbers:
    """The three sums of the risk of first features; the keywords are for mutants."""
    model = models(sample)["first"]
    own, theta = model.own, model.theta
    left = tail * own[MODEL:] @ theta[MODEL:] ** 2
    sums = [own[:MODEL] ** power @ _forgotten(sample, t, rate, True, 1.0, noise, 0) + left for t in TIMES]
    return {"2E": half * np.array(sums)}


def _first_instances(sample: Sample) -> list[dict[Any, Any]]:
    model, path = models(sample)["first"], intrinsic_path(sample, "first")

    def noise(mode: int, time: float) -> float:
        return float(model.noise(path(time))[mode - 1, mode - 1])

    known = {
        SIZE: MODEL, FEATURES: model.own.size, gamma_at: gamma, noise_at: noise,
        Function("lambda"): lambda mode: model.own[mode - 1], Function("theta"): lambda mode: model.theta[mode - 1],
        risk_at: lambda time: model.risk(path(time)) / 2,
    }  # fmt: skip
    return [{**known, t: time} for time in TIMES[:2]]


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "sec: proof_sketch/coordinate", "sec: proof_sketch", 696, "the second moment of one coordinate",
        COORDINATE[0],
        (*SOLUTIONS, FEATURE_LAWS("gaussian"), Where("m(t) is the mean of (nu_j - theta_j)^2; q(t) is that of q_j"),
         PROJECTIONS("first"), *COORDINATE[1]), of_models("first")(coordinate_moments),
        table(coordinate_formula, SOLVED, {
            "lambda_j for 2 lambda_j": {"rate": 1.0}, "z for t - z": {"lag": False},
            "gamma/2": {"noise": 0.5}, "the start dropped": {"start": 0.0}, "the index of q shifted": {"shift": 1}}),
        derive=stochastic.coordinate_derivation, family="moments",
        quoted=r"\EE[(\nu_j(t)-\theta_j^*)^2] = (0-\theta_j^*)^2e^{-2\lambda_j t}"
               r" + \int_0^t e^{-2\lambda_j(t-z)} \gamma(z) \EE[q_j(z)]\dd z",
    ),
    Claim(
        "eqn: 123", "eqn: 123", 700, "the expected risk of the first M features",
        FIRST_FEATURES_EVOLUTION,
        (*SOLUTIONS, FEATURE_LAWS("gaussian"), Where("q(j, z) is the mean of q_j at z"), PROJECTIONS("first"),
         AT_FIRST),
        of_models("first")(first_risks),
        table(risk_sum, SOLVED, {
            "E for 2E": {"half": 0.5}, "delta_M dropped": {"tail": 0.0}, "lambda_j for 2 lambda_j": {"rate": 1.0},
            "lambda_j^2 outside": {"power": 2.0}, "the noise dropped": {"noise": 0.0}}),
        derive=lambda: (*stochastic.coordinate_derivation(), identities.top_risk_derivation()),
        depends=("sec: proof_sketch/coordinate", "eqn: pop-risk-top-M"), family="moments",
        instances=_first_instances,
        quoted=r"\sum_{j=1}^M \lambda_j\int_{0}^{t} e^{-2\lambda_j (t-z)}\gamma(z) \EE[q_j(z)] \dd z"
               r" + \sum_{j=M+1}^{N}\lambda_j |\theta_{j}^{*}|^{2}",
    ),
)  # fmt: skip
