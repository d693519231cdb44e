"""Concentration of the eigenvalues of random features: the numbers drawn, their statistics, and the lemma."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from mpmath import MPContext
from notebook_views import as_html

from fsl_num.simulate.concentration import Concentration, eigenvalue_ratios
from fsl_num.simulate.random_features import random_projection
from fsl_num.simulate.random_tasks import over_runs


def stream(seed, index, run, sizes):
    """The random stream of one run, as the docstring of over_runs has it."""
    return np.random.default_rng(np.random.SeedSequence(seed).spawn(sizes)[index].spawn(run + 1)[run])


@pytest.mark.parametrize("beta", [1.5, 6.0])  # the second takes the other way to the eigenvalues
def test_ratios_are_those_of_the_eigenvalues(beta):
    found = eigenvalue_ratios(beta=beta, model_sizes=[20], features_per_model=2, runs=3, seed=4)
    exact = MPContext()
    exact.dps = 40
    eigenvalues = np.arange(1.0, 41.0) ** -beta
    for run in range(3):
        projection = random_projection(20, 40, stream(4, 0, run, 1)) * np.sqrt(eigenvalues)
        wide = exact.matrix(projection.tolist())
        values = sorted((float(v) for v in exact.eigsy(wide * wide.T, eigvals_only=True)), reverse=True)
        ratios = np.array(values) / eigenvalues[:20]
        # singular values to 1e-16 of the largest, squared over lambda_20 = 1.6e-8: some 1e-11
        assert found.least[0][run] == pytest.approx(ratios.min(), rel=1e-9)
        assert found.largest[0][run] == pytest.approx(ratios.max(), rel=1e-9)


def test_the_lemma_holds_with_entries_of_variance_one_over_m():
    found = eigenvalue_ratios(beta=2.0, model_sizes=[16, 32, 64, 128], runs=[400, 300, 120, 40], seed=1)
    # the medians settle: 0.44, 0.42, 0.40, 0.39 and 1.34, 1.29, 1.23, 1.18
    assert abs(found.drift("least")[0]) < 0.1
    assert abs(found.drift("largest")[0]) < 0.1
    # leaving [0.3, 3]: 2.7 %, 0.6 %, 0.03 %, ... of 20,000 and fewer runs: falling exponentially
    failures = found.failures(0.3, 3.0)
    assert failures.failures[0] > 0
    assert failures.probability[0] < 0.06
    assert failures.failures[2:].sum() <= 1
    assert "95 % interval" in as_html(failures)


def test_intervals_are_those_of_clopper_and_pearson():
    from scipy.stats import binomtest

    least = (np.arange(50.0), np.arange(40.0), np.full(30, 9.0))
    found = Concentration(2.0, "unit", (1, 2, 3), (1, 2, 3), least, tuple(part + 1.0 for part in least))
    failures = found.failures(7.0, 1000.0, confidence=0.9)
    assert failures.failures.tolist() == [7, 7, 0]
    for index, runs in enumerate((50, 40, 30)):
        exact = binomtest(int(failures.failures[index]), runs).proportion_ci(0.9, method="exact")
        assert [failures.low[index], failures.high[index]] == pytest.approx([exact.low, exact.high], rel=1e-9)
    every = found.failures(100.0, 1000.0)
    assert every.failures.tolist() == [50, 40, 30]
    assert every.high.tolist() == [1.0, 1.0, 1.0]


def test_the_executor_changes_nothing():
    arguments = {"beta": 2.0, "model_sizes": [4, 8], "runs": [19, 5], "seed": 6}
    alone = eigenvalue_ratios(**arguments)
    with ThreadPoolExecutor(2) as threads:
        assert eigenvalue_ratios(**arguments, executor=threads).least[0].tolist() == alone.least[0].tolist()
    root = np.random.SeedSequence(6)  # which is not used up
    for _ in range(2):
        assert eigenvalue_ratios(**{**arguments, "seed": root}).least[0].tolist() == alone.least[0].tolist()
    # more runs begin with the same ones, and no two runs share a stream
    longer = eigenvalue_ratios(**{**arguments, "runs": [30, 5]})
    assert longer.least[0][:19].tolist() == alone.least[0].tolist()
    assert len(set(longer.least[0].tolist())) == 30


def _failing(size, generator):
    raise ArithmeticError(f"run of size {size}")


def test_an_error_in_a_run_is_not_swallowed():
    with ThreadPoolExecutor(1) as threads:
        for executor in (None, threads):
            with pytest.raises(ArithmeticError, match="run of size 3"):
                over_runs(_failing, [(3,)], [2], seed=0, executor=executor, name="failing")


def test_the_picture_shows_both_ratios():
    found = eigenvalue_ratios(beta=2.0, model_sizes=[4, 8], runs=10)
    axes = found.plot()
    assert len(axes.lines) == 2
    assert axes.lines[1].get_ydata() == pytest.approx(found.quantiles("least", 0.5))
    assert axes.get_xlabel() and axes.get_ylabel()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: eigenvalue_ratios(beta=1.0, model_sizes=[4]), "beta"),
        (lambda: eigenvalue_ratios(beta=200.0, model_sizes=[4, 200]), "at most 113 for 200 features"),  # once nan
        (lambda: eigenvalue_ratios(beta=2.0, model_sizes=[]), "at least one"),
        (lambda: eigenvalue_ratios(beta=2.0, model_sizes=[4], normalisation="none"), "unknown normalisation"),
        (lambda: eigenvalue_ratios(beta=2.0, model_sizes=[4], runs=0), "runs"),
        (lambda: eigenvalue_ratios(beta=2.0, model_sizes=[4], features_per_model=0), "features_per_model"),
        (lambda: eigenvalue_ratios(beta=2.0, model_sizes=[4], seed=-1), "seed"),
        (lambda: eigenvalue_ratios(beta=2.0, model_sizes=[4, 8], runs=3).drift("least"), "at least 3"),
        (lambda: eigenvalue_ratios(beta=2.0, model_sizes=[4], runs=3).quantiles("both", 0.5), "side"),
        (lambda: eigenvalue_ratios(beta=2.0, model_sizes=[4], runs=3).failures(2.0, 1.0), "below upper"),
        (lambda: eigenvalue_ratios(beta=2.0, model_sizes=[4], runs=3).failures(0.5, 1.0, confidence=1.0), "confidence"),
    ],
)
def test_what_cannot_be_is_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call()
