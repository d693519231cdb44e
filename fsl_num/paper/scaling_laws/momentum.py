r"""Heavy-ball momentum: the functional law at the effective rate, with another kernel at short times only. Ours.

v <- mu v + g, w <- w - a (1 - mu) v: the effective rate is a. A mode with eigenvalue lambda has the two characteristic
roots of r^2 - (1 + mu - a (1 - mu) lambda) r + mu. With large batches the noise left at a constant rate and the rate of
forgetting have closed forms: momentum makes the first correction of the noise smaller and that of the forgetting larger
by the factor (1 + mu)/(1 - mu). Where a lambda_1 (1 + mu)/(1 - mu) is small the law is that of SGD at the rate a, with
the same constants.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
from sympy import Integer, Rational, Symbol, log, oo, sqrt

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.evaluation import sharp
from fsl_num.claims.statements import Joint
from fsl_num.claims.words import Where
from fsl_num.paper.block_constants import MODE_BY_MODE, exact_powers
from fsl_num.paper.hypotheses import MODEL
from fsl_num.validation import Array
from fsl_sym.proof import AllOf, at_least, at_most, less, tends
from fsl_sym.spectrum import LAM, over_modes
from fsl_sym.symbols import B, E, K, M, a, lam, sigma

MU: Final = Symbol("mu", nonnegative=True)
_SHARE: Final = (1 - MU) / (1 + MU)
NOISE: Final = over_modes(LAM / (2 - a * LAM * _SHARE))
"""The excess risk that label noise leaves at a constant rate, over a sigma^2/(2 B)."""
_TRACE: Final = 1 + MU - a * (1 - MU) * lam
FORGETTING: Final = -log((_TRACE + sqrt(_TRACE**2 - 4 * MU)) / 2) / a
"""The rate in intrinsic time at which one mode forgets what it has to learn, while its roots are real."""
_FASTER: Final = lam**2 / (2 * _SHARE)
"""By how much that is faster than lambda, over a, to first order."""
_LARGE: Final = 1e9
"""Samples a step, and sigma^2: the noise of the features is a/B of the label noise, the start exp(-32)/a of it."""
_ROUNDING: Final = 1e-6
"""What B, the start and the rounding of the squared matrices leave, relative."""
_UNRESOLVED: Final = 1e-4
"""What rounding leaves of the first correction, relative."""
_FORGOTTEN: Final = 16.0
"""The slowest mode has lost exp(-2 * 16) of its start."""


def _moment_matrix(eigenvalues: Array, rate: float, mu: float, noise: float, batch_size: float) -> Array:
    """One step of (E w^2, E w v, E v^2) of every mode and 1, for normal features: 3 M + 1 rows."""
    count, step = eigenvalues.size, rate * (1.0 - mu)
    matrix = np.zeros((3 * count + 1, 3 * count + 1))
    matrix[-1, -1] = 1.0
    for mode, eigenvalue in enumerate(eigenvalues):
        square, product, speed = 3 * mode, 3 * mode + 1, 3 * mode + 2
        # E v'^2, with E g^2 = lambda^2 E w^2 and the variance of the mean of B gradients
        matrix[speed, speed], matrix[speed, product] = mu**2, 2.0 * mu * eigenvalue
        matrix[speed, :-1:3] = eigenvalue * eigenvalues / batch_size
        matrix[speed, square] += eigenvalue**2 * (1.0 + 1.0 / batch_size)
        matrix[speed, -1] = eigenvalue * noise / batch_size
        # E w v' = mu E w v + lambda E w^2, and w' = w - step v'
        matrix[product, product], matrix[product, square] = mu, eigenvalue
        matrix[square] = -2.0 * step * matrix[product] + step**2 * matrix[speed]
        matrix[square, square] += 1.0
        matrix[product] -= step * matrix[speed]
    return matrix


@lru_cache(maxsize=1024)
def momentum_risk(
    spectrum: Sequence[float], start: Sequence[float], rate: float, mu: float, steps: int, noise: float = 0.0,
    batch_size: float = math.inf,
) -> float:  # fmt: skip
    """The exact excess risk after so many steps, from the second moments ``start`` of the modes and v = 0.

    ``rate`` is the effective rate, learning rate/(1 - mu); features are normal.
    """
    eigenvalues = np.array(spectrum)
    state = np.append(np.stack([start, np.zeros(len(start)), np.zeros(len(start))], axis=1).ravel(), 1.0)
    state = np.linalg.matrix_power(_moment_matrix(eigenvalues, rate, mu, noise, batch_size), steps) @ state
    return float(0.5 * eigenvalues @ state[:-1:3])


def _model(sample: Sample, size: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Eigenvalues j^-beta and targets theta_j^2 of the first modes."""
    s, beta = sample.point
    modes = np.arange(1.0, size + 1.0)
    return tuple(modes**-beta), tuple(modes ** (-1.0 - beta * (s - 1.0)))


def _left(sample: Sample, point: dict[str, Any]) -> tuple[dict[str, Any], float]:
    rate, mu, size = float(point["a"]), float(point["mu"]), int(point["M"])
    steps = math.ceil(_FORGOTTEN * (size ** float(sample.beta) / rate + 4.0 / (1.0 - mu)))
    risk = momentum_risk(*_model(sample, size), rate, mu, steps, _LARGE, _LARGE)
    return point, 2 / rate * risk


def _forgotten(point: dict[str, Any]) -> tuple[dict[str, Any], float]:
    """The fall of one mode's logarithm between two late times, over twice the intrinsic time between them."""
    rate, mu, eigenvalue = (float(point[name]) for name in ("a", "mu", "lambda"))
    steps = math.ceil(3.0 * _FORGOTTEN / (rate * eigenvalue))
    first, second = (momentum_risk((eigenvalue,), (1.0,), rate, mu, n * steps) for n in (1, 2))
    return point, math.log(first / second) / (2.0 * rate * steps)


def _points(**values: Sequence[Any]) -> list[dict[str, Any]]:
    """All combinations."""
    points: list[dict[str, Any]] = [{}]
    for name, choices in values.items():
        points = [{**point, name: value} for point in points for value in choices]
    return points


ONE_MODE: Final = Symbol("E_0", positive=True)
_MOMENTA: Final = (Rational(1, 2), Rational(9, 10))
_SMALL: Final = Rational(1, 20000)
_RATIO: Final = Rational(1, 200)
"""a (1 + mu)/(1 - mu) where the law is to be that of SGD: the shares by which the two corrections differ are below."""


def _measured(sample: Sample) -> dict[str, list[tuple[dict[str, Any], float]]]:
    model, times = _model(sample, 4), (1, 30)
    eigenvalues = {"lambda": (Integer(1), Rational(1, 10))}
    faster = [(point, (rate / float(point["lambda"]) - 1.0) / float(point["a"]) * float(point["lambda"]))
              for point, rate in (_forgotten(point) for point in _points(
                  a=(_SMALL,), mu=_MOMENTA, **eigenvalues))]  # fmt: skip
    same = []
    for mu in _MOMENTA:
        rate = float(_RATIO * (1 - mu) / (1 + mu))
        for time in times:
            steps = round(time / rate)
            for noise in (1.0, 1e6):
                pair = (momentum_risk(*model, rate, momentum, steps, noise, 10.0) for momentum in (float(mu), 0.0))
                same.append(({"mu": mu, "t": time, "sigma^2": noise}, next(pair) / next(pair)))
    return {
        "noise left": [
            _left(sample, point) for point in _points(a=(Integer(1), Rational(1, 4)), mu=_MOMENTA, M=(2, 3))
        ],
        "forgetting": [_forgotten(point) for point in _points(a=(Rational(1, 50),), mu=_MOMENTA, **eigenvalues)],
        "first order": faster,
        "one law": same,
    }  # fmt: skip


def _says(sample: Sample) -> Joint:
    """Both closed forms; the first correction of the forgetting to its next order; one law to the first order."""

    def second_order(point: Any) -> float:
        return 2.0 * float(point["a"] * point["lambda"] * (1 + point["mu"]) / (1 - point["mu"])) + _UNRESOLVED

    noise_at = {
        "the effective rate left out": NOISE * (1 - MU),
        "the noise of SGD at that rate": NOISE.subs(MU, 0),
        "the correction larger by momentum": over_modes(LAM / (2 - a * LAM / _SHARE)),
        "the correction over 1 - mu": over_modes(LAM / (2 - a * LAM * (1 - MU))),
        "the functional law at every rate": over_modes(LAM / 2),
    }
    forgets = {
        "the effective rate left out": FORGETTING * (1 - MU),
        "the forgetting of SGD at that rate": FORGETTING.subs(MU, 0),
        "its first correction alone": lam * (1 + a * lam / (2 * _SHARE)),
        "the functional law": lam,
    }
    faster = {
        "the correction of SGD": lam**2 / 2,
        "the correction smaller by momentum": lam**2 * _SHARE / 2,
        "the correction over 1 - mu": lam**2 / (2 * (1 - MU)),
    }
    same = {"at one learning rate": 1 - MU, "at the rate over 1 + mu": 1 / (1 + MU)}
    return Joint({
        "noise left": sharp(NOISE, {"beta": sample.beta}, _ROUNDING, noise_at),
        "forgetting": sharp(FORGETTING, {}, _ROUNDING, forgets),
        "first order": sharp(_FASTER, {}, second_order, faster),
        "one law": sharp(Integer(1), {}, float(_RATIO), same),
    })  # fmt: skip


def _alone(sample: Sample) -> dict[str, Any]:
    """One mode after some steps: its risk, and its weight about the target, step by step."""
    eigenvalue, rate, momentum, steps = 0.1, 0.3, 0.5, 7
    weight, speed = 1.0, 0.0
    for _ in range(steps):
        speed = momentum * speed + eigenvalue * weight
        weight -= rate * (1.0 - momentum) * speed
    return {"E_0": momentum_risk((eigenvalue,), (1.0,), rate, momentum, steps), "lambda": eigenvalue,
            "the squared error of one mode lambda without noise": weight**2}  # fmt: skip


ALONE: Final = Where("E_0 is lambda/2 times the squared error of one mode lambda without noise", _alone)
LIMITS: Final = (
    tends(2 * B * E / (a * sigma**2), K, oo, NOISE), tends(-log(ONE_MODE) / (2 * a * K), K, oo, FORGETTING),
)  # fmt: skip


def _late(sample: Sample) -> list[dict[Any, Any]]:
    """Two features where training stands still, and one mode without noise after many steps; the sides as measured."""
    rate, mu, eigenvalue, steps = 0.02, 0.5, 0.5, 20000
    two = _left(sample, {"a": rate, "mu": mu, "M": 2})[1]
    single = momentum_risk((eigenvalue,), (1.0,), rate, mu, steps)
    return [{a: rate, MU: mu, M: 2, B: _LARGE, sigma: math.sqrt(_LARGE), E: 0.5 * rate * two, K: steps, lam: eigenvalue,
             ONE_MODE: single, LIMITS[0].left: two, LIMITS[1].left: -math.log(single) / (2.0 * rate * steps)}]


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "momentum/kernel", "eqn: fsl-simplified", 883, "heavy-ball momentum changes the kernel at short times",
        AllOf(LIMITS),
        (MODEL, exact_powers(MODE_BY_MODE),
         at_most(a, 1), at_least(MU, 0), less(MU, 1), at_least(M, 2),
         ALONE,
         less(a * lam, (1 - sqrt(MU)) / (1 + sqrt(MU)))),
        _measured, _says, instances=_late, role="own", depends=("eqn: fsl-simplified",),
        remark="Constant momentum changes no exponent.",
    ),
)  # fmt: skip
