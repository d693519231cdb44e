"""What a run with a late large batch has lost: against two losses apart, and against the law for small rates."""

import math

import numpy as np
import pytest

from fsl_num.paper.scaling_laws.batch_switch import catch_up, lost
from fsl_num.paper.scaling_laws.training import peak_rate
from fsl_num.spectrum import kernel_integral, signal
from fsl_num.volterra.mesh import mesh_equation


@pytest.mark.parametrize("size", [50.0, math.inf])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_what_is_lost_is_the_difference_of_two_risks(size, share):
    equation = mesh_equation(0.5, 2.0, size, 1e4)
    cells = equation.mesh.lengths.size
    node, rate = round(share * cells), 0.3
    throughout = np.full(cells, rate / 20.0)
    switched = np.where(np.arange(cells) < node, rate / 2.0, throughout)
    risks = [equation.final_risk(gammas, 3.0)[0] for gammas in (switched, throughout)]
    # a difference of numbers of order 0.1 to 1
    assert lost(equation, node, rate, 2.0, 20.0, 3.0) == pytest.approx(risks[0] - risks[1], rel=1e-9, abs=1e-14)


@pytest.mark.parametrize(("beta", "left"), [(1.5, 3.0), (2.0, 100.0), (4.0, 1e3)])
def test_for_small_rates_it_is_what_the_kernel_remembers(beta, left):
    horizon, noise = 1e5, 1e6
    equation = mesh_equation(1.0, beta, math.inf, horizon)
    node = int(np.argmin(np.abs(np.log(equation.mesh.remaining[:-1] / left))))
    remembered = kernel_integral(equation.mesh.remaining[node], horizon, beta)
    law = 0.5 * noise * 1e-7 * (1.0 / 2.0 - 1.0 / 8.0) * remembered
    # the signal is 1e-6 of the noise, and the loss exceeds the law by 1e-7 tr(H); kernels on the mesh are good to 1e-8
    assert lost(equation, node, 1e-7, 2.0, 8.0, noise) == pytest.approx(law, rel=5e-6)


@pytest.mark.parametrize(("s", "beta", "large"), [(0.2, 2.0, 1e6), (0.9, 3.0, 50.0), (0.4, 1.5, 8.0)])
def test_a_run_that_has_caught_up_has_twice_the_risk(s, beta, large):
    horizon, noise = 1e12, 30.0
    left = catch_up(s, beta, horizon, large, noise)
    rate, learned = noise * peak_rate(beta), signal(horizon, s, beta)
    throughout = learned + rate * kernel_integral(0.0, horizon, beta) / large
    switched = learned + rate * (kernel_integral(left, horizon, beta) + kernel_integral(0.0, left, beta) / large)
    assert switched == pytest.approx(2.0 * throughout, rel=1e-9)
    assert 0.0 < left < horizon
