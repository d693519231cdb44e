"""Functions compiled to machine code by numba, which is imported when the first of them is defined, not before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function, *, reordered: bool = False) -> Function:
    """Return ``function``, of arrays and numbers, compiled when it is first called.

    The machine code is kept beside the source, or in the user's cache directory where that cannot be written; where
    neither can, every process compiles again. ``reordered``: sums may be taken in any order, which makes them fast.

    Raises ValueError for a function that names a compiled one of another file: kept machine code contains what it
    calls, and is made anew only where its own file has changed.

    >>> def double(x: float) -> float:
    ...     return 2.0 * x
    >>> compiled(double)(1.5)
    3.0
    """
    from numba import njit

    own = function.__code__.co_filename
    for name in function.__code__.co_names:
        called = getattr(function.__globals__.get(name), "py_func", None)
        if called is not None and called.__code__.co_filename != own:
            raise ValueError(f"{function.__name__} calls {name} of {called.__module__}: both must stand in one file")
    allowed = {"contract", "reassoc", "nsz"} if reordered else {"contract"}
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": allowed}
    try:
        return cast(Function, njit(cache=True, **options)(function))
    except RuntimeError:  # no place where machine code can be kept
        return cast(Function, njit(**options)(function))
