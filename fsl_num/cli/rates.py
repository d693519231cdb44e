"""A learning rate for every step, as it is typed: a named schedule with its parameters, or a file with one a row."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, TypeVar

from fsl_num.cli.inputs import InputError, real_number, whole_number

_Number = TypeVar("_Number", float, Fraction)

SCHEDULES: Final = ("constant", "exp-decay", "wsd", "power-decay", "cosine", "linear", "cyclic", "8-1-1")

_PARAMETERS: Final = {
    "final": "final_lr",
    "decay_fraction": "decay_fraction",
    "cycles": "cycles",
    "power": "power",
}
"""Parameter of a schedule -> option."""


def add_schedule_options(group: Any, *, required: bool) -> None:
    """Add --schedule, --peak-lr, --steps and what the schedules take besides."""
    number: Any = {"metavar": "X", "type": real_number}
    group.add_argument("--schedule", choices=SCHEDULES, required=required, help="a named schedule")
    group.add_argument("--peak-lr", required=required, **number, help="its largest learning rate")
    group.add_argument("--steps", required=required, metavar="K", type=whole_number(1), help="number of steps")
    group.add_argument("--final-lr", **number, help="learning rate at the end, of cyclic the lowest")
    group.add_argument("--decay-fraction", **number, help="share of the steps that decay, of wsd (default: 0.2)")
    group.add_argument("--cycles", metavar="C", type=whole_number(1), help="number of waves, of cyclic (default: 4)")
    group.add_argument("--power", **number, help="power of power-decay (default: 1)")


def named_parameters(arguments: argparse.Namespace) -> dict[str, Any]:
    """What was typed for the schedule besides peak and steps; what it has no use for is refused."""
    from fsl_num.schedules.steps import parameters_of

    known = parameters_of(arguments.schedule)
    given = {field: getattr(arguments, option) for field, option in _PARAMETERS.items()}
    given = {field: value for field, value in given.items() if value is not None}
    unused = ["--" + _PARAMETERS[field].replace("_", "-") for field in given if field not in known]
    if unused:
        raise InputError(f"--schedule {arguments.schedule} has no use for {' and '.join(unused)}")
    return {field: value if isinstance(value, int) else float(value) for field, value in given.items()}


def numbers_of_file(path: str, option: str, what: str, read: Callable[[str], _Number]) -> list[_Number]:
    """One number a row of a file, blank rows apart; a row that is none is refused with its number."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{option} cannot read {path!r}: {getattr(error, 'strerror', None) or error}") from error
    rows = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            rows.append(read(line))
        except argparse.ArgumentTypeError as error:
            raise InputError(f"{option}: row {number} of {path!r} should hold {what}, but it {error}") from error
    if not rows:
        raise InputError(f"{option}: {path!r} holds no rows")
    return rows


def rates_of_file(path: str, option: str) -> list[float]:
    """The learning rates of a file, one a row, none negative and not all 0."""
    from fsl_num.cli.inputs import nearest_double

    rates = numbers_of_file(path, option, "a learning rate", nearest_double)
    if (least := min(rates)) < 0:
        raise InputError(f"{option}: row {rates.index(least) + 1} holds {least!r}, but none may be negative")
    if max(rates) == 0.0:
        raise InputError(f"{option} holds no learning rate above 0, so that no intrinsic time passes")
    return rates
