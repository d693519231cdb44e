"""Every claim holds, and rejects its wrong versions, at points (s, beta) that hypothesis draws from its hypotheses.

Claims that the paper has wrong are not drawn: those that correct them are. In CI each claim is tried at a few points,
the same every day, on a desk every fourth of the quick ones; HYPOTHESIS_PROFILE=nightly tries many and others each
time, and may find a point at which the rays of a true claim are too short to show it: that is to be mended in the
claim's measurement, or in its hypotheses.
"""

import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from paper_strategies import points, seeds
from sympy import Rational

from fsl_num.claims.registry import all_claims, claim
from fsl_num.claims.verification import verify_at

SLOW = frozenset(
    {
        "appendix:experiment_details/peak-rate-derived",
        "appendix:proof_random/recursion",
        "ass:fsl/threshold",
        "cyclic/allocation",
        "cyclic/law",
        "eqn: fsl-simplified",
        "eqn:fsl-intro",
        "inverse-sqrt/allocation",
        "lem: random_eigen/corrected",
        "lem:T_estimate/corrected",
        "lem:bias_upper_bound/corrected",
        "lem:eig_ratio/corrected",
        "multi-step/allocation",
        "multi-step/law",
        "own-schedule/law",
        "prop:fsl-weak-upper-bound",
        "prop:volterra-random/corrected",
        "sec: effect-lrs/constant-rate-capacity",
        "sec: effect-lrs/data-over-model-derived",
        "sec: effect-lrs/decay-beats-constant",
        "sec: effect-lrs/easy-no-gain",
        "sec: effect-lrs/hard-gain",
        "sec: effect-lrs/vanishing-decay-phase",
        "sec: effect-lrs/wsd-beats-decay",
        "sec: experiments/own-setting",
        "sec:intro/capacity-never-worse",
        "tab: optimal-scaling",
        "thm: fsl-general-noise",
        "thm: fsl-general-noise/all-times",
        "thm: fsl-hard-regime/corrected",
        "thm: fsl-hard-regime/fixed-noise",
        "thm: fsl-hard-regime/random-features",
        "thm: fsl-random/corrected",
        "thm: wsd",
        "thm: wsd/compute-derived",
        "thm: wsd/data-derived",
        "thm:fsl-const-noise",
        "thm:fsl-const-noise/any-noise",
        "thm:geometric/compute-derived",
        "thm:geometric/final-rate-compute",
        "thm:geometric/final-rate-data",
        "vanishing-end/compute",
        "vanishing-end/data",
        "vanishing-end/law-fast",
        "vanishing-end/law-slow",
        "vanishing-end/saturation",
        "vanishing-end/sharp",
    }
)
"""Claims whose measurement at one point took half a second or more: tried at fewer points."""

HELD = [claim for claim in all_claims() if claim.corrected_by is None]
QUICK = [claim for claim in HELD if claim.id not in SLOW]


def tried(number):
    """Settings of a property of claims: drawn anew by night only."""
    chosen = examples(number)
    return chosen if settings.default is settings.get_profile("nightly") else settings(chosen, derandomize=True)


def parameters_of(claims, on_a_desk):
    """Under the dev profile only those ``on_a_desk``: tests/test_theorems.py measures every claim in every regime."""
    return [
        pytest.param(claim.id, id="".join(claim.id.split()), marks=() if claim in on_a_desk else pytest.mark.slow)
        for claim in claims
    ]


def check(claim_id, data):
    (s, beta), seed = data.draw(points(claim(claim_id)), "(s, beta)"), data.draw(seeds, "seed")
    check_at(claim_id, s, beta, seed)


def check_at(claim_id, s, beta, seed):
    subject = claim(claim_id)
    again = f"to see it again: fsl verify '{claim_id}' --at {s},{beta} --seed {seed}"
    checked = verify_at(subject, s, beta, seed=seed)
    assert checked.holds, f"the claim fails, {checked.detail}; {again}"
    assert checked.mutants, f"nothing wrong was tried; {again}"
    accepted = [mutant.name for mutant in checked.mutants if not (mutant.refuted or mutant.excuse)]
    assert not accepted, f"wrong versions pass: {accepted}; {again}"


@pytest.mark.parametrize("claim_id", parameters_of(QUICK, on_a_desk=QUICK[::4]))
@tried(2)
@given(data=st.data())
def test_a_claim_holds_where_its_hypotheses_do(claim_id, data):
    check(claim_id, data)


@pytest.mark.parametrize("claim_id", parameters_of([claim for claim in HELD if claim.id in SLOW], on_a_desk=[]))
@tried(1)
@given(data=st.data())
def test_a_claim_that_is_slow_to_measure_holds_where_its_hypotheses_do(claim_id, data):
    check(claim_id, data)


def test_a_power_that_a_logarithm_hides_is_not_asked_for():
    """At s = 1 the floor has a logarithm more, which at these sizes is as steep as the power of the wrong version."""
    check_at("lem:bias_lower_bound", Rational(1), Rational(2), 0)


@pytest.mark.parametrize("point", [("13/18", "19/4"), ("3/4", "11/2"), ("11/20", "5/2"), ("1", "6")])
def test_the_best_power_of_a_horizon_free_rate_is_seen_beside_the_edge(point):
    """There the noise falls hardly faster, or slower, than the signal: at sigma^2/B = 1 three of the four failed."""
    s, beta = map(Rational, point)
    check_at("horizon-free/best-power", s, beta, 0)


@pytest.mark.parametrize("claim_id", ["thm: fsl-general-noise", "prop:fsl-weak-upper-bound"])
def test_the_worst_schedules_of_all_sizes_are_alike(claim_id):
    """Searched from one shape, those at some sizes were less bad than at others: a drift of 0.012 and 0.014."""
    check_at(claim_id, Rational(3, 2), Rational(5), 0)


@pytest.mark.parametrize("point", [("2", "5"), ("11/6", "5"), ("17/10", "2")])
def test_rays_end_where_one_of_two_near_powers_leads(point):
    """Beside s = 2 - 1/beta mini-batch noise takes over from the signal slowly: rays that ended on the way drifted by
    0.02 to 0.15, since over spectra up to constants loss over law has another constant for each."""
    check_at("eqn:fsl-intro", *map(Rational, point), 0)
