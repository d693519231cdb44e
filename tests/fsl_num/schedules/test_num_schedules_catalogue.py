"""One catalogue: fsl_sym's closed forms and fsl_num's schedules have the same names and the same values."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import examples
from hypothesis import assume, given
from hypothesis import strategies as st
from mpmath import mp
from sympy import lambdify

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


def values_of(name: str, plan: Any) -> dict[Any, float]:
    """What the letters of the closed form are for a schedule."""
    lengths = [phase.steps for phase in getattr(plan, "phases", (plan,))]
    final = plan.phases[-1].peak if name == "multi-step" else getattr(plan, "final", 0.0)
    power, timescale = getattr(plan, "power", 1.0), getattr(plan, "timescale", 1.0)
    return {a: plan.peak, b: final, K: plan.steps, K1: lengths[0], K2: lengths[-1], p: power, K0: timescale}


def number(expression: Any, values: dict[Any, float]) -> float:
    """The value to 30 digits at the exact values of floats."""
    with mp.workdps(30):
        return float(lambdify(list(values), expression, "mpmath")(*map(mp.mpf, values.values())))


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


def test_what_is_wrong_in_a_text_is_said_of_the_text() -> None:
    with pytest.raises(ValueError, match=r"^'cosine\(final=1\)': final must be at most peak"):
        schedule("cosine(final=1)", peak=0.1, steps=10)
    for name in ("cosine", "cosine(floor=0.01)"):
        with pytest.raises(ValueError, match="^final must be at most peak"):
            schedule(name, peak=0.1, steps=10, final=1)


@pytest.mark.parametrize("name", SCHEDULES)
@examples(15)
@given(data=st.data(), share=st.floats(0.0, 0.99))
def test_the_closed_forms_are_the_numbers(name: str, data: Any, share: float) -> None:
    plan: Schedule = schedule(name, **parameters(name, data.draw))
    form, values = closed_form(name), values_of(name, plan)
    total, place = plan.total_intrinsic_time, share * plan.steps
    # a jump, and the root at the start of a fall, are known to the rounding of the steps
    assume(all(abs(place - cut) > 1e-9 * plan.steps for cut in plan.physical_breaks))
    found = {
        "T": (number(form.total, values), total),
        "phi": (number(form.phi, values | {tau: place}), plan.learning_rate(place)),
        "T(tau)": (number(form.intrinsic_time, values | {tau: place}), plan.intrinsic_time(place)),
    }
    if form.gamma is not None:
        t_at = plan.intrinsic_time(place)
        found["gamma"] = number(form.gamma, values | {t: t_at}), plan.gamma(t_at)
        found["inverse"] = number(form.inverse, values | {t: t_at}), plan.physical_time(t_at)
    for quantity, (expected, value) in found.items():
        scale = plan.peak if quantity in ("phi", "gamma") else plan.steps if quantity == "inverse" else total
        # the rounding of T, 1e-16, of a fall (1 - tau/K)^3 with 1 - tau/K = 1e-2, of which (1e-2)^4 is left
        inverted = quantity in ("gamma", "inverse")
        assert abs(value - expected) <= (1e-8 if inverted else 1e-14) * scale, quantity
