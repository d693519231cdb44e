"""What the paper states about the model and its equations, as symbolic values, with what each statement assumes.

>>> print(PROJECTED_RISK[1][0])
Mean(\\phi*\\phi.T) = H
"""

from __future__ import annotations

from typing import Final

from sympy import (
    Derivative,
    Expr,
    Function,
    Identity,
    Integer,
    Integral,
    MatrixSymbol,
    Max,
    Min,
    Sum,
    Symbol,
    Trace,
    ZeroMatrix,
    exp,
    log,
    oo,
)

from fsl_sym.model_identities import (
    COVARIANCE,
    CURVED,
    DIRECTION,
    EPSILON,
    FEATURES,
    NOISE,
    PHI,
    PROJECTION,
    RATE,
    RESIDUAL,
    ROTATION,
    SIGMA,
    SIZE,
    THETA,
    WEIGHTS,
)
from fsl_sym.proof import (
    AllOf,
    Formula,
    Hypothesis,
    Mean,
    Property,
    Rate,
    at_most,
    equals,
    less,
    order_at_most,
    same_order,
    tends,
)
from fsl_sym.symbols import B, C, D, E, K, M, N, beta, j, lam, s, sigma, t, tau, z

Stated = tuple[Formula | AllOf, tuple[Hypothesis, ...]]
"""A formula, and the predicates that it assumes."""

Q, H, W, U, V = ROTATION, COVARIANCE, PROJECTION, RESIDUAL, WEIGHTS
ONE = Identity(1)
ERROR = W.T * V - THETA
CURVATURE = W * H * W.T
SECOND: Final = equals(Mean(PHI * PHI.T), H)
LABELS: Final = (
    Property("epsilon", "a real number"),
    Property("epsilon", "of mean 0 and independent of the features"),
    Property("epsilon**2", "of mean sigma**2 and independent of the features"),
)


def symmetric(*letters: object) -> tuple[Property, ...]:
    """That matrices are symmetric."""
    return tuple(Property(str(letter), "symmetric") for letter in letters)


def continuous(
    *letters: object, slopes: tuple[object, ...] = (), positive: tuple[object, ...] = ()
) -> tuple[Property, ...]:
    """That functions are continuous, some positive; those of ``slopes`` have a continuous derivative as well."""
    found = tuple(Property(str(letter), "a continuous function") for letter in (*letters, *slopes))
    found += tuple(Property(str(letter), "a positive continuous function") for letter in positive)
    return found + tuple(Property(str(letter), "a continuously differentiable function") for letter in slopes)


def fixed(*letters: object) -> tuple[Property, ...]:
    """That letters are the same for every draw of the features and the labels."""
    return tuple(Property(str(letter), "not random") for letter in letters)


def constant(*letters: object) -> tuple[Property, ...]:
    """That letters do not move along a derivative."""
    return tuple(Property(str(letter), "constant in time") for letter in letters)


def _rotated() -> Stated:
    """The gradient of one sample and the excess risk with Q phi, Q theta, W Q'; the step for all features, W = I."""
    projection, phi, theta = W * Q.T, Q * PHI, Q * THETA
    error = projection.T * V - theta
    v = MatrixSymbol("v", FEATURES, 1)
    gradient = equals(projection * phi * (phi.T * error - EPSILON * ONE), W * PHI * (PHI.T * ERROR - EPSILON * ONE))
    risk = equals(Trace(error.T * (Q * H * Q.T) * error) / 2, Trace(ERROR.T * H * ERROR) / 2)
    turned = equals(
        Q * v - RATE * phi * (phi.T * (Q * v - theta) - EPSILON * ONE),
        Q * (v - RATE * PHI * (PHI.T * (v - THETA) - EPSILON * ONE)),
    )
    orthogonal = (equals(Q.T * Q, Identity(FEATURES)), equals(Q * Q.T, Identity(FEATURES)))
    return AllOf((gradient, risk, turned)), (*orthogonal, *symmetric(H), LABELS[0])


def _first_kept() -> Formula:
    """As printed: the risk with rotated features and target, and W as it was."""
    error = W.T * V - Q * THETA
    return equals(Trace(error.T * (Q * H * Q.T) * error) / 2, Trace(ERROR.T * H * ERROR) / 2)


def _projected_risk() -> Stated:
    residual = PHI.T * ERROR - EPSILON * ONE
    risk = equals(Trace(Mean(residual.T * residual)) / 2, Trace(ERROR.T * H * ERROR) / 2 + sigma**2 / 2)
    return risk, (SECOND, *LABELS, *symmetric(H), *fixed(W, H, THETA, V, sigma))


def _first_features_risk() -> Stated:
    """2E in the blocks of H: v, theta_1, H_1 for the first M features, theta_2, H_2 for the rest."""
    rest = FEATURES - SIZE
    first, last = MatrixSymbol("E_1", FEATURES, SIZE), MatrixSymbol("E_2", FEATURES, rest)
    head, tail = MatrixSymbol("H_1", SIZE, SIZE), MatrixSymbol("H_2", rest, rest)
    theta, beyond = MatrixSymbol(r"\theta_1", SIZE, 1), MatrixSymbol(r"\theta_2", rest, 1)
    error = first * V - first * theta - last * beyond
    risk = equals(
        Trace(error.T * H * error), Trace((V - theta).T * head * (V - theta)) + Trace(beyond.T * tail * beyond)
    )
    blocks = (
        equals(first.T * H * first, head),
        equals(last.T * H * last, tail),
        equals(first.T * H * last, ZeroMatrix(SIZE, rest)),
        equals(last.T * H * first, ZeroMatrix(rest, SIZE)),
    )
    return risk, (*blocks, *symmetric(H, head, tail))


def _gradients() -> Stated:
    """Along a direction d: the gradient of the loss of one sample, its mean, that of the risk, its own derivative."""
    residual = PHI.T * ERROR - EPSILON * ONE
    gradient = W * PHI * PHI.T * ERROR - EPSILON * W * PHI
    parts = (
        equals(Trace(Rate(residual.T * residual)) / 2, Trace(DIRECTION.T * gradient)),
        equals(Mean(gradient), W * H * ERROR),
        equals(Trace(Rate(ERROR.T * H * ERROR)) / 2, Trace(DIRECTION.T * W * H * ERROR)),
        equals(Rate(W * H * ERROR), CURVATURE * DIRECTION),
    )
    along: tuple[Hypothesis, ...] = (equals(Rate(V), DIRECTION), *constant(W, H, PHI, THETA, DIRECTION, EPSILON))
    return AllOf(parts), (*along, SECOND, *LABELS[:2], *symmetric(H), *fixed(W, H, THETA, V))


BATCHES: Final = AllOf(
    (equals(Mean(NOISE), ZeroMatrix(SIZE, 1)), equals(Mean(NOISE * NOISE.T), SIGMA / B)),
)
"""xi is the noise of the gradient of a batch of B samples."""


def _covariance() -> Stated:
    noise = W * PHI * PHI.T * U - EPSILON * W * PHI - W * H * U
    fourth = equals(Mean(PHI * PHI.T * U * U.T * PHI * PHI.T), CURVED)
    stated = equals(Mean(noise * noise.T), W * (CURVED - H * U * U.T * H) * W.T + sigma**2 * W * H * W.T)
    return stated, (SECOND, fourth, *LABELS, *symmetric(H, CURVED), *fixed(W, H, U, CURVED, sigma))


LEAST, MOST = Symbol(r"\rho_-", nonnegative=True), Symbol(r"\rho_+", positive=True)
"""The constants of hypercontractivity."""


def _noise_bounds() -> AllOf:
    """(2 rho_- E + sigma^2) WHW' <= Sigma <= (2 rho_+ E + sigma^2) WHW', in every direction d."""
    own, curved = Trace(DIRECTION.T * SIGMA * DIRECTION), Trace(DIRECTION.T * CURVATURE * DIRECTION)
    return AllOf((at_most((2 * LEAST * E + sigma**2) * curved, own), at_most(own, (2 * MOST * E + sigma**2) * curved)))


def _noise_energy() -> AllOf:
    """The noise in a direction d between multiples of risk times curvature; the risk is E + sigma^2/2."""
    own, curved = Trace(DIRECTION.T * SIGMA * DIRECTION), Trace(DIRECTION.T * CURVATURE * DIRECTION)
    risk = E + sigma**2 / 2
    return AllOf((at_most(Min(2, 2 * LEAST) * risk * curved, own), at_most(own, Max(2, 2 * MOST) * risk * curved)))


def _row() -> Stated:
    half, row = MatrixSymbol(r"\sqrt{\Sigma}", SIZE, SIZE), MatrixSymbol("e_j", SIZE, 1)
    stated = equals(Trace((half * row).T * (half * row)), Trace(row.T * SIGMA * row))
    return stated, (equals(half * half, SIGMA), *symmetric(half))


ETA, H_STEP, GAMMA = Symbol("eta", positive=True), Symbol("h", positive=True), Symbol("gamma", positive=True)
_rate, _batch, _size, _slope = Symbol("phi"), Symbol("b", positive=True), Symbol("Sigma"), Symbol("dR")
_phi, _gamma, _g, _q, _eta, _t = (Function(name) for name in ("phi", "gamma", "g", "q", "eta", "t"))
_b, _m = Function("b", positive=True), Function("m", real=True)
_r, _k = Symbol("r", positive=True), Symbol("k", integer=True, nonnegative=True)
_OF_SGD = ETA**2 * _size / B


def _physical_scheme() -> Stated:
    """The mean and the covariance of a step h of the equation in physical time, and of a step of SGD."""
    mean = equals(_rate * _slope * H_STEP, ETA * _slope)
    covariance = equals(_rate**2 * H_STEP / _batch * _size * H_STEP, _OF_SGD)
    return AllOf((mean, covariance)), (equals(_rate, ETA / H_STEP), equals(_batch, B))


def _intrinsic_scheme() -> Stated:
    """The mean and the covariance of a step t = eta of the equation in intrinsic time, and of a step of SGD."""
    parts = AllOf((equals(_slope * t, ETA * _slope), equals(GAMMA * _size * t, _OF_SGD)))
    return parts, (equals(t, ETA), equals(GAMMA, ETA / B))


def _residual() -> Stated:
    root = MatrixSymbol("S", SIZE, SIZE)
    drift = equals(Rate(ERROR), -W.T * W * H * ERROR)
    noise = equals((W.T * root) * (W.T * root).T, GAMMA * W.T * SIGMA * W)
    given = (equals(Rate(V), -W * H * ERROR), equals(root * root.T, GAMMA * SIGMA))
    return AllOf((drift, noise)), (*given, *constant(W, H, THETA), *symmetric(H))


def _clock() -> Stated:
    """Drift g and covariance gamma that gather until t = T(tau) gather in tau as the equation in physical time says."""
    clock = Integral(_phi(_r), (_r, 0, tau))
    drift = equals(Derivative(Integral(_g(z), (z, 0, clock)), tau), _phi(tau) * _g(clock))
    noise = equals(Derivative(Integral(_gamma(z), (z, 0, clock)), tau), H_STEP * _phi(tau) ** 2 / _b(tau))
    given = (equals(_gamma(clock), H_STEP * _phi(tau) / _b(tau)),)
    return AllOf((drift, noise)), (*given, *continuous("phi", "gamma", "g"))


_risk, _at_intrinsic = Function("E"), Function("R")
AFTER_K_STEPS: Final = equals(_risk(K), _at_intrinsic(K * H_STEP) - sigma**2 / 2)
"""E is the excess risk after steps of SGD, R the mean risk of nu at an intrinsic time."""
PRINTED_DRIFT: Final = equals(
    Derivative(_m(tau), tau), -_phi(tau) * _g(tau) * Derivative(Integral(_phi(_r), (_r, 0, tau)), tau)
)
"""m is the mean of v in physical time, g of the gradient of the risk; dt = phi dtau."""
PRINTED_GRID: Final = equals(_t(_k), Sum(_eta(j), (j, 0, _k)))


def _grid() -> Stated:
    """The grid on which SGD is the scheme, and the covariance of a step of the length t = eta."""
    index = Symbol("i", integer=True, nonnegative=True)
    grid = equals(_t(_k + 1), Sum(_eta(index), (index, 0, _k)))
    scheme, given = INTRINSIC_SCHEME
    steps = (equals(_t(0), 0), equals(_eta(index), _t(index + 1) - _t(index)))
    return AllOf((grid, *scheme.parts)), (*steps, *given)  # type: ignore[union-attr]


def _coordinate() -> Stated:
    """Ito's formula for (nu - theta)^2 at one coordinate, and the mean m of that square."""
    nu, theta = Symbol("nu", real=True), Symbol("theta", real=True)
    square = (nu - theta) ** 2
    generator = -lam * (nu - theta) * Derivative(square, nu) + _gamma(t) * _q(t) * Derivative(square, nu, nu) / 2
    moment = theta**2 * exp(-2 * lam * t) + Integral(exp(-2 * lam * (t - z)) * _gamma(z) * _q(z), (z, 0, t))
    formula = equals(generator, -2 * lam * square + _gamma(t) * _q(t))
    mean = equals(_q(z), (Derivative(_m(z), z) + 2 * lam * _m(z)) / _gamma(z))
    smooth = (*continuous("gamma", "q", slopes=("m",)), Property("m", "a real continuous function"))
    given: tuple[Hypothesis, ...] = (mean, equals(_m(0), theta**2), *smooth)
    return AllOf((formula, equals(_m(t), moment))), given


def _first_features_evolution() -> Formula:
    own, theta, noise = Function("lambda"), Function("theta"), Function("q")
    start = own(j) * theta(j) ** 2
    gathered = Integral(exp(-2 * own(j) * (t - z)) * _gamma(z) * noise(j, z), (z, 0, t))
    learned = Sum(start * exp(-2 * own(j) * t), (j, 1, SIZE)) + Sum(own(j) * gathered, (j, 1, SIZE))
    return equals(2 * _risk(t), learned + Sum(start, (j, SIZE + 1, FEATURES)))


_forced, _returned, _noise, _c = (Function(name) for name in ("F", "G", "n", "c"))
EVOLUTION_LETTERS = (
    "F(t) is u_0'A_t'HA_t u_0 and G(t) is tr(S A_t'HA_t S), A_t = exp(-W'WH t)",
    "n(t, z) is the mean of tr(A_(t-z)'HA_(t-z) W'Sigma W) at z",
)
EVOLUTION: Final = equals(2 * _risk(t), _forced(t) + Integral(_gamma(z) * _noise(t, z), (z, 0, t)))
_of_one = (_c(z) * _risk(z) + sigma**2) * _gamma(z) * _returned(t - z)
PRINTED_EVOLUTION: Final = AllOf(
    (
        equals(2 * _risk(t), _forced(t) + Integral(_of_one, (z, 0, t))),
        at_most(2 * LEAST, _c(z)),
        at_most(_c(z), 2 * MOST),
    )
)
EVOLUTION_BOUNDS: Final = AllOf(
    (
        equals(_noise(t, z), (_c(t, z) * _risk(z) + sigma**2) * _returned(t - z)),
        at_most(2 * LEAST, _c(t, z)),
        at_most(_c(t, z), 2 * MOST),
    )
)

ROTATED, FIRST_KEPT, PROJECTED_RISK, FIRST_FEATURES_RISK = (
    _rotated(), _first_kept(), _projected_risk(), _first_features_risk(),
)  # fmt: skip
GRADIENTS, COVARIANCE_OF_NOISE, ROW = _gradients(), _covariance(), _row()
NOISE_BOUNDS, NOISE_ENERGY = _noise_bounds(), _noise_energy()
PHYSICAL_SCHEME, INTRINSIC_SCHEME, RESIDUAL_EQUATION, CLOCK = (
    _physical_scheme(), _intrinsic_scheme(), _residual(), _clock(),
)  # fmt: skip
GRID, COORDINATE, FIRST_FEATURES_EVOLUTION = _grid(), _coordinate(), _first_features_evolution()

# ---- fourth moments, random features, peak rates ---------------------------------------------------------------------

_A = MatrixSymbol("A", FEATURES, FEATURES)
_along = MatrixSymbol("d", FEATURES, 1)
_FOURTH = Mean(PHI * PHI.T * _A * PHI * PHI.T) - H * _A * H


def _hypercontractive(base: MatrixSymbol, least: Expr | int, most: Expr | int) -> AllOf:
    """least tr(HA) base <= E[phi phi'A phi phi'] - HAH <= most tr(HA) base, in every direction d."""
    own, unit = Trace(_along.T * _FOURTH * _along), Trace(H * _A) * Trace(_along.T * base * _along)
    return AllOf((at_most(least * unit, own), at_most(own, most * unit)))


HYPERCONTRACTIVITY_PRINTED, HYPERCONTRACTIVITY = _hypercontractive(_A, LEAST, MOST), _hypercontractive(H, 1, 2)
FOURTH_MOMENTS: Final = AllOf((equals(_FOURTH, Trace(H * _A) * H + H * _A * H), *HYPERCONTRACTIVITY.parts))
KURTOSIS: Final = Symbol("kappa", positive=True)
BEST_CONSTANTS: Final = AllOf(
    (equals(LEAST, Min(1, (KURTOSIS - 1) / 2)), equals(MOST, Max(KURTOSIS - 1, 2 - (3 - KURTOSIS) / FEATURES)))
)
_x, _mu, _bias, _e = Function("x"), Function("mu"), Function("b"), Function("e")
_own = j**-beta
SECOND_MOMENTS: Final = equals(
    _x(j, _k + 1),
    ((1 - ETA * _own) ** 2 + (KURTOSIS - 2) * ETA**2 * _own**2 / B) * _x(j, _k)
    + ETA**2 / B * _own**2 * (2 * E + sigma**2),
)
"""x(j, k) is lambda_j E[(v_j - theta_j)^2] after k steps, E the excess risk then."""
EIGENVALUES: Final = same_order(_mu(j), _own)
_least, _most = Symbol("c_1", positive=True), Symbol("c_2", positive=True)
EIGENVALUE_BOUNDS: Final = AllOf((at_most(_least * _own, _mu(j)), at_most(_mu(j), _most * _own)))
_floor = M ** (-s * beta)
BIAS_ABOVE: Final = order_at_most(_bias(t), _floor + _e(t))
BIAS_BELOW: Final = AllOf((order_at_most(_floor, _bias(t)), order_at_most(_e(t), _bias(t))))
BIAS_LETTERS = "b(t) is u_0'A_t'HA_t u_0, e(t) is e^_M(t) with the eigenvalues of W H W'"
_best = Function("E_opt")
AT_PEAK: Final = same_order(_risk(D), _best(D))
"""The final risk with a peak rate, and the least one."""
PEAK, _best_peak = Symbol("eta_max", positive=True), Function("gamma_opt")
PRINTED_PEAK, DERIVED_PEAK = equals(PEAK, 1 / (20 * D)), equals(PEAK, _best_peak(D) / 20)

# ---- capacity at one task, alpha = s beta ----------------------------------------------------------------------------

ALPHA, RICHER = Symbol("alpha", positive=True), Symbol("beta'", positive=True)
_own_risk, _richer_risk = (_best(ALPHA / capacity, capacity, N) for capacity in (beta, RICHER))
TWO = (less(1, RICHER), less(RICHER, beta), "E_opt(s, beta, N) is the least risk at the budget N")
CAPACITY_PRINTED: Final = tends(_richer_risk / _own_risk, N, oo, Integer(0))
CAPACITY: Final = order_at_most(_richer_risk, _own_risk)
CONSTANT_RATE: Final = AllOf(
    (same_order(_best(D), D ** (-ALPHA / (ALPHA + beta))), same_order(_best(C), C ** (-ALPHA / (1 + ALPHA + beta))))
)
_spent = C / log(C)
EASY_DECAY, HARD_DECAY = (same_order(_best(C), _spent ** (-ALPHA / scale)) for scale in (2 + ALPHA, 1 + beta))
_falling = _spent ** (-(1 + ALPHA - beta) / (2 + ALPHA))
PEAK_PRINTED: Final = same_order(_best_peak(C), _falling)
_smallest, _largest = Symbol("gamma_min", positive=True), Symbol("gamma_max", positive=True)
PEAK_RANGE: Final = AllOf((same_order(_smallest, _falling), same_order(_largest, 1)))
