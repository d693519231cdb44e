"""A learning rate for every step, as it is typed: a named schedule with its parameters, or a file with one a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from fsl_num.cli.inputs import STANDARD, InputError, nearest_double, text_of
from fsl_num.cli.options import Arguments, ScheduleNames

_Number = TypeVar("_Number", float, Fraction)

OPTIONS: Final = {
    "peak": "peak_lr",
    "steps": "steps",
    "batch_size": "batch_size",
    "final": "final_lr",
    "decay_fraction": "decay_fraction",
    "cycles": "cycles",
    "power": "power",
    "timescale": "timescale",
    "milestones": "milestones",
    "factors": "factors",
    "warmup": "warmup",
    "floor": "floor_lr",
}
"""Parameter of a schedule -> option."""


def option_of(parameter: str) -> str:
    """How the option of a parameter is typed.

    >>> option_of("final")
    '--final-lr'
    """
    return "--" + OPTIONS[parameter].replace("_", "-")


def given_parameters(arguments: Arguments) -> dict[str, Any]:
    """What was typed for the schedule, by the name of the parameter."""
    values = {name: getattr(arguments, option, None) for name, option in OPTIONS.items()}
    return {name: value for name, value in values.items() if value not in (None, ())}


def refuse_unused(what: str, given: Mapping[str, Any], used: Sequence[str], why: str = "") -> None:
    """Refuse the parameters that were typed and have no use."""
    unused = [option_of(name) for name in OPTIONS if name in given and name not in used]
    if unused:
        raise InputError(f"{what} has no use for {' and '.join(unused)}{why}")


def named_parameters(arguments: Arguments) -> dict[str, Any]:
    """What was typed for a named schedule, peak, steps and batch included; what it has no use for is refused."""
    from fsl_num.schedules import parameters_of

    given, name = given_parameters(arguments), arguments.schedule
    refuse_unused(f"--schedule {name}", given, ("peak", "steps", "batch_size", *parameters_of(name)))
    return {parameter: _as_floats(value) for parameter, value in given.items()}


def _as_floats(value: Any) -> Any:
    """A whole number as it is, a rational one as the nearest float, one by one where there are several."""
    if isinstance(value, tuple):
        return tuple(float(each) for each in value)
    return value if isinstance(value, int) else float(value)


def schedule_name(typed: str) -> str | None:
    """The name of a schedule that was typed, None for a file; an InputError, with near names, for neither."""
    names = ScheduleNames("fsl_num.schedules:SCHEDULES")
    if typed not in names.names and (typed == STANDARD or Path(typed).exists()):
        return None
    try:
        name: str = names.convert(typed, None, None)
    except click.BadParameter as error:
        known = ":" in typed or "is called" in error.message
        raise InputError(error.message + ("" if known else "; nor is there a file of that name")) from error
    return name


def numbers_of_file(
    path: str, option: str, what: str, read: Callable[[str], _Number], header: str = ""
) -> list[_Number]:
    """One number a row of a file, blank rows apart; a row that is none is refused with its number.

    ``header``: a first row with which the numbers are the last of each row.
    """
    rows, last = [], False
    for number, line in enumerate(text_of(path, option).splitlines(), 1):
        if not line.strip():
            continue
        if header and number == 1 and line.strip() == header:
            last = True
            continue
        try:
            rows.append(read(line.rpartition(",")[2] if last else line))
        except InputError as error:
            raise InputError(f"{option}: row {number} of {path!r} should hold {what}, but it {error}") from error
    if not rows:
        raise InputError(f"{option}: {path!r} holds no rows")
    return rows


def rates_of_file(path: str, option: str = "--schedule-file") -> list[float]:
    """The learning rates of such an option, one a row, none negative and not all 0."""
    rates = numbers_of_file(path, option, "a learning rate", nearest_double, header="step,lr")
    if (least := min(rates)) < 0:
        raise InputError(f"{option}: row {rates.index(least) + 1} holds {least!r}, but none may be negative")
    if max(rates) == 0.0:
        raise InputError(f"{option} holds no learning rate above 0, so that no intrinsic time passes")
    return rates


def refuse_two_rates(arguments: Arguments) -> None:
    """Refuse a schedule that is given both by name and by file, or not at all."""
    if (arguments.schedule is None) == (arguments.schedule_file is None):
        raise InputError("the learning rate is given by --schedule or by --schedule-file, by exactly one of the two")
