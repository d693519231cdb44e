"""What letters stand for: each letter of a formula is defined, and a definition that is an equation is tried."""

from dataclasses import replace

import numpy as np
import pytest

from fsl_num.claims.definitions import BARE, tried, undefined, untried
from fsl_num.claims.equations import value_of
from fsl_num.claims.records import Verdict
from fsl_num.claims.registry import all_claims, claim
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
    ("lem:spd_matrix_trace", "V = U^(1/2)", "X = U^(1/2)", "X is defined, and is no letter of the claim"),
    ("eqn: pop-risk", "the variance of epsilon", "the deviation of epsilon", "nothing measured is compared with it"),
    ("ass:source/one-order", "f is the target", "f is a target", "nothing measured is compared with it"),
])  # fmt: skip
def test_another_definition_is_noticed(claim_id, old, new, why):
    subject, sample = claim(claim_id), next(iter(samples_of(claim(claim_id), "quick", 0).values()))[0]
    assert undefined(subject) == unlike_measured(subject, sample, subject.measure(sample)) == ""
    outcome = verify(defined_as(claim_id, old, new))
    assert outcome.verdict is Verdict.UNKNOWN and why in outcome.message


@pytest.mark.parametrize(("claim_id", "old", "new"), [
    ("lem:eig_concentration_appendix", "v^(1/2) times", "v times"),
    ("lem: random_eigen", "v^(1/2) times", "v^(1/2) (1/3) times"),
    ("thm: fsl-random", "gamma tr(W H W')", "gamma tr(H)"),
    ("thm: fsl-random", "K(t) is the sum over j <= M of mu_j^2", "K(t) is the sum over j <= M of lambda_j^2"),
    ("thm: fsl-random", "the sum over j <= M of mu_j theta_j^2", "the sum over j <= M of mu_j theta_j"),
    ("thm: fsl-random/corrected", "sum over j <= N of lambda_j", "sum over j <= 3 of lambda_j"),
    ("thm: fsl-random/corrected", "theta_i^2)/M", "theta_i^2)"),
    ("prop:volterra-random/forcing", "u_0' A_t' H A_t u_0", "u_0' A_t H A_t' u_0"),
    ("appendix:proof_random/recursion", "W'W H W'W", "W'W"),
    ("lem:bias_lower_bound/argument", "W H u_0 u_0' H W'", "W u_0 u_0' W'"),
    ("lem:bias_lower_bound/averaged", "(I - Pi)", "Pi"),
    ("lem:eig_ratio", "A_k = W_k:oo H_k:oo W_k:oo'", "A_k = W_k:oo W_k:oo'"),
    ("lem:T_estimate/first-columns", "D = C^-1", "D = C"),
    ("thm: fsl-random/signs", "S W'W S", "W'W"),
    ("thm: fsl-random/easier-tasks", "R_top is (the sum over j <= N", "R_top is (the sum over j <= M"),
    ("eqn: pop-risk", "sigma^2 is", "sigma is"),
    ("thm:fsl-zero-noise", "delta_M of infinitely many features", "delta_M of N features"),
    ("best-constants", "rho_- and rho_+ are 1", "rho_- and rho_+ are 2"),
    ("best-constants", "K_M(u - z) R(z)", "K_M(u - z)"),
    ("best-constants/limits", "ratio_signal(t) is 2", "ratio_signal(t) is"),
    ("best-constants/limits", "c is gamma tr(H)/2", "c is gamma tr(H)"),
    ("ineq: inf_sum", "f(t) is 2", "f(t) is"),
    ("thm:volterra-topm", "c is gamma tr(H)", "c is gamma tr(H)/2"),
    ("lemma: noise-covariance", "u' H u/2", "u' H u"),
    ("lemma: noise-covariance", "rho_- is the least", "rho_- is the largest"),
    ("lem:4th_moment_estim/indefinite", "p_A is the sum of the positive part of", "p_A is the sum of"),
    ("eqn: sgd/second-moments", "E[phi_j^4]/lambda_j^2", "E[phi_j^4]/lambda_j"),
    ("eq:risk-recursion", "A(t) = exp(-t W'W H)", "A(t) = exp(-2 t W'W H)"),
    ("eq:risk-recursion", "W' (the mean of Sigma at z) W", "(the mean of Sigma at z)"),
    ("ass:fsl", "the least of the rates", "the largest of the rates"),
    ("assump: task-difficulty", "B gamma(z)", "gamma(z)"),
    ("sec: effect-lrs/after-k-steps", "+ sigma^2)/2", ")/2"),
    ("ass:capacity/powers-up-to-constants", "(1 - z/t)", "z/t"),
    ("eq:numerical_const_term", "sigma^2 + e(t)", "sigma + e(t)"),
    ("appendix:llm_pre-training/discretisation", "G(i - 1)", "G(i)"),
    ("appendix:llm_pre-training/kernel-integral", "x is T(k) - T(i)", "x is T(k)"),
    ("appendix:llm_pre-training/signal-at-the-drop", "t_i = 1 + T(i)", "t_i = T(i)"),
    ("eqn: fsl-ansatz/accuracy", "T(i - 1) < t < T(i)", "T(i) < t < T(i + 1)"),
    ("eqn: fsl-ansatz/accuracy", "T(i) is T(i - 1) + eta(i)", "T(i) is T(i - 1) + eta(i - 1)"),
    ("eqn: fsl-ansatz/nearly-multi-power", "LD is the reduction of the Multi-Power Law", "LD is the Momentum Law"),
    ("eqn: FSL-optimization/power-decay", "the noise of a (1 - tau/K)^p", "the noise of (1 - tau/K)^p"),
    ("eqn: FSL-optimization/closed-form", "T^-s + ", "T^-(2 s) + "),
    ("eqn: FSL-optimization/regimes", "eta(K) is the last", "eta(K) is the largest"),
    ("eqn: FSL-optimization/unbounded", "eta_0 = 1", "eta_0 = r"),
    ("optimal-schedule/data-easy", "T is the sum of", "T is the largest of"),
    ("optimal-schedule/constants-easy", "E is the least of", "E is the largest of"),
    ("optimal-schedule/constants-hard", "b is the last of", "b is the least of 2"),
    ("eqn: fsl-simplified", "K_M(t - r)", "K_M(r)"),
    ("momentum/kernel", "lambda/2 times", "lambda times"),
    ("sec: experiments/own-setting", "c is gamma_max/2", "c is gamma_max"),
    ("appendix:experiment_details/peak-rate", "the end of WSD", "the end of exponential decay"),
    ("critical-time", "with s > 0", "with s > 9"),
])  # fmt: skip
def test_a_wrong_definition_is_something_else_or_compared_with_nothing(claim_id, old, new):
    subject, sample = defined_as(claim_id, old, new), next(iter(samples_of(claim(claim_id), "quick", 0).values()))[0]
    outcome = tried(subject, sample, subject.put_in(sample))
    right = {known.text for where in claim(claim_id).hypotheses if isinstance(where, Where) for known in where.defined}
    assert False in outcome.values() or untried(subject, sample)
    assert True not in [holds for known, holds in outcome.items() if known.text not in right]


def test_all_but_bare_names_are_tried():
    definitions = {known.text for subject in all_claims() for where in subject.hypotheses if isinstance(where, Where)
                   for known in where.defined}  # fmt: skip
    assert definitions >= set(BARE)
    subject = claim("eqn: sgd2")
    sample = next(iter(samples_of(subject, "quick", 0).values()))[0]
    outcome = tried(subject, sample, subject.put_in(sample))
    assert {known.text for known, holds in outcome.items() if holds is None} <= set(BARE)
    assert untried(subject, sample) == ""


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
    ("f(2, t) - 1", 5.0), ("2 (the squared weight)/t", 4.0), ("2 times t", 4.0), ("the largest of x + 1", 4.0),
    ("the sum over i <= 2 of x", 4.0), ("the sum over i <= t of x i", 7.0), ("the sum over i <= 4 of x", None),
    ("the integral over z from 0 to t of 3 z^2", 8.0), ("the integral over z from 1 to 2 of f(z, t)", 5.5),
    ("the last of x", 2.0), ("the eigenvalues of H", [1.0, 0.25]), ("the inverse of H", np.diag([1.0, 4.0])),
    ("f", None), ("f(2", None), ("the integral of z", None), ("the squared weights", None),
    ("W the first", None), ("the roots", None), ("t +", None), ("(t", None), ("W + + t", None), ("|W|", None),
])  # fmt: skip
def test_equations_have_values(text, expected):
    known = {"W": W, "H": H, "t": 2.0, "j": 4.0, "beta": 2.0, "the squared weight": 4.0, "f": lambda x, y: x + 2.0 * y}
    value = value_of(text, {**known, "x": np.array([1.0, 3.0, 2.0]), "i": np.array([1, 2, 3])})
    assert value is None if expected is None else np.allclose(value, expected)
