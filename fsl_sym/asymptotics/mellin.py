"""Asymptotics of harmonic sums by the Mellin transform: sharp constants as residues.

A harmonic sum ``S(x) = sum_j j^-w f(j^-beta x)`` has the Mellin transform ``f*(z) zeta(w - beta z)``, so that S(x) is
minus the sum of the residues of ``f*(z) zeta(w - beta z) x^-z`` at the poles right of the fundamental strip. For f made
of powers, exponentials and lower incomplete gamma functions these poles are finitely many: the pole of zeta, and one
pole for each power in the expansion of f at infinity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from sympy import (
    Add,
    And,
    Dummy,
    Eq,
    EulerGamma,
    Expr,
    Gt,
    Integer,
    Mul,
    S,
    Sum,
    Symbol,
    diff,
    exp,
    expand,
    factor,
    factorial,
    gamma,
    log,
    oo,
    polygamma,
    powsimp,
    stieltjes,
    together,
    zeta,
)
from sympy.logic.boolalg import Boolean

from fsl_sym.algebra.equality import sign, simplified
from fsl_sym.algebra.printing import latex
from fsl_sym.asymptotics.mellin_transform import EPSILON, Piece, orders_at_zero, pieces, powers_at_infinity
from fsl_sym.asymptotics.remainder import remainder_bound, tail_bound
from fsl_sym.symbols import M, j
from fsl_sym.values import as_expression, assigned, letter


def zeta_laurent(start: Expr, slope: Expr) -> tuple[Expr, int]:
    """zeta(start + slope epsilon): at 1 its pole is taken out, with the Stieltjes constants as regular part."""
    start, slope = map(as_expression, (start, slope))
    if simplified(start - 1) != 0:
        return zeta(start + slope * EPSILON), 0
    step = slope * EPSILON
    return (1 + EulerGamma * step - stieltjes(1) * step**2) / slope, 1


@dataclass(frozen=True, slots=True)
class Term:
    """``coefficient x^power (log x)^log_power``, the residue at ``pole``."""

    coefficient: Expr
    power: Expr
    log_power: int
    pole: Expr

    def expression(self, x: Expr) -> Expr:
        """The term as an expression in x."""
        x = as_expression(x)
        return self.coefficient * x**self.power * log(x) ** self.log_power


@dataclass(frozen=True, slots=True)
class Expansion:
    """The asymptotic expansion of ``x^shift factor sum_j j^-w f(j^-beta x)`` as x tends to infinity.

    ``terms`` are ordered as far as the exponents can be compared over the whole range; ``conditions`` are what the
    fundamental strip needs; ``resonances`` are the equations at which two poles meet: there the terms are singular and
    :meth:`at` gives the right expansion, with a logarithm. ``remainder`` says in words what is left; the number that
    bounds it is :attr:`error`.

    >>> from fsl_sym.spectrum import kernel_asymptotics
    >>> from fsl_sym.symbols import beta
    >>> kernel_asymptotics().at({beta: 2}).leading()[0][1].power
    -3/2
    """

    parts: tuple[Piece, ...]
    w: Expr
    beta: Expr
    x: Symbol
    prefactor: Expr
    terms: tuple[Term, ...]
    conditions: tuple[Boolean, ...]
    resonances: tuple[Eq, ...]
    remainder: str

    def __str__(self) -> str:
        """The sum, its terms, and what is left.

        >>> from fsl_sym.spectrum import kernel_asymptotics
        >>> print(str(kernel_asymptotics()).partition(":")[0])
        2**(-2 + 1/beta)*t**(-2 + 1/beta)*gamma(2 - 1/beta)/beta + what is smaller than every power of t
        """
        return f"{self.expression} + what is {self.remainder}"

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {latex(self.expression)} + \text{{what is {self.remainder}}}$"

    @property
    def sum(self) -> Expr:
        """The exact sum that is expanded."""
        return self.prefactor * Sum(j**-self.w * self.function(j**-self.beta * self.x), (j, 1, oo))

    def function(self, u: Expr) -> Expr:
        """f at u.

        >>> from fsl_sym.spectrum import kernel_asymptotics
        >>> from fsl_sym.symbols import t
        >>> kernel_asymptotics().function(t)
        exp(-2*t)
        """
        return Add(*[piece.value(u) for piece in self.parts])

    @property
    def expression(self) -> Expr:
        """The sum of the terms."""
        return Add(*[term.expression(self.x) for term in self.terms])

    @property
    def error(self) -> Expr:
        """What the sum differs from its terms by at most, at every x > 0: ValueError where no closed form bounds it.

        See :func:`~fsl_sym.asymptotics.remainder.remainder_bound`.

        >>> from fsl_sym.integrals.exponential_decay import i1_asymptotics
        >>> from fsl_sym.spectrum import kernel_asymptotics
        >>> kernel_asymptotics().error, i1_asymptotics().error
        (exp(-2)/t**2, exp(-1)/(4*T))
        """
        return self._scaled(remainder_bound(self.parts, self.w, self.beta, self.x))

    def error_of_first(self, size: Expr = M) -> Expr:
        """What the sum over the first ``size`` modes alone differs from the terms by at most, at every x > 0.

        The :attr:`error`, and what is beyond ``size``: small while x is far below ``size^beta``, and nothing where
        ``size`` is infinite.

        Raises
        ------
        ValueError
            As for :attr:`error`; or ``size`` is not known to be positive; or the bound of what is beyond it diverges,
            or may.

        Examples
        --------
        >>> from fsl_sym.integrals.power_decay import power_asymptotics
        >>> power_asymptotics(1).error_of_first()
        2*M**(1 - 2*beta)*T*a/(3*(2*beta - 1)) + a/(4*T)
        """
        return self.error + self._scaled(tail_bound(self.parts, self.w, self.beta, self.x, size))

    def _scaled(self, bound: Expr) -> Expr:
        return simplified(abs(self.prefactor) * bound)

    def at(self, values: Mapping[Symbol, Expr]) -> Expansion:
        """The expansion with parameters set, derived anew, so that it is right at a resonance too.

        Raises ValueError for a value of what tends to infinity: put that into :attr:`expression`.
        """
        numbers = assigned(values)
        if self.x in numbers:
            raise ValueError(f"{self.x} tends to infinity: put {numbers[self.x]} for it into .expression and .error")
        parts = tuple(piece.at(numbers) for piece in self.parts)
        w, power, prefactor = (simplified(e.subs(numbers)) for e in (self.w, self.beta, self.prefactor))
        return _expand(parts, w, power, self.x, prefactor)

    def leading(self) -> tuple[tuple[Boolean, Term], ...]:
        """Each term that can lead, with the condition on the parameters under which it does."""
        terms = []
        for term in self.terms:
            gaps = [(rival, sign(term.power - rival.power)) for rival in self.terms if rival is not term]
            # at one power the logarithm decides
            if any(g == -1 or (g == 0 and rival.log_power > term.log_power) for rival, g in gaps):
                continue
            unclear = [Gt(essential_factor(term.power - rival.power), 0) for rival, g in gaps if g is None]
            terms.append((And(*unclear), term))
        return tuple(terms)


def _residue(parts: tuple[Piece, ...], w: Expr, power: Expr, pole: Expr) -> list[Term]:
    """Minus the residue of ``f*(z) zeta(w - power z) x^-z`` at the pole, split by powers of log x."""
    zeta_regular, zeta_poles = zeta_laurent(simplified(w - power * pole), -power)
    log_x = Symbol("log_x")
    total: Expr = Integer(0)
    for piece in parts:
        regular, poles = piece.laurent(pole)
        order = poles + zeta_poles
        if order and regular != 0:
            whole = regular * zeta_regular * exp(-EPSILON * log_x)
            total -= diff(whole, EPSILON, order - 1).subs(EPSILON, 0) / factorial(order - 1)
    total = expand(total)
    return [
        Term(total.coeff(log_x, n), simplified(-pole), n, pole)
        for n in (2, 1, 0)
        if simplified(total.coeff(log_x, n)) != 0
    ]


def positive_gammas(expression: Expr) -> Expr:
    """Simplify around the gamma functions, each moved by the recurrence to the argument that reads best.

    Negative arguments become positive, and a factor x beside Gamma(x) is absorbed. Special functions are masked while
    the rest is simplified, because sympy's own simplification scatters gamma functions.

    Examples
    --------
    >>> from sympy import gamma
    >>> from fsl_sym.symbols import beta
    >>> positive_gammas(gamma(-1 / beta)), positive_gammas((beta - 1) * gamma(1 - 1 / beta))
    (-beta*gamma(1 - 1/beta), beta*gamma(2 - 1/beta))
    """

    def shift(argument: Expr) -> Expr:
        shifted, divisor = expand(simplified(argument)), S.One
        while sign(shifted) == -1:
            divisor *= shifted
            shifted += 1
        return gamma(shifted) / divisor

    expression = expression.replace(gamma, shift)
    expression = expression.replace(polygamma, lambda n, argument: polygamma(n, expand(simplified(argument))))
    masks = {
        item: Dummy(f"special{place}")
        for place, item in enumerate(sorted(expression.atoms(gamma, zeta, polygamma), key=str))
    }
    masked = simplified(powsimp(expression.xreplace(masks)))
    for item, mask in masks.items():
        if isinstance(item, gamma) and masked.has(mask):
            absorbed = simplified(masked.subs(mask, mask / item.args[0]))
            if absorbed.count_ops() < masked.count_ops():
                masked = absorbed.subs(mask, gamma(item.args[0] + 1))
    return masked.xreplace({mask: item for item, mask in masks.items()})


def essential_factor(expression: Expr) -> Expr:
    """The factors of an expression whose sign is not decided; the others, positive or negative, only set its sign.

    Examples
    --------
    >>> from fsl_sym.symbols import beta, p
    >>> essential_factor((beta - p - 1) / (beta * (p + 1)))
    beta - p - 1
    """
    kept = S.One
    for item in Mul.make_args(factor(together(as_expression(expression)))):
        known = sign(item)
        kept *= item if known is None else known
    return expand(kept)


def harmonic_sum_asymptotics(f: Expr, u: Symbol, w: Expr, beta: Expr, x: Symbol, prefactor: Expr = S.One) -> Expansion:
    """The expansion of ``prefactor sum_{j>=1} j^-w f(j^-beta x)`` as x tends to infinity.

    Parameters
    ----------
    f, u
        A sum of ``u^k``, ``u^k exp(-c u)`` and ``u^k lowergamma(q, c u)``, and its variable.
    w, beta
        Exponents of the weights and of the scales; ``beta > 0``.
    x
        The variable that tends to infinity.
    prefactor
        A constant times a power of x.

    Returns
    -------
    Expansion
        With every term; what is left out is smaller than every power of x.

    Raises
    ------
    ValueError
        If f is outside the class, or no strip exists in which transform and zeta series both converge.

    Examples
    --------
    The forgetting kernel, ``f(u) = exp(-2 u)`` with weights ``lambda_j^2``:

    >>> from sympy import Symbol, exp
    >>> from fsl_sym.symbols import beta, t
    >>> u = Symbol("u", positive=True)
    >>> harmonic_sum_asymptotics(exp(-2 * u), u, 2 * beta, beta, t).terms[0].power
    -2 + 1/beta
    """
    f, w, beta, prefactor = map(as_expression, (f, w, beta, prefactor))
    if letter("x", x) in w.free_symbols | beta.free_symbols | f.free_symbols - {letter("u", u)}:
        raise ValueError(f"{x} tends to infinity: it may stand in the prefactor, not in {f}, {w} or {beta}")
    return _expand(pieces(f, u), w, beta, x, prefactor)


# the same few sums stand in the laws of all schedules
@lru_cache(maxsize=64)
def _expand(parts: tuple[Piece, ...], w: Expr, beta: Expr, x: Symbol, prefactor: Expr) -> Expansion:
    if sign(beta) != 1:
        raise ValueError(f"the scales j^-{beta} must be shown to fall: the exponent {beta} is not known to be positive")
    if prefactor == 0 or (shift := simplified(x * diff(prefactor, x) / prefactor)).has(x):
        raise ValueError(f"the prefactor must be a constant times a power of {x}, not {prefactor}")
    scale = simplified(prefactor.subs(x, 1))
    zeta_pole = simplified((w - 1) / beta)
    right = [simplified(-k) for k, _ in powers_at_infinity(parts)]
    conditions = []
    for low in orders_at_zero(parts):
        for high in [zeta_pole, *right]:
            gap = sign(high + low)
            if gap is None:
                conditions.append(Gt(essential_factor(high + low), 0))
            elif gap != 1 and high is zeta_pole:
                raise ValueError(
                    f"the harmonic sum diverges: its summands fall like j^-({simplified(w + beta * low)}), and the "
                    "power must exceed 1; subtract from f the terms that make it diverge"
                )
            elif gap != 1:
                return _without_powers(parts, w, beta, x, prefactor)
    poles: list[Expr] = []
    for candidate in [zeta_pole, *right]:
        if not any(simplified(candidate - known) == 0 for known in poles):
            poles.append(candidate)
    resonances = tuple(
        Eq(essential_factor(first - second), 0)
        for i, first in enumerate(poles)
        for second in poles[i + 1 :]
        if sign(first - second) is None
    )
    terms = [
        Term(
            positive_gammas(scale * term.coefficient), expand(simplified(term.power + shift)), term.log_power, term.pole
        )
        for pole in poles
        for term in _residue(parts, w, beta, pole)
    ]
    return Expansion(
        parts,
        w,
        beta,
        x,
        prefactor,
        tuple(_ordered(terms)),
        tuple(dict.fromkeys(conditions)),
        resonances,
        f"smaller than every power of {x}: no pole is left, and the transform falls exponentially on vertical lines",
    )


def _without_powers(parts: tuple[Piece, ...], w: Expr, beta: Expr, x: Symbol, prefactor: Expr) -> Expansion:
    """The expansion where pure powers leave the transform no strip: their sums are values of zeta, the rest expands."""
    summed = [piece for piece in parts if piece.rate is None and sign(w + beta * piece.power - 1) == 1]
    remaining = tuple(piece for piece in parts if piece not in summed)
    if not summed:
        raise ValueError(
            "no strip exists in which the transform of f and the zeta series both converge: expand the terms of f, or "
            "sums of some of them, one by one"
        )
    powers = []
    for piece in summed:
        front = piece.coefficient * zeta(simplified(w + beta * piece.power)) * prefactor * x**piece.power
        shift = simplified(x * diff(front, x) / front)
        powers.append(Term(simplified(front.subs(x, 1)), shift, 0, simplified(-piece.power)))
    if not remaining:
        return Expansion(
            parts, w, beta, x, prefactor, tuple(_ordered(powers)), (), (), "0: every sum is a value of zeta"
        )
    expansion = _expand(remaining, w, beta, x, prefactor)
    return replace(expansion, parts=parts, terms=tuple(_ordered([*expansion.terms, *powers])))


def _ordered(terms: list[Term]) -> list[Term]:
    """Largest first where it is decided; an insertion sort, because the order is partial."""
    ordered: list[Term] = []
    for term in terms:
        place = len(ordered)
        while place and sign(term.power - ordered[place - 1].power) == 1:
            place -= 1
        ordered.insert(place, term)
    return ordered
