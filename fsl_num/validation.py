"""Checks of arguments that several modules share: every refusal says what was given, what is needed and why."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from difflib import get_close_matches
from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

MOST_BYTES: Final = 2**32
"""The bound on what one call may allocate for what its arguments ask of it, in bytes: 4 GiB."""


STEEPEST: Final = 1_000.0
"""The largest capacity exponent: 2^-1000 is about the least number that floats hold with all their digits."""


def affordable(noun: str, count: float, bytes_each: int, instead: str) -> None:
    """Refuse ``count`` things that take ``bytes_each`` bytes while they are worked on, if they pass :data:`MOST_BYTES`.

    ``noun``: what they are, and what to do ``instead``. Raises ValueError.

    >>> affordable("steps", 1e10, 64, "take fewer")
    Traceback (most recent call last):
    ValueError: 10,000,000,000 steps take 596 GiB of memory, and one call may take 4: take fewer
    """
    if count * bytes_each > MOST_BYTES:
        shown = f"{count:,.0f}" if count < 1e15 else f"{count:.3g}"
        size = count * bytes_each / 2**30
        raise ValueError(
            f"{shown} {noun} take {size:.3g} GiB of memory, and one call may take {MOST_BYTES // 2**30}: {instead}"
        )


def instance_of(name: str, value: Any, kind: type) -> None:
    """Refuse a value that is not of the class that is needed: TypeError with what was given and where to get one.

    >>> instance_of("rates", 3, list)
    Traceback (most recent call last):
    TypeError: rates must be a list (see help(list)), got 3, of type int
    """
    if not isinstance(value, kind):
        needed = kind.__name__
        raise TypeError(f"{name} must be a {needed} (see help({needed})), got {described(value)}")


def known_options(owner: str, names_given: Iterable[str], known: Iterable[str]) -> None:
    """Raise TypeError for a name that is none of those known, with the nearest one.

    >>> known_options("of a log", ["warmpu"], ["warmup", "name"])
    Traceback (most recent call last):
    TypeError: there is no option 'warmpu' of a log; did you mean 'warmup'?
    """
    names = list(known)
    if strange := [name for name in names_given if name not in names]:
        near = get_close_matches(strange[0], names, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"
        raise TypeError(f"there is no option {strange[0]!r} {owner}; {hint}")


def broadcast(**arrays: Any) -> list[Any]:
    """Return arrays at their common shape; ValueError, with their names, where they have none.

    >>> [array.tolist() for array in broadcast(lower=np.zeros(1), upper=np.ones(2))]
    [[0.0, 0.0], [1.0, 1.0]]
    """
    try:
        return list(np.broadcast_arrays(*arrays.values()))
    except ValueError:
        shapes = " and ".join(str(array.shape) for array in arrays.values())
        raise ValueError(
            f"{' and '.join(arrays)} must be numbers, or arrays of one shape, got the shapes {shapes}"
        ) from None


def described(value: Any) -> str:
    """Return what was given in a line, cut short where it is long, with its type.

    >>> described([1])
    '[1], of type list'
    """
    return f"{shortened(value)}, of type {type(value).__name__}"


def shortened(value: Any) -> str:
    """Return what was given in a line, cut short where it is long.

    >>> shortened("x" * 100)[-5:]
    'xx...'
    """
    shown = " ".join(repr(value).split())
    return shown if len(shown) <= 60 else shown[:57] + "..."


def one_of(name: str, value: Any, allowed: Iterable[str], unknown: str = "") -> str:
    """Return a text that is one of those allowed; ``unknown``: the whole sentence for another text, if not the usual.

    Raises TypeError for what is no text, and ValueError for another one.

    >>> one_of("closure", "x", ("volterra", "gaussian"))
    Traceback (most recent call last):
    ValueError: closure must be one of volterra, gaussian, got 'x'
    """
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a text, one of {', '.join(allowed)}, got {shortened(value)}")
    if value not in allowed:
        raise ValueError(unknown or f"{name} must be one of {', '.join(allowed)}, got {shortened(value)}")
    return value


def flag(name: str, value: Any) -> bool:
    """Return True or False; TypeError for anything else, as an array, whose truth is that of no single value.

    >>> flag("intervals", 1)
    Traceback (most recent call last):
    TypeError: intervals must be True or False, got 1, of type int
    """
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {described(value)}")
    return bool(value)


def whole_seed(value: Any, needed: str = "a whole number") -> int:
    """Return the seed of random streams: a whole number of at least 0; ``needed``: what else the caller takes.

    >>> whole_seed(-1)
    Traceback (most recent call last):
    ValueError: seed must be at least 0, got -1
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"seed must be {needed}, got {described(value)}")
    number = operator.index(value)
    if number < 0:
        raise ValueError(f"seed must be at least 0, got {number}")
    return number


def seed_sequence(value: Any) -> np.random.SeedSequence:
    """Return the root of random streams that belongs to a seed, a whole number; a SeedSequence as it is.

    >>> seed_sequence(3).entropy
    3
    """
    if isinstance(value, np.random.SeedSequence):
        return value
    return np.random.SeedSequence(whole_seed(value, "a whole number or a SeedSequence"))


def known_executor(value: Any) -> Executor | None:
    """Return an executor, or None for this process; TypeError for anything else.

    >>> known_executor("threads")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    TypeError: executor must be a concurrent.futures.Executor (...) or None, got 'threads', of type str
    """
    if value is None or isinstance(value, Executor):
        return value
    kind = "a concurrent.futures.Executor (of a Dask client: client.get_executor()) or None"
    raise TypeError(f"executor must be {kind}, got {described(value)}")


def entries(name: str, value: Any, kind: type | None = None, *, least: int = 0, needed: str = "a list") -> list[Any]:
    """Return the entries of a list or another iterable, each of the class ``kind``; ``needed``: what it is a list of.

    A text, a mapping and a scalar are no lists. Raises TypeError, and ValueError for fewer than ``least``.

    >>> entries("breaks", 3)
    Traceback (most recent call last):
    TypeError: breaks must be a list, got 3, of type int
    """
    scalar = isinstance(value, np.ndarray) and value.ndim == 0
    if scalar or not isinstance(value, Iterable) or isinstance(value, (str, bytes, Mapping)):
        raise TypeError(f"{name} must be {needed}, got {described(value)}")
    listed = list(value)
    if len(listed) < least:
        raise ValueError(f"{name} must be {needed}, at least {least} of them, got {len(listed)}")
    if kind is not None:
        for entry in listed:
            instance_of(f"each of {name}", entry, kind)
    return listed


def path_like(name: str, value: Any) -> str | os.PathLike[str]:
    """Return the path of a file; TypeError for anything else.

    >>> path_like("path", 3)
    Traceback (most recent call last):
    TypeError: path must be a text or a pathlib.Path, got 3, of type int
    """
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name} must be a text or a pathlib.Path, got {described(value)}")
    if not os.fspath(value) or "\0" in str(value):
        raise ValueError(f"{name} must be the path of a file, got {shortened(value)}")
    return value


def context_of_digits(name: str, value: Any) -> Any:
    """Return a context of mpmath, which says how many digits there are; TypeError for anything else.

    >>> context_of_digits("mp", 30)
    Traceback (most recent call last):
    TypeError: mp must be a context of mpmath, such as mpmath.mp, got 30, of type int
    """
    if not all(callable(getattr(value, method, None)) for method in ("mpf", "convert")):
        raise TypeError(f"{name} must be a context of mpmath, such as mpmath.mp, got {described(value)}")
    return value


def proper_share(name: str, value: Any) -> float:
    """Return a number strictly between 0 and 1, as the level of an interval is.

    >>> proper_share("level", 90)
    Traceback (most recent call last):
    ValueError: level must lie in (0, 1), as in 0.9 for 90 %, got 90
    """
    number = real_number(name, value)
    if not 0.0 < number < 1.0:
        raise ValueError(f"{name} must lie in (0, 1), as in 0.9 for 90 %, got {_shown(value)}")
    return number


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


def real_number(name: str, value: Any, *, infinite: bool = True) -> float:
    """Return ``value`` as a float; refuse what is not one real number (booleans and nan included).

    ``infinite``: whether inf and -inf are allowed. Raises ``TypeError`` for other types and ``ValueError`` for nan.

    >>> real_number("steps", 3)
    3.0
    """
    if isinstance(value, (bool, np.bool_, str, bytes, complex)) or as_array(name, value).ndim != 0:
        raise TypeError(f"{name} must be one real number, got {described(value)}")
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be one real number, got {described(value)}") from error
    except OverflowError as error:
        raise ValueError(f"{name} must be below 1.8e308 (it is used as a float), got an integer beyond it") from error
    if math.isnan(number):
        raise ValueError(f"{name} must be a number, got nan; look for a 0/0 or inf - inf upstream")
    if math.isinf(number) and not infinite:
        raise ValueError(f"{name} must be finite, got {_shown(value)}")
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
    if number > STEEPEST:
        raise ValueError(
            f"beta must be at most {STEEPEST:,.0f}, got {_shown(beta)}: beyond it even the second eigenvalue, 2^-beta,"
            " is no number that floats hold"
        )
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


def whole_count(name: str, value: Any, *, least: int = 1, most: int = 2**63 - 1) -> int:
    """Return how many of something that is worked through one by one, from ``least`` to ``most``.

    >>> whole_count("steps", 3.0)
    3
    """
    count = int(whole_size(name, value, infinite=False, least=least))
    if count > most:
        raise ValueError(f"{name} must be at most {most:,}, got {_shown(value)}: that many are worked through")
    return count


def times(name: str, value: Any, *, upper: float = math.inf) -> tuple[Array, bool]:
    """Return ``value`` as a float array of finite times in [0, upper], and whether it was a scalar.

    >>> times("t", 2.0)[1]
    True
    """
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name} must be a real number or an array of them, got {described(value)}")
    raw = as_array(name, value)
    if np.ma.is_masked(value):
        raise ValueError(f"{name} holds masked numbers: leave them out, or fill them")
    if raw.dtype.kind not in "fiuO":
        raise TypeError(f"{name} must be a real number or an array of them, got dtype {raw.dtype}")
    try:
        array = raw.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be a real number or an array of them, got {described(value)}") from error
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
