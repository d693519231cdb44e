"""appendix_rkhs: the kernel of the features, its space, and the nested spaces."""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Function, Identity, MatrixSymbol, Rational, Symbol, Trace

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import order_statement
from fsl_num.claims.hypotheses import Located
from fsl_num.claims.statements import Joint, Ray
from fsl_num.claims.words import Where
from fsl_num.paper.hypotheses import SPECTRUM
from fsl_num.paper.model.formulas import TERMS, fixed, in_two_spaces, norm, symmetric
from fsl_num.paper.model.spaces import FUNCTIONS, SIZE, basis, of_functions, own_eigenvalues
from fsl_num.paper.model.tables import Interval, Numbers, table
from fsl_num.validation import Array
from fsl_sym import kernel_spaces
from fsl_sym.proof import AllOf, Hypothesis, Mean, at_most, equals, less, same_order
from fsl_sym.symbols import N, beta

norm_of_one = Function("q")
_r1, _r2 = Symbol("r_1", positive=True), Symbol("r_2", nonnegative=True)

ITS_ORDER = same_order(norm_of_one(_r2) / norm_of_one(_r1), TERMS ** (-beta * (_r1 - _r2)))


def _kernel(sample: Sample) -> Array:
    """The kernel at all pairs of points."""
    functions = basis(SIZE)[1]
    return np.asarray((functions * own_eigenvalues(sample)) @ functions.T)


def _read_off(sample: Sample) -> dict[str, Any]:
    """What the kernel is in the features."""
    points, functions = basis(SIZE)
    number = np.arange(1.0, SIZE + 1.0)
    own = functions.T @ _kernel(sample) @ functions / len(points) ** 2
    return {"Lambda": own, "j": number, "lambda_j": number ** -sample.point[1]}


def _norm_of_one(sample: Sample) -> dict[str, Any]:
    """That of one eigenfunction as its rays have it, and by the coefficients of its values at points."""
    own, functions = own_eigenvalues(sample), basis(SIZE)[1]
    coefficients = functions.T @ functions[:, 2] / len(functions)
    norm = float(coefficients**2 @ own**-0.7)
    return {"q": lambda r: own[2] ** -r, "r": 0.7, "the squared norm of e_J in H^r": norm}


EIGENVALUES = Where("Lambda = diag(lambda_j)", _read_off)
NORM = Where("q(r) is the squared norm of e_J in H^r", _norm_of_one)


def kernel_numbers(sample: Sample) -> Numbers:
    """A kernel at points: quadratic forms, norms of f = sum_i c_i K(x_i, .), values, and its integral operator."""
    points, kernel = basis(SIZE)[0], _kernel(sample)
    generator = np.random.default_rng([sample.seed, 31])
    chosen = generator.integers(0, len(points), 5)
    weights = generator.standard_normal(5)
    gram = kernel[np.ix_(chosen, chosen)]
    function = weights @ kernel[chosen]
    eigenvalues = np.sort(np.linalg.eigvalsh(kernel / len(points)))[::-1]
    return {
        "squared norm": np.array([weights @ gram @ weights]),
        "values": function,
        "eigenvalues": eigenvalues[:SIZE],
    }


def kernel_formula(sample: Sample, *, power: float = 1.0, root: float = 1.0, rank: float = 1.0) -> Numbers:
    """sum_j a_j^2/lambda_j^power, sum_j a_j e_j(x), and lambda_j^root, with the a_j read off the function."""
    points, functions = basis(SIZE)
    own = own_eigenvalues(sample)
    generator = np.random.default_rng([sample.seed, 31])
    chosen = generator.integers(0, len(points), 5)
    weights = generator.standard_normal(5)
    amplitudes = own**rank * (weights @ functions[chosen])
    return {
        "squared norm": np.array([float(amplitudes**2 @ own**-power)]),
        "values": functions @ amplitudes,
        "eigenvalues": own**root,
    }


def nesting_ratios(sample: Sample) -> Located:
    """||f||_{r_2}^2/||f||_{r_1}^2 for random functions, for the first eigenfunction and for the last."""
    generator = np.random.default_rng([sample.seed, 32])
    own = own_eigenvalues(sample)
    ratios, orders = [], []
    for amplitudes in (np.eye(SIZE)[0], *generator.standard_normal((6, SIZE))):
        low, high = sorted(generator.uniform(0.0, 2.0, 2))
        ratios.append(float((amplitudes**2 @ own**-low) / (amplitudes**2 @ own**-high)))
        orders.append((low, high))
    lower, higher = np.transpose(orders)
    return Located(ratios, {"r_2": lower, "r_1": higher})


def orders_of_norms(sample: Sample) -> list[Ray]:
    """The same ratio for single eigenfunctions e_J as J grows, r_1 = 3/2 and r_2 = 1/2."""
    logs = np.linspace(1.0, 12.0, 12)
    own = np.exp(logs) ** -sample.point[1]
    return [Ray("one eigenfunction", logs, {"J": logs}, np.log(own**-0.5 / own**-1.5))]


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
    identity = Identity(size)
    known = (*symmetric(values, inverse), *fixed(values, at, function))
    return AllOf(stated), (equals(inverse * values, identity), equals(Mean(drawn * drawn.T), identity), *known)


REPRODUCING = _reproducing()


def _nesting_instances(sample: Sample) -> list[dict[Any, Any]]:
    return in_two_spaces({beta: sample.point[1], _r1: 1.5, _r2: 0.5, N: SIZE})


def _nesting_statement(sample: Sample) -> Joint:
    ratios = Interval(-np.inf, 1.0, 1e-12, attained=False)
    return Joint(
        {"ratios": ratios, "order": order_statement(ITS_ORDER, sample, r_1=Rational(3, 2), r_2=Rational(1, 2))}
    )


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "appendix_rkhs/kernel", "appendix_rkhs", 1224, "the kernel of the features and its space",
        REPRODUCING[0],
        (SPECTRUM,
         EIGENVALUES, Where("e_x and e are the standardised features at x and at a random point"),
         Where("c is the vector of the coefficients of f"), *REPRODUCING[1], FUNCTIONS("trigonometric")),
        of_functions(kernel_numbers),
        table(kernel_formula, 1e-9, {
            "a_j^2/lambda_j^2": {"power": 2.0}, "a_j^2": {"power": 0.0}, "the roots of lambda_j": {"root": 0.5},
            "lambda_j^2 in the kernel": {"rank": 2.0}}),
        derive=kernel_spaces.kernel_derivation, family="spaces",
        quoted=r"is called a \emph{positive semidefinite (PSD) kernel}",
    ),
    Claim(
        "appendix_rkhs/nesting", "appendix_rkhs", 1280, "the spaces are nested",
        AllOf((at_most(norm(_r2), norm(_r1)), ITS_ORDER)),
        (SPECTRUM, less(_r2, _r1),
         Where("a(j) are the coefficients of any function"), NORM),
        lambda sample: {"ratios": nesting_ratios(sample), "order": orders_of_norms(sample)}, _nesting_statement,
        derive=kernel_spaces.nesting_derivation, family="spaces", instances=_nesting_instances,
        quoted=r"\mathcal{H}_K^{s_1} \subset \mathcal{H}_K^{s_2}",
    ),
)  # fmt: skip
