"""Many digits: every method that has them on every problem of the grid, each answer kept in a file of its problem.

A run that is stopped goes on where it was, for a file that is there is not computed again. A method has so many seconds
of processor time for a problem; what it could not do is said in the file, and in the report.
"""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import mpmath
import volterra_outside as outside
from models import loss_of
from volterra_grid import Case
from volterra_interpolated import interpolated
from volterra_outside import relative

OUTSIDE = ("matrix exponentials", "variation of constants", "interpolated")
"""Ways that owe nothing to "high_precision", and claim no error."""

SOLVERS = ("enclosure", "constant", "laplace", "high_precision")


class _OutOfTime(BaseException):
    """Not an Exception, which a solver may take for a failure of its own."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise _OutOfTime after so many seconds of processor time."""

    def stop(*_: Any) -> None:
        raise _OutOfTime

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def _solver(case: Case, method: str, digits: int) -> dict[str, Any] | None:
    try:
        found = loss_of(case.problem, case.times, method=method, digits=digits)
    except (ValueError, TypeError) as refusal:
        if "use" in str(refusal) or "need" in str(refusal) or "not available" in str(refusal):
            return None
        raise
    shown = [mpmath.nstr(x, digits + 5) for x in found.values]
    return {"values": shown, "errors": [float(x) for x in found.error], "message": found.message}


def _way(case: Case, function: Callable[[Case, int], Any], digits: int) -> dict[str, Any] | None:
    values = function(case, digits)
    return None if values is None else {"values": [mpmath.nstr(x, digits + 5) for x in values]}


def ask(case: Case, digits: int, most: float) -> dict[str, Any]:
    """What every method says within ``most`` seconds of processor time, or why it says nothing."""
    functions = {
        OUTSIDE[0]: outside.matrix_exponentials,
        OUTSIDE[1]: outside.one_mode,
        OUTSIDE[2]: interpolated,
    }
    ways: dict[str, Callable[[], dict[str, Any] | None]] = {
        name: partial(_way, case, function, digits) for name, function in functions.items()
    }
    ways |= {name: partial(_solver, case, name, digits) for name in SOLVERS}
    said: dict[str, Any] = {}
    for name, way in ways.items():
        start = time.process_time()
        try:
            with limited(most):
                answer = way()
        except _OutOfTime:
            answer = {"nothing": f"out of time after {most:g} s"}
        except ArithmeticError as failure:
            answer = {"nothing": str(failure)}
        if answer is not None:
            said[name] = {**answer, "seconds": round(time.process_time() - start, 3)}
    return said


def _file(folder: Path, case: Case, digits: int) -> Path:
    return folder / f"{case.name[:3]}-{digits}.json"


def gather(grid: Iterable[Case], wanted: Iterable[int], folder: Path, most: float, seconds: float = math.inf) -> None:
    """Write what is missing in ``folder``: one file for each problem and number of digits."""
    folder.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    for digits in wanted:
        for case in grid:
            path = _file(folder, case, digits)
            if path.exists():
                known = json.loads(path.read_text())
                if known["name"] == case.name and known["most"] >= most:
                    continue
            if time.monotonic() - start > seconds:
                return
            print(f"\r{digits} digits: {case.name:90}", end="", file=sys.stderr, flush=True)
            content = {"name": case.name, "kind": case.kind, "digits": digits, "most": most}
            text = json.dumps({**content, "methods": ask(case, digits, most)}, indent=1)
            beside = path.with_suffix(f".{os.getpid()}.part")
            beside.write_text(text + "\n")
            beside.replace(path)
    print(file=sys.stderr)


def _number(text: str) -> Any:
    mp = mpmath.mp.clone()
    mp.dps = 120
    return mp.mpf(text)


def _apart(one: dict[str, Any], other: dict[str, Any]) -> float:
    pairs = zip(one["values"], other["values"], strict=True)
    return max(relative(_number(x), _number(y)) for x, y in pairs)


def _ratios(answer: dict[str, Any], truth: dict[str, Any], slack: float) -> list[float]:
    """True error over claimed error, less what the truth itself may be wrong by."""
    rows = zip(answer["values"], truth["values"], answer["errors"], strict=True)
    return [max(0.0, float(abs(_number(x) - _number(y))) - slack * float(_number(y))) / error for x, y, error in rows]


def report(grid: Iterable[Case], digits: int, folder: Path) -> str:
    """Markdown: of every pair of methods the worst disagreement, true over claimed errors, and what was not done."""
    goal = 10.0 ** (2 - digits)
    pairs: dict[str, list[tuple[float, str]]] = defaultdict(list)
    honest: dict[str, list[tuple[float, str]]] = defaultdict(list)
    seconds: dict[str, list[float]] = defaultdict(list)
    alone, silent, missing, lies, worst = [], [], 0, [], (0.0, "", "")
    finer = sorted({int(path.stem[4:]) for path in folder.glob("*-*.json") if int(path.stem[4:]) > digits})
    checked = 0
    for case in grid:
        path = _file(folder, case, digits)
        if not path.exists():
            missing += 1
            continue
        said = json.loads(path.read_text())["methods"]
        checked += 1
        good = {name: answer for name, answer in said.items() if "values" in answer}
        silent += [f"{name}: {case.name}: {said[name]['nothing']}" for name in said if name not in good]
        for name, answer in good.items():
            seconds[name].append(answer["seconds"])
        if len(good) < 2:
            alone.append(f"{case.name}: {', '.join(good) or 'none'}")
        for one, other in combinations(good, 2):
            row = (_apart(good[one], good[other]), case.name)
            pairs[f"{one} / {other}"].append(row)
            worst = max(worst, (*row, f"{one} / {other}"))
        truths = [(name, answer, digits) for name, answer in good.items()]
        for more in finer:  # an answer with more digits is a better truth
            better = _file(folder, case, more)
            if better.exists():
                found = json.loads(better.read_text())["methods"]
                truths += [(name, answer, more) for name, answer in found.items() if "values" in answer]
        for name, answer in good.items():
            for source, truth, known in truths:
                if "errors" not in answer or (source == name and known == digits):
                    continue
                if known == digits and source in SOLVERS:  # of two claims at least one is wrong
                    both = [x + y for x, y in zip(answer["errors"], truth["errors"], strict=True)]
                    ratios = _ratios({**answer, "errors": both}, truth, 0.0)
                else:
                    ratios = _ratios(answer, truth, 10.0**-known)
                honest[name].append((max(ratios), f"{case.name} against {source} at {known}"))
                if max(ratios) > 1.0:
                    lies.append(f"{name}: true/claimed {max(ratios):.3g}: {case.name} against {source} at {known}")
    lines = [f"| {digits} digits: pair | problems | worst disagreement | goal | at |", "|---|---|---|---|---|"]
    for pair, rows in sorted(pairs.items()):
        lines.append(f"| {pair} | {len(rows)} | {max(rows)[0]:.1e} | {goal:.0e} | {max(rows)[1]} |")
    lines += [
        "",
        "| method | problems | seconds, median | most | true/claimed, largest | at |",
        "|---|---|---|---|---|---|",
    ]
    for name, spent in seconds.items():
        ratio, at = max(honest[name], default=(math.nan, ""))
        middle = sorted(spent)[len(spent) // 2]
        lines.append(f"| {name} | {len(spent)} | {middle:.2g} | {max(spent):.3g} | {ratio:.2g} | {at} |")
    lines.append(f"\n{checked} problems, {missing} missing; worst disagreement {worst[0]:.2e} ({worst[2]}; {worst[1]})")
    for title, rows in (("lies", lies), ("nothing said", silent), ("one method only", alone)):
        lines += [f"\n{title}: {len(rows)}", *rows]
    return "\n".join(lines)
