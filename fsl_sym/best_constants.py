r"""How far the loss can be from the functional scaling law: bounds by supersolutions, constants by Laplace transforms.

The equation is f = g + T f with (T phi)(t) = int_0^t K_M(t-z) gamma(z) phi(z) dz. T is positive: a function h with
h >= g + T h is at least f (subtract, iterate, and T^n (f - h) tends to 0). Write c = gamma_max sum_{j<=M} lambda_j/2,
below 1, and f = f_1 + f_e for the sources delta_M + sigma^2 and e_M.

1. T 1 <= c, so h = g/(1 - c) bounds the part of a constant source, and that part of the loss is at most 1/(1 - c) times
   its part of the law: for all t, M and schedules, whatever the spectrum.
2. With q = gamma_max sup_{u<=t} (K_M * K_M)(u)/K_M(u) < 1 one has T^2 e <= q T e, and h = e + T e/(1 - q) bounds f_e.
   The supremum is bounded for t <= M^(2 beta), uniformly in M: the pair of modes i, j convolves to
   (exp(-2 lambda_i t) - exp(-2 lambda_j t))/(2 (lambda_j - lambda_i)), a mode with itself to t exp(-2 lambda_i t).
3. At later times f_e <= e_M(0) exp(-2 w lambda_M t)/(1 - c/(1 - w)) for every w < 1 - c: the kernel tilted by
   exp(2 w lambda_M t) still has the mass c/(1 - w). At t = M^(2 beta) this is exp(-2 w M^beta), below delta_M.

Together: law <= f <= C law for all t >= 0, s > 0 and sigma >= 0, where C depends on s, beta and gamma_max only. The
identities are verified here; the joins between them (positivity, the sums over pairs of modes) are this text.

For constant gamma and M infinite the resolvent R of gamma K has the transform gamma K^/(1 - gamma K^), and R/(gamma K)
tends to 1/(1 - c)^2, since K has a power tail: this is the constant that no schedule beats as t grows.
"""

from __future__ import annotations

from sympy import Expr, Integral, Sum, Symbol, exp, oo

from fsl_sym.proof import Antiderivative, Derivation, Identity, Interchange, Step, chains
from fsl_sym.spectrum import eigenvalue
from fsl_sym.symbols import M, beta, j, t

CONTRACTION = Symbol("c", positive=True)
"""gamma_max tr(H)/2, below 1."""
SUBCONVOLUTION = Symbol("q", positive=True)
"""gamma_max sup (K*K)/K, below 1."""

_z = Symbol("z", positive=True)
_a = Symbol("lambda_i", positive=True)
_d = Symbol("d", positive=True)
_k = Symbol("k", positive=True)
_r = Symbol("r", positive=True)
_g = Symbol("gamma_max", positive=True)
_small = Symbol("epsilon", positive=True)


def constant_source_factor() -> Expr:
    """1/(1 - c): the part of the loss that delta_M and sigma^2 leave, over its part of the law, is at most this.

    >>> constant_source_factor()
    1/(1 - c)
    """
    return 1 / (1 - CONTRACTION)


def signal_factor() -> Expr:
    """1/(1 - q): f_e <= e + T e/(1 - q)."""
    return 1 / (1 - SUBCONVOLUTION)


def limit_factor() -> Expr:
    """1/(1 - c)^2, the limit of R/(gamma K)."""
    return 1 / (1 - CONTRACTION) ** 2


def supersolutions() -> tuple[Derivation, ...]:
    """h = g/(1 - c) for a constant source, h = e + T e/(1 - q) for the signal: both reproduce themselves."""
    steps = (
        Step(
            1 + CONTRACTION * constant_source_factor(),
            constant_source_factor(),
            Identity(),
            "1 + T h <= 1 + c h = h for h = 1/(1 - c)",
        ),
        Step(
            1 + SUBCONVOLUTION * signal_factor(),
            signal_factor(),
            Identity(),
            "T e + T^2 e/(1 - q) <= (1 + q/(1 - q)) T e",
        ),
    )
    return chains("supersolutions", "Two supersolutions", steps, "ineq: inf_sum")


def pair_of_modes() -> tuple[Derivation, ...]:
    """The convolution of two modes, lambda_j = lambda_i + d, and of a mode with itself."""
    rate = _a + _d
    integrand = exp(-2 * _a * (t - _z)) * exp(-2 * rate * _z)
    value = (exp(-2 * _a * t) - exp(-2 * rate * t)) / (2 * _d)
    same = exp(-2 * _a * (t - _z)) * exp(-2 * _a * _z)
    steps = (
        Step(
            Integral(integrand, (_z, 0, t)),
            value,
            Antiderivative(-exp(-2 * _a * t - 2 * _d * _z) / (2 * _d)),
            "two modes",
        ),
        Step(
            Integral(same, (_z, 0, t)),
            t * exp(-2 * _a * t),
            Antiderivative(_z * exp(-2 * _a * t)),
            "a mode with itself",
        ),
    )
    return chains("pair of modes", "What two modes of the kernel convolve to", steps, "cor: contraction")


def tilted_mass() -> tuple[Derivation, ...]:
    """int lambda^2 exp(-2 lambda t) exp(2 w lambda_M t) dt <= (lambda/2)/(1 - w) for lambda >= lambda_M.

    lambda = lambda_M + d with d >= 0 and w = k/(1 + k); what is left of the bound is a product of factors >= 0.
    """
    rate = (_a + (1 + _k) * _d) / (1 + _k)
    mass = Integral((_a + _d) ** 2 * exp(-2 * rate * _z), (_z, 0, oo))
    value = (_a + _d) ** 2 / (2 * rate)
    room = (_a + _d) * _k * (1 + _k) * _d / (2 * (_a + (1 + _k) * _d))
    steps = (
        Step(_a + _d - _k / (1 + _k) * _a, rate, Identity(), "lambda - w lambda_M"),
        Step(mass, value, Antiderivative(-((_a + _d) ** 2) * exp(-2 * rate * _z) / (2 * rate)), "the tilted mode"),
        Step((_a + _d) * (1 + _k) / 2 - value, room, Identity(), "the room below the bound: 1 + k = 1/(1 - w)"),
    )
    return chains("tilted mass", "The mass of the tilted kernel", steps, "thm: fsl-general-noise")


def resolvent_limit() -> Derivation:
    """R/(gamma K) tends to 1/(1 - gamma m)^2, m = int K: the first singular term of both transforms is compared.

    Near p = 0 the transform of K is m - epsilon, epsilon of the order p^(1 - 1/beta) the transform of the tail, and
    that of R is gamma K^/(1 - gamma K^). A power tail is proportional to its singular term (the Tauberian join), so
    the limit is the quotient of the two losses as epsilon tends to 0; the steps are in r = 1 - gamma m > 0.
    """
    whole, part = (1 - _r) / _r, (1 - _r - _g * _small) / (_r + _g * _small)
    quotient = (whole - part) / (_g * _small)
    closed = 1 / (_r * (_r + _g * _small))
    remainder = -_g * _small / (_r**2 * (_r + _g * _small))
    steps = (
        Step(quotient, closed, Identity(), "common denominator"),
        Step(closed, 1 / _r**2 + remainder, Identity(), "1/r^2 and a rest of the order epsilon"),
    )
    return Derivation("resolvent limit", "The resolvent over the kernel", steps, "ineq: inf_sum")


def tail_mass() -> Derivation:
    """int_0^infinity (K_infinity - K_M) = sum_{j>M} lambda_j/2 = zeta(beta, M + 1)/2."""
    mode = j ** (-2 * beta) * exp(-2 * eigenvalue() * t)
    tail = Sum(mode, (j, M + 1, oo))
    by_mode = Sum(Integral(mode, (t, 0, oo)), (j, M + 1, oo))
    steps = (
        Step(
            Integral(tail, (t, 0, oo)),
            by_mode,
            Interchange((j ** (-2 * beta), exp(-2 * eigenvalue() * t))),
            "positive terms",
        ),
        Step(
            by_mode,
            Sum(eigenvalue() / 2, (j, M + 1, oo)),
            Antiderivative(-eigenvalue() * exp(-2 * eigenvalue() * t) / 2),
            "each mode forgets at rate 2 lambda_j",
        ),
    )
    return Derivation("tail mass", "The mass that K_infinity has beyond K_M", steps, "eq:Ksigma-gap")


def all_times_derivations() -> list[Derivation]:
    """The identities of the theorem for all times, all noises and all s."""
    return [*supersolutions(), *pair_of_modes(), *tilted_mass()]


def best_constant_derivations() -> list[Derivation]:
    """The identities of the constants."""
    return [*supersolutions(), resolvent_limit()]
