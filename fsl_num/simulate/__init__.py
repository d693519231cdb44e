"""The algorithm of the theory: one-pass stochastic gradient descent, simulated and in exact expectation.

>>> from fsl_num.simulate.regression import Regression
>>> Regression(s=0.5, beta=2.0, model_size=10, noise=1.0).tail
0.0
"""
