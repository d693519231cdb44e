"""The empirical laws of loss curves: their definitions, what they are in the theory, and how they are related.

The laws that practitioners fit (:mod:`fsl_num.curves.laws`, evaluated in one pass) are measured; the claims are plain
loops over the steps as the laws are printed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sympy import Rational

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.evaluation import sharp
from fsl_num.claims.formula_laws import order_statement
from fsl_num.claims.statements import Ray, Sharp
from fsl_num.curves.laws import law
from fsl_num.curves.plan import Plan
from fsl_num.paper.empirical_laws import formulas as said
from fsl_num.paper.empirical_laws import loops
from fsl_num.paper.empirical_laws import measurements as measured
from fsl_num.paper.empirical_laws.measurements import SCALE, STEPWISE
from fsl_num.paper.scaling_laws.measurements import Training, functional_risk
from fsl_sym import ansatz
from fsl_sym.symbols import D, M

Array = NDArray[np.float64]
Measured = list[tuple[Any, float]]
Value = Callable[[Any], float]

LABEL = "sub:empirical_fitting_of_llm_pre_training_loss_trajectory"
SCHEDULES = "cosine, WSD, 8-1-1 and cyclic schedules"
LONG = 120
"""Steps of the schedules on which laws are compared with their loops."""
ONE_PASS = 1e-9
"""The one-pass laws sum powers as exponentials to 1e-11, and the double sums of the loops round at 1e-13."""
DECAYS = (0.9, 0.99, 0.999)
SIGNAL = 0.7
"""A, c_1: the signal after a unit of intrinsic time, in the definitions."""


def _rates(name: str) -> list[float]:
    return measured.step_plan(name, LONG)


# ---- final losses --------------------------------------------------------------------------------------------------


def _final_losses(sample: Sample) -> tuple[Ray, ...]:
    """The constant schedule at the data-optimal order of the rate: D alone, M alone, and both along their balance."""
    s, beta = sample.point
    far, sizes = np.linspace(10.0, 40.0, 13), np.linspace(3.0, 8.0, 13)
    paths = {
        "M infinite": (np.full_like(far, 250.0), far),
        # so many data that their power vanishes beside that of the model
        "D huge": (sizes, np.full_like(sizes, (1.0 + s) * (8.0 * beta + 4.0 / s))),
        "balanced": (sizes, sizes * beta * (1.0 + s)),
    }
    rays = []
    for name, (sizes, data) in paths.items():
        values = []
        for size, budget in zip(sizes, data, strict=True):
            peak = 10.0 ** (-budget * s / (1.0 + s))
            run = Training(float(round(10.0**size)), stable=peak * 10.0**budget, peak=peak)
            values.append(math.log(functional_risk(run, s, beta)))
        logs = {"M": sizes * math.log(10.0), "D": data * math.log(10.0)}
        scale = logs["M"] if name == "D huge" else logs["D"]
        rays.append(Ray(name, scale, logs, np.array(values)))
    return tuple(rays)


_FINAL = {"L_0": Rational(3, 2), "A_1": 40, "A_2": 300, "kappa_1": Rational(17, 50), "kappa_2": Rational(7, 25)}


def _chinchilla(sample: Sample) -> Measured:
    found: Measured = []
    for size, batch, steps in ((1e6, 32.0, 100), (3e7, 288.0, 250), (4e8, 1.0, 10)):
        plan = Plan([0.1] * steps, [steps], batch_sizes=batch, model_size=size)
        given = {name.replace("_", ""): float(value) for name, value in _FINAL.items()}
        found.append(({"M": int(size), "D": int(batch * steps)}, float(law("chinchilla").predict(plan, given)[-1])))
    return found


def _chinchilla_statement(sample: Sample) -> Sharp:
    said_right = said.CHINCHILLA.right
    wrong = {
        "M and D exchanged": said_right.subs({M: D, D: M}, simultaneous=True),
        "the power of M above": said_right.replace(lambda part: part.is_Pow and part.base == M, lambda part: 1 / part),
    }
    return sharp(said_right, _FINAL, lambda point: ONE_PASS, wrong)


# ---- momentum ------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def _momentum(sample: Sample | None = None) -> tuple[tuple[Any, float], ...]:
    """The law less its constant: A S1^-kappa - C S2 after the last step and in the middle."""
    found = []
    for name in STEPWISE:
        for decay in DECAYS:
            given = {"L0": 0.0, "A": SIGNAL, "C": 1.0, "kappa": 0.5, "decay": decay}
            curve = law("momentum").predict(_rates(name), given)
            found += [((name, k, decay), float(curve[k - 1])) for k in (100, LONG)]
    return tuple(found)


def _momentum_loop(start: int = 2, extra: int = 0, sign: float = 1.0, last: int = 0) -> Value:
    def value(point: Any) -> float:
        name, k, decay = point
        rates = _rates(name)[:k]
        signal = SIGNAL * math.fsum(rates[: k - last]) ** -0.5
        return float(signal - sign * loops.momentum_sum(rates, decay, start=start, extra=extra))

    return value


def _momentum_statement(sample: Sample) -> Sharp:
    wrong = {
        "lambda^(i-j+1)": _momentum_loop(extra=1),
        "from j = 3": _momentum_loop(start=3),
        "S2 added": _momentum_loop(sign=-1.0),
        "S1 without the last step": _momentum_loop(last=1),
    }
    return Sharp(_momentum_loop(), lambda point: ONE_PASS, wrong)


def _momentum_single(shift: int = 1) -> Value:
    def value(point: Any) -> float:
        name, k, decay = point
        rates = _rates(name)[:k]
        drops = [(rates[j - 2] - rates[j - 1]) * (1.0 - decay ** (k - j + shift)) for j in range(2, k + 1)]
        return float(SIGNAL * math.fsum(rates) ** -0.5 - math.fsum(drops) / (1.0 - decay))

    return value


def _momentum_drops(sample: Sample) -> Sharp:
    wrong = {"k - j for k - j + 1": _momentum_single(0), "k - j + 2": _momentum_single(2)}
    return Sharp(_momentum_single(), lambda point: ONE_PASS, wrong)


# ---- the Multi-Power Law -------------------------------------------------------------------------------------------


def _label_noise(sample: Sample) -> Measured:
    """The reduction by decay under label noise alone, times c (1 - 1/beta): noise of the first rate less that of "
    "all."""
    normal = SCALE * (1.0 - 1.0 / sample.point[1])
    return [(point, normal * value) for point, value in measured.step_measurements(sample, False)]


def _multi_power(sample: Sample, change: float = 0.0, **options: Any) -> Value:
    power = 1.0 - 1.0 / sample.point[1] + change

    def value(point: Any) -> float:
        rates = measured.step_plan(point[0], 60)[: point[1]]
        return loops.multi_power(rates, SCALE, power, **options)

    return value


def _multi_power_printed(sample: Sample) -> Sharp:
    return Sharp(_multi_power(sample, since="the start"), lambda point: ONE_PASS)


def _multi_power_corrected(sample: Sample) -> Sharp:
    wrong = {
        "S_i from the start, as printed": _multi_power(sample, since="the start"),
        "S_i from i + 1, as in the ansatz": _multi_power(sample, shift=1),
        "kappa' = 0.05": _multi_power(sample, rate_power=0.05),
        "kappa'' = 2 - 1/beta": _multi_power(sample, 1.0),
    }

    def moved(kind: str, size: float) -> list[Value]:
        return [_multi_power(sample, sign * size) for sign in (1, -1)] if kind == "power" else []

    return Sharp(_multi_power(sample), lambda point: ONE_PASS, wrong, moved)


@lru_cache(maxsize=8)
def _multi_power_curves(sample: Sample | None = None) -> tuple[tuple[Any, float], ...]:
    found = []
    for name in STEPWISE:
        for rate_power in (0.0, 0.4):
            given = {"L0": 0.0, "A": SIGNAL, "C": 0.5, "kappa": 0.5, "C1": SCALE, "kappa1": rate_power, "kappa2": 0.6}
            curve = law("multi-power").predict(_rates(name), given)
            found += [((name, k, rate_power), float(curve[k - 1])) for k in (100, LONG)]
    return tuple(found)


def _multi_power_loop(**options: Any) -> Value:
    def value(point: Any) -> float:
        name, k, rate_power = point
        rates = _rates(name)[:k]
        reduced = loops.multi_power(rates, SCALE, 0.6, rate_power=rate_power, **options)
        return float(SIGNAL * math.fsum(rates) ** -0.5 - 0.5 * reduced)

    return value


def _multi_power_definition(sample: Sample) -> Sharp:
    wrong = {"S_i from the start": _multi_power_loop(since="the start"), "S_i from i + 1": _multi_power_loop(shift=1)}
    return Sharp(_multi_power_loop(), lambda point: ONE_PASS, wrong)


# ---- the ansatz ----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _ansatz_curves(s: float, beta: float) -> tuple[tuple[Any, float], ...]:
    """In one pass over arrays: the reduction is what the drops would give at once, less what is not yet forgotten."""
    found = []
    for name in STEPWISE:
        rates = np.array(_rates(name))
        time = np.cumsum(rates)
        drops = rates - np.append(rates[1:], 0.0)
        for level in (0.5, 20.0):
            for k in (100, LONG):
                then, weight = time[1:k], drops[: k - 1] * (level + time[1:k] ** -s)
                kept = np.exp((1.0 / beta - 1.0) * np.log1p(SCALE * (time[k - 1] - then)))
                found.append(
                    ((name, k, level), float(SIGNAL * time[k - 1] ** -s - 0.3 * (weight.sum() - weight @ kept)))
                )
    return tuple(found)


def _ansatz_loop(sample: Sample, change: float = 0.0, sign: float = 1.0, **options: Any) -> Value:
    s, beta = min(sample.point[0], 2.0), sample.point[1]

    def value(point: Any) -> float:
        name, k, level = point
        rates = _rates(name)[:k]
        power = 1.0 - 1.0 / beta + change
        reduced = loops.ansatz_reduction(rates, rates[0], level, s, SCALE, power, **options)
        return float(SIGNAL * math.fsum(rates) ** -s - sign * 0.3 * reduced)

    return value


def _ansatz_statement(sample: Sample) -> Sharp:
    wrong = {
        "the signal at T(k)": _ansatz_loop(sample, at="the end"),
        "the reduction added": _ansatz_loop(sample, sign=-1.0),
        "gamma = 2 - 1/beta": _ansatz_loop(sample, 1.0),
    }
    return Sharp(_ansatz_loop(sample), lambda point: ONE_PASS, wrong)


def _ansatz_measured(sample: Sample) -> tuple[tuple[Any, float], ...]:
    return _ansatz_curves(min(sample.point[0], 2.0), sample.point[1])


def _near_rays(sample: Sample) -> list[Ray]:
    """How far the ansatz without its signal is from the Multi-Power Law with kappa' = 0, relative to the reduction."""
    gamma = 1.0 - 1.0 / sample.point[1]
    counts = np.array([2.0**j for j in range(9, 17)])
    values = []
    for count in counts:
        rates = measured.linear_wsd(int(count))
        rates *= measured.WHOLE / rates.sum()
        times = np.cumsum(rates)
        drops = -np.diff(rates)
        shares = [1.0 - (1.0 + SCALE * since) ** -gamma for since in (times[-1] - times[1:], times[-1] - times[:-1])]
        ansatz_value, multi_power = (float(drops @ share) for share in shares)
        values.append(math.log((multi_power - ansatz_value) / multi_power))
    scale = np.log(counts)
    return [Ray("WSD, linear decay", scale, {"K": scale}, np.array(values))]


def _sample_free(function: Callable[[], Any], sample: Sample) -> Any:
    return function()


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "eqn: scaling-law", "eqn: scaling-law", 100, "final losses of the constant schedule",
        "L_0 + C_M M^-alpha_M + C_D D^-alpha_D: within the theory this is the final loss of the constant schedule at "
        "the data-optimal order of its rate, eta = D^(-s/(1+s)), with alpha_M = s beta and alpha_D = s/(1+s). "
        "Schedules that decay have other exponents, some with logarithms.",
        said.FINAL_LOSS, ("constant schedule, eta = D^(-s/(1+s))", "B = 1", "D up to 1e40"),
        _final_losses,
        family="final-losses",
    ),
    Claim(
        f"{LABEL}/chinchilla", LABEL, 1169, "the Chinchilla law",
        "L_0 + A_1 M^-kappa_1 + A_2 D^-kappa_2, D the batch sizes summed: eqn: scaling-law under other names.",
        said.CHINCHILLA, ("three sizes and budgets",),
        _chinchilla,
        _chinchilla_statement, regimes=("easy",), family="laws",
    ),
    Claim(
        f"{LABEL}/momentum", LABEL, 1178, "the Momentum Law",
        "L_0 + A S_1^-kappa - C S_2 with S_2 its double sum.",
        said.MOMENTUM, (SCHEDULES, said.DROP, "lambda from 0.9 to 0.999"),
        partial(_sample_free, _momentum), _momentum_statement, regimes=("easy",), family="laws",
    ),
    Claim(
        f"{LABEL}/momentum-drops", LABEL, 1182, "the Momentum Law is a reduction by decay",
        "S_2 is one sum over the drops, each with the weight (1 - lambda^(k-j+1))/(1 - lambda): the shape of the loss "
        "reduction by decay, with an exponential of the steps where the theory has a power of intrinsic time.",
        said.MOMENTUM_DROPS, (SCHEDULES, said.DROP, "lambda from 0.9 to 0.999"),
        partial(_sample_free, _momentum), _momentum_drops,
        derive=ansatz.momentum_kernel, regimes=("easy",), role="own", family="laws",
    ),
    Claim(
        f"{LABEL}/multi-power", LABEL, 1195, "the Multi-Power Law, as printed",
        "The reduction by decay is C sum (eta_{i-1} - eta_i) G(eta_i^-kappa' S_i) with S_i = sum_{j=1}^i eta_j; tested "
        "where the theory has such a law, kappa' = 0 and kappa'' = 1 - 1/beta. As printed, a drop counts in full at "
        "once and nothing comes after it.",
        said.MULTI_POWER_PRINTED, (SCHEDULES, "label noise alone", "the power kernel", *said.LEFT),
        _label_noise, _multi_power_printed,
        corrected_by=f"{LABEL}/multi-power/corrected", family="steps",
    ),
    Claim(
        f"{LABEL}/multi-power/corrected", LABEL, 1195, "the Multi-Power Law is the label noise of steps",
        "With S_i = sum_{j=i}^k eta_j, as its authors have it, the Multi-Power Law with kappa' = 0, kappa'' = 1 - "
        "1/beta is the reduction of label noise in the functional scaling law exactly, for any schedule given by "
        "steps: nothing is approximated.",
        said.MULTI_POWER, (SCHEDULES, "label noise alone", "the power kernel", *said.LEFT),
        _label_noise, _multi_power_corrected,
        derive=ansatz.multi_power, role="corrected",
        family="steps",
    ),
    Claim(
        f"{LABEL}/multi-power-definition", LABEL, 1188, "the Multi-Power Law",
        "L_0 + A S_1^-kappa - LD(k) with S_i = sum_{j=i}^k eta_j, kappa' free.",
        said.MULTI_POWER_LAW, (SCHEDULES, "kappa' = 0 and 0.4"),
        partial(_sample_free, _multi_power_curves), _multi_power_definition, regimes=("easy",), role="own",
        family="laws",
    ),
    Claim(
        "eqn: fsl-ansatz", "eqn: fsl-ansatz", 1517, "the ansatz",
        "c_0 + c_1 T(k)^-s + c_2 M^-(s beta) - c_3 sum (eta_{i-1} - eta_i) (c_4 + T(i)^-s) (1 - (1 + c_5 (T(k) - "
        "T(i)))^-gamma), and the form with seven constants for one model size (1538), which renames them.",
        said.ANSATZ, (SCHEDULES, "s at most 2, gamma = 1 - 1/beta"),
        _ansatz_measured, _ansatz_statement, family="laws",
    ),
    Claim(
        "eqn: fsl-ansatz/nearly-multi-power", "eqn: fsl-ansatz", 240, "nearly equivalent to the Multi-Power Law",
        "As c_3 grows with c_2 c_3 held, the ansatz with seven constants becomes the Multi-Power Law with kappa' = 0 "
        "but for T(k) - T(i) in the place of T(k) - T(i-1): they differ by a share 1/K of the reduction at a fixed "
        "intrinsic time, neither more nor less.",
        said.NEARLY, ("LD is the Multi-Power Law, LRD the reduction by decay of the ansatz",
         "WSD, linear decay of the last fifth to a tenth",
         "T(k) = 200", "K from 512 to 65,536"),
        _near_rays,
        lambda sample: order_statement(said.NEARLY_ALL, sample),
        derive=ansatz.multi_power_limit, family="laws",
    ),
)  # fmt: skip
