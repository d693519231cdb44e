"""The ladder: the laws step by step, the rates that each rung bears, the distances, and where approximations break."""

import json
import math

import numpy as np
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st
from models import regression_of
from notebook_views import as_html
from scipy.integrate import quad
from scipy.special import gamma

from fsl_num.functional import functional_scaling_law
from fsl_num.model import Model
from fsl_num.schedules import step_rates
from fsl_num.schedules.discrete import Discrete
from fsl_num.simulate.ladder import Ladder, ladder
from fsl_num.simulate.ladder_breaking import breaking_rates, relative_distance
from fsl_num.simulate.ladder_laws import SharpPowers, asymptotic_of_steps, law_of_steps
from fsl_num.simulate.ladder_rungs import RUNGS, largest_rate, rung_curve, rung_steps, rungs_of
from fsl_num.simulate.recursion import exact_risk
from fsl_num.simulate.regression import Regression
from fsl_num.simulate.sde_moments import exact_sde_risk, volterra_problem
from fsl_num.spectrum import forgetting_kernel, signal
from fsl_num.volterra.linear_modes import linear_modes
from fsl_num.volterra.neumann import neumann_series
from fsl_num.volterra.problem import UnstableProblemError

WARM = np.concatenate([np.linspace(0.05, 0.4, 8), np.full(6, 0.4), [0.0], np.linspace(0.4, 0.0, 10, endpoint=False)])


def model(**changes):
    return regression_of(**{"s": 0.5, "beta": 2.0, "size": 32, "noise": 1.0, **changes})


def law(problem, rates, batches=1.0):
    plan = Discrete(rates=rates, batch_sizes=batches)
    equation = volterra_problem(problem, plan, "volterra")
    # the law of f, twice the excess risk
    return 0.5 * law_of_steps(linear_modes(equation, plan.total_intrinsic_time), plan.rates, plan.gammas)


@pytest.mark.parametrize("size", [32, 500, math.inf])
def test_law_is_the_first_order_of_the_neumann_series(size):
    problem = model(size=size, features=size)
    equation = volterra_problem(problem, Discrete(rates=WARM, batch_sizes=2.0), "volterra")
    ends, index = np.unique(np.concatenate([[0.0], np.cumsum(WARM)]), return_index=True)
    series = neumann_series(equation, ends, terms=2)
    # both evaluate the same integrals (without a tail, which the series would put under the integral too); the series
    # claims 1e-12, and the compressed modes 1e-13
    assert law(problem, WARM, 2.0)[index] == pytest.approx(series.partial_sums[1], rel=3e-12)


def test_law_with_a_tail_is_the_quadrature_at_the_end():
    problem = model(size=10, features=math.inf)
    rates = step_rates("cosine", peak=0.3, steps=40)
    whole = functional_scaling_law(problem.model, Discrete(rates=rates))
    # the quadrature's own error, and 5e-14 for sums of 40 steps
    assert abs(law(problem, rates)[-1] - whole.total) <= whole.error + 5e-14


def test_law_of_long_steps_is_integrated_exactly():
    # one mode, one step of length 7: 2E = e + gamma lambda^2 (7 e + sigma^2 (1 - exp(-2 * 7))/2), e = exp(-14)
    problem = Regression(Model(s=0.5, beta=2.0, size=1, noise=1.0))
    closed = (math.exp(-14) * (1 + 0.1 * 7) + 0.1 * 0.5 * (1 - math.exp(-14))) / 2
    assert law(problem, [7.0], 70.0)[-1] == pytest.approx(closed, rel=1e-13)


@examples(15)
@given(st.floats(0.3, 1.5), st.floats(1.3, 4.0), st.sampled_from([64.0, 1e4, math.inf]))
def test_sharp_powers_are_what_the_sums_tend_to(s, beta, size):
    powers = SharpPowers(s, beta, size, math.inf)
    t = np.array([1e3, 3e3])
    for power, exact in (
        (powers.signal(t), signal(t, s, beta, size)),
        (powers.kernel(t), forgetting_kernel(t, beta, size)),
    ):
        if (exact > 1e-12).all() and beta < 3.0:
            # exponentially small in t^(1/(beta + 1)) > 5 for an infinite model; for a finite one the sum ends at M and
            # the integral at M + 1/2, of relative order (2t/M^beta)/M^2 where that matters
            assert power == pytest.approx(exact, rel=2e-2)
    infinite = SharpPowers(s, beta, math.inf, math.inf)
    assert infinite.signal(np.array([1e6]))[0] == pytest.approx(gamma(s) / beta * 2e6**-s, rel=1e-14)
    # the kernel keeps its whole integral
    integral = powers.kernel_integral(1e9)
    later = float(powers.kernel_after(np.array([1e9]))[0])
    assert float(integral(np.array([1e9]))[0]) + later == pytest.approx(0.5 * powers.trace, rel=1e-8)


def test_asymptotic_law_is_its_integral():
    # the table (1e-8), and the driving term averaged over each step of length 0.1: (0.1^2/12) (K'/K) (e'/e), at most
    # 1e-3 of the part of the noise that the signal drives
    problem = model(features=math.inf)
    powers = SharpPowers(0.5, 2.0, 32, math.inf)
    rates = np.full(80, 0.1)
    onset = powers.onset
    level = float(powers.kernel(np.array([onset]))[0])

    def kernel(t):
        return level if t < onset else float(powers.kernel(np.array([t]))[0])

    def inside(z):
        return kernel(8.0 - z) * 0.1 * (float(powers.signal(np.array([z]))[0]) + 1.0)

    value, _ = quad(inside, 0.0, 8.0, points=[8.0 - onset], limit=300, epsabs=1e-11)
    direct = powers.approximation + float(powers.signal(np.array([8.0]))[0]) + value
    found = asymptotic_of_steps(problem, rates, rates, np.array([0, 80]))
    assert found[1] == pytest.approx(direct, rel=1e-5)
    assert found[0] == pytest.approx(2.0 * problem.initial_risk, rel=2e-4)  # delta by its power, at M = 32


@pytest.mark.parametrize(("family", "batch"), [("gaussian", 1), ("gaussian", 3), ("rademacher", 1), ("uniform", 2)])
def test_the_largest_rates_are_where_the_moments_stop_contracting(family, batch):
    problem = model(size=6, family=family)
    eigenvalues, kurtosis = problem.eigenvalues, problem.family.kurtosis

    def radius_of_sgd(eta):
        # m <- (1 - eta lambda)^2 m + (eta^2/B) (lambda tr(H m) + (kappa - 2) lambda^2 m), a matrix written out
        turn = eta * eigenvalues
        matrix = np.diag((1 - turn) ** 2 + (kurtosis - 2) * turn**2 / batch)
        matrix += eta**2 / batch * np.outer(eigenvalues, eigenvalues)
        return np.abs(np.linalg.eigvals(matrix)).max()

    def growth_of_sde(eta, own):
        drift = np.diag(-2 * eigenvalues + own * eta / batch * eigenvalues**2)
        return np.linalg.eigvals(drift + eta / batch * np.outer(eigenvalues, eigenvalues)).real.max()

    for name, at in (
        ("expected", lambda eta: radius_of_sgd(eta) - 1.0),
        ("sde-physical", lambda eta: growth_of_sde(eta, 1.0)),
        ("volterra", lambda eta: growth_of_sde(eta, 0.0)),
    ):
        limit = largest_rate(name, problem, batch)
        # at the limit neither growth nor decay; the sign changes there
        assert at(limit) == pytest.approx(0.0, abs=1e-9)
        assert at(limit * 0.99) < 0.0 < at(limit * 1.01)
    assert largest_rate("fsl", problem) == math.inf


def test_rungs_are_the_exact_curves():
    problem, batches = model(features=40), np.where(np.arange(WARM.size) % 2, 3.0, 1.0)
    recorded = np.array([0, 7, WARM.size])
    curves = {name: rung_curve(name, problem, WARM, batches, recorded) for name in rungs_of(problem)}
    assert list(curves) == ["expected", "sde-physical", "sde-intrinsic", "volterra", "fsl", "asymptotic"]
    assert curves["expected"].excess_risk == pytest.approx(
        exact_risk(problem, WARM, batches, every=1).excess_risk[recorded], rel=1e-14
    )
    assert curves["sde-physical"].excess_risk.tolist() == curves["sde-intrinsic"].excess_risk.tolist()
    assert curves["sde-physical"].excess_risk == pytest.approx(
        exact_sde_risk(problem, WARM, batches, every=1).excess_risk[recorded], rel=1e-14
    )
    for name in ("expected", "sde-physical", "volterra", "fsl"):
        assert curves[name].excess_risk[0] == pytest.approx(problem.initial_risk, rel=1e-12)
    # from the SDE down every rung drops a positive term, so the risks are ordered
    for name, coarser in (("sde-intrinsic", "volterra"), ("volterra", "fsl")):
        assert (curves[name].excess_risk[1:] > curves[coarser].excess_risk[1:]).all()


def test_distances_shrink_with_the_rate_as_the_orders_say():
    # at the intrinsic time T = 1: SGD is the scheme of weak order 1 for its SDE, the Volterra equation drops a term of
    # order gamma, and the law one of order gamma^2. What comes next is of relative size gamma T and less here.
    tables = [ladder(model(), [rate] * round(1 / rate), thresholds=()) for rate in (0.01, 0.005)]
    for name, coarser, order in (
        ("expected", "sde-physical", 1),
        ("sde-intrinsic", "volterra", 1),
        ("volterra", "fsl", 2),
    ):
        large, small = (table.gap(name, coarser).end for table in tables)
        assert math.log2(large / small) == pytest.approx(order, abs=0.1)


def test_breaking_rates_are_where_the_threshold_is_met():
    problem, shape = model(), step_rates("cosine", peak=1.0, steps=300)
    rows = breaking_rates(problem, 17.0 * shape, (0.1, 0.02))
    assert len(rows) == 10
    recorded = rung_steps(300, None)
    for row in rows:
        if row.rung == "sde-physical":
            assert row.above is None and row.below is None and row.message.startswith("never below")
        for peak in (row.above, row.below):
            if peak in (None, math.inf):
                continue
            risk, next_risk = (
                rung_curve(name, problem, peak * shape, np.ones(300), recorded).excess_risk
                for name in (row.rung, row.next_rung)
            )
            # the peak is known to 0.1%, and no distance grows faster than its square near the threshold
            assert relative_distance(risk, next_risk).max() == pytest.approx(row.threshold, rel=5e-3)
    above = {(row.rung, row.threshold): row.above for row in rows}
    for rung in ("expected", "sde-intrinsic", "volterra"):
        assert 0.0 < above[rung, 0.02] < above[rung, 0.1] < min(row.limit for row in rows if row.rung == rung)
    # the asymptotic law is about late times, and breaks where the rates are so low that training ends early
    late = [row for row in rows if row.rung == "fsl" and row.threshold == 0.1]
    assert late[0].below is not None and late[0].message.startswith("below")
    end = breaking_rates(problem, shape, 0.1, at_end=True)[-1]
    assert end.below is not None and end.below < late[0].below
    # where batches differ, the smallest decides how far the rates may go
    mixed = breaking_rates(model(), np.ones(4), 0.05, batch_sizes=[8, 1, 8, 8])
    assert mixed[1].limit == pytest.approx(largest_rate("sde-physical", model(), 1.0), rel=1e-9)


def test_ladder_with_samples():
    problem = model(size=8)
    found = ladder(problem, "wsd", 2, peak=0.2, steps=60, every=20, runs=4000, seed=3, thresholds=(), final=0.01)
    assert [curve.method for curve in found.curves] == list(RUNGS)
    rows = {(gap.rung, gap.next_rung): gap for gap in found.table}
    assert set(rows) > {("sgd", "expected"), ("sde-physical", "sde-physical"), ("sde-intrinsic", "sde-intrinsic")}
    for curve in (found.curves[0], *found.samples):
        exact = found.curve("expected" if curve.method == "sgd" else curve.method).excess_risk
        z = (curve.excess_risk[1:] - exact[1:]) / curve.standard_error[1:]
        # three records each; four standard errors, and for the SDEs the bias of 4 parts a step, 1% here, of 2% noise
        assert np.abs(z).max() < 4.0
        assert rows[curve.method, "expected" if curve.method == "sgd" else curve.method].noise > 0.0
    assert rows["expected", "sde-physical"].noise == 0.0


def test_rungs_that_a_problem_lacks_are_left_out():
    uniform = ladder(model(family="uniform"), [0.1] * 20, thresholds=())
    assert [curve.method for curve in uniform.curves] == ["expected", "volterra", "fsl", "asymptotic"]
    matrix = np.random.default_rng(0).standard_normal((3, 5))
    projected = ladder(model(size=3, features=5, projection=matrix), [0.02] * 20, thresholds=())
    methods = [curve.method for curve in projected.curves]
    assert methods == ["expected", "sde-physical", "sde-intrinsic", "volterra", "fsl"]
    infinite = ladder(model(size=math.inf), [0.1] * 20, thresholds=(0.1,))
    assert len(infinite.curves) == 6 and len(infinite.breaking) == 5
    with pytest.raises(ValueError, match="no rung 'sgd'"):
        infinite.curve("sgd")


def test_what_a_ladder_shows(tmp_path):
    found = ladder(model(), "cosine", peak=0.2, steps=100, thresholds=(0.1, 0.01))
    text = json.loads(found.to_json())
    assert text["rungs"]["fsl"]["step"][-1] == 100
    assert len(text["table"]) == 5 and len(text["breaking"]) == 10
    page = as_html(found)
    assert "functional scaling law" in page and "10% apart" in page and "1% apart" in page
    axes = found.plot()
    assert len(axes.get_lines()) == 4  # the two SDEs are equal in law
    assert len(found.plot(risks=True).get_lines()) == 6
    found.plot(axes).figure.savefig(tmp_path / "ladder.png")
    assert isinstance(found, Ladder)


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: ladder(model(), "cosine"), TypeError, "needs peak= and steps="),
        (lambda: ladder(model(), [0.1], peak=0.1), TypeError, "takes no peak="),
        (lambda: ladder(model(), [0.1] * 3, [1, 2]), ValueError, "one number a step"),
        (lambda: ladder(model(), [1.0] * 3), UnstableProblemError, "must be below 1"),
        (lambda: ladder(model(), [0.1] * 3, runs=-1), ValueError, "runs must be"),
        (lambda: breaking_rates(model(), [0.1], 0.0), ValueError, "threshold must be positive"),
        (
            lambda: asymptotic_of_steps(model(target=np.ones(32)), np.ones(1), np.ones(1), np.array([1])),
            ValueError,
            "power-law modes",
        ),
    ],
)
def test_what_does_not_fit_is_refused(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


def test_relative_distance_of_nothing_and_of_everything():
    assert relative_distance(np.zeros(1), np.zeros(1)).tolist() == [0.0]
    assert relative_distance(np.zeros(1), np.ones(1)).tolist() == [math.inf]
    assert relative_distance(np.array([2.0]), np.array([1.0])).tolist() == [1.0]
