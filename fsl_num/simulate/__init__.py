"""The algorithm of the theory: one-pass stochastic gradient descent, simulated and in exact expectation.

>>> from fsl_num.model import Model
>>> from fsl_num.simulate.regression import Regression
>>> Regression(Model(s=0.5, beta=2.0, size=10, noise=1.0)).tail
0.0
"""
