"""What the derived identities say, read at numbers, and wrong versions of them that must be refused.

That every step of every derivation holds, and that changed steps are refused, is tested for all of them at once.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from sympy import Add, Expr, Integer, Rational, Sum, log, simplify, sqrt

from fsl_sym import (
    ansatz,
    best_constants,
    capacity_comparison,
    kernel_spaces,
    model_identities,
    random_features,
    stochastic_identities,
)
from fsl_sym.allocation_derivation import noise_order
from fsl_sym.laws import scaling_law
from fsl_sym.proof import Derivation, Smaller, Step
from fsl_sym.symbols import C, T, a, beta, s, t

HALF = Rational(1, 2)


def steps(derived: Derivation | tuple[Derivation, ...]) -> list[Step]:
    """The steps of a derivation, or of several, in their order."""
    return list(derived) if isinstance(derived, Derivation) else [step for derivation in derived for step in derivation]


def refused(step: Step, **changes: object) -> bool:
    return not replace(step, **changes).verify().holds  # type: ignore[arg-type]


def test_the_kernel_integral_is_that_of_the_numbers() -> None:
    at = {T: Integer(7), ansatz.x: Integer(3), ansatz.c: HALF, beta: Rational(5, 2)}
    formula = ansatz.kernel_integral().conclusion
    assert abs(formula.left.subs(at).evalf(20) - formula.right.subs(at).evalf(20)) < 1e-15  # both to 20 digits
    assert abs(formula.left.subs(at).evalf(20) - formula.right.subs({**at, ansatz.x: 4}).evalf(20)) > 1e-3


def test_one_drop_weighs_signal_and_noise_and_what_is_forgotten() -> None:
    """C/c_3 (c_3 + T^-s) (1 - (1 + c x)^-kappa), and its limit."""
    formula = ansatz.multi_power_limit().conclusion
    names = {letter.name: letter for letter in formula.left.free_symbols}
    at = {names["c_3"]: 4, names["kappa"]: 2, ansatz.c: 3, ansatz.x: 5, C: 7, t: 2, s: 3}
    assert formula.left.subs(at) == Rational(7, 4) * (4 + Rational(1, 8)) * (1 - Rational(1, 16**2))
    assert formula.right.subs(at) == 7 * (1 - Rational(1, 16**2))


def test_the_order_of_the_noise_is_a_theorem() -> None:
    theorem = noise_order(scaling_law("constant")).prove()
    assert theorem.conclusion.relation == "~" and theorem.conclusion.right.free_symbols == {a}
    assert "1 < beta" in map(str, theorem.hypotheses)


def test_the_best_rate_is_the_root_of_the_price_over_the_kernel() -> None:
    price, least, steps_left, over_steps = steps(ansatz.optimal_rate())
    at = {beta: Rational(3, 2), ansatz.c: 7, ansatz.x: 1, ansatz.mu: 9, ansatz.u: 1}
    (chosen,) = price.before.free_symbols - set(at)
    assert least.before.subs(at) == 2 * sqrt(Rational(9, 16))
    for rate in (11, 13):
        assert price.before.subs({**at, chosen: rate}) > least.before.subs(at)
    assert over_steps.after.free_symbols - steps_left.before.free_symbols


def test_neighbours_of_the_ansatz_are_refused() -> None:
    abel, *_ = steps(ansatz.abel_summation())
    i = ansatz.i
    later = abel.after.replace(
        lambda total: isinstance(total, Sum), lambda total: Sum(total.function.subs(i - 1, i), total.limits[0])
    )
    assert later != abel.after and refused(abel, after=later)
    by_parts = ansatz.loss_by_parts()[-1]
    assert isinstance(by_parts.after, Add)
    assert all(refused(by_parts, after=by_parts.after - part) for part in by_parts.after.args)
    change = ansatz.physical_time()[-1]
    once = change.after.replace(
        lambda power: power.is_Pow and power.base == ansatz.phi(ansatz.u), lambda power: power.base
    )
    assert once != change.after and refused(change, after=once)


def test_the_factors_are_fixed_points_of_their_inequalities() -> None:
    constant, signal = best_constants.constant_source_factor(), best_constants.signal_factor()
    assert simplify(1 + best_constants.CONTRACTION * constant - constant) == 0
    assert simplify(1 + best_constants.SUBCONVOLUTION * signal - signal) == 0
    # q = 2 c for large times: 1/(1 - 2 c) and 1/(1 - c)^2 differ in the order c^2 only
    c = best_constants.CONTRACTION
    difference = signal.subs(best_constants.SUBCONVOLUTION, 2 * c) - best_constants.limit_factor()
    assert [simplify(difference.diff(c, order).subs(c, 0)) for order in (0, 1, 2)] == [0, 0, 2]


def test_a_comparison_cannot_be_turned_round() -> None:
    (step,) = steps(capacity_comparison.peak_rate_derivation())
    assert isinstance(step.rule, Smaller) and step.verify().holds
    assert not replace(step, before=step.after, after=step.before).verify().holds


@pytest.mark.parametrize("regime", ["easy", "edge", "hard", ""])
def test_the_least_risk_of_a_task_has_one_order(regime: str) -> None:
    name = "exp-decay" if regime else "constant"
    (step,) = steps([capacity_comparison.least_of_task(name, "compute", regime)])
    assert step.verify().holds
    for wrong in (step.after * C ** Rational(1, 50), step.after * log(C), 1 / step.after):
        assert not replace(step, after=wrong).verify().holds


def test_capacity_at_points_agrees_with_the_allocation() -> None:
    order = capacity_comparison.fixed_task_order("wsd", "compute", "easy")
    point = {capacity_comparison.ALPHA: 2, beta: 2}
    assert (order.power.subs(point), order.log_power.subs(point)) == (-HALF, Rational(1, 4))


def test_wrong_exponents_of_the_spaces_are_refuted() -> None:
    coefficient, source = (steps(make())[0] for make in (
        kernel_spaces.coefficient_derivation, kernel_spaces.source_derivation))  # fmt: skip
    j, delta = kernel_spaces.j, kernel_spaces.DELTA
    assert refused(coefficient, after=j ** (-s * beta) / sqrt(j) / j)
    assert refused(source, after=source.after * j**-delta)


def test_wrong_versions_of_the_noise_covariance_are_refuted() -> None:
    first = steps(model_identities.noise_derivation())[0]
    w, h, u = model_identities.PROJECTION, model_identities.COVARIANCE, model_identities.RESIDUAL
    for wrong in (first.after + w * h * u * u.T * h * w.T, first.after - w * h * w.T):
        assert refused(first, after=wrong)


def test_a_wrong_rate_of_the_stochastic_equations_is_refuted() -> None:
    for step in steps(stochastic_identities.coordinate_derivation())[:2]:
        assert refused(step, after=step.after / 2) and refused(step, after=step.after + 1)
    clock = steps(stochastic_identities.change_of_clock_derivation())[2]
    assert refused(clock, after=clock.after / stochastic_identities.STEP)


def test_the_first_columns_need_the_inverse_of_h() -> None:
    step = steps(random_features.woodbury_derivation())[0]
    fewer = step.rule.relations[:2] + step.rule.relations[3:]  # type: ignore[attr-defined]
    assert refused(step, rule=replace(step.rule, relations=fewer))  # type: ignore[type-var]


def test_what_the_letters_of_the_ansatz_promise() -> None:
    """A letter promises no more than the derivations need: what must be positive is printed as a hypothesis."""
    real = (ansatz.clock, ansatz.phi, ansatz.kernel, ansatz.source, ansatz.rate, ansatz.drop)
    assert all(function(t).is_real is True and function(t).is_positive is None for function in real)
    assert ansatz.batch(t).is_positive
    whole: tuple[Expr, ...] = (ansatz.i, ansatz.k, ansatz.n)
    assert all(letter.is_integer for letter in whole)


def test_what_holds_everywhere_is_not_weakened_where_a_value_is_put_in() -> None:
    """The functional in physical time is the lemma at v = 0, whose proof uses T' = phi at every v."""
    hypotheses = [str(hypothesis) for hypothesis in ansatz.physical_time().prove().hypotheses]
    assert "Derivative(T(v), v) = phi(v) is true for every v" in hypotheses
    assert not any("phi(0)" in hypothesis for hypothesis in hypotheses)
