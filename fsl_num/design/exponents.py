"""The exponents of the best schedule in the theory: how it grows with the budget when everything is chosen best."""

from __future__ import annotations

from fsl_num.validation import capacity_exponent, positive


def optimal_exponents(s: float, beta: float, budget: str) -> dict[str, float]:
    """Return the power of the budget with which each quantity of the best design grows, by name.

    The noise of the best rates is of the order min(M, T^(1/beta))/D where no bound on the rate matters. In the easy
    regime, s > 1 - 1/beta, it balances the signal T^-s; in the hard one the peak stays at its bound, T ~ D. Under a
    compute budget C = M D the model is as large as what T lets it learn, M ~ T^(1/beta).

    Parameters
    ----------
    s, beta
        Relative difficulty and capacity exponent of the task.
    budget
        "data", with the model as large as it should be, or "compute", model size times data.

    Returns
    -------
    dict
        Of the excess_risk, the peak_gamma, the horizon (intrinsic time), the decay_share (of the samples, once the
        rate falls), and of a compute budget the model_size and the data.

    Raises
    ------
    ValueError
        For another budget, or parameters out of range.

    Notes
    -----
    Source: the claims optimal-schedule.

    Examples
    --------
    >>> optimal_exponents(0.5, 3.0, "compute")["model_size"], optimal_exponents(1.0, 3.0, "data")["excess_risk"]
    (0.25, -0.75)
    """
    s, beta = positive("s", s), capacity_exponent(beta)
    horizon = min(beta / (1.0 + s * beta), 1.0)  # of the data
    exponents = {
        "excess_risk": -s * horizon,
        "peak_gamma": horizon - 1.0,
        "horizon": horizon,
        "decay_share": min(0.0, (1.0 + s * beta - beta) / (2.0 * beta - 1.0)),
    }
    if budget == "data":
        return exponents
    if budget != "compute":
        raise ValueError(f"budget must be 'data' or 'compute', got {budget!r}")
    data = 1.0 / (1.0 + horizon / beta)
    exponents = {name: exponent * data for name, exponent in exponents.items()}
    return exponents | {"model_size": 1.0 - data, "data": data}
