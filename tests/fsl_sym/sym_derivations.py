"""Every derivation that a public function of fsl_sym gives without being asked for anything; changes of a step."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from importlib import import_module
from pkgutil import walk_packages

from sympy import Add, Basic, Expr, Integer, Integral, MatrixExpr, Mul, Pow, Rational, Sum, Symbol, preorder_traversal
from sympy.core.function import AppliedUndef

import fsl_sym
from fsl_sym.proof import Derivation, Step
from fsl_sym.proof.formulas import NEAR_OPTIMAL

TINY = Rational(1, 10**9)


def makers() -> dict[str, Callable[[], object]]:
    """Name -> public function of the package that needs no argument."""
    found = {}
    for module in sorted(info.name for info in walk_packages(fsl_sym.__path__, "fsl_sym.")):
        for name, function in vars(import_module(module)).items():
            public = inspect.isfunction(inspect.unwrap(function)) and not name.startswith("_")
            own = public and function.__module__ == module
            parameters = inspect.signature(function).parameters.values() if own else ()
            if own and all(parameter.default is not parameter.empty for parameter in parameters):
                found[f"{module}.{name}"] = function
    return found


def derivations_in(value: object, depth: int = 0) -> Iterator[Derivation]:
    """A derivation, those in a tuple, and those that an object has."""
    if isinstance(value, Derivation):
        yield value
    elif isinstance(value, tuple | list):
        for member in value:
            yield from derivations_in(member, depth)
    elif depth < 2 and not inspect.isclass(value):
        for name in ("derivation", "derivations"):
            inner = getattr(value, name, ())
            yield from derivations_in(inner() if callable(inner) else inner, depth + 1)


def every(names: list[str]) -> dict[str, Derivation]:
    """The derivations of these functions, each once."""
    return {
        f"{derivation.name}: {derivation.conclusion}": derivation
        for name in names
        for derivation in derivations_in(makers()[name]())
    }


def changes(side: Expr, tiny: Expr = TINY) -> dict[str, Expr]:
    """A sign, a constant and an exponent of an expression changed, as far as it has them."""
    found: dict[str, Expr] = {"sign of all": -side}
    if isinstance(side, MatrixExpr):
        return {**found, "factor of all": (1 + TINY) * side}
    found["constant beside"] = side + TINY
    if isinstance(side, Add):
        first, *terms = side.args
        found["sign of a term"] = Add(-first, *terms)
    if isinstance(side, Mul):
        found["factor of all"] = (1 + TINY) * side
    inside = [item for item in preorder_traversal(side) if isinstance(item, Pow) and item.free_symbols]
    for item in inside[:1]:
        found["exponent"] = side.xreplace({item: item.base ** (item.exp + tiny)})
    return {name: changed for name, changed in found.items() if changed != side}


def number(side: Expr, seed: int) -> Expr | None:
    """The value at an exact point inside the ranges of the paper; functions without a definition are chosen too."""
    letters = sorted((letter for letter in side.free_symbols if isinstance(letter, Symbol)), key=str)
    fixed = {
        "beta": "5/2",
        "s": "2/3",
        "a": "7/2",
        "b": "1/3",
        "M": "3",
        "K": "11",
        "T": "7",
        "alpha": "4/3",
        "p": "2/5",
    }
    point = {}
    for place, letter in enumerate(letters):
        whole = letter.is_integer or letter.name in ("M", "N", "d")
        value = Integer(2 + place % 3 + seed) if whole else Rational(7 * place + 5 + seed, 11 + place)
        point[letter] = Rational(fixed[letter.name]) + seed if letter.name in fixed else value
    filled = side.replace(
        lambda item: isinstance(item, AppliedUndef), lambda item: 2 + Add(*(argument**2 for argument in item.args)) / 7
    )
    value = added(filled.subs(point, simultaneous=True).doit(integrals=False, sums=False))
    value = value.evalf(25) if not value.has(Sum) else None
    return value if value is not None and value.is_number and value.is_finite and not value.has(Integral) else None


def added(side: Basic) -> Basic:
    """Sums over a few terms, term by term."""
    for item in [total for total in side.atoms(Sum) if not total.function.has(Sum)]:
        (index, low, high), *outer = item.limits
        if not outer and low.is_Integer and high.is_Integer and high - low < 40:
            terms = Add(*(item.function.subs(index, place) for place in range(int(low), int(high) + 1)))
            return added(side.xreplace({item: terms}))
    return side


def is_false(step: Step, changed: Expr) -> bool | None:
    """Whether the changed step says something false, by numbers; None where numbers do not decide it."""
    pairs = [(number(step.before, seed), number(step.after, seed), number(changed, seed)) for seed in (0, 1)]
    known = [pair for pair in pairs if None not in pair]
    if not known:
        return None
    relation = step.relation
    if relation in ("=", "->", "expands"):
        return any(abs(after - wrong) > 10**-18 * abs(after) for _, after, wrong in known)
    if relation in ("<=", "<", ">="):
        if any(not value.is_real for pair in known for value in pair):
            return None
        sign = -1 if relation == ">=" else 1
        beyond = any(sign * (before - wrong) > 10**-18 * abs(before) for before, _, wrong in known)
        return True if beyond else False
    if relation == "optimum" or relation in NEAR_OPTIMAL:
        return True  # another power or sign; a constant beside it leaves no power at all
    quotients = [wrong / after for _, after, wrong in known]
    if relation in ("~", "<~"):
        return True if any(quotient < 0 for quotient in quotients) else None
    return None


def swapped(step: Step, source: Step) -> Step:
    """One step by the rule of another."""
    return Step(step.before, step.after, source.rule, step.why)
