"""What a claim measures lies where its hypotheses hold, and is not judged where it does not."""

from dataclasses import replace

import numpy as np
import pytest
from sympy import Integer, Rational, Sum

from fsl_num.claims.claim import Sample
from fsl_num.claims.hypotheses import Located, bare, violated
from fsl_num.claims.records import Verdict
from fsl_num.claims.registry import claim
from fsl_num.claims.statements import Ray
from fsl_num.claims.texts import relations_of
from fsl_num.claims.verification import verify
from fsl_num.paper.random_features.formulas import SPLIT
from fsl_sym.proof import at_least, at_most, equals, less
from fsl_sym.symbols import T1, T2, M, N, T, a, b, beta, j, p, s, t

SAMPLE = Sample("hard", Rational(1, 2), Rational(4))
KERNEL = claim("lemma:ke-power/kernel-window")


def ray(**logs):
    arrays = {name: np.asarray(values, dtype=float) for name, values in logs.items()}
    return Ray("made up", np.arange(1.0, 6.0), arrays, np.zeros(5))


@pytest.mark.parametrize(
    "text, expected",
    [
        ("s > 1 - 1/beta", ["1 - 1/beta < s"]), ("0 < b < a", ["0 < b", "b < a"]), ("N = 4M", ["N = 4*M"]),
        ("t <= 0.3 M^beta", ["t <= 3*M**beta/10"]), ("t >= 0", ["0 <= t"]), ("t = 1e24", [f"t = {10**24}"]),
        ("sigma = 0", ["sigma = 0"]), ("t > 0, any M", []), ("M = 1, 30, 1000", []),
        ("s = 0.5, beta = 4", ["s = 1/2", "beta = 4"]), ("a = 2 b (sqrt(1 + t) - 1)", ["a = 2*b*(sqrt(t + 1) - 1)"]),
        ("T and M tend to infinity", []), ("E is the least risk", []), ("M infinite", []),
    ],
)  # fmt: skip
def test_texts_are_read_as_relations(text, expected):
    assert [str(relation) for relation in relations_of(text)] == expected


@pytest.mark.parametrize(
    "hypothesis, logs, holds",
    [
        (at_least(t, 1), {"t": [0, 1, 2, 3, 4]}, True),
        (at_least(t, 1), {"t": [-0.1, 1, 2, 3, 4]}, False),
        (at_most(t, M**beta), {"t": [0, 4, 8, 12, 16], "M": [0, 1, 2, 3, 4]}, True),
        (at_most(t, M**beta), {"t": [0, 4, 8, 12, 16.1], "M": [0, 1, 2, 3, 4]}, False),
        (less(p, beta - 1), {"p": np.full(5, np.log(3.0))}, False),
        (less(p, beta - 1), {"p": np.full(5, np.log(2.9))}, True),
        ("0 < s <= 1/2", {"M": np.arange(5)}, True),
        ("s < 1/2", {"M": np.arange(5)}, False),
        ("sigma = 1", {"sigma^2": np.zeros(5)}, True),
        ("sigma = 1", {"sigma^2": np.full(5, 0.1)}, False),
        (at_least(T, 1), {"M": np.arange(5)}, False),  # no T is named: whether it holds is not known
        ("sigma the same along a ray", {"sigma^2": np.full(5, 7.0)}, True),
        ("sigma the same along a ray", {"sigma^2": np.array([7, 7, 7, 7, 7.1])}, False),
        ("sigma the same along a ray", {"M": np.arange(5)}, False),
    ],
)
def test_what_is_measured_is_held_against_the_hypotheses(hypothesis, logs, holds):
    subject = replace(KERNEL, hypotheses=(hypothesis,))
    assert (violated(subject, SAMPLE, [ray(**logs)]) == "") == holds


def test_a_ray_without_a_logarithm_hides_no_other_one():
    subject = replace(KERNEL, hypotheses=(at_least(a - b, 1),))
    equal, near = (ray(a=np.full(5, np.log(2.0)), b=np.full(5, np.log(2.0 - gap))) for gap in (0.0, 0.5))
    assert violated(subject, SAMPLE, [equal]) == ""
    assert violated(subject, SAMPLE, [equal, near]) != ""


def test_points_of_sharp_statements_count_too():
    subject = replace(KERNEL, hypotheses=(at_most(a, 1),))
    assert violated(subject, SAMPLE, {"part": [({"a": Rational(1, 2)}, 1.0)]}) == ""
    assert violated(subject, SAMPLE, {"part": [({"a": Integer(2)}, 1.0)]}) != ""


@pytest.mark.parametrize(
    "hypothesis, letters, holds",
    [
        ("M = oo", {"M": np.inf}, True), ("M = oo", {"M": 1e9}, False), ("sigma = 0", {"sigma": 0.0}, True),
        ("M = N = 128", {"M": 128, "N": 128}, True), ("M = N = 128", {"M": 128, "N": 129}, False),
        ("t <= a M", {"a": 2.0}, True), ("t <= a M", {"a": 0.5}, False),  # with letters of the ray
        ("B <= K", {"B": [1.0, 2.0], "K": [2.0, 2.0]}, True), ("B < K", {"B": [1.0, 2.0], "K": [2.0, 2.0]}, False),
        (equals(Sum(1 / (j + p), (j, 1, N)), M), {"p": 1.0, "N": [1.0, 2.0], "M": [0.5, 5 / 6]}, True),
        (equals(Sum(1 / (j + p), (j, 1, N)), M), {"p": 1.0, "N": [1.0, 2.0], "M": [0.5, 0.5]}, False),
    ],
)  # fmt: skip
def test_letters_beside_a_measurement_count_with_those_in_it(hypothesis, letters, holds):
    along = ray(t=np.arange(5.0), M=np.arange(5.0)) if "t" in str(hypothesis) else [1.0]
    subject = replace(KERNEL, hypotheses=(hypothesis,))
    assert (violated(subject, SAMPLE, Located([along], letters)) == "") == holds


def test_each_ray_of_a_list_may_have_letters_of_its_own():
    subject = replace(KERNEL, hypotheses=("N >= 2 M",))
    near, far = (Located(ray(M=np.zeros(5)), {"M": 1.0, "N": number}) for number in (2.0, np.inf))
    assert violated(subject, SAMPLE, [near, far]) == "" and all(isinstance(part, Ray) for part in bare([near, far]))
    assert violated(subject, SAMPLE, [far, Located(ray(M=np.zeros(5)), {"M": 1.0, "N": 1.9})]) != ""


def test_a_claim_measured_outside_its_hypotheses_is_not_judged():
    outcome = verify(replace(KERNEL, hypotheses=(*KERNEL.hypotheses, at_most(t, M))))
    assert outcome.verdict is Verdict.UNKNOWN and "t <= M does not hold where the claim is measured" in outcome.message


def test_own_points_of_a_measurement_take_the_place_of_the_drawn_one():
    subject = replace(KERNEL, hypotheses=(less(s, Rational(1, 3)),), own=lambda s, beta: [(s / 2, beta)])
    assert violated(subject, SAMPLE, [ray(t=np.arange(5))]) == ""


@pytest.mark.parametrize(
    ("claim_id", "measured", "stretched"),
    [
        ("batch-switch/excess", at_most(T2, T1), at_most(T2, T1**2)),
        ("optimal-batch/noise", at_least(T, 1), at_least(T, Rational(1, 1000))),
        ("vanishing-end/fast", at_least(M, 1), at_least(M, Rational(1, 100))),
        ("vanishing-end/fast", at_least(M, 1), at_least(M, Rational(1, 2))),  # an end of counts is measured itself
        ("lem:eig_ratio/corrected", at_most(SPLIT, N - 2 * M), at_most(SPLIT, N - M - 1)),
        ("vanishing-end/fast", less(p, beta - 1), at_most(p, beta - 1)),  # of values that do not vary the end is one
    ],
)
def test_a_range_that_reaches_beyond_what_is_measured_is_not_known(claim_id, measured, stretched):
    subject = claim(claim_id)
    assert measured in subject.hypotheses
    hypotheses = tuple(stretched if known == measured else known for known in subject.hypotheses)
    wider = replace(subject, hypotheses=hypotheses)
    outcome = verify(wider)  # the claim itself passes, as test_theorems holds of every claim
    assert outcome.verdict is Verdict.UNKNOWN
    assert f"{stretched} is claimed, and nothing is measured nearer to its end" in outcome.message
    # at one point that is chosen the ends of ranges need not be seen
    assert verify(wider, at=[(1, 3)]).passes


@pytest.mark.parametrize(
    ("claim_id", "power"), [("lemma:ke-power/signal-window", Rational(51, 50)), ("lemma:convolution-kernel", 3)]
)
def test_a_range_with_another_power_of_the_size_is_not_known(claim_id, power):
    """Near M = 1 both ranges end at t = 1."""
    subject = claim(claim_id)
    measured, stretched = at_most(t, M**beta), at_most(t, M ** (power * beta))
    assert measured in subject.hypotheses
    hypotheses = tuple(stretched if known == measured else known for known in subject.hypotheses)
    outcome = verify(replace(subject, hypotheses=hypotheses))
    assert outcome.verdict is Verdict.UNKNOWN and "its end is measured where it is" in outcome.message


def test_what_is_chosen_freely_is_no_range():
    (relation,) = relations_of("constraint: a <= 1")
    assert str(relation) == "a <= 1"
