r"""Measured loss curves: read one, fit a law to it, predict another schedule, know how far to trust the prediction.

The flow of values, each of them frozen:

    LossCurve   steps, learning rates and losses of one run, checked (:mod:`~fsl_num.curves.curve`)
      .plan     Plan: the learning rate of every step, and the steps whose loss is wanted (:mod:`~fsl_num.curves.plan`)
    Law         formula, parameters with bounds, prediction with analytic Jacobian (:mod:`~fsl_num.curves.laws`)
    fit(curves, law) -> FitResult     robust least squares and expectations (:mod:`~fsl_num.curves.fit`)
    FitResult.predict(plan) -> Prediction    losses with intervals (:mod:`~fsl_num.curves.predict`)
    score(prediction, curve) -> Score        R2, MAE, RMSE, relative errors, coverage (:mod:`~fsl_num.curves.score`)

A law is linear in some of its parameters once the others are given: it states its columns and their derivatives,
and everything else (prediction, Jacobian, linear starts, least squares) follows from them. The intrinsic time of a
recorded step is the sum of all learning rates before it, warmup included; the loss of row k is measured after k
updates, and the learning rate of row k is that of the next update.

The default law is the functional scaling law itself, with the noise convolution kept as a convolution and all its terms
(:mod:`~fsl_num.curves.laws.functional`); where the curves do not determine a parameter, what the theory expects does.
What they leave open, and what the law may miss, makes the intervals (:mod:`~fsl_num.curves.posterior`).
"""
