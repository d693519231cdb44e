"""What letters stand for: each letter of a formula is defined, and a definition that is an equation is tried."""

from dataclasses import replace

import numpy as np
import pytest

from fsl_num.claims.definitions import undefined
from fsl_num.claims.equations import value_of
from fsl_num.claims.records import Verdict
from fsl_num.claims.registry import claim
from fsl_num.claims.settings import unlike_measured
from fsl_num.claims.verification import samples_of, verify
from fsl_num.claims.words import Where

W, H = np.array([[2.0, 1.0]]), np.diag([1.0, 0.25])


def defined_as(claim_id, old, new):
    """A claim of whose definitions one says something else."""
    subject = claim(claim_id)
    said = [isinstance(known, Where) and old in known for known in subject.hypotheses]
    assert any(said), old
    return replace(subject, hypotheses=tuple(
        Where(known.replace(old, new), known.measured) if changed else known
        for known, changed in zip(subject.hypotheses, said, strict=True)
    ))  # fmt: skip


@pytest.mark.parametrize(("claim_id", "old", "new", "why"), [
    ("lem:trace_analysis_appendix", "exp(-W'W H t)", "exp(-H W'W t)", "A_t is something else"),
    ("lem:trace_analysis_appendix", "(W'W H W'W)^(1/2)", "W'W H", "S is something else"),
    ("lem:bias_upper_bound/first-term", "exp(-2 t W H W')", "exp(-t W H W')", "M_t is something else"),
    ("lm:matrix_analysis", "R = H^(1/2)", "R = H", "R is something else"),
    ("lm:matrix_analysis", "exp(-t P'P)", "exp(-2 t P'P)", "E is something else"),
    ("thm: fsl-hard-regime/constants", "tr(H_M)/2", "tr(H_M)", "c is something else"),
    ("lem:trace_analysis_appendix", "eigenvalues of W H W'", "eigenvalues of H", "mu is something else"),
    ("appendix:llm_pre-training/parts", "-(2 - 1/beta)", "-(1 - 1/beta)", "K is something else"),
    ("appendix:llm_pre-training/parts", "(1 + t)^-s", "t^-s", "e is something else"),
    ("sec:intro/capacity-never-worse", "alpha is s beta", "alpha is s/beta", "alpha is something else"),
    ("critical-time", "lambda_j = j^-beta", "lambda_j = j^-(2 beta)", "lambda_j is something else"),
    ("critical-time", "lambda_j^(s-1)", "lambda_j^s", "theta_j is something else"),
    ("best-constants/limits", "ratio_label and ratio_signal", "ratio_label", "ratio_signal stands in the formula"),
])  # fmt: skip
def test_another_definition_is_noticed(claim_id, old, new, why):
    subject, sample = claim(claim_id), next(iter(samples_of(claim(claim_id), "quick", 0).values()))[0]
    assert undefined(subject) == unlike_measured(subject, sample, subject.measure(sample)) == ""
    outcome = verify(defined_as(claim_id, old, new))
    assert outcome.verdict is Verdict.UNKNOWN and why in outcome.message


def test_letters_are_those_of_the_formula_and_of_its_hypotheses():
    subject = claim("lem:trace_analysis_appendix")
    assert undefined(subject) == ""
    assert (
        undefined(replace(subject, hypotheses=("s > 0",))) == "A_t stands in the formula, and nothing says what it is"
    )
    assert "Z is defined" in undefined(replace(subject, hypotheses=(*subject.hypotheses, Where("Z is the risk"))))


@pytest.mark.parametrize(("text", "expected"), [
    ("W W'", [[5.0]]), ("t tr(H)/2", 1.25), ("W'W H", W.T @ W @ H), ("2 t - t/4", 3.5),
    ("(H^-1)^(1/2)", np.diag([1.0, 2.0])),
    ("j^-beta", 0.0625), ("-t + 1", -1.0), ("exp(-t H)", np.diag(np.exp([-2.0, -0.5]))),
    ("W the first", None), ("the roots", None), ("t +", None), ("(t", None), ("W + + t", None), ("|W|", None),
])  # fmt: skip
def test_equations_have_values(text, expected):
    value = value_of(text, {"W": W, "H": H, "t": 2.0, "j": 4.0, "beta": 2.0})
    assert value is None if expected is None else np.allclose(value, expected)
