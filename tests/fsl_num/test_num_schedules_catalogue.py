"""One catalogue: fsl_sym's closed forms and fsl_num's schedules have the same names and the same values."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from conftest import examples
from hypothesis import assume, given
from hypothesis import strategies as st
from sympy import Rational

from fsl_num.schedules import SCHEDULES, Schedule, schedule, spelling
from fsl_sym.functional import functional_scaling_law
from fsl_sym.laws import SCHEDULES as WITH_A_LAW
from fsl_sym.laws import scaling_law
from fsl_sym.schedules import SCHEDULES as CLOSED_FORMS
from fsl_sym.schedules import schedule as closed_form
from fsl_sym.schedules import unknown
from fsl_sym.symbols import K0, K1, K2, K, a, b, p, t, tau

ONLY_SYMBOLIC = {
    "stable": "what wsd becomes at equal rates: two constant phases",
    "cosine-to-zero": "cosine with final = 0, whose power at the end is another",
}
"""Names of one package only, and why."""


def exact(number: Any) -> Rational:
    """The value of a float, not of its decimals."""
    ratio = Fraction(number)
    return Rational(ratio.numerator, ratio.denominator)


def parameters(name: str, draw: Any) -> dict[str, Any]:
    """Parameters of the schedule such that it is the one of the closed form: a line to 0, one milestone, one wave."""
    share = draw(st.floats(0.05, 0.95))
    peak, steps = 10.0 ** draw(st.floats(-3, 1)), 10.0 ** draw(st.floats(0, 6))
    own: dict[str, dict[str, Any]] = {
        "exp-decay": {"final": peak * share},
        "wsd": {"final": peak * share, "decay_fraction": draw(st.floats(0.05, 0.95))},
        "power-decay": {"power": draw(st.sampled_from([0.5, 1.0, 1.5, 2.0, 3.0]))},
        "cosine": {"final": peak * share},
        "1-sqrt": {"decay_fraction": share},
        "inverse-sqrt": {"timescale": steps * 10.0 ** draw(st.floats(-3, 1))},
        "multi-step": {"milestones": [share], "factors": [draw(st.floats(0.05, 0.95))]},
        "cyclic": {"final": peak * share, "cycles": 1},
    }
    return {"peak": peak, "steps": steps, **own.get(name, {})}


def symbolic(name: str, plan: Any) -> Any:
    """The closed form with the numbers of a schedule put in, exactly."""
    one = closed_form(name)
    lengths = [phase.steps for phase in getattr(plan, "phases", (plan,))]
    final = plan.phases[-1].peak if name == "multi-step" else getattr(plan, "final", 0.0)
    values = {a: plan.peak, b: final, K: plan.steps, K1: lengths[0], K2: lengths[-1]}
    values |= {p: getattr(plan, "power", 1.0), K0: getattr(plan, "timescale", 1.0)}
    return one.at({symbol: exact(values[symbol]) for symbol in one.parameters})


def number(expression: Any, symbol: Any, at: float) -> float:
    """The value to 30 digits at the exact value of a float."""
    return float(expression.subs(symbol, exact(at)).evalf(30))


def test_both_packages_have_the_same_names() -> None:
    assert set(CLOSED_FORMS) == set(SCHEDULES) | set(ONLY_SYMBOLIC)
    assert list(CLOSED_FORMS)[: len(SCHEDULES)] == list(SCHEDULES)
    assert set(WITH_A_LAW) <= set(SCHEDULES)
    assert all(closed_form(name).name == name for name in CLOSED_FORMS)
    without_inverse = {name for name in SCHEDULES if closed_form(name).inverse is None}
    assert without_inverse == {"cosine", "1-sqrt"}
    assert all(closed_form(name).remark for name in without_inverse)


@pytest.mark.parametrize("old", ["WSD-like", "exponential decay", "power decay", "linear decay"])
def test_old_spellings_are_refused_with_the_name(old: str) -> None:
    new = spelling(old)
    assert new in SCHEDULES
    for refused in (closed_form, functional_scaling_law, scaling_law):
        with pytest.raises(ValueError, match=f"it is called '{new}'"):
            refused(old)
    with pytest.raises(ValueError, match=f"it is called '{new}'"):
        schedule(old, peak=1.0, steps=2.0)
    assert f"it is called {new!r}" in unknown(old)
    with pytest.raises(ValueError, match="no law is derived for 'cosine'"):
        scaling_law("cosine")


@pytest.mark.parametrize("name", SCHEDULES)
@examples(15)
@given(data=st.data(), share=st.floats(0.0, 1.0))
def test_the_closed_forms_are_the_numbers(name: str, data: Any, share: float) -> None:
    plan: Schedule = schedule(name, **parameters(name, data.draw))
    form = symbolic(name, plan)
    total, tau_at = plan.total_intrinsic_time, share * plan.steps
    assert float(form.total.evalf(30)) == pytest.approx(total, rel=1e-13)
    # a jump, and the root at the start of a fall, are known to the rounding of the steps
    assume(all(abs(tau_at - cut) > 1e-9 * plan.steps for cut in plan.physical_breaks))
    # close to the end of a fall to 0 the steps that are left, and with them the rate, have lost the digits of the steps
    lost = 1e-15 * plan.peak
    assert number(form.phi, tau, tau_at) == pytest.approx(plan.learning_rate(tau_at), rel=1e-12, abs=20 * lost)
    assert number(form.intrinsic_time, tau, tau_at) == pytest.approx(plan.intrinsic_time(tau_at), rel=1e-12)
    if form.gamma is None:
        return
    t_at = share * total
    assume(all(abs(t_at - cut) > 1e-9 * total for cut in plan.breaks))
    assume(t_at < float(form.total.evalf(30)))
    # the root of the rounding of T, where gamma vanishes like a root at the end
    assert number(form.gamma, t, t_at) == pytest.approx(plan.gamma(t_at), rel=1e-9, abs=3e-8 * plan.peak)
    assert number(form.inverse, t, t_at) == pytest.approx(plan.physical_time(t_at), rel=1e-9, abs=3e-8 * plan.steps)
