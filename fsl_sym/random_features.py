r"""The exact identities behind random features: traces, what is learned and what is not, projections, traces in order.

Every step holds for matrices of all sizes (:mod:`fsl_sym.proof`). R is the square root of H, P = W R, and
exp(-2 t P'P) is written F: what a series in a matrix does is said by one step of an induction over its powers, and by
its value at each eigenvalue.
"""

from __future__ import annotations

from typing import Any, Final

from sympy import Identity, MatrixSymbol, Symbol, Trace

from fsl_sym.proof import Derivation, MatrixIdentity, Step, chains

SIZE: Final = Symbol("M", integer=True, positive=True)
FEATURES: Final = Symbol("N", integer=True, positive=True)
ORDER: Final = Symbol("n", integer=True, positive=True)


def _square(name: str, size: Any = FEATURES) -> Any:
    return MatrixSymbol(name, size, size)


_R, _INVERSE, _E, _POWER = _square("R"), _square("R^{-1}"), _square("E"), _square("X")
_W, _P = MatrixSymbol("W", SIZE, FEATURES), MatrixSymbol("P", SIZE, FEATURES)
_G, _K, _SMALL_POWER, _GRAM = (_square(name, SIZE) for name in ("G", "K", "Y", "PP'"))
_Q, _PI = _square("Q"), _square(r"\Pi")
_U: Final = MatrixSymbol("u", FEATURES, 1)
_ONE, _SMALL_ONE = Identity(FEATURES), Identity(SIZE)

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


def _decay_step() -> Step:
    """A_t = R^-1 E R, from its series: (W'W H)^n = R^-1 Q^n R for every n."""
    rules = MatrixIdentity(symmetric=(_R, _INVERSE, _POWER, _Q), relations=(((_R, _W.T, _W, _R), _Q),))
    before = _INVERSE * _POWER * _R * _W.T * _W * _R * _R
    return Step(before, _INVERSE * _POWER * _Q * _R, rules, "A_t = R^-1 E R, term by term: from X = Q^n to n + 1")


_POWERS = MatrixIdentity(symmetric=(_SMALL_POWER, _GRAM), relations=(((_P, _P.T), _GRAM),))
"""What turns powers of P'P into powers of PP'."""


def trace_derivation() -> tuple[Derivation, ...]:
    """tr(S A_t'H A_t S) = sum_j mu_j^2 exp(-2 mu_j t), whatever W is.

    >>> all(derivation.verify().holds for derivation in trace_derivation())
    True
    """
    squared = _W.T * _W * _R * _R * _W.T * _W
    inner = _R * _W.T * _W * _R
    decayed = _R * _E * _INVERSE * _R * _R * _INVERSE * _E * _R
    turned = _INVERSE * _Q * _Q * _E * _E
    steps = (
        _decay_step(),
        Step(squared, _INVERSE * inner * inner * _INVERSE, _DECAY, "S^2 = W'W H W'W = R^-1 Q Q R^-1"),
        Step(
            Trace(_INVERSE * _Q * _Q * _INVERSE * decayed), Trace(turned * _R), _DECAY, "tr(S A'H A S) = tr(S^2 A'H A)"
        ),
        Step(Trace(turned * _R), Trace(_R * turned), MatrixIdentity(), "a trace is cyclic"),
        Step(Trace(_R * turned), Trace(_Q * _Q * _E * _E), _DECAY, "R R^-1 = I"),
        Step(
            _P.T * _SMALL_POWER * _P * _P.T * _P,
            _P.T * (_SMALL_POWER * _GRAM) * _P,
            _POWERS,
            "(P'P)^(n+1) = P'(PP')^n P, from n to n + 1",
        ),
        Step(
            Trace(_P.T * _SMALL_POWER * _P),
            Trace(_P * _P.T * _SMALL_POWER),
            _DECAY,
            "tr((P'P)^(n+1)) = tr((PP')^(n+1)), and PP' = W H W' has the eigenvalues mu_j",
        ),
    )
    return chains("trace of the noise", "What one mode returns of its noise", steps, "lem:trace_analysis_appendix")


def matrix_analysis_derivation() -> tuple[Derivation, ...]:
    """A_t'H A_t is what W never learns plus a square: u'A_t'H A_t u - |(I - Pi) R u|^2 = |E Pi R u|^2.

    >>> all(derivation.verify().holds for derivation in matrix_analysis_derivation())
    True
    """
    projection = _P.T * _G * _P
    unlearned = _ONE - _PI
    whole = unlearned + _PI * _E * _E * _PI
    steps = (
        _decay_step(),
        Step(_R * _E * _INVERSE * _R * _R * _INVERSE * _E * _R, _R * _E * _E * _R, _DECAY, "A'H A = R exp(-2 t Q) R"),
        Step(projection * projection, projection, _DECAY, "Pi = P'G P with G = (PP')^-1 is a projection"),
        Step(projection * _P.T * _P, _P.T * _P, _DECAY, "and Pi Q = Q"),
        Step(
            Trace(_U.T * _R * whole * _R * _U) - Trace((unlearned * _R * _U).T * (unlearned * _R * _U)),
            Trace((_E * _PI * _R * _U).T * (_E * _PI * _R * _U)),
            _DECAY,
            "the difference is a sum of squares",
        ),
    )
    return chains("what is not learned", "The part of the target that W does not reach", steps, "lm:matrix_analysis")


def lost_term_derivation() -> tuple[Derivation, ...]:
    """A_t'H A_t = H W'G M_t G W H + H - H W'G W H, with G = (W H W')^-1, M_t = W H W' K, K = exp(-2 t W H W').

    >>> all(derivation.verify().holds for derivation in lost_term_derivation())
    True
    """
    learned = _R * _P.T * _G * (_P * _P.T * _K) * _G * _P * _R
    steps = (
        Step(
            _P.T * _P * _P.T * _SMALL_POWER * _P,
            _P.T * (_GRAM * _SMALL_POWER) * _P,
            _POWERS,
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


COLUMNS: Final = MatrixSymbol("U", SIZE, ORDER)
"""W_0:k."""
REST, REST_INVERSE, WHOLE_INVERSE = (_square(name, SIZE) for name in ("A_k", "A_k^{-1}", "(WHW')^{-1}"))
HEAD, HEAD_INVERSE, MIDDLE, MIDDLE_INVERSE = (_square(name, ORDER) for name in ("C", "C^{-1}", "D", "D^{-1}"))
"""C is H_0:k, and D is C^-1 + U'A_k^-1 U."""


def woodbury_derivation() -> Derivation:
    """(A_k + U C U')^-1 U C = A_k^-1 U (C^-1 + U'A_k^-1 U)^-1 for U = W_0:k and C = H_0:k.

    >>> woodbury_derivation().verify().holds
    True
    """
    u, identity = COLUMNS, Identity(ORDER)
    split = MatrixIdentity(
        symmetric=(REST, REST_INVERSE, HEAD, HEAD_INVERSE, MIDDLE, MIDDLE_INVERSE),
        relations=(
            ((REST, REST_INVERSE), _SMALL_ONE),
            ((u.T, REST_INVERSE, u), MIDDLE - HEAD_INVERSE),
            ((HEAD, HEAD_INVERSE), identity),
            ((MIDDLE, MIDDLE_INVERSE), identity),
        ),
    )
    inverted = MatrixIdentity(relations=(((WHOLE_INVERSE, REST), _SMALL_ONE - WHOLE_INVERSE * u * HEAD * u.T),))
    right = REST_INVERSE * u * MIDDLE_INVERSE
    between = WHOLE_INVERSE * (REST + u * HEAD * u.T) * right
    steps = (
        Step(WHOLE_INVERSE * u * HEAD, between, split, "U C = (A_k + U C U') A_k^-1 U D^-1"),
        Step(between, right, inverted, "W H W' = A_k + U C U'"),
    )
    return Derivation("the first columns", "The inverse with the first k columns split off", steps, "lem:T_estimate")


SMALLER, LARGER, GAP, WEIGHT = (_square(name) for name in ("R_1", "R_2", "L", "V"))
"""The roots of P, Q, Q - P and U."""


def trace_order_derivation() -> Derivation:
    """tr(R_2 U R_2) - tr(R_1 U R_1) = |L V|_F^2 for R_2^2 - R_1^2 = L^2 and U = V^2.

    >>> trace_order_derivation().verify().holds
    True
    """
    first, second, gap, own = SMALLER, LARGER, GAP, WEIGHT
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

    >>> all(derivation.verify().holds for derivation in sign_derivation())
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
