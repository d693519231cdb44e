"""The Volterra equation of the excess risk and its solvers.

What comes out is the excess risk E. The equation is one for f = 2E, which is what each method inside computes.

>>> from fsl_num.volterra import Model, Problem, solve
>>> problem = Problem(Model(s=1.0, beta=2.0, size=10, noise=1.0), gamma=0.1, horizon=100.0)
>>> exact = solve(problem, 100.0, digits=30)
>>> fast = solve(problem, 100.0)
>>> bool(abs(fast.excess_risk[0] - exact.excess_risk[0]) <= fast.error[0])
True
"""

from __future__ import annotations

from fsl_num.given_spectrum import Spectrum
from fsl_num.model import Model
from fsl_num.volterra.problem import Problem, UnstableProblemError
from fsl_num.volterra.result import Solution
from fsl_num.volterra.solution import METHODS, solve

__all__ = ["METHODS", "Model", "Problem", "Solution", "Spectrum", "UnstableProblemError", "solve"]
