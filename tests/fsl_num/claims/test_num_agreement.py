"""An order that is printed is found among the laws that are judged, and no other is."""

import dataclasses
import math

import pytest
from sympy import Integral, Max, Min, Pow, Rational, Symbol, log, oo

from fsl_num.claims.agreement import agreement, unlike
from fsl_num.claims.claim import Sample
from fsl_num.claims.formula_laws import parts_of
from fsl_num.claims.instances import holds_at, made_sides, measured_at
from fsl_num.claims.printed_values import value_of
from fsl_num.claims.proofs import unproved
from fsl_num.claims.records import Verdict
from fsl_num.claims.registry import all_claims, claim
from fsl_num.claims.statements import Joint
from fsl_num.claims.verification import samples_of, verify
from fsl_num.paper.functional.formulas import MEASURED
from fsl_num.paper.functional.laws import FAMILY
from fsl_num.paper.functional.runs import Run, records
from fsl_sym.proof import AllOf, Formula, at_most, equals, less, order_at_most, tends
from fsl_sym.proof.bound_letters import canonical
from fsl_sym.proof.formulas import all_of
from fsl_sym.symbols import T2, E, M, beta, s, sigma, t, z
from fsl_sym.values import exact

SAMPLE = Sample("hard", exact("1/3"), exact("5/2"))


def compared(subject, sample=SAMPLE):
    """What agrees, what differs and what is not compared, of a claim with its own statement."""
    return agreement(subject, sample, subject.says(sample))


@pytest.mark.parametrize("claim_id", ["thm:chinchilla", "eq:Ksigma-gap/sharp", "ass:capacity/powers-up-to-constants"])
def test_a_formula_that_is_not_judged_is_noticed(claim_id):
    subject = claim(claim_id)
    first = subject.formula.parts[0] if not isinstance(subject.formula, Formula) else subject.formula
    wrong = dataclasses.replace(first, right=first.right ** Rational(51, 50))
    judged = dataclasses.replace(subject, stated=wrong, statement=subject.says)
    assert compared(dataclasses.replace(judged, stated=first)).other == ()
    assert compared(judged).other == (wrong,)
    assert str(wrong) in unlike(judged, SAMPLE, judged.says(SAMPLE))
    outcome = verify(judged)
    assert outcome.verdict is Verdict.UNKNOWN and "no law judged is it" in outcome.message


@pytest.mark.parametrize("claim_id", ["lemma:em-gap", "lem: wsd-stable-noise", "prop:fsl-weak-upper-bound"])
def test_a_bound_that_is_printed_as_an_order_from_both_sides_is_noticed(claim_id):
    subject = claim(claim_id)
    first, *others = parts_of(subject.formula)
    equivalence = dataclasses.replace(first, relation="~")
    assert compared(subject).other == ()
    stated = AllOf((equivalence, *others)) if others else equivalence
    assert compared(dataclasses.replace(subject, stated=stated)).other == (equivalence,)


def test_an_equivalence_that_is_read_is_judged_from_both_sides():
    subject = claim("lem:bias_lower_bound")
    _, above = parts_of(subject.formula)
    equivalence = dataclasses.replace(above, relation="~")
    read = dataclasses.replace(subject.says(SAMPLE), formulas=(equivalence,))
    assert agreement(subject, SAMPLE, subject.says(SAMPLE)).same == parts_of(subject.formula)
    assert agreement(dataclasses.replace(subject, stated=equivalence), SAMPLE, read).other == (equivalence,)


def test_powers_of_one_more_than_the_time_are_compared():
    subject = claim("lemma:ke-power/infinite")
    signal, kernel = subject.formula.parts
    wrong = dataclasses.replace(signal, right=signal.right ** Rational(51, 50))
    assert compared(subject).same == (signal, kernel)
    assert compared(dataclasses.replace(subject, stated=AllOf((wrong, kernel)))).other == (wrong,)


def test_a_bound_by_a_minimum_is_one_by_each_of_its_members():
    subject = claim("lem: wsd-stable-noise")
    assert compared(subject).other == ()
    left = subject.formula.left
    for wrong in (Min(M / T2, T2 ** (1 / beta - Rational(9, 10))), M / T2 * log(T2)):
        changed = dataclasses.replace(subject, stated=order_at_most(left, wrong))
        assert compared(changed).other == (changed.formula,)


@pytest.mark.parametrize("claim_id", ["best-constants/law-below", "thm: fsl-hard-regime/constants"])
@pytest.mark.parametrize("change", ["the whole", "the integral", "the noise", "the risk"])
def test_a_constant_that_is_not_judged_is_noticed(claim_id, change):
    subject = claim(claim_id)
    assert compared(subject).other == () and compared(subject).unknown == ()
    sides = {"the whole": lambda side: Rational(95, 100) * side, "the risk": lambda side: Rational(95, 100) * side,
             "the integral": lambda side: side.replace(Integral, lambda *own: Rational(95, 100) * Integral(*own)),
             "the noise": lambda side: side.subs(sigma, Rational(11, 10) * sigma)}  # fmt: skip
    wrong = [
        dataclasses.replace(part, **{side: sides[change](getattr(part, side))})
        for part in parts_of(subject.formula)
        for side in ("left", "right") if getattr(part, side).has(E) == (change == "the risk")
    ]  # fmt: skip
    changed = dataclasses.replace(
        subject, stated=AllOf(tuple(wrong)) if len(wrong) > 1 else wrong[0], statement=subject.says
    )
    assert compared(changed).other == tuple(wrong)
    outcome = verify(changed)
    assert outcome.verdict is Verdict.UNKNOWN and "no law judged is it" in outcome.message


@pytest.mark.parametrize("place", range(7))
def test_limits_of_quotients_and_the_definitions_in_them_are_compared(place):
    subject = claim("optimal-schedule/constants-easy")
    sample = Sample("easy", exact("3/2"), exact("5/2"))
    assert compared(subject, sample).same == subject.formula.parts
    changed = subject.formula.parts[place]
    side = "left" if changed.relation == "->" else "right"
    wrong = dataclasses.replace(changed, **{side: getattr(changed, side) * Rational(21, 20)})
    parts = tuple(wrong if part == changed else part for part in subject.formula.parts)
    assert compared(dataclasses.replace(subject, stated=AllOf(parts)), sample).other


@pytest.mark.parametrize(("claim_id", "corrected"), [
    ("lem:bias_upper_bound/argument", "lem:bias_upper_bound/first-term"),
    ("sec:CLRS/cosine", "sec:CLRS/cosine/corrected"),
    ("fig:different-step-fit-lrs", "fig:different-step-fit-lrs/corrected"),
    ("appendix_rkhs/coefficients", "ass:source"),
])  # fmt: skip
def test_what_is_refuted_fails_as_it_is_printed(claim_id, corrected):
    subject = claim(claim_id)
    assert compared(subject).same and compared(subject).other == ()
    assert compared(dataclasses.replace(subject, stated=claim(corrected).formula)).other


REFUTED = [
    subject.id for subject in all_claims()
    if subject.corrected_by
    and any(part.relation in ("=", "<", "<=", "within", "->") for part in parts_of(subject.formula))
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")  # a wrong exponent may diverge
@pytest.mark.parametrize("claim_id", REFUTED)
def test_another_wrong_formula_is_not_the_one_that_is_refuted(claim_id):
    """An exponent more by 1, or another right side, is refused, though it fails as the printed one does."""
    subject = claim(claim_id)
    (sample, *_), *_ = samples_of(subject, "quick", 0).values()
    statement, parts = subject.says(sample), parts_of(subject.formula)
    assert agreement(subject, sample, statement).other == ()
    for part in parts:
        more = 1 if 0 in (part.left, part.right) else Rational(1, 20) * part.right
        wrong = [dataclasses.replace(part, right=part.right + more)]
        wrong += [
            dataclasses.replace(part, **{side: expression.xreplace({power: power.base ** (power.exp + 1)})})
            for side, expression in (("left", part.left), ("right", part.right))
            for power in expression.atoms(Pow) if power.base != beta and part.relation != "->"
        ]  # fmt: skip
        for changed in wrong:
            stated = all_of(changed if other == part else other for other in parts)
            compared = agreement(dataclasses.replace(subject, stated=stated), sample, statement)
            assert changed in (*compared.other, *compared.unknown), changed


def test_what_a_refuted_claim_mends_has_to_be_what_is_wrong_in_it():
    subject = claim("appendix_rkhs/coefficients")
    assert compared(subject).other == ()
    ((printed, right),) = subject.mends.items()
    for mends in ({}, {printed: right * Rational(21, 20)}, {right: printed}):
        changed = dataclasses.replace(subject, mends=mends, statement=subject.says)
        assert compared(changed).other == (subject.formula,)
    outcome = verify(changed)
    assert outcome.verdict is Verdict.UNKNOWN and "no law judged is it" in outcome.message


@pytest.mark.parametrize(("claim_id", "place"), [("optimal-schedule/data", 0), ("optimal-schedule/data-easy", 1)])
def test_an_identity_between_numbers_is_put_to_the_test(claim_id, place):
    subject = claim(claim_id)
    sample = Sample("easy", exact("3/2"), exact("5/2"))
    identity = subject.formula.parts[place]
    assert identity.relation == "=" and identity in compared(subject, sample).same
    wrong = dataclasses.replace(identity, right=identity.right * Rational(101, 100))
    assert compared(dataclasses.replace(subject, stated=wrong), sample).other == (wrong,)
    tied = dataclasses.replace(subject, stated=wrong, hypotheses=(equals(max(identity.left.free_symbols, key=str), 2),))
    assert compared(tied, sample).other == ()  # it might hold where its letters are tied


def test_what_has_no_law_is_not_compared():
    subject = claim("thm: fsl-general-noise/all-times")
    assert agreement(dataclasses.replace(subject, stated=claim("thm:chinchilla").formula), SAMPLE, Joint({})).same == ()


READ = [
    subject.id for subject in all_claims()
    if subject.statement is not None and (
        (subject.instances is not None and subject.corrected_by is None) or subject.family == FAMILY
        or subject.id.startswith(("prop:volterra-random", "lemma:em-gap", "lem: random_eigen/corrected"))
        or subject.id in {"cor: contraction/sharp", "best-constants", "sec: proof_sketch/contraction-constant",
                          "thm:volterra-topm", "sub:the_kernel_teacher_student_setup/nothing-fitted"})
]  # fmt: skip


@pytest.mark.parametrize("claim_id", READ)
def test_a_formula_that_is_read_or_put_to_the_test_is_no_other_one(claim_id):
    """With 5 % more on its right side, whatever it holds: sums, integrals, matrices."""
    subject = claim(claim_id)
    (sample, *_), *_ = samples_of(subject, "quick", 0).values()
    statement, parts = subject.says(sample), parts_of(subject.formula)
    kept = agreement(subject, sample, statement)
    assert kept.same and (kept.other == () or subject.judged_by or subject.corrected_by)
    for part in kept.same:
        wrong = dataclasses.replace(part, right=Rational(21, 20) * part.right)
        if wrong.relation in ("~", "<~"):  # constants are left open
            wrong = dataclasses.replace(part, right=M * part.right)
        if part.relation == "within":
            wrong = dataclasses.replace(part, right=2 * part.right)
        if wrong == part:  # it is 0
            continue
        stated = [wrong if other == part else other for other in parts]
        changed = dataclasses.replace(subject, stated=AllOf(tuple(stated)) if len(stated) > 1 else wrong)
        assert wrong not in agreement(changed, sample, statement).same


def without_instances(subject):
    """A claim that gives none."""
    return dataclasses.replace(subject, instances=None, statement=subject.says)


@pytest.mark.parametrize("claim_id", [
    "eqn: sgd2", "eq:risk-recursion", "cor: contraction", "eq:Ke-gap/sharp", "lem:eig_ratio/corrected", "ass:capacity",
    "sub:the_kernel_teacher_student_setup/fit/corrected", "sec: effect-lrs/after-k-steps", "lem:T_estimate",
])  # fmt: skip
def test_a_part_of_a_formula_that_nothing_compares_is_refused(claim_id):
    subject = claim(claim_id)
    (sample, *_), *_ = samples_of(subject, "quick", 0).values()
    assert unlike(subject, sample, subject.says(sample)) == ""
    bare = without_instances(subject)
    assert "nothing measured is compared with it" in unlike(bare, sample, bare.says(sample))
    assert claim_id != "eqn: sgd2" or verify(bare).verdict is Verdict.UNKNOWN


def test_a_theorem_needs_no_numbers():
    subject = claim("vanishing-end/saturation")
    (sample, *_), *_ = samples_of(subject, "quick", 0).values()
    assert compared(subject, sample).unknown and unlike(subject, sample, subject.says(sample)) == ""
    alone = dataclasses.replace(subject, derive=None)
    assert "nothing measured is compared with it" in unlike(alone, sample, alone.says(sample))


@pytest.mark.parametrize("claim_id", [
    "lemma:convolution-kernel", "lemma:convolution-kernel/attained", "cor: contraction", "eq:Ke-gap/sharp",
    "sec: experiments/own-setting", "lem:bias_lower_bound/argument", "eq:numerical_LRD_form",
    "thm:fsl-zero-noise/zero-difficulty", "cor: contraction/longer",
])  # fmt: skip
def test_the_sides_of_an_order_are_what_is_measured(claim_id):
    """A side of 2 % more than is measured, where both the formula and what it names as its side say so."""
    subject = claim(claim_id)
    (sample, *_), *_ = samples_of(subject, "quick", 0).values()
    order = parts_of(subject.formula)[0]
    (instance, *_) = subject.put_in(sample)
    named = {canonical(part) for part in instance if part.args}
    sides = [side for side in (order.left, order.right) if side in named]
    assert sides and order in compared(subject, sample).same
    for side in sides:
        wrong = dataclasses.replace(order, **{"left" if side == order.left else "right": Rational(51, 50) * side})

        def renamed(sample, side=side):
            return [{Rational(51, 50) * side if part.args and canonical(part) == side else part: value
                     for part, value in values.items()} for values in subject.instances(sample)]  # fmt: skip

        changed = dataclasses.replace(subject, stated=wrong, instances=renamed)
        assert wrong in compared(changed, sample).other


@pytest.mark.parametrize("claim_id", [
    subject.id for subject in all_claims()
    if any(part.relation in ("~", "<~") and part.left in made_sides(part) for part in parts_of(subject.formula))
])  # fmt: skip
def test_the_sum_of_which_an_order_is_said_is_measured(claim_id):
    subject = claim(claim_id)
    (sample, *_), *_ = samples_of(subject, "quick", 0).values()
    orders = [
        part for part in parts_of(subject.formula) if part.relation in ("~", "<~") and part.left in made_sides(part)
    ]
    measured = all(measured_at(part, subject.put_in(sample)) for part in orders)
    assert measured or unproved(subject) == ""


@pytest.mark.parametrize("claim_id", [
    "assump: task-difficulty", "thm: fsl-general-noise", "thm: fsl-hard-regime/noise-limit",
    "thm: fsl-hard-regime/any-noise", "eq:Ke-gap", "eq:Ksigma-gap", "weight-decay/forgetting",
])  # fmt: skip
@pytest.mark.parametrize("change", ["the end", "the times", "the rate", "the kernel's time"])
def test_an_integral_over_any_rate_is_the_one_that_is_measured(claim_id, change):
    """Another integral is refused, even where what is measured is said to be its value."""
    subject = claim(claim_id)
    (sample, *_), *_ = samples_of(subject, "quick", 0).values()
    wrong = {
        "the end": lambda inside, x, start, end: Integral(inside, (x, start, end / 2 if end != oo else 2 * start)),
        "the times": lambda inside, x, start, end: Integral(inside.subs(x, x / 2), (x, start, end)),
        "the rate": lambda inside, x, start, end: Integral(
            inside.replace(lambda part: part.func.__name__ == ("gamma" if end == t else "exp"),
                           lambda part: part.func(end - x) if end == t else part**2), (x, start, end)),
        "the kernel's time": lambda inside, x, start, end: Integral(
            inside.subs(t - x, t / 2) if end == t else inside.subs(x, 2 * x - start), (x, start, end)),
    }[change]  # fmt: skip
    orders = [part for part in parts_of(subject.formula) if part.left in made_sides(part)]
    for order in orders:
        left = order.left.replace(Integral, lambda inside, limits: wrong(inside, *limits))
        changed = dataclasses.replace(order, left=left)
        renamed = [{changed.left if getattr(part, "args", ()) and canonical(part) == order.left else part: value
                    for part, value in values.items()} for values in subject.put_in(sample)]  # fmt: skip
        assert changed != order and measured_at(order, subject.put_in(sample))
        assert measured_at(changed, renamed) is False
        stated = [changed if part == order else part for part in parts_of(subject.formula)]
        assert changed not in compared(dataclasses.replace(subject, stated=all_of(stated)), sample).same


@pytest.mark.parametrize(
    "subject", [subject for subject in all_claims() if subject.judged_by], ids=lambda known: known.id
)
def test_only_a_theorem_is_judged_by_another_law(subject):
    assert unproved(subject) == ""


def test_limits_are_approached():
    n = Symbol("n", positive=True)
    path = [{n: 10.0**power} for power in (1, 3)]
    assert holds_at(tends(1 + 1 / n, n, oo, 1), path) and holds_at(tends(1 / n, n, oo, 0), path)
    assert holds_at(tends(1 + 1 / n, n, oo, 2), path) is False and holds_at(tends(1 / log(n), n, oo, 0), path) is False


def test_what_is_less_is_not_equal():
    assert holds_at(less(M, 2 * M), [{M: 1.0}]) and holds_at(less(M, 2 * M), [{M: 0.0}]) is False


def test_what_has_no_value_agrees_with_nothing():
    assert holds_at(equals(M, 2 * M / 2), [{M: 3.0}])
    assert holds_at(equals(M, 2 * M), [{M: math.nan}]) is False
    assert holds_at(at_most(M, 2 * M), [{M: 0.0}, {M: math.nan}]) is False


INJECTED = 5e-3
"""Of noise that is injected at the middles of cells: 2e-3 at M = 4."""


@pytest.mark.parametrize(("size", "horizon"), [(4.0, 1.0), (6.0, 0.5)])
def test_the_terms_of_the_functional_law_are_what_their_names_are_measured_as(size, horizon):
    """By zeta functions and a Gauss rule, from the expression alone."""
    run = Run("constant", 0.7)
    (recorded,) = records(0.5, 2.0, size, horizon, [run])
    rate = math.exp(recorded["gamma"])
    letters = {M: size, t: horizon, s: 0.5, beta: 2.0, sigma: math.sqrt(0.7)}
    terms = {term: name for term, name in MEASURED.items() if not term.has(1 + t, 1 + t - z) and name != "delta"}
    assert len(terms) == 7
    for term, name in terms.items():
        assert value_of(term, letters, rate) == pytest.approx(math.exp(recorded[name]), rel=INJECTED), name


def test_a_statement_that_is_made_of_the_formula_needs_no_comparison():
    made = claim("weight-decay/forgetting")
    alone = dataclasses.replace(made, instances=None)
    assert made.statement is None and compared(alone).same == () and compared(made).same == (made.formula,)


@pytest.mark.parametrize(
    ("name", "place", "change"),
    [
        ("sec: proof_sketch/neumann", 0, lambda order: order**2),
        ("thm: fsl-random/spread", 0, lambda order: order**2),
        ("vanishing-end/resonance", 0, lambda order: order.replace(Min, Max)),
        ("cor: contraction/longer", 0, lambda order: order.subs(M ** (-2 * beta), M**-beta)),
    ],
)
def test_the_printed_order_is_the_one_that_is_judged(name, place, change):
    """Of quotients, of trends, of a power that a hypothesis fixes, and where one term seldom decides."""
    subject = claim(name)
    samples = [sample for samples_of_regime in samples_of(subject, "quick", 0).values() for sample in samples_of_regime]
    parts = list(parts_of(subject.formula))
    assert not any(unlike(subject, sample, subject.says(sample)) for sample in samples)
    parts[place] = dataclasses.replace(parts[place], right=change(parts[place].right))
    stated = AllOf(tuple(parts)) if len(parts) > 1 else parts[0]
    changed = dataclasses.replace(subject, stated=stated)
    assert any(unlike(changed, sample, changed.says(sample)) for sample in samples)
