"""A million steps in little memory, seen from outside the process."""

import subprocess
import sys

import pytest

MEASURE = """
import numpy as np
from fsl_num.schedules import Discrete
from fsl_num.volterra import Model, Problem
from fsl_num.volterra.steps.discrete import losses_of_steps


def peak():
    # of this program alone: the peak that getrusage tells begins with that of the process that started it
    with open("/proc/self/status") as status:
        return int(next(line for line in status if line.startswith("VmHWM")).split()[1])

few = Discrete(rates=[0.1] * 10)
model = Model(s=0.5, beta=2.0, size=float("inf"), noise=1.0)
losses_of_steps(Problem(model, gamma=few), rtol=1e-8)
before = peak()
plan = Discrete(rates=0.1 * np.cos(np.linspace(0.0, 1.5, 10**6)) ** 2)
values, error, facts = losses_of_steps(
    Problem(model, gamma=plan), rtol=1e-8
)
after = peak()
assert facts.success and values.size == 10**6 + 1
print((after - before) / 1024)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak of a process has other units elsewhere")
def test_a_million_steps_take_less_than_200_megabytes(record_property):
    run = subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    megabytes = float(run.stdout)
    record_property("megabytes above ten steps", megabytes)
    # above what ten steps take, most of it the compiler; the result and its errors alone are 16 MB
    assert 16.0 < megabytes < 200.0
