"""Hypotheses in words: what they say is what is measured."""

import re
from dataclasses import replace

import numpy as np
import pytest
from sympy import Function, Integer, Rational, Symbol

from fsl_num.claims.claim import Sample
from fsl_num.claims.hypotheses import Located
from fsl_num.claims.outside import contradiction, unmeasured_end
from fsl_num.claims.ranges import Reached
from fsl_num.claims.records import Verdict
from fsl_num.claims.registry import all_claims, claim
from fsl_num.claims.settings import contradicted, unlike_measured, unmeasured
from fsl_num.claims.texts import lists_of
from fsl_num.claims.verification import samples_of, verify
from fsl_num.claims.words import Assumed, Where
from fsl_num.paper.hypotheses import FEATURES
from fsl_sym.ansatz import drop, rate
from fsl_sym.proof import Property, at_most, equals, less
from fsl_sym.symbols import C, M, N, beta, j, s

SAMPLE = Sample("easy", Integer(1), Integer(2))
ALLOWED = at_most(Function("lambda")(j), C * j**-beta)


def exchanged(subject, old, *new):
    """A claim with others in the place of one of its hypotheses."""
    kept = [known for known in subject.hypotheses if str(known) != old]
    assert len(kept) < len(subject.hypotheses), old
    return replace(subject, hypotheses=(*kept, *new))


@pytest.mark.parametrize(("text", "quantities", "values"), [
    ("M = 2, 8, 24", ["M"], [["2", "8", "24"]]), ("N = 3 and 4, M = 2", ["N", "M"], [["3", "4"], ["2"]]),
    ("kappa' = 0 and 0.4", ["kappa'"], [["0", "2/5"]]), ("K = 10, 130 and 33,900", ["K"], [["10", "130", "33900"]]),
    ("M = oo", [], []), ("many draws", [], []), ("E = the risk", [], []),
])  # fmt: skip
def test_lists_of_values_are_read(text, quantities, values):
    lists = lists_of(text)
    assert [str(listed.quantity) for listed in lists] == quantities
    assert [list(map(str, listed.values)) for listed in lists] == values


@pytest.mark.parametrize("words", [
    "any W", "t <= M^beta (up to 1)", "s > 0, any M", "gamma constant", "all t >= 0", "sigma of order 1, roughly",
])  # fmt: skip
def test_words_that_nothing_compares_are_refused(words):
    with pytest.raises(ValueError, match=f"assumes '{re.escape(words)}', and nothing measured is compared with words"):
        replace(claim("critical-time"), hypotheses=(words,))


@pytest.mark.parametrize(
    "words", ["E the excess risk", "E is the risk; of labels alone", "the law is that of E", "E stands for F"]
)
def test_a_definition_names_its_letters(words):
    with pytest.raises(ValueError, match="defines no letters: write 'E is the excess risk; R = H"):
        Where(words)


def test_what_no_number_shows_is_assumed_with_its_reason():
    texts = {assumed: assumed.why for subject in all_claims() for assumed in subject.assumed}
    assert len(texts) == 2 and all(texts.values())


@pytest.mark.parametrize(("claim_id", "said", "changed", "why"), [
    ("ass:fsl", "M = 2, 8 and 24", ("M = 2, 8, 25",), "measured is M = 24"),
    ("ass:fsl", "M = 2, 8 and 24", ("M = 2, 8, 24, 30",), "nothing is measured at 30"),
    ("ass:fsl", "M = 2, 8 and 24", (Assumed("many M", "a limit"),), ""),
    ("ass:fsl", "normal features", (), "no hypothesis says so"),
    ("ass:fsl", "normal features", (FEATURES("gaussian", "uniform"),), "nothing is measured at uniform"),
    ("lem:4th_moment_estim/indefinite", "normal features", (FEATURES("uniform"),), "measured is gaussian"),
    ("eqn: sgd2", "independent samples", (), "no hypothesis says so"),
    ("sec:CLRS/cosine/corrected", "rho = 0.1", ("rho = 0.2",), "rho = 0.1"),
    ("thm:geometric/data-unique", "sigma^2 of order 1", ("N of order 1",), "N of order 1 is assumed"),
])  # fmt: skip
def test_other_words_than_what_is_measured_are_not_known(claim_id, said, changed, why):
    subject = claim(claim_id)
    outcome = verify(exchanged(subject, said, *changed))
    assert (outcome.verdict is Verdict.UNKNOWN and why in outcome.message) or (not why and outcome.passes)


def test_a_property_of_a_matrix_is_tried_where_the_claim_is_measured():
    subject = claim("lem:4th_moment_estim")
    positive = Property("A", "positive semidefinite")
    assert positive in subject.hypotheses and verify(subject).passes
    wider = verify(exchanged(subject, str(positive), Property("A", "symmetric")))
    assert wider.verdict is Verdict.REFUTED and "fails though its hypotheses hold" in wider.message
    indefinite = claim("lem:4th_moment_estim/indefinite")
    narrowed = replace(indefinite, hypotheses=(*indefinite.hypotheses, positive))
    assert contradicted(narrowed, SAMPLE, narrowed.measure(SAMPLE)) == ("A is positive semidefinite",)
    unnamed = replace(subject, instances=None)
    assert str(positive) in unlike_measured(unnamed, SAMPLE, subject.measure(SAMPLE))


@pytest.mark.parametrize(("words", "matrix", "holds"), [
    ("symmetric", [[1.0, 2.0], [2.0, -1.0]], True), ("symmetric", [[1.0, 2.0], [2.1, 1.0]], False),
    ("positive semidefinite", [[1.0, 1.0], [1.0, 1.0]], True), ("of full rank", [[1.0, 1.0], [1.0, 1.0]], False),
    ("positive semidefinite", [[1.0, 2.0], [2.0, 1.0]], False), ("of full rank", [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]],
     True),
    ("diagonal", [[1.0, 0.0], [0.0, 2.0]], True), ("diagonal", [[1.0, 0.1], [0.0, 2.0]], False),
])  # fmt: skip
def test_properties_of_matrices(words, matrix, holds):
    subject = replace(claim("critical-time"), hypotheses=(Property("A", words),), instances=None)
    assert (unlike_measured(subject, SAMPLE, Located([], {"A": [np.array(matrix)]})) == "") is holds


@pytest.mark.parametrize(("claim_id", "said", "wrong"), [
    ("sub:empirical_fitting_of_llm_pre_training_loss_trajectory/momentum",
     equals(drop(j), rate(j - 1) - rate(j)), equals(drop(j), rate(j) - rate(j + 1))),
    ("ass:capacity", ALLOWED, replace(ALLOWED, right=Rational(21, 20) * ALLOWED.right)),
])  # fmt: skip
def test_what_is_said_of_a_function_is_compared_whatever_its_index(claim_id, said, wrong):
    """An equation holds; a bound does, and is attained."""
    changed = exchanged(claim(claim_id), str(said), wrong)
    outcome = verify(changed)
    assert outcome.verdict is Verdict.UNKNOWN and f"{wrong} is assumed, and is another" in outcome.message


def test_an_end_of_a_range_of_s_that_belongs_to_it_is_measured():
    subject = claim("lem:bias_upper_bound/corrected")
    samples = [sample for every in samples_of(subject, "quick", 0).values() for sample in every]
    assert unmeasured_end(subject, samples) == ""
    stretched = exchanged(subject, "s < 1", at_most(s, 1))
    assert unmeasured_end(stretched, samples) == "s <= 1 is claimed, and nothing is measured at its end"


def test_a_value_that_is_never_measured_is_missing():
    subject = replace(claim("ass:fsl"), hypotheses=("M = 2, 3",))
    reached = Reached()
    assert unlike_measured(subject, SAMPLE, Located([], {"M": 2.0}), reached) == ""
    assert unmeasured(subject, reached) == "M = 2 and 3 is said, and nothing is measured at 3"


@pytest.mark.parametrize(("claim_id", "said", "wider"), [
    ("lem:eig_ratio/corrected", "k <= -2*M + N", at_most(Symbol("k", positive=True), N - M)),
    ("appendix:llm_pre-training/kernel-of-the-model", "x_1 <= 1", less(0, Symbol("x_1", positive=True))),
    ("eqn: FSL-optimization/power-decay", "beta - 1 < p", less(0, Symbol("p", positive=True))),
])  # fmt: skip
def test_a_wider_range_is_contradicted_by_what_is_measured_beyond(claim_id, said, wider):
    subject = claim(claim_id)
    assert contradiction(subject, brief=True) == ""
    assert contradiction(exchanged(subject, said, wider), brief=True) != ""


def test_a_phase_is_measured_in_the_range_that_it_says():
    """Its tasks lie inside of the range, away from its ends."""
    subject = claim("feature-phases/III")
    assert [point[0] for point in subject.own(Rational(1), Integer(2))] == [Integer(2), Rational(5, 2)]
    assert all(point[0] > 2 - 1 / point[1] for point in subject.own(Rational(1), Rational(7, 2)))
    assert beta not in subject.values
