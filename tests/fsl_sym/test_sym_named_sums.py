"""The paper's names for sums over modes: what a name stands for is the sum itself, at the time it is given."""

import pytest
from sympy import Function, Integral, Sum, Symbol, oo

from fsl_sym.named_sums import definitions, named, written
from fsl_sym.proof.bound_letters import readable
from fsl_sym.spectrum import decay, forgetting_kernel, over_modes, signal
from fsl_sym.symbols import M, N, T, beta, j, s, t, z

i, gamma = Symbol("i", integer=True, positive=True), Function("gamma")
y = Symbol("y", positive=True)
SIGNAL, KERNEL = Function("e_M"), Function(r"K_\infty")
SUMS = {SIGNAL: signal, KERNEL: lambda time: forgetting_kernel(time, oo), Function("K_M"): forgetting_kernel,
        Function(r"e_\infty"): lambda time: signal(time, oo)}  # fmt: skip


@pytest.mark.parametrize("time", [t, T - t, t / 2, 3 * M**beta, Function("T")(i)])
@pytest.mark.parametrize("name", SUMS)
def test_each_sum_has_its_name_at_its_time(name, time):
    assert named(SUMS[name](time)) == name(time)


def test_names_stand_inside_of_integrals_and_sums():
    convolved = named(Integral(forgetting_kernel(t - z, oo) * gamma(z) * signal(z), (z, 0, t)))
    assert convolved == Integral(KERNEL(t - z) * gamma(z) * SIGNAL(z), (z, 0, t))
    assert written(Sum(i * signal(i), (i, 1, N))) == r"\sum_{j=1}^{N} j e_{M}{\left(j \right)}"


@pytest.mark.parametrize("other", [
    over_modes(j ** (-s * beta) * decay(t)), over_modes(j ** (-3 * beta) * decay(t)), signal(t, 2 * M), 2 * signal(),
    over_modes(j ** (-2 * beta) * decay(t) ** 2 * decay(z)), over_modes(j ** (-1 - s * beta) * decay(j)),
    Sum(j ** (-1 - s * beta) * decay(t), (j, 2, M)), Sum(j ** (-1 - s * beta), (j, M, oo)),
])  # fmt: skip
def test_another_sum_has_no_name_or_is_not_that_name_alone(other):
    assert named(other) not in {name(t) for name in SUMS} | {Symbol(r"\delta_M", positive=True)}


def test_what_is_left_out_has_the_number_of_features_in_its_definition():
    for size in (N, oo):
        (name, defined), *_ = definitions(2 * Sum(j ** (-1 - s * beta), (j, M + 1, size))).items()
        assert name == r"\delta_{M}" and ("infty" in defined) == (size == oo)


def test_a_bound_letter_has_no_name_that_is_free():
    assert readable(Sum(i * j, (i, 1, M))) == Sum(i * j, (i, 1, M))
    assert readable(Integral(T * z * gamma(T), (T, 0, 1))) == Integral(y * z * gamma(y), (y, 0, 1))
