"""eqn: sde and sub:the_sde_modeling: the equation in physical time, and SGD as a scheme in intrinsic time."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np
from sympy import Derivative, Function, Integer, Integral, Sum, Symbol

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.hypotheses import Located
from fsl_num.claims.words import Where
from fsl_num.model import Model as PowerLaw
from fsl_num.paper.hypotheses import FEATURES as FEATURE_LAWS
from fsl_num.paper.hypotheses import PROJECTIONS, SCHEDULES
from fsl_num.paper.model import formulas
from fsl_num.paper.model.formulas import ANY, CASES, EXACT
from fsl_num.paper.model.gradients import BATCH, NOISE, PHI, STEP, cases, of_cases, weight_moments
from fsl_num.paper.model.moments import FEATURES, MODEL, models
from fsl_num.paper.model.tables import Numbers, table
from fsl_num.simulate.noise_covariance import noise_covariance
from fsl_num.simulate.recursion import exact_risk
from fsl_num.simulate.regression import Regression
from fsl_num.validation import Array
from fsl_sym import stochastic_identities as stochastic
from fsl_sym.proof import AllOf, equals
from fsl_sym.symbols import B, j, tau, z

eta_at, grid_time = Function("eta"), Function("t")
PRINTED_DRIFT: Final = equals(
    Derivative(formulas.moment_at(tau), tau),
    -formulas.phi_at(tau)
    * formulas.gradient_at(tau)
    * Derivative(Integral(formulas.phi_at(formulas.r_any), (formulas.r_any, 0, tau)), tau),
)
"""m is the mean of v in physical time, g of the gradient of the risk; dt = phi dtau."""
PRINTED_GRID: Final = equals(grid_time(formulas.step_number), Sum(eta_at(j), (j, 0, formulas.step_number)))
GRID_RATES = tuple(0.4 * math.exp(-0.3 * k) for k in range(8))


def _physical_scheme() -> formulas.Stated:
    """The mean and the covariance of a step h of the equation in physical time, and of a step of SGD."""
    mean = equals(formulas.rate * formulas.slope * formulas.H_STEP, formulas.ETA * formulas.slope)
    covariance = equals(
        formulas.rate**2 * formulas.H_STEP / formulas.batch * formulas.size * formulas.H_STEP, formulas.OF_SGD
    )
    return AllOf((mean, covariance)), (equals(formulas.rate, formulas.ETA / formulas.H_STEP), equals(formulas.batch, B))


PHYSICAL_SCHEME: Final = _physical_scheme()


def physical_formula(
    sample: Sample, *, sign: float = -1.0, rate: float = 2.0, step: float = 1.0, batch: float = 1.0
) -> Any:
    """A step h of Euler and Maruyama for the equation in physical time, with powers of phi, h and 1/b in the noise."""
    moments = {}
    for name, case in cases(sample).items():
        pull = (case.projection * case.problem.eigenvalues) @ case.error
        moments[f"{name}: mean v"] = sign * PHI * pull * STEP
        strength = PHI**rate * STEP**step / BATCH**batch
        moments[f"{name}: covariance v"] = strength * noise_covariance(case.problem, case.v) * STEP
    return moments


def _grid() -> formulas.Stated:
    """The grid on which SGD is the scheme, and the covariance of a step of the length t = eta."""
    index = Symbol("i", integer=True, nonnegative=True)
    grid = equals(grid_time(formulas.step_number + 1), Sum(eta_at(index), (index, 0, formulas.step_number)))
    scheme, hypotheses = formulas.INTRINSIC_SCHEME
    steps = (
        equals(grid_time(0), 0),
        equals(eta_at(index), grid_time(index + 1) - grid_time(index)),
    )
    return AllOf((grid, *scheme.parts)), (*steps, *hypotheses)  # type: ignore[union-attr]


GRID: Final = _grid()


def grid_risks(sample: Sample) -> Located:
    """The excess risk of SGD with normal features and learning rates that fall, step by step, by its own recursion."""
    (s, beta), family = sample.point, "gaussian"
    problem = Regression(PowerLaw(s=s, beta=beta, size=MODEL, noise=NOISE), features=FEATURES, family=family)
    rates = np.array(GRID_RATES)
    risks = {"E": exact_risk(problem, rates, every=1).excess_risk[1:]}
    kinds = {FEATURE_LAWS.name: family, PROJECTIONS.name: "first", SCHEDULES.name: "exp-decay"}
    return Located(risks, {**kinds, "eta": rates, "t": rates, "gamma": rates, "B": 1.0, "K": rates.size})


def _scheme(sample: Sample, lengths: tuple[float, ...]) -> Array:
    """E after each step of length ``lengths``, with noise gamma = eta/B of the step."""
    model = models(sample)["first"]
    second, risks = model.start, []
    for now, length in zip(GRID_RATES, lengths, strict=True):
        turn = np.eye(FEATURES) - length * model.pull
        noise = model.projection.T @ model.noise(second) @ model.projection
        second = turn @ second @ turn.T + length * now * noise
        risks.append(0.5 * model.risk(second))
    return np.array(risks)


def scheme_formula(sample: Sample, *, shift: int = 0) -> Numbers:
    """The scheme on the grid t_k = sum_{j < k + shift} eta_j, whose steps are eta_{k + shift}."""
    rates = (*GRID_RATES, 0.4 * math.exp(-0.3 * len(GRID_RATES)))
    ends = np.concatenate([[0.0], np.cumsum(rates)])[shift : shift + len(GRID_RATES) + 1]
    return {"E": _scheme(sample, tuple(np.diff(ends).tolist()))}


def _grid_instances(sample: Sample) -> list[dict[Any, Any]]:
    """The time before a step, and the learning rates."""
    times = np.cumsum([0.0, *GRID_RATES])
    return [{formulas.step_number: step, grid_time: times.__getitem__, eta_at: GRID_RATES.__getitem__}
            for step in range(1, len(GRID_RATES))]  # fmt: skip


def _drifts(sample: Sample) -> list[dict[Any, Any]]:
    """The first weight's mean step over h, beside its gradient, at each of the cases; both at tau = 1 alone."""

    def at_one(value: float) -> Callable[[float], float]:
        return lambda time: value if time == 1.0 else math.nan

    means = {name: moments[0] for name, moments in weight_moments(sample).values.items() if name.endswith("mean v")}
    return [{PRINTED_DRIFT.left: means[f"{name}: mean v"] / STEP, formulas.gradient_at: at_one(case.mean[0]),
             formulas.phi_at: at_one(PHI), tau: 1.0} for name, case in cases(sample).items()]  # fmt: skip


def _pull(sample: Sample) -> dict[str, Any]:
    case = cases(sample)["uniform, random"]
    own, error = np.diag(case.problem.eigenvalues), case.error[:, None]
    return {"g": lambda tau: case.mean[:, None], "W": case.projection, "H": own, "u": error}


PULL: Final = Where("g(tau) is W H u", _pull)
CLAIMS: tuple[Claim, ...] = (
    Claim(
        "eqn: sde", "eqn: sde", 432, "one step of the equation in physical time",
        PHYSICAL_SCHEME[0],
        (*CASES, *PHYSICAL_SCHEME[1]), of_cases(weight_moments),
        table(physical_formula, EXACT, {
            "phi for phi^2 in the noise": {"rate": 1.0}, "h missing": {"step": 0.0}, "b missing": {"batch": 0.0},
            "the sign of the drift": {"sign": 1.0}, "phi twice in the drift": {"sign": -PHI}}),
        derive=stochastic.physical_scheme_derivation, family="gradients",
        quoted=r"this iteration is well approximated by the It\^{o}-type  SDE",
    ),
    Claim(
        "sub:the_sde_modeling/physical-drift", "sub:the_sde_modeling", 1342, "the drift in physical time, as printed",
        PRINTED_DRIFT, (*CASES, Where("m is the mean of v"), PULL),
        of_cases(weight_moments),
        table(partial(physical_formula, sign=-PHI), EXACT, {}), corrected_by="eqn: sde",
        family="gradients", instances=_drifts,
        mends={Derivative(Integral(formulas.phi_at(z), (z, 0, tau)), tau): Integer(1)},
        quoted=r"\dd t + \varphi(\tau) \sqrt{\frac{h}{b(\tau)} \Sigma(\bar{\bv}_\tau)}"
               r" \dd \mathbf{B}_\tau",
        remark="The rate enters twice.",
    ),
    Claim(
        "sub:the_sde_modeling/grid", "sub:the_sde_modeling", 1351, "SGD as a scheme in intrinsic time, as printed",
        PRINTED_GRID,
        (*ANY, FEATURE_LAWS("gaussian"), PROJECTIONS("first"), SCHEDULES("exp-decay"), "K = 8"), grid_risks,
        table(partial(scheme_formula, shift=1), EXACT, {}), instances=_grid_instances,
        mends={grid_time(formulas.step_number): grid_time(formulas.step_number + 1)},
        corrected_by="sub:the_sde_modeling/grid-corrected", family="moments",
        quoted=r"\{t_k=\sum_{j=0}^{k}\eta_j\}_{k\in\NN}",
    ),
    Claim(
        "sub:the_sde_modeling/grid-corrected", "sub:the_sde_modeling", 1351, "SGD as a scheme in intrinsic time",
        GRID[0],
        (*ANY, FEATURE_LAWS("gaussian"), PROJECTIONS("first"), SCHEDULES("exp-decay"), "K = 8", *GRID[1]), grid_risks,
        table(scheme_formula, EXACT, {"the index shifted": {"shift": 1}}),
        derive=lambda: (stochastic.grid_derivation(), *stochastic.intrinsic_scheme_derivation()),
        family="moments", role="corrected",
    ),
)  # fmt: skip
