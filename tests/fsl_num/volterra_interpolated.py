"""A second way to many digits where gamma varies and is no polynomial: interpolated panel by panel, then followed.

gamma is computed here from the definition of its schedule, in Arb and in the time r left before the end, and replaced
on each panel by its polynomial through Chebyshev's points. The panels with proof do the rest: collocation in Legendre
coefficients, whose defect is bounded, and their own few modes. Nothing is shared with the method "high_precision" but
the equation. What the interpolation misses is measured between the points, not proven.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from volterra_grid import Case, Jumps

from fsl_num.schedules import Cosine, Linear, PowerDecay
from fsl_num.volterra.enclosure.collocation import collocation
from fsl_num.volterra.enclosure.modes import ball_modes
from fsl_num.volterra.enclosure.panels import March, Panel

_GROWTH = 1.6  # of panel ends from the start and from breaks: their polynomials gain about a digit a stage
_WIDEST = 3.5  # the same towards the end, where little is injected


def _arb(flint: Any, number: float) -> Any:
    return flint.arb(flint.fmpq(*float(number).as_integer_ratio()))


def _of_case(flint: Any, case: Case) -> tuple[Any, Callable[[Any, Any], Any], list[Any], float] | None:
    """Return T, gamma of (t, r = T - t), the breaks, and the power of r with which gamma vanishes at r = 0.

    The power is inf where gamma is smooth there, so that panels need not shrink.
    """
    plan = case.problem.gamma
    if isinstance(plan, Jumps):
        peak, end = _arb(flint, plan.peak), _arb(flint, plan.end)
        first, second = (_arb(flint, x) for x in plan.ends)

        def jumping(t: Any, r: Any) -> Any:
            if t < first:
                return peak
            return peak / (1 + 8 * t / end) if t < second else peak * t * t / end / end * 3 / 4

        return end, jumping, [first, second], math.inf
    if type(plan) not in (Cosine, Linear, PowerDecay):
        return None
    peak, steps, batch = (_arb(flint, x) for x in (plan.peak, plan.steps, plan.batch_size))
    if isinstance(plan, PowerDecay):
        power = _arb(flint, plan.power)
        total = peak * steps / (power + 1)
        # phi = peak q^power at the share q of steps left, and r = T q^(power + 1)
        return total, lambda t, r: peak / batch * (r / total) ** (power / (power + 1)), [], float(power / (power + 1))
    final = _arb(flint, plan.final)
    if isinstance(plan, Linear):
        total, slope = steps * (peak + final) / 2, (peak - final) / steps
        # with rho steps left phi = final + slope rho, and r = final rho + slope rho^2/2
        return total, lambda t, r: (final**2 + 2 * slope * r).sqrt() / batch, [], 0.5
    mean, swing, unit = (peak + final) / 2, (peak - final) / 2, steps / flint.arb.pi()

    def cosine(t: Any, r: Any) -> Any:
        # with the angle y, pi times the share of steps left: phi = mean - swing cos y, r = unit (mean y - swing sin y)
        high, low, goal = flint.arb.pi().mid(), flint.arb(0), (r / unit).mid()
        y = min(high, (20 * goal / (swing + 1000 * final)) ** flint.arb(flint.fmpq(1, 3))).mid()
        for _ in range(300):
            value = (mean * y - swing * y.sin() - goal).mid()
            low, high = (low, y) if value > 0 else (y, high)
            newer = (y - value / (mean - swing * y.cos())).mid()
            moved = abs(newer - y)
            if moved < y * flint.arb(2) ** (-flint.ctx.prec // 2):
                return (mean - swing * newer.cos()).mid() / batch
            y = newer if low < newer < high else ((low + high) / 2).mid()
        raise ArithmeticError("the intrinsic time of the cosine schedule was not inverted")

    return unit * flint.arb.pi() * mean, cosine, [], 2.0 / 3.0


def _ends(flint: Any, case: Case, total: Any, breaks: list[Any], power: float, digits: int, first: float) -> list[Any]:
    """Return the panel ends as pairs (t, r), both accurate."""
    zero = flint.arb(0)
    found = [(zero, total.mid()), (total.mid(), zero)]
    cuts = [zero, *breaks, total.mid()]
    for low, high in zip(cuts[:-1], cuts[1:], strict=True):
        found.append((low, total - low))
        limit = float(high) if high is not cuts[-1] or math.isinf(power) else float((low + high) / 2)
        width = min(first, (limit - float(low)) / 8)
        while float(low) + width < limit:
            found.append((low + _arb(flint, width), total - low - _arb(flint, width)))
            width *= _GROWTH
    for time in case.times[:-1]:
        found.append((_arb(flint, time), total - _arb(flint, time)))
    if not math.isinf(power):
        # a panel from r to R >= r injects about R^(1 + power), of which a stage saves a factor of its ellipse
        scale = float(total)
        left = scale / 2
        while True:
            found.append((total - _arb(flint, left), _arb(flint, left)))
            wanted = digits + (1 + power) * math.log10(left / scale) + math.log10(scale + 1.0)
            if wanted < 1.0:
                break
            rho = 10.0 ** min(wanted / digits, 1.0)
            axis = 0.5 * (rho + 1.0 / rho)
            left /= min(max((axis + 1.0) / (axis - 1.0), _GROWTH), _WIDEST)
    half = float(total) / 2
    return sorted(
        found,
        key=lambda pair: (pair[0] > half, pair[0] if pair[0] < half else -pair[1]),
    )


def _polynomial(flint: Any, gamma: Callable[[Any, Any], Any], low: Any, high: Any, count: int) -> tuple[list[Any], Any]:
    """Return the coefficients in x = 2y - 1 of gamma on a panel, and its error at x = 1/3."""
    half = (high[0] - low[0]) / 2 if low[0] < low[1] else (low[1] - high[1]) / 2

    def at(x: Any) -> Any:
        return gamma((low[0] + half * (1 + x)).mid(), (low[1] - half * (1 + x)).mid()).mid()

    pi = flint.arb.pi()
    angles = [(2 * i + 1) * pi / (2 * count) for i in range(count)]
    cosines = [(i * pi / (2 * count)).cos() for i in range(4 * count)]
    values = [at(angle.cos().mid()) for angle in angles]
    series = [
        2 * sum((v * cosines[(k * (2 * i + 1)) % (4 * count)] for i, v in enumerate(values)), flint.arb(0)) / count
        for k in range(count)
    ]
    series[0] /= 2
    # T_(k+1) = 2 x T_k - T_(k-1)
    x, older, newer = flint.arb_poly([0, 1]), flint.arb_poly([1]), flint.arb_poly([0, 1])
    total = series[0] * older
    for value in series[1:]:
        total += value.mid() * newer
        older, newer = newer, 2 * x * newer - older
    place = flint.arb(flint.fmpq(1, 3))
    return [c.mid() for c in total.coeffs()], abs(total(place) - at(place))


def interpolated(case: Case, digits: int) -> Any:
    """The loss at the times of ``case`` to about ``digits`` digits; None for other gammas."""
    try:
        import flint
    except ImportError:
        return None
    inner = digits + 8
    stages = inner + 4
    with flint.ctx.workprec(math.ceil((inner + 25 + 1.2 * stages) / math.log10(2.0))):
        known = _of_case(flint, case)
        if known is None:
            return None
        total, gamma, breaks, power = known
        modes = ball_modes(flint, case.problem, inner)
        march = March(flint, modes, collocation(stages, flint.ctx.prec))
        root = (math.lgamma(stages + 1) - inner * math.log(10.0)) / stages
        ends = _ends(flint, case, total, breaks, power, inner, 2.0 * math.exp(root) / case.problem.model.fastest)
        wanted = [_arb(flint, t) for t in case.times[:-1]]
        found: dict[int, Any] = {}
        for low, high in zip(ends[:-1], ends[1:], strict=True):
            if not (low[1] > high[1] or low[0] < high[0]):
                continue  # a wanted time that is an end already
            coefficients, missed = _polynomial(flint, gamma, low, high, stages)
            injected = (low[1] - high[1]) * missed if low[1] > high[1] else missed
            if not injected < case.problem.peak_gamma * flint.arb(10) ** -digits:
                raise ArithmeticError(f"gamma is interpolated to {missed} only from {low[0]} to {high[0]}")
            width = (high[0] - low[0]) if low[0] < low[1] else (low[1] - high[1])
            march.advance(Panel(width.mid(), coefficients, high[0].mid(), None))
            for i, time in enumerate(wanted):
                if i not in found and high[0].mid() == time.mid():
                    found[i] = march.value()
        balls = [*(found[i] for i in range(len(wanted))), march.value()]
        return [_mpf(ball, digits) for ball in balls]


def _mpf(ball: Any, digits: int) -> Any:
    import mpmath

    mp = mpmath.mp.clone()
    mp.dps = digits + 10
    if not ball.rad() < ball.mid() * type(ball)(10) ** (1 - digits):
        raise ArithmeticError(f"the ball {ball} holds fewer than {digits} digits")
    mantissa, exponent = ball.mid().man_exp()
    return mp.ldexp(mp.mpf(int(mantissa)), int(exponent))
