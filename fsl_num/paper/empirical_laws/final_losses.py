"""eqn: scaling-law and the Chinchilla law: final losses as powers of the model size and of the data."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from sympy import Rational, Symbol

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.evaluation import sharp
from fsl_num.claims.statements import Ray, Sharp
from fsl_num.curves.laws import law
from fsl_num.curves.plan import Plan
from fsl_num.paper.empirical_laws.formulas import A1, A2, L0, L, kappa1, kappa2
from fsl_num.paper.empirical_laws.measurements import ONE_PASS, Measured
from fsl_num.paper.hypotheses import SCHEDULES, located
from fsl_num.paper.scaling_laws.training import Training, functional_risk
from fsl_sym.proof import equals, same_order
from fsl_sym.symbols import D, E, M, beta, s

LABEL = "sub:empirical_fitting_of_llm_pre_training_loss_trajectory"
FINAL_LOSS: Final = same_order(E, M ** (-s * beta) + D ** (-s / (1 + s)))
CHINCHILLA: Final = equals(L, L0 + A1 * M**-kappa1 + A2 * D**-kappa2)
_FINAL = {"L_0": Rational(3, 2), "A_1": 40, "A_2": 300, "kappa_1": Rational(17, 50), "kappa_2": Rational(7, 25)}


def _final_losses(sample: Sample) -> tuple[Ray, ...]:
    """The constant schedule, its rate of the data-optimal order: D and M alone where each decides, both in balance."""
    s, beta = sample.point
    far, sizes = np.linspace(10.0, 40.0, 13), np.linspace(3.0, 8.0, 13)
    huge = (1.0 + s) * (8.0 * beta + 4.0 / s)  # so many data that their power vanishes beside that of the model
    paths = {
        "M infinite": (np.full_like(far, 250.0), far),
        "M grows where D decides": (np.linspace(200.0, 300.0, 7), np.full(7, 25.0)),
        "D huge": (sizes, np.full_like(sizes, huge)),
        "D grows where M decides": (np.full(7, 5.0), huge + np.linspace(0.0, 8.0, 7)),
        "balanced": (sizes, sizes * beta * (1.0 + s)),
    }
    rays = []
    for name, (sizes, data) in paths.items():
        values = []
        rates = -data * s / (1.0 + s)
        for size, budget, rate in zip(sizes, data, rates, strict=True):
            peak = 10.0**rate
            run = Training(float(round(10.0**size)), stable=peak * 10.0**budget, peak=peak)
            values.append(math.log(functional_risk(run, s, beta)))
        logs = {
            "M": sizes * math.log(10.0),
            "D": data * math.log(10.0),
            "B": np.zeros_like(data),
            "eta": rates * math.log(10.0),
        }
        scale = logs["D"] if np.ptp(logs["D"]) else logs["M"]
        rays.append(Ray(name, scale, logs, np.array(values)))
    return tuple(rays)


def _chinchilla(sample: Sample) -> Measured:
    losses: Measured = []
    for size, batch, steps in ((1e6, 32.0, 100), (3e7, 288.0, 250), (4e8, 1.0, 10)):
        plan = Plan([0.1] * steps, [steps], batch_sizes=batch, model_size=size)
        parameters = {name.replace("_", ""): float(value) for name, value in _FINAL.items()}
        losses.append(
            ({"M": int(size), "D": int(batch * steps)}, float(law("chinchilla").predict(plan, parameters)[-1]))
        )
    return losses


def _chinchilla_statement(sample: Sample) -> Sharp:
    said_right = CHINCHILLA.right
    wrong = {
        "M and D exchanged": said_right.subs({M: D, D: M}, simultaneous=True),
        "the power of M above": said_right.replace(lambda part: part.is_Pow and part.base == M, lambda part: 1 / part),
    }
    return sharp(said_right, _FINAL, ONE_PASS, wrong)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "eqn: scaling-law", "eqn: scaling-law", 116, "final losses of the constant schedule",
        FINAL_LOSS, (SCHEDULES("constant"), equals(Symbol("eta", positive=True), D ** (-s / (1 + s))), "B = 1"),
        located({SCHEDULES.name: "constant"})(_final_losses),
        family="final-losses",
        quoted=r"L(M,D) = L_0 + C_M M^{-\alpha_M} + C_D D^{-\alpha_D}",
        remark="Schedules that decay have other exponents, some with logarithms.",
    ),
    Claim(
        f"{LABEL}/chinchilla", LABEL, 1169, "the Chinchilla law",
        CHINCHILLA, ("M = 1e6, 3e7, 4e8, D = 3200, 72000, 10",),
        _chinchilla,
        _chinchilla_statement, regimes=("easy",), family="laws",
        quoted=r"L(M,D) = L_0 + A_1 M^{-\kappa_1}  + A_2 D^{-\kappa_2}",
    ),
)  # fmt: skip
