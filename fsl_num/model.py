r"""The model: power-law kernel regression as four numbers, or any spectrum given as a list.

lambda_j = j^-beta, theta*_j^2 = j^-1 lambda_j^(s-1), the first M features, labels with the noise sigma^2. What every
part of the theory needs of it: the signal e_M, the forgetting kernel K_M, the approximation error delta_M, the trace.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any

import numpy as np

from fsl_num.given_spectrum import Spectrum
from fsl_num.spectrum import approximation_error, eigenvalues, forgetting_kernel, signal, trace
from fsl_num.validation import (
    Array,
    capacity_exponent,
    context_of_digits,
    instance_of,
    one_of,
    positive,
    whole_size,
)


@dataclass(frozen=True)
class Model:
    r"""What is trained on what: the task, the size of the model, and the noise of the labels.

    Source: assumptions labelled ass:capacity and ass:source, with constants of 1.

    ``s`` > 0, the relative difficulty; ``beta`` > 1, the capacity exponent; ``size``: M, the number of features, whole
    or inf; ``noise``: the variance sigma^2 >= 0 of the labels. Or ``spectrum`` (a
    :class:`~fsl_num.given_spectrum.Spectrum`) in place of s, beta and size; then s and beta are nan. A Fraction given
    for s, beta or noise is kept in ``exact``, which solvers with a chosen number of digits use; a float stands for its
    binary value. Raises ValueError or TypeError for anything else.

    The source condition and the capacity condition of the paper (labels ass:source, ass:capacity).

    >>> model = Model(s=0.5, beta=2.0, size=100, noise=1.0)
    >>> bool(model.signal(0.0) + model.approximation_error > model.signal(10.0) > 0)
    True
    >>> model.kernel([0.0, 1.0]).round(6).tolist(), round(float(model.forcing(np.array([1.0]))[0]), 6)
    ([1.082323, 0.18995], 0.645476)
    >>> Model(spectrum=Spectrum([1.0, 0.25], [0.5, 0.1]), noise=0.0).trace
    1.25
    >>> import mpmath
    >>> Model(s=Fraction(1, 3), beta=2, size=100, noise=1).number("s", mpmath.mp) == mpmath.mpf(1) / 3
    True
    """

    s: float = math.nan
    beta: float = math.nan
    size: float = math.nan
    noise: float = math.nan
    spectrum: Spectrum | None = field(default=None, kw_only=True)
    exact: Mapping[str, Fraction] = field(default_factory=dict, repr=False, hash=False, kw_only=True)

    def __eq__(self, other: object) -> bool:
        """Whether all fields are equal; what is left out of both is."""
        if type(other) is not type(self):
            return NotImplemented
        mine, its = (tuple(getattr(model, field.name) for field in fields(model)) for model in (self, other))
        return mine == its  # in tuples the one nan that stands for what is left out is equal to itself

    def __post_init__(self) -> None:
        numbers = {name: getattr(self, name) for name in ("s", "beta", "noise")}
        left_out = {name for name in ("s", "beta", "size", "noise") if _is_nan(getattr(self, name))}
        values: dict[str, Any] = {}
        if self.spectrum is None:
            if {"s", "beta", "size"} & left_out:
                missing = ", ".join(name for name in ("s", "beta", "size") if name in left_out)
                infinite = "; size=math.inf is the infinite model" if missing == "size" else ""
                raise ValueError(
                    f"a model needs s, beta and size, or a spectrum, but {missing} is missing or nan{infinite}"
                )
            values["s"] = positive("s", self.s)
            values["beta"] = capacity_exponent(self.beta)
            values["size"] = whole_size("size", self.size)
        elif not isinstance(self.spectrum, Spectrum):
            raise TypeError(f"spectrum must be a Spectrum, got {type(self.spectrum).__name__}")
        elif not {"s", "beta"} <= left_out or not ("size" in left_out or self.size == self.spectrum.size):
            raise ValueError("a model takes s, beta and size, or a spectrum, but both were given")
        else:
            # One nan for all that is not there, or no two models of a spectrum would be equal.
            values |= {"s": math.nan, "beta": math.nan, "size": float(self.spectrum.size)}
        if "noise" in left_out:
            raise ValueError("a model needs noise, the variance sigma^2 of the labels (0 for none)")
        values["noise"] = positive("noise", self.noise, zero=True)
        # What was kept exactly is forgotten where dataclasses.replace changed the number.
        instance_of("exact", self.exact, Mapping)
        kept = {name: value for name, value in self.exact.items() if float(value) == numbers[name]}
        values["exact"] = kept | {name: value for name, value in numbers.items() if isinstance(value, Fraction)}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        # One nan again, which what is read back from a file is not.
        self.__dict__.update({name: math.nan if _is_nan(value) else value for name, value in state.items()})

    def number(self, name: str, mp: Any) -> Any:
        """Return s, beta or noise as mpf of the context ``mp`` (as mpmath.mp): exactly what was given."""
        one_of("name", name, ("s", "beta", "noise"))
        if _is_nan(value := getattr(self, name)):
            raise ValueError(f"{name} is not known: the model was given by its spectrum")
        context_of_digits("mp", mp)
        return mp.convert(self.exact[name]) if name in self.exact else mp.mpf(value)

    def signal(self, t: Any) -> Any:
        """Return e_M(t) = sum_{j<=M} lambda_j theta_j^2 exp(-2 lambda_j t), t >= 0 a number or an array.

        Source: e_M of the equation labelled eqn: fsl.
        """
        if self.spectrum is not None:
            return self.spectrum.signal(t)
        return signal(t, self.s, self.beta, self.size)

    def kernel(self, t: Any) -> Any:
        """Return the forgetting kernel K_M(t) = sum_{j<=M} lambda_j^2 exp(-2 lambda_j t), t >= 0 a number or an array.

        Source: K_M of the equation labelled eqn: fsl.
        """
        if self.spectrum is not None:
            return self.spectrum.forgetting_kernel(t)
        return forgetting_kernel(t, self.beta, self.size)

    @property
    def approximation_error(self) -> float:
        """delta_M = sum_{j>M} lambda_j theta_j^2, which no training removes (of a spectrum: its tail)."""
        if self.spectrum is not None:
            return self.spectrum.tail
        return float(approximation_error(self.s, self.beta, self.size))

    def forcing(self, t: Array) -> Array:
        """Return delta_M + e_M(t), twice the excess risk of noiseless full-batch training (gradient flow)."""
        return np.asarray(self.approximation_error + self.signal(t))

    @property
    def initial_risk(self) -> float:
        """The excess risk before training, (delta_M + e_M(0))/2."""
        return 0.5 * float(self.forcing(np.zeros(1))[0])

    @property
    def trace(self) -> float:
        """tr H_M, the sum of the eigenvalues."""
        return trace(self.beta, self.size) if self.spectrum is None else self.spectrum.trace

    @property
    def fastest(self) -> float:
        """The largest eigenvalue: nothing changes faster than exp(-2 fastest t) by itself."""
        return 1.0 if self.spectrum is None else float(self.spectrum.eigenvalues.max())

    @property
    def eigenvalues(self) -> Array:
        """lambda_1 .. lambda_M as an array; ValueError where there are too many to list."""
        return eigenvalues(self.size, self.beta) if self.spectrum is None else self.spectrum.eigenvalues

    def _repr_latex_(self) -> str:
        noise = rf"\sigma^2 = {self.noise:g}"
        if self.spectrum is not None:
            return rf"$M = {self.size:g},\ {noise}$"
        size = r"\infty" if math.isinf(self.size) else f"{self.size:g}"
        return rf"$s = {self.s:g},\ \beta = {self.beta:g},\ M = {size},\ {noise}$"


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
