"""The claims about the assumptions (capacity, source, noise, rates) and about the spaces of the kernel."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sympy import (
    Expr,
    Function,
    Identity,
    Integer,
    Integral,
    KroneckerDelta,
    MatrixSymbol,
    Sum,
    Symbol,
    Trace,
    log,
    sqrt,
)

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Equivalent, Joint, Ray
from fsl_num.paper.model import spaces
from fsl_num.paper.model.formulas import fixed, symmetric
from fsl_num.paper.model.tables import Interval, Numbers, table
from fsl_sym import kernel_spaces
from fsl_sym.proof import AllOf, Hypothesis, Mean, at_least, at_most, equals, less, same_order
from fsl_sym.symbols import HALF, B, C, M, N, beta, j, s, sigma, t, z

Array = NDArray[np.float64]

EXACT = 1e-10
"""Sums of at most 64 terms of order 1."""
READ = 1e-3
"""An exponent read off two octaves of 2^16 amplitudes; measured within 2e-4 for alpha = 0.1 to 24."""
CAPACITY = "lambda_j = j^-beta, beta > 1"
SOURCE = "theta_j^2 = j^-1 lambda_j^(s-1), s > 0"


def _critical(sample: Sample) -> Numbers:
    """The constant gamma at which the second moments of normal features begin to grow, by bisection of eigenvalues."""
    found = {}
    for size in MODEL_SIZES:
        own = np.arange(1.0, size + 1.0) ** -sample.point[1]
        low, high = 0.0, 4.0
        for _ in range(45):
            middle = 0.5 * (low + high)
            # x_j' = -2 lambda_j x_j + gamma lambda_j^2 (sum_k x_k + x_j) of x_j = lambda_j E (nu_j - theta_j)^2
            moves = -2.0 * np.diag(own) + middle * (np.outer(own**2, np.ones(size)) + np.diag(own**2))
            stable = float(np.linalg.eigvals(moves).real.max()) < 0.0
            low, high = (middle, high) if stable else (low, middle)
        found[f"M = {size}"] = np.array([low])
    return found


MODEL_SIZES = (2, 8, 24)


def _critical_formula(sample: Sample, *, twice: float = 2.0, total: float = 1.0) -> Numbers:
    """The gamma at which sum_j gamma lambda_j/(twice - gamma lambda_j) is ``total``."""
    found = {}
    for size in MODEL_SIZES:
        own = np.arange(1.0, size + 1.0) ** -sample.point[1]
        low, high = 0.0, twice
        for _ in range(60):
            middle = 0.5 * (low + high)
            below = float((middle * own / (twice - middle * own)).sum()) < total
            low, high = (middle, high) if below else (low, middle)
        found[f"M = {size}"] = np.array([low])
    return found


def _noise_integrals(sample: Sample) -> list[Ray]:
    """int K_M (e_M + sigma^2) gamma dz with gamma = phi/B, as sigma^2, B and t grow from 1."""
    s, beta = sample.point
    j = np.arange(1.0, 41.0)
    own, signal = j**-beta, j ** (-1.0 - s * beta)
    points, weights = np.polynomial.legendre.leggauss(80)

    def integral(t: float, sigma: float, batch: float) -> float:
        z, w = 0.5 * t * (points + 1.0), 0.5 * t * weights
        kernel = np.exp(-2.0 * np.multiply.outer(t - z, own)) @ own**2
        e = np.exp(-2.0 * np.multiply.outer(z, own)) @ signal
        return float(w @ (kernel * (e + sigma) * (0.1 + 0.05 * np.cos(z)) / batch))

    scale = np.linspace(0.0, 30.0, 16)
    ones = np.zeros(16)
    rays = []
    for name, noise, batches in (("sigma^2", scale, ones), ("B", ones, scale)):
        values = [np.log(integral(20.0, np.exp(x), np.exp(y))) for x, y in zip(noise, batches, strict=True)]
        rays.append(Ray(name, scale, {"sigma^2": noise, "B": batches}, np.array(values)))
    return rays


COEFFICIENT = sqrt(j**-1 * (j**-beta) ** (s - 1)) * sqrt(j**-beta)
"""|theta_j| lambda_j^(1/2): up to its sign the coefficient a_j of f* on the standardised feature."""
DELTA = Symbol("delta", positive=True)
LAST, _k = (Symbol(name, integer=True, positive=True) for name in "Jk")
_r1, _r2 = Symbol("r_1", positive=True), Symbol("r_2", nonnegative=True)
_a, _norm_of_one = Function("a"), Function("q")


def _norm(order: Expr, capacity: Expr = beta) -> Sum:
    """The squared norm in H^order of a function with the coefficients a_j."""
    return Sum(_a(j) ** 2 / (j**-capacity) ** order, (j, 1, N))


def _reproducing() -> tuple[AllOf, tuple[Hypothesis, ...]]:
    """<f, K(x, .)> = f(x), and E K(., x) f(x) has the coefficients lambda_j c_j; e_x holds the features at x."""
    size = Symbol("N", integer=True, positive=True)
    values, inverse = MatrixSymbol(r"\Lambda", size, size), MatrixSymbol("L", size, size)
    at, drawn, function = (MatrixSymbol(name, size, 1) for name in ("e_x", "e", "c"))
    kernel_at = values * at
    stated = (
        equals(Trace(function.T * inverse * kernel_at), Trace(at.T * function)),
        equals(Mean(at.T * values * drawn * drawn.T * function), at.T * values * function),
    )
    one = Identity(size)
    known = (*symmetric(values, inverse), *fixed(values, at, function))
    return AllOf(stated), (equals(inverse * values, one), equals(Mean(drawn * drawn.T), one), *known)


REPRODUCING = _reproducing()
_gram, _distance = Function("G"), Symbol("d", nonnegative=True)
_SYSTEM = ("G(j, k) is the mean of phi^_j phi^_k", "d is the distance of phi^_1 phi^_2 from their span")
_ORTHONORMAL = equals(_gram(j, _k), KroneckerDelta(j, _k))
_difficulty, _critical_rate = Function("alpha"), Symbol("gamma_c", positive=True)
_f, _one, _other = (Symbol(name) for name in ("f", "phi", "psi"))
_kernel, _signal, _gamma, _rate, _eigenvalue = (Function(name) for name in ("K", "e", "gamma", "phi", "lambda"))


def _source_statement(sample: Sample) -> Joint:
    rise = sample.point[1] * sample.point[0] / 3.0
    law = spaces.power_law
    return Joint(
        {
            "below": Equivalent(law, {"N": 0.0}, direction="upper"),
            "at": Equivalent(spaces.log_law, {"log N": 1.0}, frozenset({"log N"}), logarithmic=True),
            "above": Equivalent(law, {"N": rise}),
            "terms": table(spaces.source_terms, EXACT, {"as printed": {"printed": True}, "the sign": {"sign": -1.0}})(
                sample
            ),
        }
    )


def _source_terms_only(sample: Sample) -> Any:
    return spaces.source_sums(sample)["terms"]


def _nesting(sample: Sample) -> Mapping[str, Any]:
    return {"ratios": spaces.nesting_ratios(sample), "order": spaces.orders_of_norms(sample)}


def _nesting_statement(sample: Sample) -> Joint:
    order = Equivalent(spaces.power_law, {"N": -sample.point[1]})
    return Joint({"ratios": Interval(-np.inf, 1.0, 1e-12, attained=False), "order": order})


SPACE_CLAIMS: tuple[Claim, ...] = (
    Claim(
        "ass:capacity", "ass:capacity", 318, "the trace is bounded in the number of features",
        "For eigenvalues between two multiples of j^-beta, beta > 1, tr H <= C for every N: at most c (1 + 1/(beta - "
        "1)). At beta = 1 it is of the order of log N, so that the condition is needed.",
        at_most(Sum(_eigenvalue(j), (j, 1, N)), C * (1 + 1 / (beta - 1))),
        (at_most(_eigenvalue(j), C * j**-beta), less(1, beta), "N up to 1e299",
         "eigenvalues between 1/2 and 2 times j^-beta"), spaces.traces,
        spaces.trace_statement, derive=kernel_spaces.trace_derivation, family="spaces",
    ),
    Claim(
        "subsec:source-capacity/basis", "subsec:source-capacity", 316,
        "the standardised features are a basis of L^2, as printed",
        "phi_j/lambda_j^(1/2), j <= N, are an orthonormal basis of L^2(D). For normal features phi^_1 phi^_2 has norm "
        "1 and is orthogonal to all of them, whatever N.",
        AllOf((_ORTHONORMAL, equals(_distance, 0))), ("normal features", *_SYSTEM), spaces.standardised,
        table(partial(spaces.standardised_formula, basis=True), EXACT, {}),
        corrected_by="subsec:source-capacity/orthonormal", family="spaces",
    ),
    Claim(
        "subsec:source-capacity/orthonormal", "subsec:source-capacity", 316,
        "the standardised features are an orthonormal system",
        "E phi^_j phi^_k = delta_jk; they span a subspace of L^2(D), in which f* lies. It is a proper one for normal "
        "features: the square of the distance of phi^_1 phi^_2 from it is 1.",
        AllOf((_ORTHONORMAL, equals(_distance, 1))), ("normal features", *_SYSTEM), spaces.standardised,
        table(spaces.standardised_formula, EXACT, {"a basis": {"basis": True}, "norm 2": {"scale": 2.0}}),
        family="spaces", role="corrected",
    ),
    Claim(
        "ass:source", "ass:source", 356, "the coefficients of the target",
        "f* = sum_j a_j phi^_j with |a_j| = |theta_j| lambda_j^(1/2) = j^(-1/2) lambda_j^(s/2) = j^(-(s beta + 1)/2).",
        equals(COEFFICIENT, j ** (-(s * beta + 1) / 2)),
        (CAPACITY, SOURCE, "features sqrt(lambda_j) times trigonometric functions"), spaces.coefficients,
        table(spaces.coefficient_formula, EXACT, {
            "lambda_j^s": {"power": 1.0}, "theta_j itself": {"shift": -0.5}, "j^-1": {"index": 1.0}}),
        derive=kernel_spaces.coefficient_derivation, family="spaces",
    ),
    Claim(
        "appendix_rkhs/coefficients", "appendix_rkhs", 1314, "the coefficients of the target, as the appendix prints",
        "f* = sum_j a_j phi^_j with a_j = j^(-1/2) lambda_j^s.",
        equals(COEFFICIENT, j ** -HALF * (j**-beta) ** s), (CAPACITY, SOURCE), spaces.coefficients,
        table(partial(spaces.coefficient_formula, power=1.0), EXACT, {}), corrected_by="ass:source", family="spaces",
    ),
    Claim(
        "ass:source/only-the-target", "ass:source", 366, "alpha depends on the target alone, as printed",
        "alpha = s beta, read off the coefficients, is a number of the target. With the same orthonormal functions in "
        "another order (e_k at the place k^2) the same function has alpha/2.",
        equals(_difficulty(_f, _one), _difficulty(_f, _other)),
        (CAPACITY, SOURCE, "alpha(f, phi) is alpha read off the coefficients of f on the features phi",
         "one function in two orders of one orthonormal system"),
        partial(spaces.difficulties, spread=True), table(spaces.difficulty_formula, READ, {}),
        corrected_by="ass:source/one-order", family="spaces",
    ),
    Claim(
        "ass:source/one-order", "ass:source", 366, "alpha for features of one order, whatever their spectrum",
        "Among features with the same functions phi^_j in the same order alpha is a number of the target, and s = "
        "alpha/beta for every beta.",
        equals(s, _difficulty(_f) / beta), (CAPACITY, SOURCE, "one orthonormal system in one order"),
        partial(spaces.difficulties, spread=False),
        table(spaces.difficulty_formula, READ, {"alpha/2": {"half": 0.5}, "s = alpha": {"relative": False}}),
        family="spaces", role="corrected",
    ),
    Claim(
        "ass:fsl", "ass:fsl", 472, "the assumptions can be met, and how small the learning rate must be",
        "Normal features, lambda_j = j^-beta and the target of ass:source meet all assumptions. At constant gamma "
        "their risk stays bounded exactly where sum_j gamma lambda_j/(2 - gamma lambda_j) < 1, for instance for gamma "
        "tr H <= 1: the constant C depends on beta and vanishes as beta tends to 1.",
        equals(Sum(_critical_rate * j**-beta / (2 - _critical_rate * j**-beta), (j, 1, M)), 1),
        (CAPACITY, SOURCE, "gamma_c is the least constant rate at which the second moments grow", "normal features",
         "M = 2, 8, 24"), _critical,
        table(_critical_formula, 1e-8, {
            "sum gamma lambda_j/2 < 1": {"twice": 1e6, "total": 2e-6}, "1 for 2": {"twice": 1.0},
            "1/2 for 1": {"total": 0.5}}),
        family="spaces",
    ),
    Claim(
        "assump: task-difficulty", "assump: task-difficulty", 876, "constant noise and batch size",
        "With sigma^2 >~ 1 and b = B the noise term int K_M (e_M + sigma^2) gamma dz is sigma^2/B times int K_M phi, "
        "up to constants that depend on neither sigma nor B.",
        same_order(
            Integral(_kernel(t - z) * (_signal(z) + sigma**2) * _gamma(z), (z, 0, t))
            / Integral(_kernel(t - z) * _rate(z), (z, 0, t)),
            sigma**2 / B,
        ),
        (CAPACITY, SOURCE, "K and e are K_M and e_M", "phi(z) = B gamma(z) is the learning rate at T^-1(z)",
         at_least(sigma**2, 1), "h = 1"), _noise_integrals, family="spaces",
    ),
    Claim(
        "appendix_rkhs/kernel", "appendix_rkhs", 1224, "the kernel of the features and its space",
        "K(x, x') = sum_j lambda_j phi^_j(x) phi^_j(x') is positive semidefinite, reproduces under the inner product "
        "sum_j a_j b_j/lambda_j of its space (the norm of sum_i c_i K(x_i, .) is c'Gc), and its integral operator has "
        "the eigenvalues lambda_j.",
        REPRODUCING[0],
        (CAPACITY, "Lambda = diag(lambda_j), e_x and e hold the standardised features at x and at a random point",
         "c holds the coefficients of f", *REPRODUCING[1], "trigonometric functions, 12 of them"),
         spaces.kernel_numbers,
        table(spaces.kernel_formula, 1e-9, {
            "a_j^2/lambda_j^2": {"power": 2.0}, "a_j^2": {"power": 0.0}, "the roots of lambda_j": {"root": 0.5},
            "lambda_j^2 in the kernel": {"rank": 2.0}}),
        derive=kernel_spaces.kernel_derivation, family="spaces",
    ),
    Claim(
        "appendix_rkhs/nesting", "appendix_rkhs", 1280, "the spaces are nested",
        "H^r_1 lies in H^r_2 for r_1 > r_2 >= 0: the squared norms compare by at most lambda_1^(r_1 - r_2) = 1. On e_J "
        "the ratio is J^-(beta (r_1 - r_2)), so that they are different spaces.",
        AllOf((
            at_most(_norm(_r2), _norm(_r1)),
            same_order(_norm_of_one(_r2) / _norm_of_one(_r1), LAST ** (-beta * (_r1 - _r2))),
        )),
        (CAPACITY, less(_r2, _r1),
         "the a_j are the coefficients of any function, q(r) is the squared norm of e_J in H^r"),
        _nesting, _nesting_statement, derive=kernel_spaces.nesting_derivation, family="spaces",
    ),
    Claim(
        "assump:source-kernel", "assump:source-kernel", 1288, "the target lies in H^r exactly for r < s",
        "The target of ass:source lies in H^(s - delta) for every delta in (0, s], with summands j^(-1 - beta delta), "
        "and not in H^s, where the sum grows like log J. So the source condition with the same s fails for it.",
        AllOf((
            at_most(Sum(COEFFICIENT**2 / (j**-beta) ** (s - DELTA), (j, 2, LAST)), 1 / (beta * DELTA)),
            at_most(log(LAST + 1), Sum(COEFFICIENT**2 / (j**-beta) ** s, (j, 1, LAST))),
        )),
        (CAPACITY, SOURCE, "J up to 1e299", "delta = s/3"),
        spaces.source_sums, _source_statement, derive=kernel_spaces.source_derivation, depends=("ass:source",),
        family="spaces",
    ),
    Claim(
        "appendix_rkhs/source-sum", "appendix_rkhs", 1320, "the sum of the source condition, as printed",
        "a_j^2/lambda_j^(s - delta) = j^(-1 - beta (s - delta)).",
        equals(COEFFICIENT**2 / (j**-beta) ** (s - DELTA), j ** (-1 - beta * (s - DELTA))),
        (CAPACITY, SOURCE, "delta = s/3"),
        _source_terms_only, table(partial(spaces.source_terms, printed=True), EXACT, {}),
        corrected_by="assump:source-kernel", family="spaces",
    ),
    Claim(
        "assump:capacity-kernel", "assump:capacity-kernel", 1293, "a smaller beta gives a larger space",
        "With one system of eigenfunctions the squared norm of H_K for beta is at most that for a larger beta: its "
        "space is larger.",
        at_most(_norm(Integer(1)), _norm(Integer(1), beta + DELTA)), (CAPACITY, "one orthonormal system"),
        spaces.richer_ratios,
        lambda sample: Interval(-np.inf, 1.0, 1e-12, attained=False),
        derive=kernel_spaces.richer_derivation, family="spaces",
    ),
)  # fmt: skip
