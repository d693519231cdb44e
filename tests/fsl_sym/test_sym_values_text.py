"""No public function evaluates text: each is called with a program in the place of every argument, and none runs it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from inspect import Parameter, isclass, isfunction, signature, unwrap
from pkgutil import walk_packages
from typing import Any

import pytest
from sympy import Eq, Integer, Rational, Sum, Symbol, exp, sympify, true

import fsl_sym
from fsl_sym.allocation import optimal_allocation
from fsl_sym.domain import EASY, PLANE
from fsl_sym.exponents.clock import Clock
from fsl_sym.exponents.law import Law
from fsl_sym.integrals import noise_integral
from fsl_sym.laws import scaling_law
from fsl_sym.order import Order
from fsl_sym.proof import Derivation, Formula, Identity, Smaller, Step, equals
from fsl_sym.proof.rules import RULES
from fsl_sym.schedules import schedule
from fsl_sym.spectrum import kernel_asymptotics
from fsl_sym.symbols import M, N, T, a, b, beta, j, s, t
from fsl_sym.values import as_expression, assigned, exact

PROGRAM = "exec('import sys; sys.fsl_sym_evaluated_text = True')"
STEP = Step(a + a, 2 * a, Identity(), "add")
PROVED = Derivation("double", "Twice a number", (STEP,))
BOUND = Derivation("bound", "A bound", (Step(t, t + 1, Smaller(), "add"),))
ALLOCATION = optimal_allocation("constant", "data")
REGION = ALLOCATION.solution.regions[0]
SAMPLES: dict[str, Any] = {
    "Expr": t, "Any": t, "Symbol": t, "int": 1, "float": 1.0, "bool": False, "str": "exp-decay", "Order": Order(1),
    "Regime": EASY, "Domain": PLANE, "Formula": equals(t, t + t), "Statement": equals(t, t + t), "Derivation": PROVED,
    "Step": STEP, "Expansion": kernel_asymptotics(), "Certificate": REGION.certificate, "Region": REGION,
    "ScalingLaw": scaling_law("exp-decay"), "Law": Law(t + N / t, (t,), N, (), PLANE), "Clock": Clock(),
    "Rule": Identity(),
}  # fmt: skip
"""Annotation of an argument -> something that may stand there."""
NAMED: dict[str, Any] = {
    "schedule": "exp-decay", "name": "exp-decay", "budget": "data", "regime": EASY, "expression": t,
    "point": Integer(0), "variables": (t,), "constraints": (), "parameters": PLANE.ranges, "loss": t**-s + t / N,
    "relation": s > 0, "values": {beta: Integer(2)}, "lower": Integer(0), "upper": Integer(1),
    "before": t, "after": t + 1, "lemma": BOUND,
    "steps": (STEP,), "u": Symbol("u", positive=True), "f": exp(-t), "w": 2 * beta, "beta": beta, "x": T,
}  # fmt: skip
"""Name of an argument -> something that may stand there, where the annotation says too little."""
INSTANCES = (
    PLANE, EASY, Order(1), REGION, REGION.certificate, ALLOCATION, ALLOCATION.solution, kernel_asymptotics(),
    kernel_asymptotics().terms[0], kernel_asymptotics().parts[0], noise_integral("constant"),
    noise_integral("wsd").order[0], scaling_law("wsd"), schedule("power-decay"),
    REGION.variables[ALLOCATION.law.variables[0]],
)  # fmt: skip
"""Values whose methods take arguments."""


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every public function and class of the package, and the public methods of the instances above."""
    for module in walk_packages(fsl_sym.__path__, "fsl_sym."):
        for name, value in vars(import_module(module.name)).items():
            public = not name.startswith("_") and (isclass(value) or isfunction(unwrap(value)))
            if public and value.__module__ == module.name:
                yield f"{module.name}.{name}", value
    for instance in INSTANCES:
        for name in ["__pow__", *(method for method in dir(instance) if not method.startswith("_"))]:
            method = getattr(instance, name, None)
            if callable(method):
                yield f"{type(instance).__module__}.{type(instance).__name__}.{name}", method


FUNCTIONS = dict(functions())


def parameters(function: Callable[..., Any]) -> list[Parameter]:
    try:
        taken = signature(function).parameters.values()
        return [parameter for parameter in taken if parameter.kind is not Parameter.VAR_KEYWORD]
    except ValueError:  # a class of sympy or an exception has no signature
        return []


def fitting(parameter: Parameter) -> Any:
    """Something that may stand for an argument."""
    if parameter.name in NAMED:
        return NAMED[parameter.name]
    kind = str(parameter.annotation).split(" | ")[0]
    if kind.startswith(("Sequence", "Iterable", "tuple", "list")):
        return (t,)
    return SAMPLES.get(kind, {t: Integer(1)} if kind.startswith("Mapping") else t)


def calls(function: Callable[..., Any]) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """The arguments with the program in one place: as it is, in a tuple, and as key and value of a mapping."""
    expected = parameters(function)
    for place in range(len(expected)):
        for program in (PROGRAM, (PROGRAM,), ((t, PROGRAM),), {PROGRAM: t}, {t: PROGRAM}):
            arguments = [fitting(parameter) for parameter in expected]
            arguments[place] = program
            pairs = list(zip(expected, arguments, strict=True))
            keywords = {parameter.name: value for parameter, value in pairs if parameter.kind is Parameter.KEYWORD_ONLY}
            yield tuple(value for parameter, value in pairs if parameter.kind is not Parameter.KEYWORD_ONLY), keywords


def ran() -> bool:
    """Whether the program has run since this was asked last."""
    found = hasattr(sys, "fsl_sym_evaluated_text")
    if found:
        del sys.fsl_sym_evaluated_text
    return found


def test_the_program_runs_where_sympy_reads_it() -> None:
    readers = (sympify, exp, lambda text: t.subs(t, text), lambda text: Sum(j, (j, 1, text)), lambda text: t ** (text,))
    for way in readers:
        with pytest.raises(Exception):  # noqa: B017  (sympy fails in one of several ways once it has run it)
            way(PROGRAM)
            raise ValueError
        assert ran()


def test_most_functions_are_reached() -> None:
    assert len(FUNCTIONS) >= 300
    assert {"fsl_sym.domain.regime_of", "fsl_sym.order.Order", "fsl_sym.domain.Domain.sign"} <= set(FUNCTIONS)


def test_no_public_function_evaluates_text() -> None:
    reached = []
    for name, function in FUNCTIONS.items():
        for arguments, keywords in calls(function):
            try:
                function(*arguments, **keywords)
            except Exception:
                pass  # most refuse it; this test asks for one thing alone
            if ran():
                reached.append((name, arguments, keywords))
    assert reached == []


@pytest.mark.parametrize("rule", sorted(RULES, key=lambda kind: kind.__name__), ids=lambda kind: kind.__name__)
def test_no_rule_evaluates_text(rule: type) -> None:
    sides = ((t, t + 1), (Sum(j, (j, 1, M)), T), (t**2, Sum(t, (j, 1, M))))
    for arguments, keywords in calls(rule):
        try:
            made = rule(*arguments, **keywords)
        except Exception:
            continue
        for before, after in sides:
            try:
                assert not Step(before, after, made, "by text").verify().holds
            except (ValueError, TypeError, AttributeError):
                pass
            assert not ran(), (arguments, keywords)


def test_text_is_a_number_or_refused() -> None:
    assert as_expression(" 1/2") == Rational(1, 2) == Order("0.5").power == Formula("1/2", "=", t).left
    assert assigned({s: "1/2"}) == {s: Rational(1, 2)} and Order(s).subs({s: "1/2"}) == Order("1/2")
    for text in (PROGRAM, "t", "1 + 1", "sqrt(2)", "", "oo", "1e3"):
        with pytest.raises(TypeError, match="is text"):
            as_expression(text)
    for value in ([1], (PROGRAM,), {s: 1}, None, object(), b"1"):
        with pytest.raises(TypeError, match="is no expression"):
            as_expression(value)
    assert as_expression(Eq(s, 1)) == Eq(s, 1) and as_expression(true) is true
    with pytest.raises(TypeError, match="True is no real number"):
        as_expression(True)
    assert b.is_positive


@pytest.mark.parametrize("read", [exact, as_expression])
def test_a_printed_minus_sign_is_refused_with_that_of_the_keyboard(read: Callable[[str], Any]) -> None:
    with pytest.raises(TypeError, match="write '-1/2'"):
        read("\u22121/2")
