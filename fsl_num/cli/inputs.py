"""Read what a person types; refuse what is wrong in one clear sentence, before any work is done."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from fractions import Fraction
from math import isinf
from pathlib import Path
from typing import Final

import click

from fsl_num.minus import with_plain_minus
from fsl_num.workers import LostWorkersError

STANDARD: Final = "-"
"""The path that stands for standard input where something is read and for standard output where it is written."""

_LONGEST: Final = 2**28
"""Bytes of a file of numbers, or of a fit, that are read at most: ten million rows."""

_SHOWN: Final = 6
"""Names that a refusal lists at most."""

OPTION_NAMES: Final = {"peak": "peak_lr", "floor": "floor_lr", "final": "final_lr", "size": "model_size"}
"""Parameters of the library that an option has under another name."""

_PARAMETER = re.compile(r"^[a-z_]+(?= must )|\b[a-z]+_[a-z_]+\b(?![='])")
_IN_PARENTHESES = re.compile(r"""(['\"])[\w:-]+\(.*\)\1: """, re.DOTALL)
_RATIONAL = re.compile(r"[+-]?\d{1,999}(?:/\d{1,999})?", re.ASCII)
_DECIMAL = re.compile(r"[+-]?(?:\d{1,999}\.?\d{0,999}|\.\d{1,999})(?:[eE][+-]?\d{1,3})?", re.ASCII)


class InputError(ValueError):
    """What was typed cannot be used; the text is one sentence for the person who typed it."""


def one_line(text: object) -> str:
    """A text on one line."""
    return " ".join(str(text).split())


def as_typed(text: str) -> str:
    """A refusal of the library in the words of the command that runs: its options in place of parameters.

    What is said of ``'cosine(final=1)': `` is left as it is: parameters stand there under their own names.
    """
    if _IN_PARENTHESES.match(text):
        return text
    context = click.get_current_context(silent=True)
    parameters = [] if context is None else context.command.params
    options = {str(option.name): option.opts[0] for option in parameters if isinstance(option, click.Option)}
    return _PARAMETER.sub(lambda name: options.get(OPTION_NAMES.get(name[0], name[0]), name[0]), text)


@contextmanager
def refused(*also: type[Exception]) -> Iterator[None]:
    """Turn what the library refuses into an :class:`InputError` of one sentence; ``also`` are further exceptions.

    >>> with refused():
    ...     int("x")
    Traceback (most recent call last):
    fsl_num.cli.inputs.InputError: invalid literal for int() with base 10: 'x'
    """
    try:
        yield
    except (InputError, LostWorkersError):
        raise
    except Exception as error:
        if not isinstance(error, (ValueError, TypeError, ArithmeticError, ImportError, *also)):
            raise
        raise InputError(as_typed(one_line(error))) from error


def text_of(path: str, option: str) -> str:
    """The text of a file, of "-" that of standard input; an InputError where it cannot be read."""
    try:
        if path == STANDARD:
            if sys.stdin is None:
                raise OSError(9, "standard input is closed")
            content = sys.stdin.buffer.read(_LONGEST + 1)
        else:
            with Path(path).open("rb") as file:
                content = file.read(_LONGEST + 1)
        if len(content) > _LONGEST:
            raise OSError(27, f"it holds more than {_LONGEST // 2**20} MiB")
        return content.decode("utf-8-sig")
    except (OSError, ValueError) as error:  # ValueError: no text, or no path
        raise InputError(f"{option} cannot read {path!r}: {getattr(error, 'strerror', None) or error}") from error


def known(typed: str, names: Iterable[str], kind: str) -> str:
    """The one of ``names`` that was typed (spaces, hyphens and capitals do not count); an InputError with near names.

    >>> known("false-as-stated", ["typo", "false as stated"], "kind")
    'false as stated'
    >>> known("tipo", ["typo", "false as stated"], "kind")
    Traceback (most recent call last):
    fsl_num.cli.inputs.InputError: there is no kind 'tipo': did you mean 'typo'?
    """

    def bare(text: str) -> str:
        return re.sub("[ -]", "", text.lower())

    choices = list(dict.fromkeys(names))
    for name in choices:
        if bare(name) == bare(typed):
            return name
    near = get_close_matches(typed, choices, 3, 0.4)
    some = f"choose one of {len(choices)}, such as " if len(choices) > _SHOWN else "choose "
    shown = ", ".join(map(repr, choices[:_SHOWN]))
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else some + shown
    raise InputError(f"there is no {kind} {typed!r}: {hint}")


def exact_rational(text: str, name: str) -> Fraction:
    """The rational that ``text`` spells as an integer, p/q or a decimal, which is taken as typed: 0.3 is 3/10.

    >>> exact_rational("1/2", "--s"), exact_rational("0.5", "--s")
    (Fraction(1, 2), Fraction(1, 2))
    >>> exact_rational("half", "--s")
    Traceback (most recent call last):
    fsl_num.cli.inputs.InputError: --s must be a number, for example 1/2 or 0.5, not 'half'
    """
    try:
        return real_number(text)
    except InputError as error:
        raise InputError(f"{name} {error}") from error


def parameter_point(
    s: str | None, beta: str | None, names: tuple[str, str] = ("--s", "--beta")
) -> tuple[Fraction, Fraction] | None:
    """The point (s, beta) given by ``--s`` and ``--beta``, None where neither was given; ``names`` stand in errors.

    >>> parameter_point("1/2", "4")
    (Fraction(1, 2), Fraction(4, 1))
    >>> parameter_point("1/2", "1")
    Traceback (most recent call last):
    fsl_num.cli.inputs.InputError: --beta must be greater than 1, not 1: the eigenvalues j^-beta must have a finite sum
    """
    if s is None and beta is None:
        return None
    if s is None or beta is None:
        raise InputError(
            "--s and --beta go together: give both for one point of the plane, or neither for every regime"
        )
    point = exact_rational(s, names[0]), exact_rational(beta, names[1])
    if point[0] <= 0:
        raise InputError(f"{names[0]} must be greater than 0, not {point[0]}: the target must lie in a source class")
    if point[1] <= 1:
        raise InputError(
            f"{names[1]} must be greater than 1, not {point[1]}: the eigenvalues j^-beta must have a finite sum"
        )
    return point


def real_number(text: str) -> Fraction:
    """The exact value of an integer, a fraction p/q or a decimal.

    >>> real_number("0.3"), real_number("-1/2"), real_number("1e3")
    (Fraction(3, 10), Fraction(-1, 2), Fraction(1000, 1))
    """
    typed = text.strip()
    if _DECIMAL.fullmatch(typed) or _RATIONAL.fullmatch(typed):
        if int(typed.partition("/")[2] or 1) == 0:
            raise InputError(f"must be a number, but {typed!r} divides by zero")
        value = Fraction(typed)
        if abs(value) < Fraction(10) ** 308:
            return value
    meant = " or ".join(_respelled(typed))
    raise InputError(f"must be a number, for example 1/2 or 0.5, not {text!r}{meant and f': write {meant}'}")


_UNITS: Final = {"k": "e3", "m": "e6", "b": "e9", "g": "e9", "t": "e12"}
_WITH_UNIT = re.compile(r"([+-]?[\d.,]+)\s*([%kmbgt])?", re.ASCII | re.IGNORECASE)
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?", re.ASCII)


def _respelled(typed: str) -> list[str]:
    """A percentage, a comma, a letter for thousands or a printed minus sign as it is written here, if it is one.

    A comma before three digits may part thousands or decimals: both are returned, the thousands first.
    """
    if (plain := with_plain_minus(typed)) != typed:
        return [plain] if _DECIMAL.fullmatch(plain) or _RATIONAL.fullmatch(plain) else _respelled(plain)
    parts = _WITH_UNIT.fullmatch(typed)
    if parts is None:
        return []
    unit = (parts[2] or "").lower()
    numbers = [parts[1].replace(",", "")] if _GROUPED.fullmatch(parts[1]) else []
    numbers.append(parts[1].replace(",", ".", 1))
    plain_numbers = [number for number in numbers if _DECIMAL.fullmatch(number) and number != typed]
    return [f"{float(number) / 100:g}" if unit == "%" else number + _UNITS.get(unit, "") for number in plain_numbers]


def positive_number(text: str) -> Fraction:
    """What :func:`real_number` reads, above 0.

    >>> positive_number("0")
    Traceback (most recent call last):
    fsl_num.cli.inputs.InputError: must be above 0, not '0'
    """
    value = real_number(text)
    if value <= 0:
        raise InputError(f"must be above 0, not {text!r}")
    if float(value) == 0.0:
        raise InputError(f"must be at least 1e-323, not {text!r}: nearer to 0 there is no double")
    return value


def nearest_double(text: str) -> float:
    """The double nearest to what :func:`real_number` reads, without the exact value where a million of them are read.

    >>> nearest_double("0.3"), nearest_double("1/2")
    (0.3, 0.5)
    """
    typed = text.strip()
    value = float(typed) if _DECIMAL.fullmatch(typed) else float(real_number(typed))
    if isinf(value):
        raise InputError(f"must be a number below 1.8e308, not {text!r}")
    return value


def model_size(text: str) -> float:
    """A whole number of at least 1, or inf.

    >>> model_size("100"), model_size("inf")
    (100, inf)
    """
    if text.strip() == "inf":
        return float("inf")
    value = real_number(text)
    if value.denominator != 1 or value < 1:
        raise InputError(f"must be a whole number of at least 1, or inf, not {text!r}")
    return int(value)


def whole_number(least: int) -> Callable[[str], int]:
    """What reads a whole number of at least ``least``, below 10^18.

    >>> whole_number(1)("3"), whole_number(1)("1e6")
    (3, 1000000)
    >>> whole_number(1)("8k")
    Traceback (most recent call last):
    fsl_num.cli.inputs.InputError: must be a whole number of at least 1, not '8k': write 8e3
    """

    def read(text: str) -> int:
        def whole(typed: str) -> int | None:
            value = Fraction(typed) if _DECIMAL.fullmatch(typed) else Fraction(-1)
            return int(value) if value.denominator == 1 and least <= value < 10**18 else None

        if (value := whole(text)) is None:
            meant = next((spelling for spelling in _respelled(text) if whole(spelling) is not None), "")
            hint = f": write {meant}" if meant else ""
            raise InputError(f"must be a whole number of at least {least}, not {text!r}{hint}")
        return value

    return read
