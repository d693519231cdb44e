"""What a statement is read from is compared whole: both sides of a formula, and the error between them."""

import dataclasses

import pytest
from sympy import Expr, Integer, Piecewise

from fsl_num.claims.agreement import unlike
from fsl_num.claims.claim import Sample
from fsl_num.claims.formula_laws import parts_of
from fsl_num.claims.instances import holds_at
from fsl_num.claims.records import Verdict
from fsl_num.claims.registry import claim
from fsl_num.claims.verification import samples_of, verify
from fsl_sym.proof import within
from fsl_sym.proof.formulas import all_of
from fsl_sym.symbols import M, N, t
from fsl_sym.values import exact

SAMPLE = Sample("hard", exact("1/3"), exact("5/2"))


def with_other_last(subject, **changed):
    """A claim the last part of whose formula says another thing."""
    *others, last = parts_of(subject.formula)
    return dataclasses.replace(subject, stated=all_of((*others, dataclasses.replace(last, **changed))))


@pytest.mark.parametrize("claim_id", [
    "exp-decay/I1-sharp", "lemma:convolution-kernel/mass", "lemma: N-exp-decay", "lemma:ke-power/signal-sharp",
    "batch-and-rate/steps", "momentum/kernel", "optimal-schedule/shape",
])  # fmt: skip
def test_what_is_read_of_one_side_says_nothing_of_the_other(claim_id):
    subject = claim(claim_id)
    (sample, *_), *_ = samples_of(subject, "quick", 0).values()
    changed = with_other_last(subject, left=2 * parts_of(subject.formula)[-1].left)
    assert not unlike(subject, sample, subject.says(sample)) and unlike(changed, sample, changed.says(sample))


def test_what_is_read_of_two_sides_says_nothing_of_the_error_between_them():
    subject = claim("lemma:ke-power/crossover")
    changed = with_other_last(subject, error=subject.formula.error / t)
    assert "nothing measured is compared with it" in unlike(changed, SAMPLE, changed.says(SAMPLE))


def test_where_a_stage_of_a_schedule_ends_is_compared():
    subject = claim("sec:CLRS/8-1-1")
    (first, until), *stages = subject.formula.right.args
    earlier = Piecewise((first, until.lhs < until.rhs), *stages)
    assert verify(with_other_last(subject, right=earlier)).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("claim_id", [
    "cor: contraction/sharp", "best-constants", "thm:volterra-topm",
    "sub:the_kernel_teacher_student_setup/average", "sub:the_kernel_teacher_student_setup/nothing-fitted",
])  # fmt: skip
def test_what_a_bound_or_a_limit_that_is_read_is_made_of_is_measured(claim_id):
    subject = claim(claim_id)
    (sample, *_), *_ = samples_of(subject, "quick", 0).values()
    instances = subject.instances(sample)
    off = [{part: 1.01 * value if isinstance(part, Expr) and part.args else value for part, value in known.items()}
           for known in instances]  # fmt: skip
    for given, why in ((instances, ""), (off, "no law judged is it"), ([], "nothing measured is compared with it")):
        changed = dataclasses.replace(subject, instances=lambda sample, given=given: given)
        assert why in unlike(changed, sample, changed.says(sample))
    assert not unlike(subject, sample, subject.says(sample))


def test_an_error_is_one_of_its_own_size_however_large_the_sides_are():
    known = [{M: 1e7, N: 1e7 + 2.0}]
    assert holds_at(within(M, N, Integer(2)), known) and not holds_at(within(M, N, Integer(1)), known)
