"""A learning rate for every step, as it is typed: a named schedule with its parameters, or a file with one a row."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final, TypeVar

import click

from fsl_num.cli.inputs import OPTION_NAMES, STANDARD, InputError, nearest_double, refused, text_of, whole_number
from fsl_num.cli.options import Arguments, ScheduleNames

_Number = TypeVar("_Number", float, Fraction)

_PARAMETERS: Final = (
    "peak", "steps", "batch_size", "final", "decay_fraction", "cycles", "power", "timescale", "milestones", "factors",
    "warmup", "floor",
)  # fmt: skip
OPTIONS: Final = {name: OPTION_NAMES.get(name, name) for name in _PARAMETERS}
"""Parameter of a schedule -> option."""


_TABLE: Final = "step,lr"  # the first row of what designs write


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


def refuse_unused(subject: str, typed: Mapping[str, Any], used: Sequence[str], why: str = "") -> None:
    """Refuse the parameters that were typed and have no use."""
    unused = [option_of(name) for name in OPTIONS if name in typed and name not in used]
    if unused:
        raise InputError(f"{subject} has no use for {' and '.join(unused)}{why}")


def named_parameters(arguments: Arguments) -> dict[str, Any]:
    """What was typed for a named schedule, peak, steps and batch included; what it has no use for is refused."""
    from fsl_num.schedules import parameters_of

    typed, name = given_parameters(arguments), arguments.schedule
    refuse_unused(f"--schedule {name}", typed, ("peak", "steps", "batch_size", *parameters_of(name)))
    return {parameter: _as_floats(value) for parameter, value in typed.items()}


def _as_floats(value: Any) -> Any:
    """A whole number as it is, a rational one as the nearest float, one by one where there are several."""
    if isinstance(value, tuple):
        return tuple(float(number) for number in value)
    return value if isinstance(value, int) else float(value)


def schedule_name(typed: str) -> str | None:
    """The name of a schedule that was typed, None for a file; an InputError, with near names, for neither."""
    names = ScheduleNames("fsl_num.schedules:SCHEDULES")
    if typed not in names.names and (typed == STANDARD or os.path.exists(typed)):
        return None
    try:
        name: str = names.convert(typed, None, None)
    except click.BadParameter as error:
        raise InputError(error.message.replace(" is none of ", " is no file, and none of ", 1)) from error
    return name


def numbers_of_file(path: str, option: str, content: str, read: Callable[[str], _Number]) -> list[_Number]:
    """One number a row of a file, blank rows apart; a row that is none is refused with its number."""
    return [number for _, number in _numbers(text_of(path, option).splitlines(), path, option, content, read)]


def _numbers(
    lines: Sequence[str], path: str, option: str, content: str, read: Callable[[str], _Number]
) -> list[tuple[int, _Number]]:
    """The number of each row, with the row's."""
    rows = []
    for row, line in enumerate(lines, 1):
        try:
            rows += [(row, read(line))] if line.strip() else []
        except InputError as error:
            raise InputError(f"{option}: row {row} of {path!r} should hold {content}, but it {error}") from error
    if not rows:
        raise InputError(f"{option}: {path!r} holds no rows")
    return rows


def columns_of(text: str | None) -> dict[str, Any] | None:
    """{"step": "A", "loss": 2} for step=A,loss=2.

    >>> columns_of("step=A,loss=2")
    {'step': 'A', 'loss': 2}
    """
    if text is None:
        return None
    roles: dict[str, Any] = {}
    for part in text.split(","):
        role, equals, name = part.partition("=")
        if not equals or not role.strip() or not name.strip():
            raise InputError(f"--columns takes pairs such as step=A,lr=B,loss=C, but {part!r} is none")
        roles[role.strip()] = int(name) if re.fullmatch(r"\s*\d{1,9}\s*", name, re.ASCII) else name.strip()
    return roles


def rates_of_file(
    path: str, option: str = "--schedule-file", columns: str | None = None, restarts: str = "refuse"
) -> list[float]:
    """The learning rate of every update, see :func:`updates_of_file`; that of the first row before a late one."""
    rates, _, unseen = updates_of_file(path, option, columns, restarts)
    if unseen:
        click.echo(
            f"fsl: {path}: begins at step {unseen}, and nothing says the rates before: that of its first row is taken"
            " (a row for step 0 says another)",
            err=True,
        )
    return rates


def updates_of_file(
    path: str, option: str, columns: str | None = None, restarts: str = "refuse"
) -> tuple[list[float], Any, int]:
    """The learning rate of every update, none negative and not all 0; the batch sizes, one an update, or 1; and how
    many of the first updates precede the first row of a file that begins late.

    The file holds one rate a row; or it is a table "step,lr", or a log with steps and rates, and the rates between its
    rows are rebuilt as those of a log are (:func:`~fsl_num.curves.rates.rates_of_rows`). Batch sizes are those of a log
    that says them. ``columns`` and ``restarts``: of a log, as typed.
    """
    if columns is not None:
        return _rates_of_log(path, option, restarts, columns_of(columns))
    lines = text_of(path, option).splitlines()
    first = next((line.strip() for line in lines if line.strip()), "")
    if first == _TABLE and restarts == "refuse":
        rates, unseen = _rates_of_table(lines, path, option)
        return rates, 1.0, unseen
    try:
        rows = _numbers(lines, path, option, "a learning rate", nearest_double)
    except InputError as error:
        if path == STANDARD or _is_number(first):
            raise
        return _rates_of_log(path, option, restarts, why_no_number=error)
    return _checked(rows, option), 1.0, 0


def _is_number(cell: str) -> bool:
    try:
        nearest_double(cell)
    except InputError:
        return False
    return True


def _checked(rows: Sequence[tuple[int, float]], option: str) -> list[float]:
    row, least = min(rows, key=lambda numbered: numbered[1])
    if least < 0:
        raise InputError(f"{option}: row {row} holds {least!r}, but none may be negative")
    if all(rate == 0.0 for _, rate in rows):
        raise InputError(f"{option} holds no learning rate above 0, so that no intrinsic time passes")
    return [rate for _, rate in rows]


def _rates_of_table(lines: Sequence[str], path: str, option: str) -> tuple[list[float], int]:
    """The rate of every update, of a table "step,lr" with a row for each update or for some, and how late it begins."""
    import numpy as np

    from fsl_num.curves.rates import rates_of_rows, unseen_updates

    header = next(row for row, line in enumerate(lines) if line.strip())
    body = [""] * (header + 1) + list(lines[header + 1 :])
    if short := next((row for row, line in enumerate(body, 1) if line.strip() and line.count(",") != 1), None):
        raise InputError(f"{option}: row {short} of {path!r} should hold a step and a learning rate, a comma between")
    steps = _numbers([line.partition(",")[0] for line in body], path, option, "a step", whole_number(0))
    rates = _checked(
        _numbers([line.partition(",")[2] for line in body], path, option, "a learning rate", nearest_double), option
    )
    numbers = [step for _, step in steps]
    for (_, before), (row, step) in pairwise(steps):
        if step <= before:
            raise InputError(f"{option}: row {row} of {path!r} is for step {step}, but the row before for {before}")
    if numbers[-1] - numbers[0] + 1 == len(numbers) and numbers[0] <= 1:
        return rates, 0
    with refused():
        return [float(rate) for rate in rates_of_rows(np.array(numbers), np.array(rates))], unseen_updates(numbers)


def _rates_of_log(
    path: str,
    option: str,
    restarts: str,
    columns: Mapping[str, Any] | None = None,
    why_no_number: InputError | None = None,
) -> tuple[list[float], Any, int]:
    """Rates and batch sizes of a log, and how late it begins.

    What neither holds numbers only nor is a log is refused as both.
    """
    from fsl_num.curves.reading import read_rates

    try:
        with refused():
            said = read_rates(path, columns, restarts)
    except InputError as error:
        if why_no_number is None:
            raise InputError(f"{option}: {error}") from error
        raise InputError(f"{why_no_number}; nor is it a log with learning rates: {error}") from error
    for note in said.notes:
        click.echo(f"fsl: {path}: {note}", err=True)
    return _checked(list(enumerate(map(float, said.rates))), option), said.batch_sizes, said.unseen


def refuse_export_as_table(arguments: Arguments) -> None:
    """Refuse to write what ``--export`` gives, a program, into a file that calls itself a table."""
    if arguments.export is not None and arguments.out is not None and arguments.out.lower().endswith(".csv"):
        raise InputError(
            f"--out {arguments.out} would hold what {arguments.export} takes, and no table: name it otherwise, or "
            "leave --export out to write step and lr"
        )


def refuse_two_rates(arguments: Arguments) -> None:
    """Refuse a schedule that is given both by name and by file, or not at all."""
    if (arguments.schedule is None) == (arguments.schedule_file is None):
        raise InputError("the learning rate is given by --schedule or by --schedule-file, by exactly one of the two")
