"""Sampled runs against exact expectations, against a naive loop on the same data, and what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from models import regression_of
from scipy.special import chdtrc

from fsl_num.model import Model
from fsl_num.schedules import step_rates
from fsl_num.simulate import runs as chunks
from fsl_num.simulate.families import FAMILIES, Gaussian
from fsl_num.simulate.monte_carlo import simulate_sgd
from fsl_num.simulate.recursion import exact_risk
from fsl_num.simulate.regression import Regression
from fsl_num.simulate.streams import Samples, child, samples_of

W = np.random.default_rng(4).standard_normal((3, 5)) / 2


def expected_risk(problem, rates, batches):
    """The risk after every step from S = E[u u'], u = W'v - theta*: u <- u - (eta/B) sum of W'W phi (phi'u - eps)."""
    h = np.diag(problem.eigenvalues)
    w = np.eye(int(problem.model.size), h.shape[0]) if problem.projection is None else problem.projection
    p = w.T @ w
    s = np.outer(problem.theta, problem.theta)
    risks = [0.5 * np.trace(h @ s)]
    for eta, batch in zip(rates, batches, strict=True):
        fourth = problem.family.fourth_moment(problem.eigenvalues, s)
        drift = p @ h @ s
        noise = fourth / batch + (1.0 - 1.0 / batch) * h @ s @ h + problem.model.noise * h / batch
        s = s - eta * (drift + drift.T) + eta**2 * p @ noise @ p
        risks.append(0.5 * np.trace(h @ s))
    return np.array(risks)


def z_scores(curve, expected):
    return (curve.excess_risk - expected)[1:] / curve.standard_error[1:]


CASES = [
    ({"size": 4}, "constant", 1),
    ({"size": 3, "features": 6}, "cosine", 3),
    ({"size": 5, "beta": 1.2, "noise": 0.0}, "exp-decay", 2),
    ({"size": 3, "features": 5, "projection": W}, "8-1-1", 1),
    ({"size": 3, "features": 5, "projection": W, "family": "rademacher"}, "wsd", 2),
    *(({"size": 3, "features": 5, "family": name}, "cyclic", 1) for name in FAMILIES if name != "gaussian"),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_runs_have_the_exact_expectation(dtype):
    total, number = 0.0, 0
    for place, (change, schedule, batch) in enumerate(CASES):
        problem = regression_of(**{"s": 0.6, "beta": 1.6, "noise": 0.3, **change})
        rates = step_rates(schedule, peak=0.3, steps=10)
        batches = np.full(10, batch) if batch != 3 else np.arange(1, 11)
        curve = simulate_sgd(problem, rates, batches, runs=20_000, seed=place, every=5, dtype=dtype, progress=False)
        expected = expected_risk(problem, rates, batches)[[0, 5, 10]]
        assert curve.excess_risk[0] == pytest.approx(expected[0], rel=1e-14)  # a sum of five in another order
        assert curve.standard_error[0] == 0.0
        z = z_scores(curve, expected)
        assert np.abs(z).max() < 4.5, (change, schedule)
        total += float(z[-1] ** 2)
        number += 1
    # independent calls: rejects a right simulation for one choice of seeds in 1,000; the seeds are fixed
    assert chdtrc(number, total) > 1e-3


def test_runs_meet_the_closed_recursion_of_infinitely_many_features():
    problem = Regression(Model(s=0.5, beta=1.5, size=20, noise=0.5), features=math.inf)
    rates = step_rates("cosine", peak=0.2, steps=60)
    curve = simulate_sgd(problem, rates, 2, runs=4_000, seed=3, every=20, dtype="float32", progress=False)
    assert np.abs(z_scores(curve, exact_risk(problem, rates, 2, every=20).excess_risk)).max() < 4.0


@pytest.mark.parametrize(
    "change", [{}, {"features": 6, "family": "uniform"}, {"features": 5, "projection": W}], ids=["normal", "all", "W"]
)
def test_a_naive_loop_on_the_same_data_agrees(change):
    problem = regression_of(**{"s": 0.6, "beta": 1.6, "noise": 0.3, "size": 3, **change})
    samples = samples_of(problem)
    batches, rates, runs = [1, 3, 1, 2, 4], [0.1, 0.2, 0.3, 0.0, 0.1], 7
    job = chunks.Job(samples, np.array(rates), np.array(batches), np.arange(6), "float64")
    found = chunks.run_chunk(job, runs, np.random.SeedSequence(2))
    stream = samples.stream(np.random.SeedSequence(2), runs, "float64")
    z = np.tile(samples.start, (runs, 1))
    for k in range(6):
        v = z if problem.projection is not None else z + problem.theta[:3]
        risk = problem.excess_risk(v)
        # the two add in another order
        assert found.mean[k] == pytest.approx(risk.mean(), rel=1e-12)
        assert found.squares[k] == pytest.approx(((risk - risk.mean()) ** 2).sum(), rel=1e-9, abs=1e-25)
        if k < 5:
            step = np.zeros_like(z)
            for _ in range(batches[k]):
                x, y = next(stream)
                step += ((z * x).sum(axis=1) - y)[:, None] * x
            z = z - rates[k] / batches[k] * step


def test_both_precisions_see_the_same_data():
    problem = Regression(Model(s=0.5, beta=2.0, size=8, noise=1.0))
    single, double = (
        simulate_sgd(problem, np.full(100, 0.2), runs=50, seed=1, dtype=kind, progress=False)
        for kind in (np.float32, np.float64)
    )
    # 100 contracting steps that round to 6e-8 each; other data would differ by the standard error, 10%
    assert single.excess_risk == pytest.approx(double.excess_risk, rel=1e-5)
    assert 0.0 < abs(single.excess_risk[-1] - double.excess_risk[-1])


def test_chunks_do_not_share_data_and_merge_to_the_moments_of_all():
    problem = Regression(Model(s=0.5, beta=2.0, size=2, noise=1.0))
    samples = samples_of(problem)
    job = chunks.Job(samples, np.full(5, 0.3), np.ones(5, int), np.array([0, 5]), "float64")
    seed = np.random.SeedSequence(1)
    parts = [chunks.run_chunk(job, 3, child(seed, k)) for k in range(4)]
    assert len({part.mean[1] for part in parts}) == 4
    orders = ([0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1])
    totals = []
    for order in orders:
        finished = chunks.Finished()
        for index in order:
            finished = finished.with_chunk(index, parts[index])
        totals.append(finished.total)
    assert len({(t.count, *t.mean, *t.squares) for t in totals}) == 1
    assert totals[0].count == 12
    assert totals[0].mean[1] == pytest.approx(np.mean([part.mean[1] for part in parts]), rel=1e-14)
    between = 3 * np.var([part.mean[1] for part in parts]) * 4
    assert totals[0].squares[1] == pytest.approx(sum(part.squares[1] for part in parts) + between, rel=1e-12)


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=20), st.integers(1, 5))
def test_moments_of_groups_are_those_of_all(values, group):
    total = chunks.Moments(0, np.zeros(0), np.zeros(0))
    for low in range(0, len(values), group):
        part = np.array(values[low : low + group])
        squares = np.array([((part - part.mean()) ** 2).sum()])
        total = total.with_others(chunks.Moments(part.size, np.array([part.mean()]), squares))
    # a few roundings of numbers up to 1e3, and of their squares
    assert total.mean[0] == pytest.approx(np.mean(values), abs=1e-11)
    expected = np.std(values, ddof=1) / math.sqrt(len(values))
    assert total.standard_error()[0] ** 2 == pytest.approx(expected**2, rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_noise_and_features_are_independent(dtype):
    """Both come in order from streams of normals: one stream for both would give the first of each one radius."""
    samples = Samples(Gaussian(), np.ones(4), np.zeros(4), 1.0, np.eye(4), np.zeros(4), 0.0)
    stream = samples.stream(np.random.SeedSequence(1), 32, dtype)
    drawn = [(x.copy(), y.copy()) for x, y in (next(stream) for _ in range(256))]
    features, noise = (np.concatenate([pair[k].ravel() for pair in drawn]).astype(np.float64) for k in range(2))
    size = noise.size
    for a in (features[:size], features[::4], features[3::4]):
        # 4.5 standard errors of means of 8192 products of variance 1 and 4
        assert abs(np.mean(a * noise)) < 4.5 / math.sqrt(size)
        assert abs(np.mean((a * a - 1.0) * (noise * noise - 1.0))) < 9.0 / math.sqrt(size)


@pytest.mark.parametrize(("size", "largest"), [(1, 2048), (128, 128), (5000, 16), (500_000, 4), (5_000_000, 2)])
def test_the_size_of_a_chunk_depends_on_the_features_alone(size, largest):
    samples = Samples(Gaussian(), np.ones(size), np.zeros(size), 1.0, None, np.zeros(size), 0.0)
    sizes = chunks.chunk_sizes(samples, 5000)
    assert sum(sizes) == 5000
    assert set(sizes[:-1]) == {largest} and 1 <= sizes[-1] <= largest


GOOD = {"problem": Regression(Model(s=0.5, beta=2.0, size=3, noise=1.0)), "rates": [0.1, 0.1], "runs": 4, "seed": 1}


@pytest.mark.parametrize(
    ("change", "kind", "text"),
    [
        ({"rates": []}, ValueError, "rates must hold"),
        ({"rates": [0.1, math.nan]}, ValueError, "rates must be finite"),
        ({"rates": [0.1, -0.1]}, ValueError, "at least 0"),
        ({"rates": 0.1}, TypeError, "rates must be an array"),
        ({"batch_sizes": 1.5}, ValueError, "whole numbers"),
        ({"batch_sizes": [1, 2, 3]}, ValueError, "shapes"),
        ({"batch_sizes": 0}, ValueError, "positive"),
        ({"runs": 1}, ValueError, "runs must be a whole number of at least 2"),
        ({"runs": 10**12}, ValueError, "runs must be at most"),
        ({"executor": "processes"}, TypeError, "executor must be"),
        ({"problem": 1}, TypeError, "problem must be a Regression"),
        ({"seed": -1}, ValueError, "seed must be at least 0"),
        ({"seed": 0.5}, TypeError, "seed must be a whole number"),
        ({"seed": True}, TypeError, "bool"),
        ({"every": 0}, ValueError, "every"),
        ({"dtype": "float16"}, ValueError, "dtype must be"),
        ({"dtype": "many"}, TypeError, "many"),
        ({"problem": Regression(Model(s=0.5, beta=2.0, size=math.inf, noise=1.0))}, ValueError, "exact recursion"),
        ({"problem": Regression(Model(s=0.5, beta=40.0, size=1000, noise=1.0))}, ValueError, "single precision"),
        ({"problem": Regression(Model(s=0.5, beta=2.0, size=2e6, noise=1.0))}, ValueError, "at most 1000000"),
    ],
)
def test_what_cannot_be_is_refused(change, kind, text):
    with pytest.raises(kind, match=text):
        simulate_sgd(**{**GOOD, **change})


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_divergence_is_an_error(dtype):
    with pytest.raises(OverflowError, match=rf"training diverges.*{dtype} by step (100|200|300|400).*lower it"):
        simulate_sgd(GOOD["problem"], np.full(400, 40.0), runs=4, seed=1, dtype=dtype, every=100)


def test_a_bar_on_demand(capsys):
    simulate_sgd(**GOOD, progress=True)
    assert "SGD runs" in capsys.readouterr().err
    simulate_sgd(**GOOD, progress=False)
    simulate_sgd(**GOOD)
    assert capsys.readouterr().err == ""
