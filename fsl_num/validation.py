"""Checks of arguments that several modules share: every refusal says what was given, what is needed and why."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

MOST_BYTES: Final = 2**32
"""The bound on what one call may allocate for what its arguments ask of it, in bytes: 4 GiB."""


def affordable(what: str, count: float, bytes_each: int, instead: str) -> None:
    """Refuse ``count`` things that take ``bytes_each`` bytes while they are worked on, if they pass :data:`MOST_BYTES`.

    ``what`` they are, and what to do ``instead``. Raises ValueError.

    >>> affordable("steps", 1e10, 64, "take fewer")
    Traceback (most recent call last):
    ValueError: 10,000,000,000 steps take 596 GiB of memory, and one call may take 4: take fewer
    """
    if count * bytes_each > MOST_BYTES:
        shown = f"{count:,.0f}" if count < 1e15 else f"{count:.3g}"
        size = count * bytes_each / 2**30
        raise ValueError(
            f"{shown} {what} take {size:.3g} GiB of memory, and one call may take {MOST_BYTES // 2**30}: {instead}"
        )


def instance_of(name: str, value: Any, kind: type) -> None:
    """Refuse a value that is not of the class that is needed: TypeError with what was given and where to get one.

    >>> instance_of("rates", 3, list)
    Traceback (most recent call last):
    TypeError: rates must be a list (see help(list)), got 3, of type int
    """
    if not isinstance(value, kind):
        shown = repr(value).replace("\n", " ")
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        needed = kind.__name__
        raise TypeError(f"{name} must be a {needed} (see help({needed})), got {shown}, of type {type(value).__name__}")


def as_array(name: str, value: Any) -> npt.NDArray[Any]:
    """The value as an array of whatever it holds; TypeError where its rows have different lengths.

    >>> as_array("rates", [[1.0], 2.0])
    Traceback (most recent call last):
    TypeError: rates must be numbers in rows of one length, got a list whose entries have different shapes
    """
    try:
        return np.asarray(value)
    except ValueError as error:
        kind = type(value).__name__
        needed = f"{name} must be numbers in rows of one length"
        raise TypeError(f"{needed}, got a {kind} whose entries have different shapes") from error


def finite_array(name: str, value: Any, length: int | None = None) -> Array:
    """The value as an array of finite floats, whose last axis has the length that is given.

    Raises TypeError for what are no real numbers, and ValueError for nan, inf and another length.

    >>> finite_array("v", [1, 2])
    array([1., 2.])
    """
    array = as_array(name, value)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name} must be real numbers, got {type(value).__name__} of dtype {array.dtype}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite numbers, got nan or inf; look for a 0/0 or an overflow upstream")
    if length is not None and array.shape[-1:] != (length,):
        raise ValueError(f"{name} must have the shape (..., {length}), got {array.shape}")
    return array.astype(np.float64)


def real_number(name: str, value: Any) -> float:
    """Return ``value`` as a float; refuse what is not one real number (booleans and nan included).

    Raises ``TypeError`` for other types and ``ValueError`` for nan.

    >>> real_number("steps", 3)
    3.0
    """
    if isinstance(value, (bool, np.bool_, str, bytes, complex)) or as_array(name, value).ndim != 0:
        raise TypeError(f"{name} must be one real number, got {value!r}")
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be one real number, got {value!r}") from error
    except OverflowError as error:
        raise ValueError(f"{name} must be below 1.8e308 (it is used as a float), got an integer beyond it") from error
    if math.isnan(number):
        raise ValueError(f"{name} must be a number, got nan; look for a 0/0 or inf - inf upstream")
    return number


def _shown(value: Any) -> str:
    """A number as it would be typed."""
    return str(value) if isinstance(value, Fraction) else repr(value)


def positive(name: str, value: Any, *, infinite: bool = False, zero: bool = False) -> float:
    """Return ``value`` as a positive float; ``infinite`` and ``zero`` say whether inf and 0 are allowed.

    >>> positive("peak", 0.5)
    0.5
    """
    number = real_number(name, value)
    if number < 0 or (number == 0 and not zero):
        raise ValueError(f"{name} must be {'at least 0' if zero else 'positive'}, got {_shown(value)}")
    if math.isinf(number) and not infinite:
        raise ValueError(f"{name} must be finite, got {_shown(value)}")
    return number


def capacity_exponent(beta: Any) -> float:
    """Return beta as a float, beta > 1 (otherwise the trace of the feature covariance diverges).

    >>> capacity_exponent(2)
    2.0
    """
    number = real_number("beta", beta)
    if not 1.0 < number < math.inf:
        raise ValueError(f"beta must lie in (1, inf), got {_shown(beta)}: for beta <= 1 the trace sum j^-beta diverges")
    return number


def whole_size(name: str, value: Any, *, infinite: bool = True, least: int = 1) -> float:
    """Return a count (1, 2, ...; inf where ``infinite``) as a float; whole numbers beyond 2^53 are rounded.

    >>> whole_size("model_size", 10)
    10.0
    """
    number = real_number(name, value)
    if number < least or (math.isinf(number) and not infinite) or (math.isfinite(number) and number != int(number)):
        allowed = f"a whole number of at least {least}" + (" or inf" if infinite else "")
        raise ValueError(f"{name} must be {allowed}, got {_shown(value)}; round it first if it comes from a formula")
    return number


def times(name: str, value: Any, *, upper: float = math.inf) -> tuple[Array, bool]:
    """Return ``value`` as a float array of finite times in [0, upper], and whether it was a scalar.

    >>> times("t", 2.0)[1]
    True
    """
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name} must be a real number or an array of them, got {value!r}")
    given = as_array(name, value)
    if np.ma.is_masked(value):
        raise ValueError(f"{name} holds masked numbers: leave them out, or fill them")
    if given.dtype.kind not in "fiuO":
        raise TypeError(f"{name} must be a real number or an array of them, got dtype {given.dtype}")
    try:
        array = given.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be a real number or an array of them, got {value!r}") from error
    bad = ~np.isfinite(array) | (array < 0) | (array > upper)
    if bad.any():
        first = float(array[bad].flat[0])
        raise ValueError(f"{name} must be finite and in [0, {upper:g}], got {first!r} ({int(bad.sum())} such values)")
    return array, array.ndim == 0


def give_back(array: Array, scalar: bool) -> Any:
    """Return a float for a scalar argument and the array otherwise.

    >>> give_back(np.array(2.0), True)
    2.0
    """
    return float(array) if scalar else array
