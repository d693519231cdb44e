"""What the package answers is a value: it equals its copy, hashes alike, and goes to other processes and into files."""

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from fsl_num import (
    Discrete,
    Model,
    Problem,
    Regression,
    Spectrum,
    claim,
    compress,
    errata,
    exact_risk,
    final_risk_gradient,
    fit,
    functional_scaling_law,
    ladder,
    neumann_series,
    read_curve,
    risks_of_schedules,
    schedule,
    solve,
    verify,
)
from fsl_num.schedules import SCHEDULES
from fsl_sym import functional_scaling_law as derived_law
from fsl_sym import kernel_asymptotics, scaling_law

MODEL = Model(s=0.5, beta=2.0, size=20, noise=1.0)
STEPS = Discrete(rates=[0.1, 0.2])
CURVES = Path(__file__).parents[2] / "examples" / "curves"


def curve(name):
    return read_curve(CURVES / f"small_{name}.csv", warmup=200).between_steps(1000, 4000)


def fitted(intervals=False):
    return fit([curve("constant"), curve("8-1-1")], "fsl-simplified", intervals=intervals)


MAKERS = {
    **{name: lambda name=name: schedule(name, peak=0.1, steps=100) for name in SCHEDULES},
    "steps": lambda: STEPS,
    "model": lambda: MODEL,
    "spectrum model": lambda: Model(spectrum=Spectrum([1.0, 0.5], [0.3, 0.1]), noise=0.5),
    "problem": lambda: Problem(MODEL, gamma=STEPS),
    "solution": lambda: solve(Problem(MODEL, gamma=STEPS), [0.1, 0.3]),
    "solution to 20 digits": lambda: solve(Problem(MODEL, gamma=0.1, horizon=9.0), [1.0, 2.0], digits=20),
    "regression": lambda: Regression(MODEL, projection=np.eye(20, 30), features=30),
    "risk curve": lambda: exact_risk(Regression(MODEL), [0.1] * 9),
    "ladder": lambda: ladder(Regression(MODEL), "constant", peak=0.01, steps=20, thresholds=()),
    "gradient": lambda: final_risk_gradient(Problem(MODEL, gamma=STEPS)),
    "risks": lambda: risks_of_schedules(MODEL, [0.1] * 9, [[1.0], [2.0]]),
    "series": lambda: neumann_series(Problem(MODEL, gamma=0.1, horizon=9.0), [1.0], terms=3),
    "functional": lambda: functional_scaling_law(MODEL, schedule("wsd", peak=0.1, steps=100)),
    "modes": lambda: compress(0.5, 2.0, 1000, 1e4),
    "loss curve": lambda: curve("constant"),
    "fit": fitted,
    "fit with intervals": lambda: fitted(intervals=True),
    "prediction": lambda: fitted().predict(curve("wsd"), level=None),
    "outcome": lambda: verify(claim("ass:fsl")),
    "erratum": lambda: errata()[0],
    "derived law": lambda: derived_law("wsd"),
    "scaling law": lambda: scaling_law("wsd"),
    "expansion": kernel_asymptotics,
}


@pytest.mark.parametrize("name", MAKERS)
def test_a_result_is_its_copy(name):
    result = MAKERS[name]()
    for twin in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result), copy.copy(result)):
        assert twin == result and hash(twin) == hash(result) and {result: 1}[twin] == 1
        assert str(twin) == str(result)
    assert result != object()


def test_results_that_differ_in_one_number_are_not_equal():
    result = exact_risk(Regression(MODEL), [0.1] * 9)
    moved = result.excess_risk.copy()
    moved[-1] = np.nextafter(moved[-1], 1.0)
    assert replace(result, excess_risk=moved) != result
    nan = replace(result, standard_error=np.full_like(result.standard_error, np.nan))
    assert nan == pickle.loads(pickle.dumps(nan)) != result and hash(nan) == hash(pickle.loads(pickle.dumps(nan)))
    assert replace(Regression(MODEL), family="uniform") != Regression(MODEL)


def test_a_solution_of_many_digits_keeps_them_all():
    solution = MAKERS["solution to 20 digits"]()
    twin = pickle.loads(pickle.dumps(solution))
    assert twin.texts() == solution.texts() and len(twin.texts()[0][1]) > 20


def test_a_fit_predicts_in_another_process():
    result, unseen = fitted(), curve("wsd")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        found = pool.submit(result.predict, unseen, level=None).result()
    assert found == result.predict(unseen, level=None)
