"""The numbers that the errata about the model give as evidence are measured again here, where that is cheap."""

import math

import numpy as np
import pytest
from errata_evidence import assert_said, scientific
from scipy.linalg import expm

from fsl_num.experiments.final_loss import final_risk
from fsl_num.experiments.loss_dynamics import loss_dynamics
from fsl_num.model import Model
from fsl_num.simulate.concentration import eigenvalue_ratios
from fsl_num.simulate.hypercontractivity import hypercontractivity_constants, hypercontractivity_slack, mode_constants
from fsl_num.simulate.random_features import bias, mean_bias, predicted, random_projection, rank_one_bound
from fsl_num.simulate.recursion import exact_risk
from fsl_num.simulate.regression import Regression
from fsl_num.spectrum import signal

SIZES = (8, 16, 32, 64)


def random_problem(size, seed=0, s=0.5, normalisation="model-size"):
    """Random features with beta = 2 and N = 4M."""
    projection = random_projection(size, 4 * size, seed, normalisation)
    return Regression(Model(s=s, beta=2.0, size=size, noise=1.0), features=4 * size, projection=projection)


@pytest.fixture(scope="module")
def problem():
    """The one W of the errata about the bias."""
    return random_problem(64)


def medians(side, **options):
    """The medians of a side of the eigenvalue ratios, by model size."""
    return eigenvalue_ratios(beta=2.0, model_sizes=SIZES, **options).quantiles(side, 0.5).ravel()


def test_the_outer_matrix():
    # slack of the upper side: the printed 2 tr(HA) A - middle = diag(2, 0) - diag(2, 1/2)
    matrix = np.diag([1.0, 0.0])
    printed = hypercontractivity_slack("gaussian", [1.0, 0.5], matrix, lower=1.0, upper=2.0, printed=True)
    assert printed[1] == -0.5
    assert min(hypercontractivity_slack("gaussian", [1.0, 0.5], matrix, lower=1.0, upper=2.0)) >= 0.0
    assert hypercontractivity_constants("rademacher", 4).lower == 0.0


def test_the_variance_of_the_projection():
    for normalisation, places in (("unit", 1), ("model-size", 2)):
        found = medians("largest", runs=40, normalisation=normalisation)
        assert_said("random-projection-variance", ", ".join(f"{value:.{places}f}" for value in found))
    wide = random_problem(64, normalisation="unit")
    assert_said("random-projection-variance", f"{predicted(wide, [0.0])[0]:.0f}$,", f"{bias(wide, [0.0])[0]:.2f},")
    with pytest.raises(OverflowError, match="diverges"):
        exact_risk(wide, np.full(1000, 0.05))
    assert exact_risk(random_problem(64), np.full(1000, 0.05)).excess_risk[-1] < 0.2


def test_what_is_never_learned_carries_a_logarithm_at_s_one():
    by_size = {}
    for s in (1.0, 0.5):
        by_size[s] = [
            float(np.mean([mean_bias(random_problem(size, seed, s), [math.inf])[0] for seed in range(10)]))
            * size ** (2 * s)
            for size in SIZES
        ]
    ones, halves = (", ".join(f"{value:.1f}" for value in by_size[s]) for s in (1.0, 0.5))
    assert_said("random-features-at-s-one", *ones.split(", "), halves)
    # kappa M^2 is x^2 with x = atan(4x), from M = sum_{j<=4M} 1/(1 + kappa j^2): the slope in log M. Ten draws of each
    # size leave the slope uncertain by some 0.1, the finite sizes by as much
    x = 1.4
    for _ in range(50):
        x = math.atan(4.0 * x)
    slope = np.polyfit(np.log(SIZES), by_size[1.0], 1)[0]
    assert slope == pytest.approx(x**2, rel=0.15)
    assert abs(np.polyfit(np.log(SIZES), by_size[0.5], 1)[0]) < 0.15


def test_the_periodic_kernels():
    found = {size: hypercontractivity_constants("trigonometric", size, searches=6) for size in (8, 16)}
    assert found[8].upper > 3.6 and found[16].upper > 9.0
    assert found[8].lower < 2e-4
    assert_said("kernel-setting-equivalent", "3.6 and 9.0", scientific(2e-4, 0))
    low, high = zip(*(mode_constants("trigonometric", size) for size in (8, 32)), strict=True)
    assert max(high) < 2.0 and low[1] < 0.3 * low[0]


def test_the_source_sum():
    s, beta = 0.5, 4.0
    j = np.arange(1.0, 1001.0)
    rates = j**-beta
    amplitudes = np.sqrt(rates) * j**-0.5 * rates ** ((s - 1.0) / 2.0)  # theta_j phi_j in the orthonormal basis
    assert amplitudes == pytest.approx(j**-0.5 * rates ** (s / 2.0), rel=1e-12)
    for delta in (0.0, 0.2):
        assert amplitudes**2 / rates ** (s - delta) == pytest.approx(j ** (-1.0 - beta * delta), rel=1e-9)
    sums = np.cumsum(amplitudes**2 / rates**s)
    assert_said("kernel-source-sum", f"{sums[99]:.2f} at $J = 100$", f"{sums[999]:.2f} at $J = 1000$")


def test_the_fits():
    assert_said("fit-without-room", *(f"{signal(500.0, 0.5, b, 128) / signal(500.0, 0.5, b, math.inf):.{places}f}"
                                      for b, places in ((1.5, 2), (4.0, 3))))  # fmt: skip
    runs = loss_dynamics().runs
    for form in ("printed", "printed, T >= 1"):
        errors = [f"{100 * run.fits[form].worst_error:.0f} %" for run in runs]
        assert_said("fit-from-the-first-step", f"{errors[0]}, {errors[1]} ", f"and {errors[2]}")
    errors = [f"{100 * run.fits['modes'].worst_error:.1f} %" for run in runs]
    assert_said("fit-from-the-first-step", f"{errors[0]}, {errors[1]} and {errors[2]}")


def test_the_peak_rates():
    model = Regression(Model(s=0.5, beta=4.0, size=math.inf, noise=9.0))
    assert_said("scaling-experiment-peak-rate", f"{model.initial_risk:.4f}")
    for name in ("exp-decay", "wsd"):
        printed, time = final_risk(model, name, 0.05e-6, 10**6)
        derived, _ = final_risk(model, name, 0.05, 10**5)
        assert time <= 0.05
        assert_said("scaling-experiment-peak-rate", f"{printed:.4f}", f"{derived:.4f}")


def test_the_room_for_random_features():
    square = medians("least", runs=100, features_per_model=1)
    assert_said("random-eigen-room", *(f"{value:.4f}" for value in square))
    # the smallest of M squared singular values of a square W is of the order of 1/M of the entries' variance: M^-2.
    # 100 draws of a variable whose logarithm spreads by 1.5: the slope of the medians is known to 0.2
    assert np.polyfit(np.log(SIZES), np.log(square), 1)[0] == pytest.approx(-2.0, abs=0.5)
    roomy = medians("least", runs=40)
    assert_said("random-eigen-room", ", ".join(f"{value:.2f}" for value in roomy))


def test_columns_that_leave_no_rank(problem):
    rates = problem.eigenvalues

    def eigenvalues(columns, weights=problem.projection):
        seen = weights[:, columns]
        return np.linalg.eigvalsh((seen * rates[columns]) @ seen.T)[::-1]

    few, last, most = eigenvalues(slice(0, 16)), eigenvalues(slice(250, 256)), eigenvalues(slice(16, 256))
    # zero up to the rounding of the largest, 64 * 1e-16
    assert max(abs(few[31]), abs(few[63])) < 1e-14 * few[0]
    assert abs(last[63]) < 1e-14 * last[0]
    assert most[31] / most[63] < 20.0  # with k = M/4 and N = 4M the ratio is bounded
    ratios = []
    for size in (8, 64):  # N - k = M with k = 8: the medians of 40 draws
        drawn = []
        for seed in range(40):
            weights = random_projection(size, size + 8, seed)
            own = eigenvalues(slice(8, size + 8), weights[:, : size + 8]) if size + 8 <= 256 else None
            drawn.append(own[size // 2 - 1] / own[-1])
        ratios.append(np.median(drawn))
    assert ratios[1] > 8.0 * ratios[0]  # M^2 would be 64 times, of the order of 1 where bounded


def test_the_bias_of_one_projection(problem):
    at = float(bias(problem, [10.0])[0])
    floor = float(bias(problem, [math.inf])[0])
    weights, rates = problem.projection, problem.eigenvalues
    curved = (weights * rates) @ weights.T
    aim = np.linalg.solve(curved, weights @ (rates * problem.theta))
    printed = float(aim @ curved @ expm(-20.0 * curved) @ aim)
    assert at == pytest.approx(printed + floor, rel=1e-9)
    assert_said("bias-without-unlearned-part", f"{printed:.4f}", f"{at:.4f}", f"{floor:.4f}")
    low, bias_there = float(rank_one_bound(problem, [10.0])[0]), float(predicted(problem, [10.0])[0])
    assert_said("bias-lower-bound-rank-one", scientific(low, 1), f"{at:.4f}", f"{bias_there:.4f}")
    assert_said("bias-floor-rank-one", f"{floor * 64:.2f}")
    seen = weights @ (rates * problem.theta)
    own = np.linalg.eigvalsh(np.outer(seen, seen))
    assert own[-1] > 0 and np.abs(own[:-1]).max() < 1e-14 * own[-1]


def test_the_series_with_the_missing_power():
    weights, rates, t = random_projection(2, 4, 0), np.arange(1.0, 5.0) ** -2.0, 1.0
    half = weights * np.sqrt(rates)
    curved = half @ half.T
    moved = expm(-t * weights.T @ weights @ np.diag(rates))
    left = moved.T @ np.diag(rates) @ moved

    def series(printed):
        total = np.eye(4)
        for a in range(30):
            for b in range(30):
                if a + b >= 1:
                    inner = np.linalg.inv(curved) if printed else np.linalg.matrix_power(curved, a + b - 1)
                    total += (-t) ** (a + b) / math.factorial(a) / math.factorial(b) * half.T @ inner @ half
        return np.sqrt(rates)[:, None] * total * np.sqrt(rates)

    assert np.abs(left - series(False)).max() < 1e-14  # rounding of 900 terms that decay like 1/(a! b!)
    assert_said("matrix-analysis-exponent", f"{np.abs(left - series(True)).max():.2f}")


def test_the_third_variance():
    largest = []
    for per_model in (4, 16):
        found = eigenvalue_ratios(
            beta=2.0, model_sizes=[16, 32, 64], features_per_model=per_model, runs=20, normalisation="features"
        )
        largest.append(found.quantiles("largest", 0.5)[-1])
    assert_said("projection-entries-over-n", f"{largest[0]:.2f} and {largest[1]:.2f}")
    for name in ("unit", "model-size"):
        norms = [np.linalg.norm(random_projection(m, 4 * m, 0, name)[:, : m // 3], 2) for m in (16, 64, 256)]
        text = [f"{norm:.1f}" if norm < 10 else f"{norm:.0f}" for norm in norms]
        assert_said("projection-entries-over-n", ", ".join(text))


def test_the_trace_inequality():
    product = np.diag([1.0, 0.25]) @ np.ones((2, 2))
    largest = float(np.linalg.eigvalsh((product + product.T) / 2)[-1])
    assert largest > np.trace(product)
    assert_said("fourth-moment-trace-inequality", f"{largest:.3f}", f"{np.trace(product):.2f}")


def test_the_risk_at_the_start_is_half_of_what_is_learned_and_what_is_not():
    # s = 1/2, beta = 2: lambda_j theta_j^2 = j^-2
    whole = np.pi**2 / 6
    signal_at_start = float(np.sum(np.arange(1.0, 51.0) ** -2))
    assert_said("risk-above-the-signal", f"{whole / 2:.3f},", f"{signal_at_start:.3f}$")
    assert whole / 2 < signal_at_start, "the printed bound fails"


def test_pairs_count_a_power_of_the_exponential_more_than_once():
    x, terms = 0.3, range(40)
    pairs = sum(2.0 ** (a + b) / math.factorial(a + b) * (-x) ** (a + b) for a in terms for b in terms)
    assert pairs == pytest.approx((1 - 2 * x) * math.exp(-2 * x), rel=1e-12)
    assert_said("exponential-counts-pairs", f"{pairs:.3f}$", f"{math.exp(-2 * x):.3f}$")


def test_the_last_bound_of_the_quadratic_form_needs_its_constant():
    size, columns, generator = 48, 16, np.random.default_rng(0)
    own, quotients = np.arange(1.0, 4 * size + 1.0) ** -2, []
    for _ in range(40):
        projection = generator.standard_normal((size, 4 * size)) / np.sqrt(size)
        head, tail = projection[:, :columns], projection[:, columns:]
        tail_matrix = (tail * own[columns:]) @ tail.T
        eigenvalues = np.linalg.eigvalsh(tail_matrix)
        least = np.linalg.eigvalsh(head.T @ np.linalg.solve(tail_matrix, head))[0]
        quotients.append(1.0 / eigenvalues[0] / least / (eigenvalues[size // 2] / eigenvalues[0]))
    assert min(quotients) > 1.0
    assert_said("last-bound-without-constant", f"{max(quotients):.1f}.")


def test_the_limit_of_the_flat_part_is_that_of_the_trace():
    limits = [factor * np.pi**2 / 12 for factor in (1, 2)]
    assert_said("exp-decay-i1-constant", f"{limits[0]:.3f},", f"{limits[1]:.3f}.")
