"""Steps are verified by the machine, and wrong steps are not."""

from __future__ import annotations

import pytest
from sympy import Add, Expr, Integral, Rational, Sum, exp, latex, log, oo, uppergamma

from fsl_sym import verification
from fsl_sym.algebra.equality import equal, sample_points, sign
from fsl_sym.algebra.limits import limit_value, maximum_on_half_line
from fsl_sym.proof import (
    Antiderivative,
    Derivation,
    Identity,
    Interchange,
    Justification,
    Limit,
    Maximum,
    Monotone,
    Step,
    Substitution,
    SumToIntegral,
    Termwise,
    words_latex,
)
from fsl_sym.symbols import M, T, a, b, beta, j, lam, s, t, tau, z
from fsl_sym.symbols import zeta_rate as zeta

DECAY = Integral(exp(-2 * lam * t), (t, 0, T))
KERNEL = Sum(j ** (-2 * beta) * exp(-2 * j**-beta * t), (j, 1, M))
SMOOTH = Integral(z ** (-2 * beta) * exp(-2 * z**-beta * t), (z, 0, M))

GOOD: dict[str, tuple[Expr, Expr, Justification]] = {
    "identity": (exp(log(a / b)) * zeta, a * zeta / b, Identity()),
    "reparametrised": ((1 - t / T) ** s * T**s, (T - t) ** s, Identity(((t, T * (1 - z)),))),
    "sum": (2 * Sum(j**-beta, (j, 1, M)) + Sum(j, (j, 1, M)), Sum(2 * j**-beta + j, (j, 1, M)), Termwise()),
    "integral": (DECAY, (1 - exp(-2 * lam * T)) / (2 * lam), Antiderivative(-exp(-2 * lam * t) / (2 * lam))),
    "integral to infinity": (
        Integral(t ** (s - 1) * exp(-t), (t, T, oo)),
        uppergamma(s, T),
        Antiderivative(-uppergamma(s, t)),
    ),
    "interchange": (
        Integral(KERNEL * a, (t, 0, T)),
        Sum(Integral(a * j ** (-2 * beta) * exp(-2 * j**-beta * t), (t, 0, T)), (j, 1, M)),
        Interchange(),
    ),
    "substitution": (
        Integral(exp(-2 * z**-beta * t), (z, 0, M)),
        Integral(exp(-2 * T * t) * T ** (-1 / beta - 1) / beta, (T, M**-beta, oo)),
        Substitution(z, T, T ** (-1 / beta)),
    ),
    "limit": (1 + 3 * t ** (1 / beta - 1) + t**5 * exp(-lam * t), 1 + 0 * t, Limit(t, oo)),
    "limit at zero": ((1 - exp(-2 * t)) / t, 2 + 0 * t, Limit(t, 0 * t)),
    "maximum": (t * exp(-2 * t), exp(-1) / 2, Maximum(t)),
    "monotone": (
        1 - exp(-2 * t) - 2 * t * exp(-2 * t),
        1 + 0 * t,
        Monotone(t, 4 * t * exp(-2 * t)),
    ),
    "comparison": (
        KERNEL,
        SMOOTH,
        SumToIntegral(z**2 * exp(-2 * z * t), z, tau**0 * z**-beta, Maximum(z), exp(-2) / t**2),
    ),
}


def steps() -> dict[str, Step]:
    return {name: Step(x, y, proof.rule, "test", proof) for name, (x, y, proof) in GOOD.items()}


def wrong_versions(after: Expr) -> list[Expr]:
    """A sign, a factor of two, and a term too few (or too many)."""
    fewer = Add(*after.args[1:]) if isinstance(after, Add) else after + Rational(1, 7)
    return [-after, 2 * after, fewer]


@pytest.mark.parametrize("name", sorted(GOOD))
def test_a_right_step_holds_by_an_exact_method(name: str) -> None:
    verdict = steps()[name].verify()
    assert verdict.holds, verdict.detail
    assert verdict.method == "exact"


@pytest.mark.parametrize("name", sorted(GOOD))
def test_wrong_steps_do_not_hold(name: str) -> None:
    step = steps()[name]
    for wrong in wrong_versions(step.after):
        mutated = Step(step.before, wrong, step.rule, step.why, step.justification)
        assert not mutated.verify().holds, wrong


def test_a_wrong_antiderivative_or_substitution_is_refused() -> None:
    value = (1 - exp(-2 * lam * T)) / (2 * lam)
    assert not Step(DECAY, value, "integral", "test", Antiderivative(exp(-2 * lam * t) / (2 * lam))).verify().holds
    before, after, _ = GOOD["substitution"]
    assert not Step(before, after, "substitution", "test", Substitution(z, T, T ** (-2 / beta))).verify().holds


def test_a_comparison_refuses_a_wrong_error_and_a_wrong_shape() -> None:
    for error in (exp(-2) / t, exp(-1) / t**2):
        proof = SumToIntegral(z**2 * exp(-2 * z * t), z, z**-beta, Maximum(z), error)
        assert not Step(KERNEL, SMOOTH, "comparison", "test", proof).verify().holds
    falling = SumToIntegral(z**2 * exp(-2 * z * t), z, z**-beta, Monotone(z, z), exp(-2) / t**2)
    assert not Step(KERNEL, SMOOTH, "comparison", "test", falling).verify().holds


def test_a_rule_must_be_the_one_that_its_justification_proves() -> None:
    assert not Step(a, a, "sum", "test", Identity()).verify().holds
    with pytest.raises(ValueError, match="unknown rule"):
        Step(a, a, "magic", "test", Identity())
    with pytest.raises(ValueError, match="reason"):
        Step(a, a, "identity", " ", Identity())


def test_an_infinite_sum_is_interchanged_only_with_nonnegative_terms() -> None:
    summand = j ** (-2 * beta) * exp(-2 * j**-beta * t)
    before = Integral(Sum(summand, (j, 1, oo)), (t, 0, T))
    after = Sum(Integral(summand, (t, 0, T)), (j, 1, oo))
    assert not Interchange().check(before, after).holds
    assert Interchange((j ** (-2 * beta), exp(-2 * j**-beta * t))).check(before, after).holds


def test_a_chain_must_not_break() -> None:
    first = Step((a + b) ** 2, a**2 + 2 * a * b + b**2, "identity", "expand", Identity())
    second = Step(a**2 + 2 * a * b + b**2, (a + b) ** 2, "identity", "collect", Identity())
    assert Derivation("x", "X", (first, second)).verify().holds
    broken = Derivation("x", "X", (first, first))
    assert "does not begin" in broken.verify().detail
    restarted = Step(first.before, first.after, "identity", "again", Identity(), begins=True)
    assert Derivation("x", "X", (first, restarted)).verify().holds
    with pytest.raises(ValueError, match="no steps"):
        Derivation("x", "X", ())


def test_a_derivation_is_a_sequence_and_renders_itself() -> None:
    derivation = Derivation("x", "Mode", tuple(steps().values())[3:4], ("lambda > 0",), "somewhere")
    assert len(derivation) == 1 and list(derivation)[0] is derivation[0] and derivation[0:1] == derivation.steps
    assert "lambda > 0" in str(derivation)
    assert r"\begin{aligned}" in derivation._repr_latex_()
    assert derivation._repr_latex_().count(r"\text{assuming }\lambda  > 0") == 1
    assert derivation.conclusion == GOOD["integral"][1]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("a finite sum", r"\text{a finite sum}"),
        ("rate 2 lambda_j", r"\text{rate}\ 2 \lambda _{j}"),
        ("z = T_1 - t, with care", r"z = T_{1} - t,\ \text{with care}"),
        ("b = a/K, a <= 1", r"b = a/K, a \le  1"),
        ("order min{M, T^(1/beta)}/T", r"\text{order}\ \min \{M, T^{1/\beta }\}/T"),
        ("hard: s < 1 - 1/beta", r"\text{hard:}\ s < 1 - 1/\beta "),
        ("h -> 0: removable", r"h \to  0:\ \text{removable}"),
    ],
)
def test_a_sentence_shows_its_formulas_as_latex(words: str, expected: str) -> None:
    assert words_latex(words) == expected


def test_what_a_step_repeats_is_shown_once() -> None:
    first, second = steps()["integral"], steps()["integral"]
    text = Derivation("x", "X", (first, Step(second.before, second.after, second.rule, "again",
                                             second.justification, begins=True)))._repr_latex_()  # fmt: skip
    assert text.count(r"\int") == 1 and text.count(latex(first.after)) == 2
    same = Step(a + b, a + b, "identity", "nothing to do", Identity())
    assert Derivation("x", "X", (same,))._repr_latex_().count("a + b") == 1


def test_the_kernel_decides_signs_only_where_they_are_constant() -> None:
    assert sign(1 / beta - 1) == -1
    assert sign(a - b) == 1
    assert sign(beta - 2) is None
    assert limit_value(t ** (beta - 2), t, oo) is None
    assert limit_value(t**s + t, t, oo) is None
    assert limit_value(exp(-t) / t, t, 0 * t) is None
    assert maximum_on_half_line(t**2 * exp(t), t) is None
    with pytest.raises(ValueError, match="at 0 or oo"):
        limit_value(t, t, beta)


def test_numbers_alone_do_not_prove(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verification, "_REWRITINGS", ())
    verdict = equal((a + b) ** 2, a**2 + 2 * a * b + b**2)
    assert not verdict.proved and not verdict.refuted and verdict.method == "numeric"
    step = Step((a + b) ** 2, a**2 + 2 * a * b + b**2, "identity", "expand", Identity())
    assert not step.verify().holds
    assert len(sample_points([beta, s])) == 3
