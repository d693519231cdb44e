"""The identities of the model, its equations and the empirical laws: they are proved, and their neighbours not."""

from dataclasses import replace

import pytest
from sympy import MatrixExpr, Sum, ZeroMatrix

from fsl_sym import ansatz, kernel_spaces, model_identities, random_features, stochastic_identities
from fsl_sym.proof import Derivation, together

OF_ANSATZ = (
    "kernel_integral", "physical_time", "first_rate", "loss_by_parts", "reduction_by_parts", "abel_summation",
    "momentum_kernel", "multi_power", "multi_power_limit", "optimal_rate",
)  # fmt: skip
MAKERS = [getattr(ansatz, name) for name in OF_ANSATZ] + [
    getattr(module, name)
    for module in (kernel_spaces, model_identities, random_features, stochastic_identities)
    for name in dir(module)
    if name.endswith("_derivation")
]


def derivations(make):
    made = make()
    return (made,) if isinstance(made, Derivation) else made


def wrong(after):
    """The same times 2, or plus 1."""
    return 2 * after if isinstance(after, MatrixExpr) else after + 1


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: f"{make.__module__.split('.')[-1]}.{make.__name__}")
def test_identities_are_proved_say_something_and_need_their_ends(make):
    theorem = together(*derivations(make))
    assert theorem.proof
    for derivation in derivations(make):
        assert not derivation.conclusion.is_true_by_notation, derivation.name
        for step in derivation:
            assert step.before != step.after, step.why
            if not isinstance(step.after, ZeroMatrix):
                assert not replace(step, after=wrong(step.after)).verify().holds, step.why


def test_a_drop_acts_from_the_start_of_its_step_on():
    step = ansatz.abel_summation()[-1]
    shifted = step.after.replace(
        lambda total: isinstance(total, Sum),
        lambda total: Sum(total.function.subs(ansatz.i - 1, ansatz.i), total.limits[0]),
    )
    assert shifted != step.after and not replace(step, after=shifted).verify().holds


def test_the_rate_comes_squared_over_the_steps():
    (step,) = ansatz.physical_time()
    once = step.after.replace(ansatz.phi(ansatz.u) ** 2, ansatz.phi(ansatz.u))
    assert once != step.after and not replace(step, after=once).verify().holds


def test_the_covariance_of_the_gradient_has_the_mean_taken_off():
    (step,) = model_identities.noise_derivation()
    w, h, u = model_identities.PROJECTION, model_identities.COVARIANCE, model_identities.RESIDUAL
    for changed in (step.after + w * h * u * u.T * h * w.T, step.after - w * h * w.T):
        assert not replace(step, after=changed).verify().holds
