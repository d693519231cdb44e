"""A schedule as the text of a Python function of the step: closed forms where it has them, else a table of segments."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from fsl_num.schedules.base import Schedule
from fsl_num.schedules.constant import Constant
from fsl_num.schedules.cosine import Cosine
from fsl_num.schedules.discrete import running_sums
from fsl_num.schedules.exponential import ExponentialDecay
from fsl_num.schedules.frameworks.arguments import tidy
from fsl_num.schedules.linear import Linear
from fsl_num.schedules.phases import Backwards, Part, Phased
from fsl_num.schedules.power import PowerDecay
from fsl_num.schedules.square_root import InverseSqrt, OneMinusSqrt
from fsl_num.validation import Array

_MOST_PHASES: Final = 40
_STRAIGHT: Final = 1e-13  # of the largest rate: how far the rates of a segment may lie off its straight line

_WIDTH: Final = 110
_INDENT: Final[Any] = {"initial_indent": "    ", "subsequent_indent": "    ", "break_on_hyphens": False}

LIBRARIES: Final = ("math", "jnp")
"""What the function may be written for: plain numbers, or the arrays of jax.numpy."""


def number(value: float) -> str:
    """Return a number as Python writes it, whole ones without a point.

    >>> number(200.0), number(0.003)
    ('200', '0.003')
    """
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


_FORMS: Final[Mapping[type[Schedule], Callable[[Any, str, str], str]]] = {
    Constant: lambda phase, x, of: number(phase.peak),
    Linear: lambda phase, x, of: _between(phase, f"(1 - {x} / {number(phase.steps)})"),
    Cosine: lambda phase, x, of: _between(phase, f"0.5 * (1 + {of}.cos({math.pi!r} * {x} / {number(phase.steps)}))"),
    ExponentialDecay: lambda phase, x, of: (
        f"{number(phase.peak)} * {number(phase.final / phase.peak)} ** ({x} / {number(phase.steps)})"
    ),
    PowerDecay: lambda phase, x, of: _between(phase, f"(1 - {x} / {number(phase.steps)}) ** {number(phase.power)}"),
    OneMinusSqrt: lambda phase, x, of: _between(phase, f"(1 - {of}.sqrt({x} / {number(phase.steps)}))"),
    InverseSqrt: lambda phase, x, of: f"{number(phase.peak)} / {of}.sqrt(1 + {x} / {number(phase.timescale)})",
    Backwards: lambda phase, x, of: _form(phase.of, f"({number(phase.of.steps)} - {x})", of),
    Part: lambda phase, x, of: _form(phase.of, f"({x} + {number(phase.skip)})" if phase.skip else x, of),
}


def _between(phase: Any, share: str) -> str:
    """From the final rate to the peak."""
    if phase.final == 0.0:
        return f"{number(phase.peak)} * {share}"
    return f"{number(phase.final)} + {number(phase.peak - phase.final)} * {share}"


def _form(phase: Schedule, x: str, library: str) -> str:
    form = _FORMS.get(type(phase))
    if form is None:
        raise LookupError(type(phase).__name__)
    return form(phase, x, library)


def closed_form(plan: Schedule, library: str = "math") -> list[tuple[int, str]] | None:
    """Return from which step on which expression of ``step`` holds, None where a phase of the plan has none.

    >>> from fsl_num.schedules import schedule
    >>> closed_form(schedule("1-sqrt", peak=0.1, steps=20, warmup=4, decay_fraction=0.25))[:2]
    [(0, '0.1 * (1 - (4 - step) / 4)'), (4, '0.1')]
    """
    phases = plan.phases if isinstance(plan, Phased) else (plan,)
    if len(phases) > _MOST_PHASES:
        return None
    starts = running_sums([phase.steps for phase in phases])
    forms: list[tuple[int, str]] = []
    for phase, start, end in zip(phases, starts[:-1], starts[1:], strict=True):
        first = math.ceil(start)
        if first >= math.ceil(end):  # no step begins in it
            continue
        try:
            forms.append((first, _form(phase, f"(step - {number(start)})" if start else "step", library)))
        except LookupError:
            return None
    return forms


def knots(rates: Array, within: float = _STRAIGHT) -> Any:
    """Return the steps between which the rates lie on straight lines, the first and the last included.

    ``within``: how far off these lines they may lie, as a share of the largest rate.

    >>> knots(np.array([0.0, 0.1, 0.2, 0.2, 0.2])).tolist()
    [0, 2, 4]
    """
    allowed = within * float(rates.max())
    bends = np.flatnonzero(np.abs(np.diff(rates, 2)) > allowed) + 1
    places = [0, *bends.tolist(), rates.size - 1]
    steps = [0]
    for place in places[1:]:
        pending = [place]
        while pending:  # where many bends below the bound add up, the segment is halved
            low, high = steps[-1], pending[-1]
            if high <= low:
                pending.pop()
                continue
            line = np.linspace(rates[low], rates[high], high - low + 1)
            if high - low > 1 and np.abs(line - rates[low : high + 1]).max() > allowed:
                pending.append((low + high) // 2)
            else:
                steps.append(pending.pop())
    return np.array(steps)


_HEAD = '''"""The learning rate of every update, as fsl wrote it{title}."""

{imports}

PEAK = {peak}
STEPS = {steps}
{tables}

def learning_rate(step):
    """Return the learning rate of update ``step``, counted from 0; behind the last one, that of the last."""
    step = {clip}
{body}
'''
_TORCH = '''

def multiplier(step):
    """For torch.optim.lr_scheduler.LambdaLR(optimizer, multiplier), with lr=PEAK in the optimizer."""
    return learning_rate(step) / PEAK
'''
_LOOK_UP = """    after = min(bisect_right(KNOTS, step), len(KNOTS) - 1)
    part = (step - KNOTS[after - 1]) / (KNOTS[after] - KNOTS[after - 1])
    return RATES[after - 1] + (RATES[after] - RATES[after - 1]) * part"""


def source(plan: Schedule, rates: Array, library: str = "math", title: str = "") -> str:
    """Return the text of a file with ``learning_rate(step)`` and, for plain numbers, ``multiplier(step)``.

    ``rates``: those of the plan at every step; ``library``: one of :data:`LIBRARIES`.

    >>> from fsl_num.schedules import schedule
    >>> text = source(schedule("linear", peak=0.5, steps=4), np.array([0.5, 0.375, 0.25, 0.125]))
    >>> space = {}
    >>> exec(text, space)
    >>> [space["learning_rate"](step) for step in range(5)], space["multiplier"](1)
    ([0.5, 0.375, 0.25, 0.125, 0.125], 0.75)
    """
    peak, steps = tidy(float(rates.max())), rates.size
    pieces = closed_form(plan, library) if steps > 1 else [(0, number(peak))]
    imports, tables = ["import math" if library == "math" else "import jax.numpy as jnp"], ""
    if pieces is None:
        places = knots(rates)
        tables = f"KNOTS = {_listed(places)}\nRATES = {_listed(rates[places])}\n"
        imports = ["from bisect import bisect_right"] if library == "math" else imports
        body = _LOOK_UP if library == "math" else "    return jnp.interp(step, jnp.array(KNOTS), jnp.array(RATES))"
    elif library == "math":
        imports = imports if any("math." in text for _, text in pieces) else []
        ends = [first for first, _ in pieces[1:]]
        lines = [f"    if step < {end}:\n        return {text}" for end, (_, text) in zip(ends, pieces, strict=False)]
        body = "\n".join([*lines, f"    return {pieces[-1][1]}"])
    else:
        ends = [first for first, _ in pieces[1:]]
        where = ", ".join(f"step < {end}" for end in ends)
        conditions = "".join(f"        {text},\n" for _, text in pieces[:-1])
        last = pieces[-1][1]
        chosen = f"\n        [{where}],\n        [\n{_indented(conditions)}        ],\n        {last},\n    "
        body = f"    return jnp.select({chosen})"
        body = body if ends else f"    return {last} + 0.0 * step"
    clip = "min(max(step, 0), STEPS - 1)" if library == "math" else "jnp.clip(step, 0, STEPS - 1)"
    head = _HEAD.format(
        title=f" for {_in_quotes(title)}" if title else "",
        imports="\n".join(imports),
        peak=repr(peak),
        steps=steps,
        tables=tables,
        clip=clip,
        body=body,
    )
    text = head + (_TORCH if library == "math" else "")
    return text.replace('"""\n\n\n\nPEAK', '"""\n\nPEAK')


def _in_quotes(title: str) -> str:
    """A title on one line, as it stands between quotes in a program."""
    printable = "".join(letter if letter.isprintable() else " " for letter in title)
    return " ".join(printable.split()).replace("\\", "\\\\").replace('"', '\\"')


def _listed(values: Array) -> str:
    """A list on lines that can be read."""
    text = json.dumps(values.tolist())
    return text if len(text) <= _WIDTH else f"[\n{textwrap.fill(text[1:-1], _WIDTH, **_INDENT)},\n]"


def _indented(lines: str) -> str:
    return "".join(f"    {line}\n" for line in lines.splitlines())
