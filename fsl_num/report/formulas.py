"""A formula of ``fsl_sym`` as a picture: a law, a noise integral or an expansion, with each of its terms.

``fsl_sym`` imports sympy alone, so that what draws its results stands here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray
from sympy import Add, Expr, Piecewise, Rational, Symbol, lambdify

from fsl_num.report.plots import exponent_map, new_figure
from fsl_num.results import axes_to_draw_on
from fsl_num.validation import STEEPEST, entries, positive
from fsl_sym.algebra.printing import latex
from fsl_sym.allocation import Allocation
from fsl_sym.asymptotics.mellin import Expansion
from fsl_sym.integrals.closed_form import ClosedForm, GrowthOrder
from fsl_sym.laws import ScalingLaw
from fsl_sym.symbols import MEANINGS, RANGES, T1, T2, B, M, T, a, b, beta, s, sigma, t
from fsl_sym.values import exact

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

USUAL: Final = {s: "1/2", beta: 2, M: 1000, sigma: 1, B: 1, a: "1/2", b: "1/200"}
"""What the letters of a formula are, unless they are given."""

DECAY_SHARE: Final = Rational(1, 5)
"""Of the intrinsic time: the decay phase of a law with two phases, unless its times are given."""

_POINTS = 400


def plot_formula(
    formula: Any, ax: Axes | None = None, *, over: tuple[float, float] = (10.0, 1e6), **values: Any
) -> Axes:
    """Draw a formula over its time, or over the model size where it has no time, with each of its terms dashed.

    Parameters
    ----------
    formula
        A :class:`~fsl_sym.ScalingLaw`, the order of a :class:`~fsl_sym.ClosedForm`, an :class:`~fsl_sym.Expansion`
        with its error where that has a bound, or any sum in the letters of :mod:`fsl_sym.symbols`. An
        :class:`~fsl_sym.Allocation` is a map over s and beta (:func:`fsl_num.report.plots.exponent_map`).
    ax
        Axes to draw on; those of a new figure if None.
    over
        From where to where, both positive.
    values
        What its letters are, by their names in Python: ``s=1/2``, ``T1=100``; :data:`USUAL` otherwise. Of a law with
        two phases the decay takes a fifth of the intrinsic time, unless its times are given.

    Returns
    -------
    Axes
        The axes drawn on, both logarithmic; ``ax.figure`` is their figure.

    Raises
    ------
    TypeError
        If ``formula`` is none of these.
    ValueError
        If a letter has no value, a name is no letter of the formula, a value is out of its range, or the formula is
        not positive somewhere.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> from fsl_sym import scaling_law
    >>> axes = plot_formula(scaling_law("wsd"), beta=3)
    >>> axes.get_xlabel(), len(axes.lines)
    ('total intrinsic time $T$', 5)
    """
    if isinstance(formula, Allocation) and not values:
        return exponent_map(formula, ax=ax)
    expression, error = _expression(formula)
    letters = {str(letter).replace("_", ""): letter for letter in expression.free_symbols}
    if unknown := sorted(set(values) - set(letters)):
        raise ValueError(f"{', '.join(unknown)} is no letter of {expression}: it has {', '.join(sorted(letters))}")
    known = {letter: exact(value) for letter, value in USUAL.items()}
    known |= {letters[name]: exact(_number(name, value)) for name, value in values.items()}
    if {T1, T2} & expression.free_symbols and not {T1, T2} & {letters[name] for name in values}:
        known |= {T1: (1 - DECAY_SHARE) * T, T2: DECAY_SHARE * T}
    chosen = {letters[name] for name in values}
    x = next((letter for letter in (T, t, T2, T1, M) if letter not in chosen and _at(expression, known, letter)), None)
    if x is None:
        left = ", ".join(sorted(map(str, expression.free_symbols - set(known))))
        raise ValueError(f"{expression} must vary with a time or a size alone" + (left and f": give {left}"))
    known.pop(x, None)
    ends = [positive("over", end) for end in entries("over", over, least=2)]
    low, high = min(ends), max(ends)
    points = np.geomspace(low, high, _POINTS)
    terms = [(term, _values(term, known, x, points)) for term in Add.make_args(_branch(expression, known))]
    total = np.sum([curve for _, curve in terms], axis=0)
    if not (np.isfinite(total).all() and (total > 0.0).all()):
        raise ValueError(f"{expression} is not positive everywhere between {low:g} and {high:g}")
    ax = new_figure((6.0, 3.8)).subplots() if ax is None else axes_to_draw_on(ax)
    if len(terms) > 1:
        for term, curve in terms:
            label = f"${latex(-term)}$ (negative)" if (curve < 0).all() else f"${latex(term)}$"
            ax.loglog(points, np.abs(curve), "--", linewidth=1.0, label=label)
    ax.loglog(points, total, "k", linewidth=1.6, label="the sum" if len(terms) > 1 else f"${latex(terms[0][0])}$")
    if error is not None:
        off = _values(error, known, x, points)
        ax.fill_between(points, np.maximum(total - off, 1e-3 * total), total + off, color="k", alpha=0.15, lw=0)
    fixed = ", ".join(f"${latex(letter)} = {latex(known[letter])}$" for letter in known if expression.has(letter))
    ax.set(xlabel=f"{MEANINGS.get(x, '').partition(':')[0]} ${latex(x)}$", title=fixed, ylim=(total.min() / 30, None))
    ax.title.set_fontsize("small")
    ax.legend(fontsize="small")
    return ax


def _number(name: str, value: Any) -> Any:
    """A value within the range of its letter; a float is taken as the decimal that it prints as."""
    positive(name, float(exact(str(value))) if isinstance(value, str | float) else value, zero=name == "sigma")
    lower = {str(letter): bound for letter, (bound, _) in RANGES.items()}.get(name)
    number = exact(repr(value) if isinstance(value, float) else value)
    if lower is not None and not lower < number <= STEEPEST:
        raise ValueError(f"{name} must be above {lower} and at most {STEEPEST:g}, got {value}")
    return number


def _expression(formula: Any) -> tuple[Expr, Expr | None]:
    """What is drawn, and by how much it may be off."""
    if isinstance(formula, Expansion):
        try:
            return formula.expression, formula.error
        except ValueError:  # no bound in closed form
            return formula.expression, None
    if isinstance(formula, ClosedForm):
        return Add(*(Piecewise((part.expression, part.condition), (0, True)) for part in formula.order)), None
    if isinstance(formula, ScalingLaw | GrowthOrder):
        return formula.expression, None
    if isinstance(formula, Expr):
        return formula, None
    raise TypeError(
        f"{type(formula).__name__} is no formula to draw: give a scaling law, a noise integral, an expansion, an"
        " allocation or a sympy expression"
    )


def _branch(expression: Expr, known: dict[Symbol, Expr]) -> Expr:
    """The expression in its letters, of every choice the branch that holds."""
    for choice in expression.atoms(Piecewise):
        held = next(value for value, condition in choice.args if condition.subs(known) == True)  # noqa: E712
        expression = expression.xreplace({choice: held})
    return expression


def _at(expression: Expr, known: dict[Symbol, Expr], x: Symbol) -> bool:
    """Whether a function of x alone is left when all other letters have their values."""
    numbers = {letter: value for letter, value in known.items() if letter != x}
    return bool(_branch(expression, numbers).subs(numbers).free_symbols == {x})


def _values(expression: Expr, known: dict[Symbol, Expr], x: Symbol, points: Array) -> Array:
    with np.errstate(all="ignore"):  # what is not finite is refused by the caller
        values = lambdify(x, expression.subs(known), modules=["numpy", "scipy"])(points)
    return np.asarray(values + np.zeros_like(points), dtype=np.float64)
