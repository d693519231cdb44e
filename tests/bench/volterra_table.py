"""The solvers of the Volterra equation against their rivals in one run, as a table in Markdown.

    python tests/bench/volterra_table.py [--quick] [--only NAME ...] [--json FILE] [--most SECONDS]

Every row has both times, both true errors and the ratio of the times, rival over ours: above 1 ours is faster. Errors
are relative, the largest over the times asked for, of f = 2E, which the rivals solve for, and judged by a third method
that is named in the row's case. Times are the least of a few runs, of processor time where that is how the table is
run (``--processor``, for a machine that others use too). For the flop limits the ratio is the other way round, ours
over limit, and said to be. A group of rows that takes longer than ``--most`` seconds is cut off, and said to be;
``--json`` keeps the rows in a file.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
from volterra_timing import HEAD, OutOfTime, Row, limited, matmul_speed, seconds, sharpest, timed_by, worst

from fsl_num.compression import compress
from fsl_num.model import Model
from fsl_num.schedules import Cosine, Discrete, ExponentialDecay
from fsl_num.volterra import Problem, solve
from fsl_num.volterra.reference import trapezoid
from fsl_num.volterra.steps.discrete import losses_of_steps
from fsl_num.volterra.steps.many import risks_of_schedules

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fsl_num"))
loss_of = import_module("models").loss_of
outside = import_module("volterra_outside")
grid = import_module("volterra_grid")

SMOOTH = ExponentialDecay(peak=0.3, final=3e-4, steps=2.0**20 * math.log(1e3) / (0.3 - 3e-4))


def own_ground(quick: bool) -> Iterator[Row]:
    """Constant gamma, where a solver of convolution equations applies; truth: the secular equation at 25 digits."""
    problem = Problem(Model(s=0.5, beta=2.0, size=128, noise=1.0), gamma=0.3, horizon=100.0)
    points = 4096 if quick else 16384
    t = np.linspace(0.0, problem.end, points + 1)
    some = t[:: points // 16][1:]
    truth = loss_of(problem, some, method="enclosure", digits=25).values
    kernel, forcing = 0.3 * problem.model.kernel(t), problem.model.forcing(t) + problem.model.noise
    rivals: list[tuple[str, float, float]] = []
    try:
        import voles
    except ImportError:
        print("voles is not installed: its rows are left out", file=sys.stderr)
    else:

        def uniform() -> Any:
            values = voles.solve_VIE_2(
                kernel_values=kernel, g_values=forcing, time_step=t[1], coll_divs=12, coll_choices=[1, 3, 7, 10, 12]
            )
            return values[:: points // 16][1:] - problem.model.noise

        taken, values = seconds(uniform, 5)
        rivals.append((f"voles, {points} uniform steps, samples of K given", taken, worst(values, truth)))

        def graded(count: int) -> Any:
            mesh = np.unique(np.concatenate([[0.0], some, np.geomspace(0.1, problem.end, count)]))
            values = voles.function_solve_VIE_2(
                kernel=lambda u: 0.3 * problem.model.kernel(np.asarray(u)),
                g=lambda x: problem.model.forcing(np.asarray(x)) + problem.model.noise,
                mesh_breakpoints=mesh,
                coll_nodes=voles.radau_iia_nodes(5),
                return_function=True,
            )[1]
            return [float(values(x)) - problem.model.noise for x in some]

        taken, error = sharpest(graded, truth, rivals[0][2], (20, 30))  # more panels take it many seconds
        rivals.append(("voles, graded mesh, five Radau points, K as a function", taken, error))
    rates, start = outside.modes(problem)
    floor = problem.model.approximation_error + problem.model.noise
    accuracy = rivals[0][2] if rivals else 1e-12

    def ode(name: str, rtol: float) -> Any:
        from scipy.integrate import solve_ivp

        def slope(_: float, x: Any) -> Any:
            return -2.0 * rates * x + rates**2 * (0.3 * (x.sum() + floor))

        matrix = np.diag(-2.0 * rates) + 0.3 * (rates**2)[:, None]
        options = {} if name == "DOP853" else {"jac": lambda _, x: matrix}
        run = solve_ivp(slope, (0.0, problem.end), start, name, some, rtol=rtol, atol=1e-18, **options)
        return run.y.sum(axis=0) + problem.model.approximation_error

    for name in ("DOP853", "LSODA"):
        taken, error = sharpest(lambda rtol, name=name: ode(name, rtol), truth, accuracy, (1e-11, 1e-12, 1e-13, 3e-14))
        rivals.append((f"solve_ivp {name}, 128 modes", taken, error))
    for many, when in (("16 times", some), (f"{points} times", t[1:])):
        chosen = slice(None) if when is some else slice(points // 16 - 1, None, points // 16)

        def ours(rtol: float, when: Any = when, chosen: Any = chosen) -> Any:
            return loss_of(problem, when, rtol=rtol).values[chosen]

        for rival, theirs, their_error in rivals:
            # as accurate as the rival, but nobody is asked for less than the rounding of a sum
            taken, error = sharpest(ours, truth, max(their_error, 2e-14), (1e-6, 1e-8, 1e-10, 1e-12, 1e-13))
            goal = "at least 5" if rival.startswith("voles") else ""
            yield Row(f"constant gamma, M = 128, T = 100, {many}", taken, error, rival, theirs, their_error, goal)


def smooth(quick: bool) -> Iterator[Row]:
    """Smooth gamma, M infinite, T = 2^20; truth: the integral equation collocated without modes, to 13 digits."""
    problem = Problem(Model(s=0.5, beta=2.0, size=math.inf, noise=1.0), gamma=SMOOTH)
    t = (100.0, 0.3 * problem.end, problem.end)
    truth = outside.integral_equation(grid.Case("smooth", "exp-decay", problem, t))
    solve(problem, t)  # the compressed modes are kept: their cost is a row of its own
    taken, found = seconds(lambda: loss_of(problem, t, rtol=1e-13), 5)
    error = worst(found.values, truth)
    case = f"exp-decay gamma, M infinite, T = 2^20, rtol 1e-13, {found.modes} modes"
    steps = 2048 if quick else 8192
    coarse, values = seconds(lambda: trapezoid(problem, steps), 1)
    yield Row(case, taken, error, f"trapezoid O(n^2), n = {steps}", coarse, abs(values[-1] / truth[-1] - 1))
    yield Row(case, taken, error, *_mode_by_mode(problem, truth[-1], 10_000, 2_000 if quick else 20_000))
    system = compress(problem.model.s, problem.model.beta, problem.model.size, problem.end)
    rates, weights = 2.0 * system.rates, system.kernel_weights

    def ode(rtol: float) -> Any:
        from scipy.integrate import solve_ivp

        def drive(x: float) -> float:
            return float(SMOOTH.learning_rate(min(x, SMOOTH.steps)))

        def slope(x: float, y: Any) -> Any:
            phi = drive(x)
            return phi * (-rates * y + weights * (phi * (y.sum() + 1.0)))

        def jacobian(x: float, y: Any) -> Any:
            phi = drive(x)
            return phi * (np.diag(-rates) + (phi * weights)[:, None])

        state, values, low = system.signal_weights, [], 0.0
        for high in SMOOTH.physical_time(np.array(t)).tolist():
            state = solve_ivp(slope, (low, high), state, "LSODA", rtol=rtol, atol=1e-18, jac=jacobian).y[:, -1]
            low = high
            values.append(state.sum())
        return values

    theirs, their_error = sharpest(ode, truth, error, (1e-10, 1e-12, 1e-13))
    yield Row(case, taken, error, f"solve_ivp LSODA on our {found.modes} modes", theirs, their_error)


def _mode_by_mode(problem: Problem, truth: float, size: int, steps: int) -> tuple[str, float, float]:
    """Every one of ``size`` modes stepped by the exponential midpoint rule on a graded grid of times."""
    index = np.arange(1.0, size + 1)
    rates, state = 2.0 * index**-problem.model.beta, index ** -(1.0 + problem.model.s * problem.model.beta)
    delta = replace(problem.model, size=size).approximation_error
    half = np.geomspace(0.01, 0.5 * problem.end, steps // 2)  # from the start, and as fine towards the end
    t = np.concatenate([[0.0], half, problem.end - half[-2::-1], [problem.end]])
    middle = 0.5 * (t[1:] + t[:-1])
    gamma = problem.gamma_on(middle, problem.end - middle)
    first = state

    def run() -> Any:
        state = first
        for h, g in zip(np.diff(t), gamma, strict=True):
            half = np.exp(-0.5 * h * rates)
            gain = -np.expm1(-0.5 * h * rates) * (rates / 4.0)
            u = delta + state @ half + problem.model.noise
            u /= 1.0 - g * gain.sum()
            state = half * half * state + ((1.0 + half) * gain) * (g * u)
        return state

    taken, state = seconds(run, 1)
    return f"mode by mode, M = {size}, {steps} steps graded to both ends", taken, abs((delta + state.sum()) / truth - 1)


def discrete(quick: bool) -> Iterator[Row]:
    """Steps of a schedule; truth of a constant one: Talbot's contour at 25 digits; of others: at 1e-13.

    The limit is that of exponential time differencing, whose own error is shown: one row is at that error.
    """
    steps = 100_000 if quick else 1_000_000
    model = Problem(Model(s=0.5, beta=2.0, size=math.inf, noise=1.0), gamma=0.0, horizon=1.0)
    flat = replace(model, gamma=Discrete(rates=np.full(steps, 0.1)), horizon=None)
    (truth,) = loss_of(replace(model, gamma=0.1, horizon=flat.end), flat.end, method="laplace", digits=25).values
    bent = Discrete(rates=0.1 * np.cos(np.linspace(0.0, 1.5, steps)) ** 2)
    rough = Discrete(rates=bent.rates, batch_sizes=np.random.default_rng(4).integers(1, 5, steps))
    speed = matmul_speed()
    for kind, plan in (("constant", flat.gamma), ("cosine", bent), ("cosine", rough)):
        problem = replace(model, gamma=plan, horizon=None)
        count = plan.rates.size
        case = f"{count:.0e} discrete steps, M infinite, {kind} rates"
        fine = losses_of_steps(problem, 1e-13)[0]
        exact = np.array([float(truth)]) if plan is flat.gamma else fine
        some = count // 20
        short = Discrete(rates=plan.rates[:some], batch_sizes=_first(plan, some))
        plain, found = seconds(lambda short=short, of=problem: _recursion(of, short), 1)
        missed = float(np.abs(np.array(found) / fine[1 : some + 1] - 1).max())
        for rtol in (float(f"{missed:.0e}"), 1e-8, 1e-12):
            taken, (values, _, facts) = seconds(lambda rtol=rtol, of=problem: losses_of_steps(of, rtol), 3, 20.0)
            error = float(np.abs(values[-exact.size :] / exact - 1).max())
            size = facts.modes
            name = f"{case}{', random batches' if plan is rough else ''}, rtol {rtol:.0e}, {size} modes"
            rival = f"4 Q n flops of the recursion at {speed / 1e9:.0f} Gflop/s"
            yield Row(name, taken, error, rival, 4.0 * size * count / speed, missed, "", True)
            if rtol > 1e-8:
                yield Row(name, taken, error, f"recursion in numpy ({some} steps, times 20)", 20 * plain, missed)


def _first(plan: Discrete, steps: int) -> Any:
    return plan.batch_sizes if plan.batch_sizes.size == 1 else plan.batch_sizes[:steps]


def _recursion(problem: Problem, plan: Discrete) -> Any:
    """Exponential time differencing, one step after the other: exact decay, the loss of the start of the step injected;
    two products with the modes a step. ``plan``: the first steps of the problem's schedule."""
    modes = compress(problem.model.s, problem.model.beta, problem.model.size, problem.end)
    rates, weights, state = 2.0 * modes.rates, modes.kernel_weights, modes.signal_weights
    found = []
    for eta, gamma in zip(plan.rates, plan.gammas, strict=True):
        decay = np.exp(-eta * rates)
        state = decay * state + (gamma * (state.sum() + problem.model.noise)) * ((1.0 - decay) / rates * weights)
        found.append(state.sum())
    return found


def schedules(quick: bool) -> Iterator[Row]:
    """Many schedules at once."""
    count, steps = (100, 2_000) if quick else (1_000, 10_000)
    rng = np.random.default_rng(3)
    rates = 0.1 * np.cos(np.linspace(0.0, 1.5, steps)) ** 2
    batches = rng.uniform(1.0, 10.0, (count, 1)) * (
        1.0 + np.linspace(0.0, 1.0, steps) * rng.uniform(0.0, 3.0, (count, 1))
    )
    model = Model(s=0.5, beta=2.0, size=math.inf, noise=1.0)
    speed = matmul_speed()
    some = range(0, count, count // 5)

    def alone(rtol: float) -> Any:
        plans = (Discrete(rates=rates, batch_sizes=batches[i]) for i in some)
        return [losses_of_steps(Problem(model, gamma=plan), rtol) for plan in plans]

    alone_seconds = seconds(lambda: alone(1e-8), 2)[0] / len(some)
    singles = alone(1e-12)
    size = singles[0][2].modes
    plan = Discrete(rates=rates, batch_sizes=batches[0])
    found = _recursion(Problem(model, gamma=plan), plan)
    missed = float(np.abs(np.array(found) / singles[0][0][1:] - 1).max())
    for rtol in (float(f"{missed:.0e}"), 1e-8):
        taken, risks = seconds(lambda rtol=rtol: risks_of_schedules(model, rates, batches, rtol=rtol), 2, 30.0)
        error = worst([2.0 * risks.excess_risk[i, -1] for i in some], [float(x[0][-1]) for x in singles])
        case = f"{count} schedules of {steps:.0e} steps of shared lengths, rtol {rtol:.0e}, {size} modes"
        rival = f"4 Q n flops of the recursion at {speed / 1e9:.0f} Gflop/s"
        yield Row(case, taken, error, rival, 4.0 * size * steps * count / speed, missed, "", True)
    yield Row(case, taken, error, "one after the other", alone_seconds * count, math.nan)
    different = rates * rng.uniform(0.5, 1.0, (20, 1))
    taken, _ = seconds(lambda: risks_of_schedules(model, different, 1.0, rtol=1e-8), 1)
    case = f"20 schedules of {steps:.0e} steps, each of its own lengths, rtol 1e-8"
    yield Row(case, taken, math.nan, "the limit, as above", 4.0 * size * steps * 20 / speed, math.nan, "", True)


def digits(quick: bool) -> Iterator[Row]:
    """50 digits; truth: another method at 60 digits."""
    precision = 30 if quick else 50
    t = 1000.0
    problem = Problem(Model(s=0.5, beta=2.0, size=100, noise=1.0), gamma=0.3, horizon=t)
    truth = loss_of(problem, t, method="enclosure", digits=precision + 10).values
    mp = mpmath.mp.clone()
    mp.dps = precision + 30
    rates = [mp.mpf(j) ** -2 for j in range(1, 101)]
    delta = mp.zeta(2, 101)

    def transform(p: Any) -> Any:
        inverses = [1 / (p + 2 * x) for x in rates]
        kernel, gamma = mp.fsum(x * x * y for x, y in zip(rates, inverses, strict=True)), mp.mpf(0.3)
        return (delta / p + mp.fdot(rates, inverses) + gamma * kernel / p) / (1 - gamma * kernel)

    def talbot(degree: float) -> Any:
        return [mp.invertlaplace(transform, t, method="talbot", degree=int(degree))]

    theirs, their_error = sharpest(talbot, truth, 10.0**-precision, (precision * 1.4, precision * 1.7, precision * 2.2))
    for method in ("enclosure", "constant", "laplace", "high_precision"):
        taken, found = seconds(lambda method=method: loss_of(problem, t, method=method, digits=precision), 2)
        case = f"constant gamma, M = 100, T = 1000, {precision} digits, {method}"
        yield Row(case, taken, worst(found.values, truth), "mpmath.invertlaplace", theirs, their_error)
    infinite = replace(problem, model=replace(problem.model, size=math.inf))
    (fine,) = loss_of(infinite, t, method="laplace", digits=precision + 10).values
    taken, found = seconds(lambda: loss_of(infinite, t, method="laplace", digits=precision), 2)
    case = f"constant gamma, M infinite, T = 1000, {precision} digits, laplace"
    error = worst(found.values, [fine])
    yield Row(case, taken, error, "mpmath.invertlaplace for M = 100", theirs, their_error)
    bent = Problem(Model(s=0.5, beta=2.0, size=100, noise=1.0), gamma=SMOOTH)
    wave = replace(bent, gamma=Cosine(peak=0.3, steps=2.0**14 / 0.15), horizon=None)
    for name, plan in (("exp-decay gamma, T = 2^20", bent), ("cosine gamma, T = 2^14", wave)):
        for size in (100, math.inf):
            varying = replace(plan, model=replace(plan.model, size=size))
            for method in ("enclosure", "high_precision") if plan is bent else ("high_precision",):
                taken, found = seconds(partial(loss_of, varying, varying.end, digits=precision, method=method), 1)
                if method == "enclosure" or plan is wave:
                    # its error is proven, and judges the other; without a proof eight digits more do
                    fine = found.values[0]
                    if plan is wave:
                        (fine,) = loss_of(varying, varying.end, digits=precision + 8, method=method).values
                fast, rough = seconds(lambda varying=varying: loss_of(varying, varying.end))
                rival = f"panels in float64 ({outside.relative(rough.values[0], fine):.0e})"
                error = (
                    float(found.error[0] / found.values[0]) if method == "enclosure" else worst(found.values, [fine])
                )
                case = f"{name}, M = {size:g}, {precision} digits, {method}"
                yield Row(case, taken, error, rival, fast, outside.relative(rough.values[0], fine))


def growth(quick: bool) -> Iterator[Row]:
    """What twice the steps, or any number of modes, cost."""
    model = Problem(Model(s=0.5, beta=2.0, size=math.inf, noise=1.0), gamma=0.0, horizon=1.0)
    sizes = (20_000, 80_000) if quick else (100_000, 800_000)
    times = []
    for steps in sizes:
        problem = replace(model, gamma=Discrete(rates=np.full(steps, 0.1)), horizon=None)
        times.append(seconds(lambda problem=problem: losses_of_steps(problem, 1e-8), 2, 10.0)[0])
    slope = math.log(times[1] / times[0]) / math.log(sizes[1] / sizes[0])
    rival = f"{sizes[0]} steps (power {slope:.2f} of n)"
    yield Row(f"{sizes[1]} discrete steps", times[1], math.nan, rival, times[0], math.nan, "power 1", True)
    plan = Problem(Model(s=0.5, beta=2.0, size=1000, noise=1.0), gamma=SMOOTH)
    solve(plan, plan.end)
    first = seconds(lambda: solve(plan, plan.end), 5)[0]
    for size in (1e6, 1e12, math.inf):
        larger = replace(plan, model=replace(plan.model, size=size))
        solve(larger, plan.end)
        taken = seconds(lambda larger=larger: solve(larger, plan.end), 5)[0]
        yield Row(f"panels, T = 2^20, M = {size:g}", taken, math.nan, "M = 1000", first, math.nan, "1", True)


CASES = (own_ground, smooth, discrete, schedules, digits, growth)


def main(arguments: list[str]) -> None:
    """Print the table, row by row, and keep it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [case.__name__ for case in CASES]
    parser.add_argument("--quick", action="store_true", help="smaller cases, a minute altogether")
    parser.add_argument("--only", nargs="+", choices=names, default=names, help="these groups of rows")
    parser.add_argument("--json", type=Path, help="the same rows as a file")
    parser.add_argument("--most", type=float, default=150.0, help="seconds after which a group of rows is cut off")
    parser.add_argument("--processor", action="store_true", help="seconds of the processor instead of the clock")
    options = parser.parse_args(arguments)
    clock = time.process_time if options.processor else time.perf_counter
    rows: list[dict[str, Any]] = []
    unfinished: list[str] = []
    print("| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD))
    with timed_by(clock):
        for case in CASES:
            if case.__name__ not in options.only:
                continue
            start = time.perf_counter()
            try:
                with limited(options.most):
                    for row in case(options.quick):
                        rows.append({"group": case.__name__, **row.facts()})
                        print("| " + " | ".join(row.cells()) + " |", flush=True)
            except OutOfTime:
                unfinished.append(case.__name__)
                print(f"{case.__name__}: cut off after {options.most:g} s", file=sys.stderr)
            print(f"{case.__name__}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
            if options.json is not None:
                content = {"clock": clock.__name__, "unfinished": unfinished, "rows": rows}
                beside = options.json.with_suffix(".part")
                beside.write_text(json.dumps(content, indent=1) + "\n")
                beside.replace(options.json)


if __name__ == "__main__":
    main(sys.argv[1:])
