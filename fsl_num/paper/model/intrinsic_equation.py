"""eq:sde_raw, eq:sde_u and eqn: sde-instrinc: the equation in intrinsic time, and the change of time."""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np
from sympy import Derivative, Function, Integral, MatrixSymbol, Symbol

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.words import Where
from fsl_num.paper.hypotheses import FEATURES
from fsl_num.paper.model import formulas
from fsl_num.paper.model.formulas import BOTH, CASES, EXACT, SOLUTIONS, SOLVED
from fsl_num.paper.model.gradients import BATCH, NOISE, PHI, STEP, cases, of_cases, pick, step_moments, weight_moments
from fsl_num.paper.model.moments import (
    PHYSICAL_STEP,
    TIMES,
    Path,
    batch,
    clock,
    intrinsic_path,
    models,
    of_models,
    phi,
    solve,
)
from fsl_num.paper.model.tables import Numbers, table
from fsl_num.simulate.noise_covariance import noise_covariance
from fsl_sym import stochastic_identities as stochastic
from fsl_sym.model_identities import SIGMA, SIZE, THETA
from fsl_sym.proof import AllOf, Rate, equals
from fsl_sym.symbols import K, T, sigma, tau

batch_at, intrinsic_risk_at = Function("b", positive=True), Function("R")
AFTER_K_STEPS: Final = equals(formulas.risk_at(K), intrinsic_risk_at(K * formulas.H_STEP) - sigma**2 / 2)
"""E is the excess risk after steps of SGD, R the mean risk of nu at an intrinsic time."""
CLOCKED = ("first", "random uniform")
"""The models that are followed in both times."""


def _residual() -> formulas.Stated:
    root = MatrixSymbol("S", SIZE, SIZE)
    drift = equals(Rate(formulas.ERROR), -formulas.W.T * formulas.W * formulas.H * formulas.ERROR)
    noise = equals((formulas.W.T * root) * (formulas.W.T * root).T, formulas.GAMMA * formulas.W.T * SIGMA * formulas.W)
    hypotheses = (
        equals(Rate(formulas.V), -formulas.W * formulas.H * formulas.ERROR),
        equals(root * root.T, formulas.GAMMA * SIGMA),
    )
    return AllOf((drift, noise)), (
        *hypotheses,
        *formulas.constant(formulas.W, formulas.H, THETA),
        *formulas.symmetric(formulas.H),
    )


def _clock() -> formulas.Stated:
    """Drift g and covariance gamma that gather until t = T(tau) gather in tau as the equation in physical time says."""
    clock = Integral(formulas.phi_at(formulas.r_any), (formulas.r_any, 0, tau))
    time = Symbol("z", real=True)  # of phi no sign is known, nor therefore of T(tau)
    drift = equals(
        Derivative(Integral(formulas.gradient_at(time), (time, 0, clock)), tau),
        formulas.phi_at(tau) * formulas.gradient_at(clock),
    )
    noise = equals(
        Derivative(Integral(formulas.gamma_at(time), (time, 0, clock)), tau),
        formulas.H_STEP * formulas.phi_at(tau) ** 2 / batch_at(tau),
    )
    hypotheses = (equals(formulas.gamma_at(clock), formulas.H_STEP * formulas.phi_at(tau) / batch_at(tau)),)
    return AllOf((drift, noise)), (*hypotheses, *formulas.continuous("phi", "gamma", "g"))


RESIDUAL_EQUATION: Final = _residual()
CLOCK: Final = _clock()


def residual_moments(sample: Sample) -> Numbers:
    """Those of the residual alone; the covariance twice, for the two ways to drive it."""
    moments = dict(pick(step_moments(sample), " u"))
    return moments | {f"{name}, M noises": value for name, value in moments.items() if "covariance" in name}


def intrinsic_formula(sample: Sample, *, gamma: float = 1.0, length: float = 1.0, sign: float = -1.0) -> Numbers:
    """A step eta of the scheme for the equation in intrinsic time, gamma = eta/B; both factors for mutants."""
    rate = STEP * PHI
    moments = {}
    for name, case in cases(sample).items():
        pull = (case.projection * case.problem.eigenvalues) @ case.error
        moments[f"{name}: mean v"] = sign * pull * rate * length
        moments[f"{name}: covariance v"] = gamma * rate / BATCH * rate * noise_covariance(case.problem, case.v)
    return moments


def residual_formula(sample: Sample, *, swapped: bool = False, sign: float = -1.0, rooted: bool = True) -> Numbers:
    """-W'WHu, and the squares of both noise matrices: the root of W'Sigma W, and W' times the root of Sigma.

    ``swapped``: HW'W for W'WH; ``rooted`` False: Sigma in place of its root.
    """
    from scipy.linalg import sqrtm

    rate, gamma = STEP * PHI, STEP * PHI / BATCH
    moments = {}
    for name, case in cases(sample).items():
        w, own = case.projection, np.diag(case.problem.eigenvalues)
        pull = own @ w.T @ w if swapped else w.T @ w @ own
        moments[f"{name}: mean u"] = sign * pull @ case.error * rate
        covariance = noise_covariance(case.problem, case.v)
        values, vectors = np.linalg.eigh(w.T @ covariance @ w)
        wide = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        narrow = w.T @ (np.real(sqrtm(covariance)) if rooted else covariance)
        moments[f"{name}: covariance u"] = gamma * rate * wide @ wide.T
        moments[f"{name}: covariance u, M noises"] = gamma * rate * narrow @ narrow.T
    return moments


@lru_cache(maxsize=64)
def physical_path(sample: Sample, name: str) -> Path:
    """P along physical time."""
    return solve(
        models(sample)[name], lambda tau: float(phi(tau)),
        lambda tau: float(phi(tau) ** 2 * PHYSICAL_STEP / batch(tau)), max(TIMES),
    )  # fmt: skip


def physical_risks(sample: Sample) -> Numbers:
    """2E at physical times."""
    return {
        name: np.array([models(sample)[name].risk(physical_path(sample, name)(tau)) for tau in TIMES])
        for name in CLOCKED
    }


def intrinsic_risks(sample: Sample, *, factor: float = 1.0, clocked: bool = True, **keywords: Any) -> Numbers:
    """2E of the equation in intrinsic time at T(tau); ``clocked`` False reads it at tau."""
    risks = {}
    for name in CLOCKED:
        model = models(sample)[name]
        path = intrinsic_path(sample, name, tuple(sorted(keywords.items())), factor)
        risks[name] = np.array([model.risk(path(clock(tau) if clocked else tau)) for tau in TIMES])
    return risks


def _after_steps(sample: Sample) -> list[dict[Any, Any]]:
    """Risks of both equations; T is the intrinsic time of K steps."""
    model, physical, intrinsic = (
        models(sample)["first"],
        physical_path(sample, "first"),
        intrinsic_path(sample, "first"),
    )
    return [{formulas.risk_at: lambda steps: model.excess(physical(steps * PHYSICAL_STEP)),
             intrinsic_risk_at: lambda t: model.excess(intrinsic(t)) + NOISE / 2,
             K: TIMES[1] / PHYSICAL_STEP, T: clock(TIMES[1]), formulas.H_STEP: PHYSICAL_STEP,
             sigma: math.sqrt(NOISE)}]  # fmt: skip


def _at_time(sample: Sample) -> dict[str, Any]:
    """R, and the second moments of nu about the target."""
    known, path = _after_steps(sample)[0], intrinsic_path(sample, "first")
    own = np.diag(models(sample)["first"].own)
    return {"t": TIMES[1], "R": known[intrinsic_risk_at], "sigma": known[sigma], "H": own,
            "E[u u'] at t": path(TIMES[1])}  # fmt: skip


AT_TIME: Final = Where("R(t) is (tr(H (E[u u'] at t)) + sigma^2)/2", _at_time)
CLAIMS: tuple[Claim, ...] = (
    Claim(
        "eq:sde_raw", "eq:sde_raw", 1753, "one step of the equation in intrinsic time",
        formulas.INTRINSIC_SCHEME[0],
        (*CASES, *formulas.INTRINSIC_SCHEME[1]), of_cases(weight_moments),
        table(intrinsic_formula, EXACT, {
            "gamma/2 for gamma": {"gamma": 0.5}, "gamma^2 for gamma": {"gamma": STEP * PHI},
            "the sign of the drift": {"sign": 1.0}, "half the step": {"length": 0.5}}),
        derive=stochastic.intrinsic_scheme_derivation, family="gradients",
        quoted=r"+ \sqrt{\gamma_t \bSigma(\bnu_t)} \dd \mathbf{B}_t",
    ),
    Claim(
        "eq:sde_u", "eq:sde_u", 1769, "the equation of the residual",
        RESIDUAL_EQUATION[0],
        (*CASES, *RESIDUAL_EQUATION[1]), of_cases(residual_moments),
        table(residual_formula, 1e-7, {
            "HW'W for W'WH": {"swapped": True}, "the sign of the drift": {"sign": 1.0},
            "Sigma for its root": {"rooted": False}}),
        derive=stochastic.residual_derivation, depends=("eq:sde_raw",), family="gradients",
        quoted=r"\bu_t \dd t + \sqrt{\gamma_t \bW ^\top"
               r" \bSigma_t \bW } \dd \mathbf{B}_t",
    ),
    Claim(
        "eqn: sde-instrinc", "eqn: sde-instrinc", 456, "the change of time",
        CLOCK[0],
        (*SOLUTIONS, BOTH, FEATURES("gaussian", "uniform"), *CLOCK[1]), of_models(*CLOCKED)(physical_risks),
        table(intrinsic_risks, SOLVED, {
            "t for T^-1(t) in gamma": {"own_time": False}, "gamma/2": {"factor": 0.5}, "h missing": {"step": 0.0},
            "phi^2 for phi": {"power": 2.0}, "b missing": {"size": 0.0}, "read at tau": {"clocked": False}}),
        derive=stochastic.change_of_clock_derivation, depends=("eqn: sde",), family="moments",
        quoted=r"\dd \bnu_t = - \nabla \cR(\bnu_t)\dd t + \sqrt{\gamma(t)\,\bSigma(\bnu_t)}\dd \bB_t",
    ),
    Claim(
        "sec: effect-lrs/after-k-steps", "sec: effect-lrs", 890, "the risk after K steps, as printed",
        AFTER_K_STEPS,
        (*SOLUTIONS, BOTH, FEATURES("gaussian", "uniform"),
         Where("E is the excess risk after K steps"), AT_TIME),
        of_models(*CLOCKED)(physical_risks), table(partial(intrinsic_risks, clocked=False), SOLVED, {}),
        corrected_by="eqn: sde-instrinc", family="moments", instances=_after_steps,
        mends={intrinsic_risk_at(K * formulas.H_STEP): intrinsic_risk_at(T)},
        quoted="denote the expected excess risk after $K$ training steps",
    ),
)  # fmt: skip
