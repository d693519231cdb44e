"""ass:capacity, assump:capacity-kernel and subsec:source-capacity: the trace, richer kernels, standardised features."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from sympy import Function, Integer, KroneckerDelta, Sum, Symbol

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Joint, Ray
from fsl_num.claims.words import Kinds, Where
from fsl_num.paper.hypotheses import FEATURES, SPECTRUM, of_family
from fsl_num.paper.model.formulas import DELTA, EXACT, in_two_spaces, norm
from fsl_num.paper.model.measurements import cloud
from fsl_num.paper.model.spaces import LAST, SIZE, log_law, log_sums, own_eigenvalues
from fsl_num.paper.model.tables import Interval, Numbers, table
from fsl_num.paper.statements import power_law
from fsl_sym import kernel_spaces
from fsl_sym.proof import AllOf, at_most, equals, less
from fsl_sym.symbols import C, N, beta, j

k, eigenvalue_at = Symbol("k", integer=True, positive=True), Function("lambda")
CONSTANTS = (0.5, 2.0)
"""The eigenvalues are these multiples of j^-beta in turn, over blocks of indices: what two-sided bounds leave free."""
MULTIPLES = Kinds("of the power as eigenvalues", {"one constant": "one multiple", "constants in turn": "two in turn"})
_gram, _distance = Function("G"), Symbol("d", nonnegative=True)
_ORTHONORMAL = equals(_gram(j, k), KroneckerDelta(j, k))


def traces(sample: Sample) -> Mapping[str, list[Ray]]:
    """tr H as N grows, for eigenvalues between two multiples of j^-beta; and for beta = 1."""
    fine = np.linspace(30.0, LAST, 24 * 30)
    logs = fine[29::30]
    rays_of = {}
    for name, exponent in (("beta", sample.point[1]), ("one", 1.0)):
        whole = np.exp(log_sums(exponent, [float(log_count) for log_count in fine]))
        parts = np.diff(np.concatenate([[0.0], whole]))
        constants = np.resize(CONSTANTS, fine.size)
        constants[0] = constants.mean()  # the first block is long in logarithms
        uneven = np.cumsum(parts * constants)
        rays_of[name] = [
            Ray("one constant", logs, {"N": logs}, np.log(whole[29::30])),
            Ray("constants in turn", logs, {"N": logs}, np.log(uneven[29::30])),
        ]
    return rays_of


def trace_statement(sample: Sample) -> Joint:
    """tr H is bounded in N; for beta = 1 it is of the order of log N."""
    return Joint({"beta": power_law("upper", N=0.0), "one": log_law()})


def richer_ratios(sample: Sample) -> list[float]:
    """||f||_K^2 for beta over that for a larger beta, for the first eigenfunction and random functions."""
    generator = np.random.default_rng([sample.seed, 33])
    ratios = []
    for amplitudes in (np.eye(SIZE)[0], *generator.standard_normal((6, SIZE))):
        larger = own_eigenvalues(sample, sample.point[1] + generator.uniform(0.1, 2.0))
        ratios.append(float((amplitudes**2 @ (1.0 / own_eigenvalues(sample))) / (amplitudes**2 @ (1.0 / larger))))
    return ratios


def _richer_instances(sample: Sample) -> list[dict[Any, Any]]:
    return in_two_spaces({beta: sample.point[1], DELTA: 0.5, N: SIZE})


def standardised(family: str, sample: Sample) -> Numbers:
    """Means of products of the standardised normal features; how far the product of two is from their span."""
    xi, chance = cloud(family, 4)
    pair = xi[:, 0] * xi[:, 1]
    seen = (xi.T * chance) @ pair
    return {"products": (xi.T * chance) @ xi, "distance": np.array([chance @ (pair - xi @ seen) ** 2])}


def standardised_formula(sample: Sample, *, basis: bool = False, scale: float = 1.0) -> Numbers:
    """Orthonormal; ``basis``: nothing is left outside the span."""
    return {"products": scale * np.eye(4), "distance": np.array([0.0 if basis else 1.0])}


def _orthonormality(sample: Sample) -> list[dict[Any, Any]]:
    """Products of a feature with itself and with another, and the distance, as they are measured."""
    numbers = standardised("gaussian", sample)
    return [{_gram: lambda j, k: numbers["products"][j - 1, k - 1], _distance: numbers["distance"][0], j: 1, k: place}
            for place in (1, 2)]  # fmt: skip


def _products(sample: Sample) -> dict[str, Any]:
    """Of two features: what is measured, their mean product, and what of it least squares leave."""
    (xi, chance), known = cloud("gaussian", 4), _orthonormality(sample)[1]
    root, pair = np.sqrt(chance), xi[:, 0] * xi[:, 1]
    fitted = np.linalg.lstsq(root[:, None] * xi, root * pair, rcond=None)[0]
    distance = float(np.linalg.norm(root * (pair - xi @ fitted)))
    return {"G": known[_gram], "j": 2, "k": 2, "the mean of phi^_j phi^_k": chance @ xi[:, 1] ** 2,
            "d": known[_distance], "the distance of phi^_1 phi^_2 from their span": distance}  # fmt: skip


_SYSTEM = (
    Where("G(j, k) is the mean of phi^_j phi^_k; d is the distance of phi^_1 phi^_2 from their span", _products),
)


def _bounded_traces(sample: Sample) -> list[dict[Any, Any]]:
    """Partial sums of the largest eigenvalues allowed; for a large beta the first alone, where the bound is reached."""
    return [{eigenvalue_at: lambda j, power=power: 2.0 * float(j) ** -power, beta: power, C: 2.0, N: count,
             j: min(count, 3)} for power, count in ((1.01, 9999), (sample.point[1], 99), (1e9, 1))]  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "ass:capacity", "ass:capacity", 318, "the trace is bounded in the number of features",
        at_most(Sum(eigenvalue_at(j), (j, 1, N)), C * (1 + 1 / (beta - 1))),
        (at_most(eigenvalue_at(j), C * j**-beta), less(1, beta), "N <= 1e300", MULTIPLES(*MULTIPLES.words)), traces,
        trace_statement, derive=kernel_spaces.trace_derivation, family="spaces", instances=_bounded_traces,
        quoted=r"ensures $\tr(\bH) = \sum_{j=1}^N \lambda_j \le C$ for some constant $C$ independent of $N$",
    ),
    Claim(
        "subsec:source-capacity/basis", "subsec:source-capacity", 316,
        "the standardised features are a basis, as printed",
        AllOf((_ORTHONORMAL, equals(_distance, 0))), (FEATURES("gaussian"), *_SYSTEM),
        of_family(standardised, "gaussian"),
        table(partial(standardised_formula, basis=True), EXACT, {}),
        corrected_by="subsec:source-capacity/orthonormal", family="spaces", instances=_orthonormality,
        mends={Integer(0): Integer(1)},
        quoted=r"forms an orthonormal basis of $L^2(\cD)$",
        remark="The product of two features is orthogonal to all of them.",
    ),
    Claim(
        "subsec:source-capacity/orthonormal", "subsec:source-capacity", 316,
        "the standardised features are an orthonormal system",
        AllOf((_ORTHONORMAL, equals(_distance, 1))), (FEATURES("gaussian"), *_SYSTEM),
        of_family(standardised, "gaussian"),
        table(standardised_formula, EXACT, {"a basis": {"basis": True}, "norm 2": {"scale": 2.0}}),
        family="spaces", role="corrected", instances=_orthonormality,
        remark="Their span is a proper subspace, in which the target lies.",
    ),
    Claim(
        "assump:capacity-kernel", "assump:capacity-kernel", 1293, "a smaller beta gives a larger space",
        at_most(norm(Integer(1)), norm(Integer(1), beta + DELTA)),
        (SPECTRUM, Where("a(j) are the coefficients of any function on one orthonormal system")),
        richer_ratios,
        lambda sample: Interval(-np.inf, 1.0, 1e-12, attained=False),
        derive=kernel_spaces.richer_derivation, family="spaces", instances=_richer_instances,
        quoted=r"A smaller $\beta$ implies a slower eigenvalue decay, meaning a richer hypothesis space",
        remark="The smaller exponent has the larger space.",
    ),
)  # fmt: skip
