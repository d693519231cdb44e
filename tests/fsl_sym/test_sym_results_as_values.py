"""The main results can be looked up, copied and sent to another process, also after they were asked something."""

import copy
import pickle

import pytest
from notebook_views import as_latex
from sympy import Eq, Rational, symbols

from fsl_sym import (
    ExponentSolution,
    approximation_error_asymptotics,
    functional_scaling_law,
    kernel_asymptotics,
    noise_integral,
    optimal_allocation,
    optimal_exponents,
    schedule,
)
from fsl_sym.symbols import beta, s

M, D, N = symbols("M D N", positive=True)
a, b = symbols("a b")


@pytest.fixture(scope="module")
def results():
    allocation = optimal_allocation("wsd", "data")
    assert allocation.derivations and allocation.solution.at({s: 1, beta: 2})
    solution = optimal_exponents(M**-a + D**-b, [M, D], N, [Eq(M * D, N)], {a: (0, None), b: (0, 1)})
    assert solution.at({a: 1, b: "1/2"})
    region = solution.regions[0]
    return {
        "Allocation": allocation, "ScalingLaw": allocation.law, "AllocationRegime": allocation.regimes[1],
        "ExponentSolution": solution, "Law": solution.law, "Domain": solution.law.domain, "Region": region,
        "Certificate": region.certificate,
    }  # fmt: skip


@pytest.mark.parametrize(
    "kind",
    ["Allocation", "ScalingLaw", "AllocationRegime", "ExponentSolution", "Law", "Domain", "Region", "Certificate"],
)
def test_a_result_is_the_same_when_copied(kind, results):
    result = results[kind]
    assert type(result).__name__ == kind
    for twin in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result), copy.copy(result)):
        assert twin == result and hash(twin) == hash(result) and {result: 1}[twin] == 1
        assert repr(twin) == repr(result)


def test_a_copied_solution_still_answers():
    solution = optimal_exponents(M**-a + 1 / D, [M, D], N, [Eq(M * D, N)], {a: (0, None)})
    assert solution.at({a: 1}).loss.power == -Rational(1, 2)
    twin = pickle.loads(pickle.dumps(solution))
    assert isinstance(twin, ExponentSolution) and twin.at({a: 2}) == solution.at({a: 2})


def test_a_quantity_that_is_not_there_is_answered_with_those_that_are():
    quantities = optimal_allocation("wsd", "data").regime("easy").quantities
    with pytest.raises(KeyError, match="no 'batch': there are excess_risk, peak_lr, .*, steps, batch_size"):
        quantities["batch"]
    with pytest.raises(TypeError):
        quantities["batch_size"] = 1


@pytest.mark.parametrize(("result", "part"), [
    (lambda: optimal_allocation("wsd", "data").regime("edge"), r"\frac{\left(\beta - 1\right)^{2}}{\beta^{2}}"),
    (lambda: noise_integral("constant"), r"\sum_{j=1}^{M}"),
    (lambda: functional_scaling_law("constant"), r"T^{- s} + M^{- \beta s}"),
    (lambda: schedule("cosine"), r"T = \frac{K \left(a + b\right)}{2}"),
    (kernel_asymptotics, r"\Gamma\left(2 - \frac{1}{\beta}\right)"),
    (approximation_error_asymptotics, r"\le \zeta\left(\beta s + 1, M + 1\right) \le"),
])  # fmt: skip
def test_a_result_shows_itself_as_a_formula(result, part):
    text = as_latex(result())
    assert part in text and text.startswith("$") and text.endswith("$") and text.count("{") == text.count("}")
