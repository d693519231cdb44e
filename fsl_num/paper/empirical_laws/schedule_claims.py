"""Schedules: those that are in use as the paper defines them, and those that the fitted law calls optimal."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import order_statement
from fsl_num.claims.records import Judgement
from fsl_num.claims.statements import Joint, Sharp
from fsl_num.paper.empirical_laws import best_schedule
from fsl_num.paper.empirical_laws import formulas as said
from fsl_num.schedules import step_rates
from fsl_sym import ansatz
from fsl_sym.proof import AllOf

Array = NDArray[np.float64]
Measured = list[tuple[Any, float]]

RATIO = 0.1
LENGTHS = (2, 11, 1000, 33907)
ROUNDING = 1e-12
"""A cosine near -1 loses half of its digits of the angle, not of itself."""
FIT = "constants of size as fitted to models of 25M and 100M parameters, K = 33,907"
NEVER_RISING = "rates that never rise, at most eta_max"


@dataclass(frozen=True)
class Ranges:
    """Named numbers lie in ranges, ends included."""

    ranges: Mapping[str, tuple[float, float]]
    wrong: Mapping[str, Mapping[str, tuple[float, float]]] = field(default_factory=dict)

    def judge(self, measured: Sequence[tuple[str, float]]) -> Judgement:
        """Every number whose name ends with the name of a range; one that is out fails."""
        out, said, compared = [], [], 0
        for name, value in measured:
            for ending, (low, high) in self.ranges.items():
                if name.endswith(ending):
                    compared += 1
                    said.append(f"{name} {value:.3g}")
                    if not low <= value <= high:
                        out.append(f"{name} is {value:.3g}, outside [{low:g}, {high:g}]")
        if not compared:
            raise ValueError("no number measured bears a name of the statement: nothing can be judged")
        return Judgement(not out, float(len(out)) + 0.5, None, None, "; ".join(out or said))

    def mutants(self) -> Mapping[str, Ranges]:
        """The wrong ranges given."""
        return {name: replace(self, ranges=ranges) for name, ranges in self.wrong.items()}

    def neighbours(self, kind: str, size: float) -> Sequence[Ranges]:
        """None: there are no exponents here."""
        return ()


# ---- schedules in use ----------------------------------------------------------------------------------------------


def cosine(places: str, *, turn: float, shift: float = 1.0, ratio: float = RATIO) -> Measured:
    """eta_k/eta_max by the formula, with ``turn`` for the factor of (k - 1)/(K - 1) in the cosine."""
    found: Measured = []
    for steps in LENGTHS:
        for k in {"ends": (1, steps), "last": (steps,)}[places]:
            angle = turn * (k - shift) / (steps - 1)
            found.append(((k, steps), 0.5 * (1 + ratio) + 0.5 * (1 - ratio) * math.cos(angle)))
    return found


def _ends(sample: Sample) -> Sharp:
    wrong: dict[str, Callable[[Any], float]] = {
        "ends at half": lambda point: 1.0 if point[0] == 1 else 0.5,
        "ends at 0": lambda point: 1.0 if point[0] == 1 else 1e-9,
        "begins at the tenth": lambda point: RATIO if point[0] == 1 else 1.0,
    }
    return Sharp(lambda point: 1.0 if point[0] == 1 else RATIO, lambda point: ROUNDING, wrong)


def _eight_one_one(sample: Sample) -> Measured:
    return [
        ((k, steps), float(step_rates("8-1-1", peak=1.0, steps=steps)[k - 1]))
        for steps in (10, 130, 33900)
        for k in sorted(
            {1, steps // 2, steps * 4 // 5, steps * 4 // 5 + 1, steps * 9 // 10, steps * 9 // 10 + 1, steps}
        )
    ]


def _stages(first: float = 0.8, second: float = 0.9, drop: float = math.sqrt(10.0), shift: int = 0) -> Any:
    def rate(point: Any) -> float:
        k, steps = point
        passed = [end for end in (first * steps, second * steps) if k + shift > end + 1e-9 * steps]
        return float(drop ** -len(passed))

    return rate


def _eight_one_one_statement(sample: Sample) -> Sharp:
    wrong = {
        "a drop by 10 each": _stages(drop=10.0),
        "at 70 and 80 %": _stages(0.7, 0.8),
        "one step early": _stages(shift=1),
        "one step late": _stages(shift=-1),
    }
    return Sharp(_stages(), lambda point: ROUNDING, wrong)


# ---- the best schedule ---------------------------------------------------------------------------------------------

WSD_LIKE = {"decaying": (0.02, 0.35), "end": (0.0, 0.05), "peak": (0.999, 1.0), "gain": (0.0, 1.0)}
_NOT_WSD = {
    "decays from the start": WSD_LIKE | {"decaying": (0.9, 1.0)},
    "ends at a tenth of the peak": WSD_LIKE | {"end": (0.08, 0.12)},
    "a cosine, WSD or 8-1-1 is better": WSD_LIKE | {"gain": (-1.0, 0.0)},
    "a peak of half": WSD_LIKE | {"peak": (0.4, 0.6)},
}


def _wsd_like(sample: Sample) -> Ranges:
    return Ranges(WSD_LIKE, _NOT_WSD)


def _optimum(sample: Sample) -> Sharp:
    s, beta = sample.point

    def least(**changed: Any) -> Callable[[int], float]:
        given = {"s": s, "beta": beta, "steps": best_schedule.FITTED_STEPS} | changed
        return lambda count: best_schedule.closed_form(**given).loss

    wrong = {
        "s + 0.05": least(s=s + 0.05),
        "twice the noise": least(noise=2.0 * best_schedule.NOISE),
        "a tenth fewer steps": least(steps=0.9 * best_schedule.FITTED_STEPS),
    }
    # A rate held where the best one crosses w = (2 beta - 1) log(10)/n e-folds costs w^2/24 of the noise.
    return Sharp(least(), lambda count: ((2.0 * beta - 1.0) * math.log(10.0) / count) ** 2 / 24.0, wrong)


def _shape(sample: Sample) -> Joint:
    return Joint({name: order_statement(formula, sample) for name, formula in said.SHAPE.items()})


# ---- tokens --------------------------------------------------------------------------------------------------------

BATCH, LENGTH = 288, 2048
"""Sequences a step as printed; tokens a sequence, which is not printed: the power of 2 that fits."""


def _tokens(sample: Sample) -> Measured:
    return [(("33,907 steps", 20e9), 33907.0 * BATCH * LENGTH)]


def _tokens_statement(sample: Sample) -> Sharp:
    wrong = {
        "sequences of 1024": lambda point: point[1] * 2,
        "sequences of 4096": lambda point: point[1] / 2,
        "ten steps more": lambda point: point[1] * (1 + 10 / 33907),
    }
    # a step is 590k tokens: the last one may be incomplete, and one is left for where counting begins
    return Sharp(lambda point: point[1], lambda point: 2.0 / 33907, wrong)


def _steps(last: float) -> Measured:
    return [(tokens, steps) for tokens, steps in ((10e9, 17e3), (20e9, 34e3), (40e9, 68e3), (80e9, last))]


def _steps_statement(sample: Sample) -> Sharp:
    def wanted(tokens: float) -> float:
        return tokens / (BATCH * LENGTH)

    wrong = {"batches of 256": lambda tokens: tokens / (256 * LENGTH), "of 320": lambda tokens: tokens / (320 * LENGTH)}
    return Sharp(wanted, lambda tokens: 500.0 / wanted(tokens), wrong)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "sec:CLRS/cosine", "sec:CLRS", 1207, "the cosine schedule, as printed",
        "With rho = 0.1 the rate (1 + rho)/2 + (1 - rho)/2 cos((k-1)/(K-1)) of the peak ends at a tenth.",
        said.COSINE_PRINTED, ("rho = 0.1", "K from 2 to 33,907"),
        lambda sample: cosine("ends", turn=1.0), _ends, regimes=("easy",),
        corrected_by="sec:CLRS/cosine/corrected",
    ),
    Claim(
        "sec:CLRS/cosine/corrected", "sec:CLRS", 1207, "the cosine schedule",
        "With pi (k-1)/(K-1) in the cosine it begins at the peak and ends at rho times the peak.",
        said.COSINE, ("rho = 0.1", "K from 2 to 33,907"),
        lambda sample: cosine("ends", turn=math.pi), _ends, regimes=("easy",),
        role="corrected",
    ),
    Claim(
        "sec:CLRS/8-1-1", "sec:CLRS", 1211, "the schedule 8-1-1",
        "The peak up to step 0.8 K, over sqrt(10) up to 0.9 K and over 10 up to K.",
        said.EIGHT_ONE_ONE, ("K = 10, 130 and 33,900",),
        _eight_one_one,
        _eight_one_one_statement, regimes=("easy",),
    ),
    Claim(
        "eqn: FSL-optimization", "eqn: FSL-optimization", 1583, "the optimal schedule of the fitted ansatz",
        "Among rates that never rise the minimiser keeps the peak for at least 65 % of the steps, ends below a "
        "twentieth of it, and is better than cosine, WSD and 8-1-1 that end at a tenth. Tested with the constants as "
        "fits give them, where c_3 is so large that the term T(i)^-s is not seen.",
        said.WSD_LIKE[0], (FIT, "c_3 = 1e7", NEVER_RISING, *said.WSD_LIKE[1]),
        lambda sample: best_schedule.fitted_shapes(1e7, "the drop"), _wsd_like, regimes=("easy",), family="optimum",
    ),
    Claim(
        "eqn: FSL-optimization/signal-at-the-drop", "eqn: FSL-optimization", 1583,
        "the optimal schedule of the ansatz where its signal counts",
        "The same with c_3 = 1 and c_2 c_3 unchanged. The minimiser falls to a third of the peak within the first "
        "steps: it is paid T(i)^-s for that drop, for good.",
        said.WSD_LIKE[0], (FIT, "c_3 = 1", NEVER_RISING, *said.WSD_LIKE[1]),
        lambda sample: best_schedule.fitted_shapes(1.0, "the drop"), _wsd_like, regimes=("easy",), role="argument",
        corrected_by="eqn: FSL-optimization/signal-at-the-end", family="optimum",
    ),
    Claim(
        "eqn: FSL-optimization/signal-at-the-end", "eqn: FSL-optimization", 1583,
        "the optimal schedule with the signal at the end",
        "With T(k)^-s for T(i)^-s, and T(k) - T(i-1), the minimiser is WSD-like for c_3 = 1 as well.",
        said.WSD_LIKE[0],
        (FIT, "LRD(k) = c_2 (c_3 + T(k)^-s) sum (eta_(i-1) - eta_i)(1 - (1 + c_4 (T(k) - T(i-1)))^-gamma)", "c_3 = 1",
         NEVER_RISING, *said.WSD_LIKE[1]),
        lambda sample: best_schedule.fitted_shapes(1.0, "the end"), _wsd_like,
        regimes=("easy",), role="corrected", family="optimum",
    ),
    Claim(
        "eqn: FSL-optimization/unbounded", "eqn: FSL-optimization", 1120,
        "over all schedules the ansatz has no minimum",
        "One first step at rate r, then the peak: the ansatz falls like -r^-s as r goes to 0. The constraint that "
        "rates never rise is needed for the ansatz; the functional itself does not need it.",
        said.UNBOUNDED, ("L(r) is the printed ansatz after a first step at rate r", "r <= 1", "rates may rise"),
        best_schedule.early_drop_ray, role="own", family="optimum",
    ),
    Claim(
        "eqn: FSL-optimization/closed-form", "eqn: FSL-optimization", 1583, "the optimal schedule in closed form",
        "Under label noise and the power kernel the functional is least, among all schedules of K steps with rates up "
        "to the bound, for a power decay over the steps left y, a (1 + c a y/(2 beta))^(2 beta - 1), cut at the "
        "bound; one equation gives the last rate a. Numerical optimisation over all rates, free to rise, comes down "
        "to it as its blocks get finer and never below.",
        said.BEST_RATE,
        ("eta(y) is the best rate when y steps are left", "label noise alone", "the power kernel", "K = 33,907"),
        best_schedule.optimised_losses, _optimum,
        derive=ansatz.optimal_rate, role="own", family="optimum",
    ),
    Claim(
        "eqn: FSL-optimization/regimes", "eqn: FSL-optimization", 1583, "when the optimal schedule is WSD-like",
        "In the hard regime the optimal schedule keeps the bound for all but a share K^-((beta - 1 - s beta)/(2 beta "
        "- 1)) of the steps and ends at K^-((1+s)/2) of it, with the loss K^-s. In the easy regime there is no stable "
        "phase: the peak itself is K^-(1 - beta/(1 + s beta)), and the loss K^-(s beta/(1 + s beta)) has no "
        "logarithm, which WSD does not reach. On the edge the decay takes a fixed share.",
        AllOf(tuple(said.SHAPE.values())),
        ("E is the least loss, w the share of decaying steps, eta(K) and eta_max the last and the largest rate",
         "label noise alone", "the power kernel", "rates up to a bound", "K from 1e10 to 1e100"),
        best_schedule.shape_rays, _shape, depends=("eqn: FSL-optimization/closed-form",), role="own", family="optimum",
    ),
    Claim(
        "eqn: FSL-optimization/power-decay", "eqn: FSL-optimization", 1583,
        "the noise of a power decay has no logarithm",
        "Under the model's own kernel, M infinite, the noise of the schedule a (1 - tau/K)^p is of the order of "
        "a (a K)^-(1 - 1/beta) for p = 2 beta - 1 and 3 beta, as for every p > beta - 1. With T = a K/(p + 1) the loss "
        "T^-s + noise is least in the easy regime at the order K^-(s beta/(1 + s beta)): less than that of WSD.",
        said.POWER_DECAY,
        ("N(a, K, p) is the noise of a (1 - tau/K)^p", "p > beta - 1", "lambda_j = j^-beta, M infinite",
         "a from 1e-12 to 0.1, K from 1e4 to 1e24"),
        best_schedule.power_decay_rays,
        role="own",
    ),
    Claim(
        "appendix:llm_pre-training/tokens", "appendix:llm_pre-training", 1568, "steps, batch and tokens",
        "33,907 steps of batches of 288 are 20B tokens: with sequences of 2048 tokens, which are not printed.",
        said.TOKENS[0], (*said.TOKENS[1], "2048 tokens a sequence"),
        _tokens, _tokens_statement,
        regimes=("easy",), family="tokens",
    ),
    Claim(
        "fig:different-step-fit-lrs", "fig:different-step-fit-lrs", 1699, "steps of 10B to 80B tokens, as printed",
        "17k, 34k, 68k and 134k steps are 10B, 20B, 40B and 80B tokens, all numbers rounded as printed.",
        said.token_steps(134000), ("one batch size for all", "B = 288, L = 2048"),
        lambda sample: _steps(134e3), _steps_statement, regimes=("easy",),
        corrected_by="fig:different-step-fit-lrs/corrected", family="tokens",
    ),
    Claim(
        "fig:different-step-fit-lrs/corrected", "fig:different-step-fit-lrs", 1699, "steps of 10B to 80B tokens",
        "The last is 136k steps.", said.token_steps(136000), ("one batch size for all", "B = 288, L = 2048"),
        lambda sample: _steps(136e3), _steps_statement, regimes=("easy",),
        role="corrected", family="tokens",
    ),
)  # fmt: skip
