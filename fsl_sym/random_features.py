r"""The exact identities behind random features: traces, what is learned and what is not, projections, traces in order.

Every step holds for matrices of all sizes (:mod:`fsl_sym.proof`). R is the square root of H, P = W R, and
exp(-2 t P'P) is written F: what a series in a matrix does is said by one step of an induction over its powers, and by
its value at each eigenvalue.
"""

from __future__ import annotations

from typing import Any, Final

from sympy import Identity, MatrixSymbol, Symbol, Trace, exp

from fsl_sym.proof import Derivation, MatrixIdentity, Step, chains
from fsl_sym.proof import Identity as Scalars
from fsl_sym.symbols import t

SIZE: Final = Symbol("M", integer=True, positive=True)
FEATURES: Final = Symbol("N", integer=True, positive=True)
ORDER: Final = Symbol("n", integer=True, positive=True)


def _square(name: str, size: Any = FEATURES) -> Any:
    return MatrixSymbol(name, size, size)


_R, _INVERSE, _E, _POWER = _square("R"), _square("R^{-1}"), _square("E"), _square("X")
_W, _P = MatrixSymbol("W", SIZE, FEATURES), MatrixSymbol("P", SIZE, FEATURES)
_G, _K, _SMALL_POWER = _square("G", SIZE), _square("K", SIZE), _square("Y", SIZE)
_Q, _PI = _square("Q"), _square(r"\Pi")
_U: Final = MatrixSymbol("u", FEATURES, 1)
_ONE, _SMALL_ONE = Identity(FEATURES), Identity(SIZE)
_MU: Final = Symbol("mu", positive=True)

_ROOT = (((_R, _INVERSE), _ONE), ((_INVERSE, _R), _ONE))
_DECAY = MatrixIdentity(
    symmetric=(_R, _INVERSE, _E, _Q, _PI, _POWER, _G, _K, _SMALL_POWER),
    relations=(
        *_ROOT,
        ((_E, _Q), _Q * _E),
        ((_PI, _PI), _PI),
        ((_G, _P, _P.T), _SMALL_ONE),
        ((_P, _P.T, _G), _SMALL_ONE),
    ),
)


def _decay_steps() -> tuple[Step, ...]:
    """A_t = R^-1 E R, from its series: (W'W H)^n = R^-1 Q^n R for every n."""
    inner = _R * _W.T * _W * _R
    return (
        Step(_INVERSE * _R, _ONE, _DECAY, "A_t = R^-1 E R, term by term: n = 0"),
        Step(
            _INVERSE * _POWER * _R * _W.T * _W * _R * _R,
            _INVERSE * _POWER * inner * _R,
            _DECAY,
            "from X = Q^n to n + 1, with Q = R W'W R",
        ),
    )


def trace_derivation() -> tuple[Derivation, ...]:
    """tr(S A_t'H A_t S) = sum_j mu_j^2 exp(-2 mu_j t), whatever W is.

    >>> all(each.verify().holds for each in trace_derivation())
    True
    """
    squared = _W.T * _W * _R * _R * _W.T * _W
    inner = _R * _W.T * _W * _R
    decayed = _R * _E * _INVERSE * _R * _R * _INVERSE * _E * _R
    turned = _INVERSE * _Q * _Q * _E * _E
    steps = (
        *_decay_steps(),
        Step(squared, _INVERSE * inner * inner * _INVERSE, _DECAY, "S^2 = W'W H W'W = R^-1 Q Q R^-1"),
        Step(
            Trace(_INVERSE * _Q * _Q * _INVERSE * decayed), Trace(turned * _R), _DECAY, "tr(S A'H A S) = tr(S^2 A'H A)"
        ),
        Step(Trace(turned * _R), Trace(_R * turned), MatrixIdentity(), "a trace is cyclic"),
        Step(Trace(_R * turned), Trace(_Q * _Q * _E * _E), _DECAY, "R R^-1 = I"),
        Step(
            _P.T * _SMALL_POWER * _P * _P.T * _P,
            _P.T * (_SMALL_POWER * _P * _P.T) * _P,
            _DECAY,
            "(P'P)^(n+1) = P'(PP')^n P, from n to n + 1",
        ),
        Step(
            Trace(_P.T * _SMALL_POWER * _P),
            Trace(_P * _P.T * _SMALL_POWER),
            _DECAY,
            "tr((P'P)^(n+1)) = tr((PP')^(n+1)), and PP' = W H W' has the eigenvalues mu_j",
        ),
        Step(
            _MU**2 * exp(-_MU * t) * exp(-_MU * t), _MU**2 * exp(-2 * _MU * t), Scalars(), "Q Q E E at each eigenvalue"
        ),
    )
    return chains("trace of the noise", "What one mode returns of its noise", steps, "lem:trace_analysis_appendix")


def matrix_analysis_derivation() -> tuple[Derivation, ...]:
    """A_t'H A_t is what W never learns plus a square: u'A_t'H A_t u - |(I - Pi) R u|^2 = |E Pi R u|^2.

    >>> all(each.verify().holds for each in matrix_analysis_derivation())
    True
    """
    projection = _P.T * _G * _P
    rest = _ONE - _PI
    whole = rest + _PI * _E * _E * _PI
    steps = (
        *_decay_steps(),
        Step(_R * _E * _INVERSE * _R * _R * _INVERSE * _E * _R, _R * _E * _E * _R, _DECAY, "A'H A = R exp(-2 t Q) R"),
        Step(projection * projection, projection, _DECAY, "Pi = P'G P with G = (PP')^-1 is a projection"),
        Step(projection * _P.T * _P, _P.T * _P, _DECAY, "and Pi Q = Q"),
        Step(
            Trace(_U.T * _R * whole * _R * _U) - Trace((rest * _R * _U).T * (rest * _R * _U)),
            Trace((_E * _PI * _R * _U).T * (_E * _PI * _R * _U)),
            _DECAY,
            "the difference is a sum of squares",
        ),
    )
    return chains("what is not learned", "The part of the target that W does not reach", steps, "lm:matrix_analysis")


def lost_term_derivation() -> tuple[Derivation, ...]:
    """A_t'H A_t = H W'G M_t G W H + H - H W'G W H, with G = (W H W')^-1, M_t = W H W' K, K = exp(-2 t W H W').

    >>> all(each.verify().holds for each in lost_term_derivation())
    True
    """
    learned = _R * _P.T * _G * (_P * _P.T * _K) * _G * _P * _R
    steps = (
        Step(
            _P.T * _P * _P.T * _SMALL_POWER * _P,
            _P.T * (_P * _P.T * _SMALL_POWER) * _P,
            _DECAY,
            "Q^(n+1) = P'(PP')^n P: exp(-2 t Q) - I = P'G (K - I) P, term by term from n = 1",
        ),
        Step(
            _R * (_ONE + _P.T * (_K - _SMALL_ONE) * _G * _P) * _R,
            learned + _R * _R - _R * _P.T * _G * _P * _R,
            _DECAY,
            "the term n = 0 of the series is H",
        ),
    )
    return chains(
        "the series with its first term", "What is left of the target after the time t", steps, "lem:bias_upper_bound"
    )


def woodbury_derivation() -> Derivation:
    """(A_k + U C U')^-1 U C = A_k^-1 U (C^-1 + U'A_k^-1 U)^-1 for U = W_0:k and C = H_0:k.

    >>> woodbury_derivation().verify().holds
    True
    """
    u = MatrixSymbol("U", SIZE, ORDER)
    a, inverse = _square("A_k", SIZE), _square("A_k^{-1}", SIZE)
    c, c_inverse = _square("C", ORDER), _square("C^{-1}", ORDER)
    middle, middle_inverse = _square("D", ORDER), _square("D^{-1}", ORDER)
    one = Identity(ORDER)
    rules = MatrixIdentity(
        symmetric=(a, inverse, c, c_inverse, middle, middle_inverse),
        relations=(
            ((a, inverse), _SMALL_ONE),
            ((u.T, inverse, u), middle - c_inverse),
            ((c, c_inverse), one),
            ((middle, middle_inverse), one),
        ),
    )
    steps = (
        Step(
            (a + u * c * u.T) * inverse * u * middle_inverse,
            u * c,
            rules,
            "multiplied by W H W' = A_k + U C U' from the left",
        ),
    )
    return Derivation("the first columns", "The inverse with the first k columns split off", steps, "lem:T_estimate")


def trace_order_derivation() -> Derivation:
    """tr(R_2 U R_2) - tr(R_1 U R_1) = |L V|_F^2 for R_2^2 - R_1^2 = L^2 and U = V^2.

    >>> trace_order_derivation().verify().holds
    True
    """
    first, second, gap, own = _square("R_1"), _square("R_2"), _square("L"), _square("V")
    rules = MatrixIdentity(
        symmetric=(first, second, gap, own), relations=(((second, second), first * first + gap * gap),)
    )
    steps = (
        Step(
            Trace(second * own * own * second) - Trace(first * own * own * first),
            Trace(own * own * second * second) - Trace(own * own * first * first),
            MatrixIdentity(),
            "a trace is cyclic",
        ),
        Step(
            Trace(own * own * second * second) - Trace(own * own * first * first),
            Trace((gap * own).T * (gap * own)),
            rules,
            "what is left is a square",
        ),
    )
    return Derivation("traces in order", "A trace grows with its matrix", steps, "lem:spd_matrix_trace")


def sign_derivation() -> tuple[Derivation, ...]:
    """The target S theta under W learns as theta does under W S: signs of theta and of the columns of W are one.

    >>> all(each.verify().holds for each in sign_derivation())
    True
    """
    signs, covariance = _square("S"), _square("H")
    rules = MatrixIdentity(
        symmetric=(signs, covariance, _POWER),
        relations=(((signs, signs), _ONE), ((covariance, signs), signs * covariance)),
    )
    flipped = _W * signs
    steps = (
        Step(
            signs * _POWER * signs * flipped.T * flipped * covariance,
            signs * (_POWER * _W.T * _W * covariance) * signs,
            rules,
            "A_t with W S is S A_t S, term by term: from X = (W'W H)^n to n + 1",
        ),
        Step(
            Trace((signs * _POWER * signs * _U).T * covariance * (signs * _POWER * signs * _U)),
            Trace((_POWER * (signs * _U)).T * covariance * (_POWER * (signs * _U))),
            rules,
            "u'A'H A u with W S is that of S u with W",
        ),
    )
    return chains("signs", "Signs of the target and of the columns of W", steps, "thm: fsl-random")
