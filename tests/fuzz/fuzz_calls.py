"""Calls of the Python interface at random: arguments of the right kind, and of every wrong one."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import sympy

import fsl_num
import fsl_sym
from fsl_num import schedules, spectrum
from fsl_num.curves.laws import law
from fsl_num.volterra import solve
from fsl_num.volterra.neumann import neumann_series

FINE = [0.5, 1, 2, 1.5, 0.1, 3, 0.25, 10]
ODD = [
    0,
    -1,
    math.nan,
    math.inf,
    -math.inf,
    1e-320,
    1e-30,
    1e30,
    1e308,
    10**400,
    True,
    None,
    "1/2",
    "x",
    "",
    b"1",
    1j,
    Fraction(1, 3),
    Decimal("0.1"),
    [],
    {},
    set(),
    object,
    np.float64(0.5),
    np.array(0.5),
    np.array([0.5]),
    -0.0,
    np.nan,
    sympy.Rational(1, 2),
    sympy.nan,
    sympy.oo,
    1000.0,
    400,
    (1,),
    "__import__('os')",
]
SIZES = [1, 2, 4, 16, 100, math.inf]
TIMES = [0.0, 0.5, [0.1, 1.0], np.array([0.5, 2.0]), 10.0]
ODD_TIMES = [
    [],
    [math.nan],
    "t",
    [-1.0],
    np.array([[1.0]]),
    np.ma.array([1.0, 2.0], mask=[True, False]),
    [1e300],
    [None],
    np.array(["x"]),
    1e-320,
]
SCHEDULES = list(schedules.SCHEDULES)


def number(draw, times=1.0):
    return draw.choice(ODD if draw.random() < times * draw.oddness else FINE)


def small(draw):
    return draw.choice([0.1, 0.01, 0.2, 0.05]) if draw.random() > draw.oddness else draw.choice(ODD)


def size(draw):
    return draw.choice(SIZES) if draw.random() > draw.oddness else draw.choice(ODD)


def steps(draw):
    return (
        draw.choice([1, 2, 5, 20, 100]) if draw.random() > draw.oddness else draw.choice([*ODD, 10**10, 10**17, 10**30])
    )


def moments(draw):
    return draw.choice(TIMES) if draw.random() > draw.oddness else draw.choice(ODD_TIMES)


def array(draw, least=0.05):
    if draw.random() < draw.oddness:
        return draw.choice([*ODD, *ODD_TIMES])
    return [least + 0.1 * draw.random() for _ in range(draw.randint(1, 12))]


def short(value):
    return repr(value)[:60]


def described(name, function, *positional, **named):
    text = ", ".join([*map(short, positional), *(f"{key}={short(value)}" for key, value in named.items())])
    return f"{name}({text})", lambda: function(*positional, **named)


def some(draw, share, **named):
    return {key: value for key, value in named.items() if draw.random() < share}


def model_of(draw):
    return {
        "s": number(draw),
        "beta": draw.choice([2.0, 1.5, 4.0]) if draw.random() > draw.oddness else number(draw, 2.0),
        "size": size(draw),
        "noise": number(draw),
    }


def named_schedule(draw):
    options = some(
        draw,
        0.1,
        final=small(draw),
        decay_fraction=small(draw),
        power=number(draw),
        cycles=steps(draw),
        warmup=number(draw),
        floor=small(draw),
        timescale=number(draw),
        milestones=array(draw),
    )
    name = draw.choice(SCHEDULES) if draw.random() > draw.oddness else draw.choice(ODD)
    return (name,), {"peak": small(draw), "steps": steps(draw), **options}


def built(draw):
    """A problem, or now and then something that is none."""
    if draw.random() < draw.oddness:
        return draw.choice(ODD)
    made = fsl_num.Model(
        s=draw.choice([0.5, 1.0, 2.0]), beta=draw.choice([1.5, 2.0, 4.0]), size=draw.choice(SIZES), noise=1.0
    )
    if draw.random() < 0.5:
        return fsl_num.Problem(made, gamma=draw.choice([0.0, 0.1, 0.2]), horizon=draw.choice([1.0, 20.0]))
    return fsl_num.Problem(made, gamma=fsl_num.schedule(draw.choice(SCHEDULES), peak=0.1, steps=100))


def call_model(draw):
    return described("Model", fsl_num.Model, **model_of(draw))


def call_signal(draw):
    return described("signal", spectrum.signal, moments(draw), number(draw), number(draw), size(draw))


def call_approximation_error(draw):
    return described("approximation_error", spectrum.approximation_error, number(draw), number(draw), size(draw))


def call_schedule(draw):
    positional, named = named_schedule(draw)
    return described("schedule", fsl_num.schedule, *positional, **named)


def call_step_rates(draw):
    positional, named = named_schedule(draw)
    return described("step_rates", fsl_num.step_rates, *positional, **named)


def call_as_schedule(draw):
    return described(
        "as_schedule", fsl_num.as_schedule, array(draw), **some(draw, 0.2, steps=steps(draw), floor=small(draw))
    )


def call_problem(draw):
    def make(model, **settings):
        return fsl_num.Problem(fsl_num.Model(**model), **settings).stability

    gamma = draw.choice([small(draw), array(draw), fsl_num.Discrete(rates=[0.1, 0.2], batch_sizes=1.0)])
    return described("Problem", make, model_of(draw), gamma=gamma, **some(draw, 0.8, horizon=number(draw)))


def call_solve(draw):
    options = some(
        draw,
        0.1,
        digits=draw.choice([15, 20, 10**5, 3, "x", math.nan]),
        rtol=draw.choice([1e-6, 0.0, 1.0, "x"]),
        method=draw.choice(["secular", "panels", "auto", "x", 3]),
    )
    return described("solve", solve, built(draw), moments(draw), **options)


def call_neumann(draw):
    return described("neumann_series", neumann_series, built(draw), moments(draw), **some(draw, 0.5, terms=steps(draw)))


def call_functional_scaling_law(draw):
    model = (
        fsl_num.Model(s=0.5, beta=2.0, size=draw.choice([4, 100]), noise=1.0)
        if draw.random() > draw.oddness
        else number(draw)
    )
    plan = (
        fsl_num.schedule(draw.choice(SCHEDULES), peak=0.1, steps=50)
        if draw.random() > draw.oddness
        else draw.choice(ODD)
    )
    options = some(draw, 0.2, rtol=draw.choice([1e-6, 0.0, 1.0, "x"]))
    return described("functional_scaling_law", fsl_num.functional_scaling_law, model, plan, **options)


def call_exact_risk(draw):
    def make(model, rates, batch, **settings):
        return fsl_num.exact_risk(
            fsl_num.Regression(fsl_num.Model(**model)), rates, batch, **settings
        ).excess_risk.tolist()

    model = model_of(draw) | {"size": draw.choice([1, 4, 16])}
    return described(
        "exact_risk", make, model, array(draw), draw.choice([1, 2, number(draw)]), **some(draw, 0.2, every=steps(draw))
    )


def call_simulate(draw):
    def make(rates, **settings):
        problem = fsl_num.Regression(fsl_num.Model(s=0.5, beta=2.0, size=4, noise=1.0))
        return fsl_num.simulate_sgd(problem, rates, **settings).excess_risk.tolist()

    options = {"runs": draw.choice([2, 3, 10]) if draw.random() > draw.oddness else steps(draw)}
    options |= {"seed": draw.choice([0, 1, 7])} | some(
        draw, 0.2, seed=number(draw, 2.0), every=steps(draw), dtype=draw.choice(["float32", "x", None])
    )
    return described("simulate_sgd", make, array(draw), **options)


def call_curve(draw):
    count = draw.randint(1, 12)
    columns = {
        "step": sorted(draw.sample(range(1, 200), count)),
        "loss": [2 + draw.random() for _ in range(count)],
        "lr": [0.1] * count,
    }
    if draw.random() < 0.5:
        name = draw.choice(list(columns))
        columns[name] = [*columns[name][:-1], draw.choice(ODD)] if draw.random() < 0.7 else draw.choice(ODD_TIMES)
    options = some(draw, 0.1, warmup=steps(draw), batch_size=number(draw), model_size=number(draw), between="x")
    if draw.random() < 0.5:
        return described("curve_from", fsl_num.curve_from, columns, **options)
    return described("LossCurve", fsl_num.LossCurve, columns["step"], columns["loss"], columns["lr"], **options)


def call_plan(draw):
    return described("Plan", fsl_num.Plan, array(draw), **some(draw, 0.2, recorded=moments(draw), warmup=steps(draw)))


def call_discrete(draw):
    return described("Discrete", fsl_num.Discrete, rates=array(draw), batch_sizes=draw.choice([1.0, array(draw, 1.0)]))


def call_law(draw):
    return described("law", law, draw.choice(["momentum", "fsl", "multi-power", *map(str, ODD[:12])]))


def call_regime_of(draw):
    return described("regime_of", fsl_sym.regime_of, number(draw, 2.0), number(draw, 2.0))


def call_order(draw):
    return described("Order", fsl_sym.Order, number(draw, 2.0), number(draw, 2.0))


def call_allocation(draw):
    def make(schedule, budget, s, beta):
        return fsl_sym.optimal_allocation(schedule, budget).at(s=s, beta=beta)

    schedule, budget = draw.choice(["wsd", "constant", "exp-decay"]), draw.choice(["data", "compute"])
    exact = [Fraction(1, 2), 4, "1/2", "3", *ODD]
    return described(
        "optimal_allocation.at",
        make,
        schedule,
        budget,
        *(draw.choice(exact[: None if draw.random() < 2 * draw.oddness else 4]) for _ in range(2)),
    )


def call_from_json(draw):
    text = draw.choice(["", "{}", "[" * 10_000, "null", '{"format": 1}', "1e999", "9" * 5000, "NaN", "\ud800"])
    return described(
        "FitResult.from_json", fsl_num.FitResult.from_json, text if draw.random() > draw.oddness else draw.choice(ODD)
    )


def call_growth(draw):
    logs = array(draw)
    values = [2 * log for log in logs] if isinstance(logs, list) and draw.random() > draw.oddness else array(draw)
    return described("growth_exponents", fsl_num.growth_exponents, logs, values)


CALLS = {name.removeprefix("call_"): made for name, made in globals().items() if name.startswith("call_")}
"""Name -> what draws a call: its text, and what makes it."""
