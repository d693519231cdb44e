"""eq:risk-recursion and pro:evolution-pro: the expected risk under any projection."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
from sympy import Function, Integral

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.records import Judgement
from fsl_num.claims.statements import WithoutExponents
from fsl_num.claims.words import Where
from fsl_num.paper.hypotheses import FEATURES, PROJECTIONS, SCHEDULES, located
from fsl_num.paper.model import moments
from fsl_num.paper.model.formulas import ANY, BOTH, LEAST, MOST, SOLUTIONS, SOLVED, gamma_at, risk_at
from fsl_num.paper.model.gradients import NOISE
from fsl_num.paper.model.tables import Interval, Numbers, table
from fsl_num.validation import Array
from fsl_sym import stochastic_identities as stochastic
from fsl_sym.proof import AllOf, at_most, equals
from fsl_sym.symbols import sigma, t, z

_forced, _returned, _noise, _c = (Function(name) for name in ("F", "G", "n", "c"))
EVOLUTION: Final = equals(2 * risk_at(t), _forced(t) + Integral(gamma_at(z) * _noise(t, z), (z, 0, t)))
_of_one = (_c(z) * risk_at(z) + sigma**2) * gamma_at(z) * _returned(t - z)
PRINTED_EVOLUTION: Final = AllOf(
    (
        equals(2 * risk_at(t), _forced(t) + Integral(_of_one, (z, 0, t))),
        at_most(2 * LEAST, _c(z)),
        at_most(_c(z), 2 * MOST),
    )
)
_BOTH_TIMES: Final = {_c(z): _c(t, z)}
_BOTH_TIMES[Integral(_of_one, (z, 0, t))] = Integral(_of_one.xreplace(_BOTH_TIMES), (z, 0, t))
EVOLUTION_BOUNDS: Final = AllOf(
    (
        equals(_noise(t, z), (_c(t, z) * risk_at(z) + sigma**2) * _returned(t - z)),
        at_most(2 * LEAST, _c(t, z)),
        at_most(_c(t, z), 2 * MOST),
    )
)
BURST = 0.02
"""Length of the burst of noise after which gamma is 0."""


def _decay(model: moments.Model, time: float, swapped: bool = False) -> Array:
    from scipy.linalg import expm

    return np.asarray(expm(-time * (model.pull.T if swapped else model.pull)))


def _seen(model: moments.Model, lag: float) -> Array:
    """A'HA."""
    left = _decay(model, lag)
    return (left.T * model.own) @ left


def _noise_seen(model: moments.Model, second: Array, lag: float) -> float:
    """n: the mean of tr(A'HA W'Sigma W)."""
    return float(np.trace(_seen(model, lag) @ model.projection.T @ model.noise(second) @ model.projection))


def _kernel(model: moments.Model, lag: float) -> float:
    """G: tr(S A'HA S)."""
    spread = model.projection.T @ ((model.projection * model.own) @ model.projection.T) @ model.projection
    return float(np.trace(spread @ _seen(model, lag)))


def _parts(sample: Sample) -> dict[str, Any]:
    """What the equation is made of, of random features."""
    model, path = moments.models(sample)["random"], moments.intrinsic_path(sample, "random")
    return {
        "W": model.projection, "H": np.diag(model.own), "u_0": -model.theta[:, None], "t": moments.TIMES[1],
        "z": moments.TIMES[0], "F": lambda t: model.theta @ _seen(model, t) @ model.theta,
        "G": partial(_kernel, model), "n": lambda t, z: _noise_seen(model, path(z), t - z),
        "the mean of Sigma at z": model.noise(path(moments.TIMES[0])),
    }  # fmt: skip


DECAYED = "A(t) = exp(-t W'W H); "
FORCED = Where(f"{DECAYED}F(t) is u_0' A(t)' H A(t) u_0", _parts)
RETURNED = Where(f"{DECAYED}G(t) is tr(A(t)' H A(t) W'W H W'W)", _parts)
INJECTED = Where(f"{DECAYED}n(t, z) is tr(A(t - z)' H A(t - z) W' (the mean of Sigma at z) W)", _parts)


def evolution_risks(sample: Sample) -> Numbers:
    """2E under every projection at intrinsic times."""
    return {
        name: np.array([model.risk(moments.intrinsic_path(sample, name)(t)) for t in moments.TIMES])
        for name, model in moments.models(sample).items()
    }


def evolution_formula(
    sample: Sample, *, swapped: bool = False, half: float = 1.0, noise: float = 1.0, inside: bool = True
) -> Numbers:
    """u_0'A'HAu_0 + int tr(A'HA gamma W'Sigma W); ``swapped``: HW'W for W'WH; ``inside`` False: A H A' for A'HA."""
    risks = {}
    for name, model in moments.models(sample).items():
        values = []
        for time in moments.TIMES:
            total = 0.0
            for place, start, weight in _starts(sample, name, time):
                left = _decay(model, time - start, swapped)
                seen = (left.T * model.own) @ left if inside else (left * model.own) @ left.T
                if place is None:
                    total += float(model.theta @ seen @ model.theta)
                else:
                    total += noise * weight * float(np.trace(seen @ model.projection.T @ place @ model.projection))
            values.append(half * total)
        risks[name] = np.array(values)
    return risks


def _starts(sample: Sample, name: str, t: float) -> list[tuple[Array | None, float, float]]:
    points, weights, noises, _ = moments.history(sample, name, t)
    later = [(noise, float(z), float(weight)) for z, weight, noise in zip(points, weights, noises, strict=True)]
    return [(None, 0.0, 1.0), *later]


def noise_cases(sample: Sample, name: str) -> list[tuple[moments.Model, Array, float]]:
    """A model, its P at tau and t - tau, for all times t and tau < t that are compared."""
    model = moments.models(sample)[name]
    cases: list[tuple[moments.Model, Array, float]] = []
    for time in moments.TIMES:
        points, _, _, seconds = moments.history(sample, name, time)
        pairs = list(zip(points, seconds, strict=True))[::5]
        cases += [(model, second, time - float(start)) for start, second in pairs]
    return cases


def _ratio(model: moments.Model, second: Array, lag: float) -> float:
    """c with E tr(A'HA W'Sigma W) = (c E + sigma^2) tr(S A'HA S)."""
    kernel = _kernel(model, lag)
    return (_noise_seen(model, second, lag) - NOISE * kernel) / (kernel * model.excess(second))


def _ratio_cases(sample: Sample) -> list[tuple[moments.Model, Array, float]]:
    """Those of first and random normal features, and two that reach the ends of their range.

    One is where nothing of what can be learned is left, one where all of it is in the slowest mode, long after.
    """
    cases = [case for name in ("first", "random") for case in noise_cases(sample, name)]
    first = moments.models(sample)["first"]
    unlearned = np.diag(np.where(np.arange(moments.FEATURES) < moments.MODEL, 0.0, first.theta**2))
    slowest = np.diag(np.where(np.arange(moments.FEATURES) == moments.MODEL - 1, 1.0, 0.0))
    return [*cases, (first, unlearned, 1.0), (first, slowest, 40.0)]


def all_noise_ratios(sample: Sample) -> list[float]:
    """c of each."""
    return [_ratio(*case) for case in _ratio_cases(sample)]


NORMAL: Final = {LEAST: 1.0, MOST: 2.0, sigma: math.sqrt(NOISE)}
"""The constants of normal features, between which c lies."""


def _ratio_instances(sample: Sample) -> list[dict[Any, Any]]:
    """c, noise and risk at two times."""
    return [
        {**NORMAL, t: lag, z: 0.0, _c: lambda *times, case=case: _ratio(*case),
         risk_at: lambda z, case=case: case[0].excess(case[1]), _noise: lambda t, z, case=case: _noise_seen(*case),
         _returned: lambda lag, case=case: _kernel(case[0], lag)}
        for case in _ratio_cases(sample) for lag in case[2:]
    ]  # fmt: skip


def _evolution_instances(sample: Sample) -> list[dict[Any, Any]]:
    """What the equations are made of, of normal features; c is that of one time since."""
    model, path = moments.models(sample)["first"], moments.intrinsic_path(sample, "first")
    return [{
        **NORMAL, t: moments.TIMES[0], z: 0.0, risk_at: lambda t: model.excess(path(t)), gamma_at: moments.gamma,
        _forced: lambda t: model.theta @ _seen(model, t) @ model.theta, _returned: lambda t: _kernel(model, t),
        _noise: lambda t, z: _noise_seen(model, path(z), t - z), _c: lambda z: _ratio(model, path(z), 1.0),
    }]  # fmt: skip


def _printed_instances(sample: Sample) -> list[dict[Any, Any]]:
    """The same with c of both times, which one function cannot be; and after each state, without noise, where c reaches
    the ends of its range."""
    model, path = moments.models(sample)["first"], moments.intrinsic_path(sample, "first")
    (known,) = _evolution_instances(sample)
    silent = [
        {**known, t: case[2], gamma_at: lambda z: 0.0,
         _c: lambda *times, case=case: _ratio(*case) if times[1:] else 0.0,
         _forced: lambda t, case=case: np.trace(case[1] @ _seen(case[0], t)),
         risk_at: lambda t, case=case: np.trace(case[1] @ _seen(case[0], t)) / 2}
        for case in _ratio_cases(sample)
    ]  # fmt: skip
    at_both = {_c: lambda *times: _ratio(model, path(times[-1]), times[0] - times[-1] if times[1:] else 1.0)}
    return [{**known, **at_both}, *silent]


def burst_constants(sample: Sample) -> tuple[list[float], float]:
    """What one function c(tau) would have to average to, for each mode, over a burst of noise; and the length of it.

    After the burst 2E is a sum of exponentials of different rates, so that the equation for all later t is one equation
    for each mode: the means of c under the weights exp(2 lambda_j tau) E gamma.
    """
    model = moments.models(sample)["first"]
    path = moments.solve(model, lambda t: 1.0, lambda t: 0.5, BURST)
    points, weights = moments.quadrature(BURST)
    own = model.own[: moments.MODEL]
    above, below = np.zeros(moments.MODEL), np.zeros(moments.MODEL)
    for start, weight in zip(points, weights, strict=True):
        second = path(float(start))
        seen = np.exp(2.0 * own * start) * weight
        above += seen * (np.diag(model.noise(second)) / own - NOISE)
        below += seen * 0.5 * model.risk(second)
    return (above / below).tolist(), BURST


@dataclass(frozen=True)
class OneFunction(WithoutExponents):
    """Means of one function, under weights whose ratio varies by exp(2 lambda_1 length), lie within that factor."""

    factor: float = 1.0

    def judge(self, measured: tuple[Sequence[float], float]) -> Judgement:
        """The largest mean over the least."""
        means, length = measured
        ratio, allowed = max(means) / min(means), self.factor * math.exp(2.0 * length)
        note = f"means {', '.join(f'{mean:.4g}' for mean in means)}: ratio {ratio:.4g}, allowed {allowed:.4g}"
        return Judgement(ratio <= allowed, ratio / allowed, (min(means), max(means)), None, note)

    def mutants(self) -> Mapping[str, OneFunction]:
        """Half of the factor."""
        return {"half the factor": OneFunction(0.5 * self.factor)}


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "eq:risk-recursion", "eq:risk-recursion", 1865, "the expected risk under any projection, exactly",
        EVOLUTION, (*SOLUTIONS, BOTH, FEATURES("gaussian", "uniform"), FORCED, INJECTED),
        moments.of_models("first", "random", "random uniform")(evolution_risks),
        table(evolution_formula, SOLVED, {
            "HW'W for W'WH": {"swapped": True}, "A H A' for A'HA": {"inside": False}, "E for 2E": {"half": 0.5},
            "gamma/2": {"noise": 0.5}, "the sign of the noise": {"noise": -1.0}}),
        derive=stochastic.evolution_derivation, depends=("eq:sde_u",), family="moments",
        instances=_evolution_instances,
        quoted=r"2\EE[\cE_t] = \bu_0^\top \bA^\top_t"
               r" \bH \bA_t \bu_0 + \int_{0}^{t}\tr(\mathbf{S} \bA^\top_{t-\tau} \bH \bA_{t-\tau} \mathbf{S})"
               r" \cdot \gamma_\tau(c_\tau \EE[\cE_\tau]+ \sigma^2) \dd \tau",
    ),
    Claim(
        "pro:evolution-pro", "pro:evolution-pro", 1862, "the evolution of the risk with one c_tau, as printed",
        PRINTED_EVOLUTION,
        (*ANY, FORCED, RETURNED, PROJECTIONS("first"), FEATURES("gaussian"),
         SCHEDULES("burst then zero")),
        located({SCHEDULES.name: "burst then zero"})(moments.of_models("first")(burst_constants)),
        lambda sample: OneFunction(), corrected_by="pro:evolution-pro/corrected", family="moments",
        instances=_printed_instances, mends=_BOTH_TIMES,
        quoted=r"\gamma_\tau(c_\tau \EE[\cE_\tau]+ \sigma^2) \dd \tau",
        remark="After a short burst of noise no such function exists: each mode wants another mean of it.",
    ),
    Claim(
        "pro:evolution-pro/corrected", "pro:evolution-pro", 1862, "the evolution of the risk with c of both times",
        EVOLUTION_BOUNDS, (*ANY, BOTH, RETURNED, INJECTED, FEATURES("gaussian"), "N = 4, M = 2"),
        moments.of_models("first", "random")(all_noise_ratios), lambda sample: Interval(2.0, 4.0, 1e-8),
        instances=_ratio_instances,
        derive=stochastic.evolution_derivation, depends=("eq:risk-recursion", "lemma: noise-covariance"),
        family="moments", role="corrected",
    ),
)  # fmt: skip
