r"""The final loss of a fitted law as a function of the learning rates still to be chosen, with its gradient by adjoint.

Only the last step is asked for, so that no memory is carried: with R the intrinsic time left after a step, each law is
one sum over the steps. Rates act through themselves, through the times left (of all steps before) and through the times
passed (of all steps after), so that the gradient takes two running sums: O(K) for K steps. Laws that are no such sum
are evaluated, step by step and without a gradient.

Rates may stand for blocks of steps at one rate each. That is exact but for the noise of the signal not yet learnt,
which is taken at the end of a block.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from fsl_num.curves.laws import LAWS, AnsatzLaw, FunctionalLaw, Law, MomentumLaw, MultiPowerLaw
from fsl_num.curves.plan import Plan
from fsl_num.curves.sizes import constant_loss
from fsl_num.design.families import step_blocks
from fsl_num.design.objectives import Objective
from fsl_num.validation import Array

MOST: Final = 200_000
"""Of more steps some hundred thousand blocks are followed, ever shorter towards the end."""

_LEAST = 1e-30  # a rate of 0 has no power below 0


def final_loss(
    law: Law, theta: Array, before: Array, warmup: int, model_size: float | None = None, lengths: Array | None = None,
    noise: Array | float = 1.0,
) -> Objective:  # fmt: skip
    """Return the loss after the last of some blocks of steps, and its gradient by their rates.

    Parameters
    ----------
    law, theta
        A functional law of one peak and batch size, ansatz, Multi-Power or momentum law, and its parameters in order.
    before
        The rates of the steps before the blocks, one each: warmup, or a run under way. May be empty.
    warmup
        How many of them are warmup; at most their number.
    model_size
        Number of parameters, for laws with a term for it.
    lengths
        How many steps each rate of ``before`` stands for; one by default.
    noise
        What the noise of the steps before is multiplied by under a functional law, one number or one a rate.

    Returns
    -------
    Objective
        (rates, steps), arrays of one length in time order, to (loss, gradient by the rates).

    Raises
    ------
    ValueError
        For another law, or a model size that is missing.

    Notes
    -----
    Source: the law's own formula.

    Examples
    --------
    >>> from fsl_num.curves.laws import law
    >>> momentum, theta = law("momentum"), np.array([2.0, 0.5, 1.0, 0.5, 0.5])
    >>> found = final_loss(momentum, theta, np.array([]), 0)(np.array([0.1, 0.05]), np.array([2.0, 2.0]))[0]
    >>> bool(abs(found - momentum.predict([0.1, 0.1, 0.05, 0.05], theta)[-1]) < 1e-12)
    True
    """
    if not has_gradient(law):
        raise ValueError(
            f"the law {law.name!r} has no gradient by the learning rates; the laws that have one are"
            f" {', '.join(name for name, make in LAWS.items() if has_gradient(make()))}: fit one of them"
        )
    values = dict(zip(law.names, theta.tolist(), strict=True))
    constant = constant_loss(law, theta, model_size)
    amplitude, exponent = (values[name] for name in _SIGNAL[type(law)])
    clock = (values["c_e"], 1.0) if isinstance(law, FunctionalLaw) else (1.0, 0.0)
    known, first = np.ones(before.size) if lengths is None else lengths, before.size
    part = _PARTS[type(law)](law, values, warmup, np.broadcast_to(noise, first))

    def loss(rates: Array, steps: Array) -> tuple[float, Array]:
        if rates.size > MOST:  # but for a few of the last ones, which are alone in their blocks, neighbours are alike
            starts, counts = step_blocks(rates.size, MOST)
            widths = np.add.reduceat(steps, starts)
            value, slope = loss(np.add.reduceat(rates * steps, starts) / widths, widths)
            return value, np.repeat(slope / widths, counts.astype(np.int64)) * steps
        every, widths = np.concatenate([before, rates]), np.concatenate([known, steps])
        ends = np.cumsum(every * widths)
        left = np.concatenate([np.cumsum((every * widths)[::-1])[::-1], [0.0]])
        value, by_rate, by_left, by_end = part(every, widths, left, ends)
        left_to_learn, falls = falling_signal(ends[-1], exponent, *clock)
        by_left[0] += amplitude * falls
        gradient = by_rate + widths * (np.cumsum(by_left) + np.cumsum(by_end[::-1])[::-1])
        return float(constant + amplitude * left_to_learn + value), gradient[first:]

    return loss


def has_gradient(law: Law) -> bool:
    """Return whether :func:`final_loss` knows a law; any other is evaluated, and designs members of families alone.

    >>> from fsl_num.curves.laws import law
    >>> has_gradient(law("fsl")), has_gradient(law("fsl-weights"))
    (True, False)
    """
    return type(law) in _PARTS


def evaluated(
    law: Law, theta: Array, before: Array, warmup: int, model_size: float | None = None, lengths: Array | None = None,
    batch_sizes: Array | float = 1.0, batch_size: float = 1.0,
) -> Objective:  # fmt: skip
    """Return the same loss of any law that follows a schedule, as it predicts it; in the place of the gradient nan.

    Arguments are those of :func:`final_loss`; ``batch_sizes``: of the steps ``before``; ``batch_size``: of the others.
    Lengths are rounded to whole steps. Raises ValueError for a law of final losses alone.

    >>> from fsl_num.curves.laws import law
    >>> momentum, theta = law("momentum"), np.array([2.0, 0.5, 1.0, 0.5, 0.5])
    >>> steps = np.array([0.1, 0.05]), np.array([2.0, 2.0])
    >>> losses = [of(momentum, theta, np.array([]), 0)(*steps)[0] for of in (evaluated, final_loss)]
    >>> bool(abs(losses[0] - losses[1]) < 1e-12)
    True
    """
    if law.final_only:
        raise ValueError(f"the law {law.name} is one of final losses: it knows no schedules")
    known = np.ones(before.size) if lengths is None else lengths
    batches = np.broadcast_to(batch_sizes, before.size)

    def loss(rates: Array, steps: Array) -> tuple[float, Array]:
        ends = np.rint(np.cumsum(np.append(known, steps))).astype(np.int64)
        counts, every = np.diff(ends, prepend=0), np.append(before, rates)
        every = every if every.any() else every + _LEAST  # a plan has a step that is one
        sizes = np.append(batches, np.full(rates.size, batch_size))
        rising = int(counts[:warmup].sum())
        plan = Plan(np.repeat(every, counts), ends[-1:], rising, np.repeat(sizes, counts), model_size)
        bound = law.bind([plan], "exact" if counts.max() == 1 else "fit")
        return float(bound.losses(theta)[0]), np.full(rates.size, np.nan)

    return loss


def falling_signal(passed: Any, exponent: float, speed: float, onset: float = 1.0) -> tuple[Any, Any]:
    """Return (onset + speed T)^-exponent at the intrinsic times ``passed``, and its derivative by them.

    >>> falling_signal(1.0, 2.0, 1.0)
    (0.25, -0.25)
    """
    base = onset + speed * passed
    signal = base**-exponent
    return signal, -exponent * speed * signal / base


_Part = Callable[[Array, Array, Array, Array], tuple[float, Array, Array, Array]]
"""(rates, lengths, times left at starts and the end, times at ends) -> value, derivatives by rates, times left at the
starts, times at the ends; the signal apart."""


def _functional(law: Any, values: dict[str, float], warmup: int, noise: Array) -> _Part:
    """B sum (eta_i/eta_ref)^p (G(R_i) - G(R_{i+1})), and with E the same times e(T(i+1))."""
    amplitude, unlearnt, p = values["B"], values.get("E", 0.0), values.get("p", 1.0)
    c, gamma = values["c"], values["gamma"]

    def part(rates: Array, lengths: Array, left: Array, ends: Array) -> tuple[float, Array, Array, Array]:
        held = np.exp(-gamma * np.log1p(c * left))
        gone = np.diff(held)  # G(R_i) - G(R_{i+1})
        near = c * left[:-1] < 1e-3  # near the end as a difference of what is forgotten, which keeps its digits
        gone[near] = -np.diff(-np.expm1(-gamma * np.log1p(c * left[np.append(near, True)])))
        share = np.maximum(rates / law.reference_rate, 0.0) ** p
        share[: noise.size] *= noise
        signal, falls = falling_signal(ends, values["s"], values["c_e"])
        level = share * (amplitude + unlearnt * signal)
        kernel = c * gamma * held[:-1] / (1.0 + c * left[:-1])
        by_left = kernel * np.diff(level, prepend=0.0)
        by_rate = p * level * gone / np.maximum(rates, _LEAST)
        by_end = unlearnt * falls * share * gone
        return float(level @ gone), by_rate, by_left, by_end

    return part


def _of_changes(
    kernel: Callable[[Array, Array, Array, Array], tuple[Array, Array, Array, Array]], sources: int
) -> _Part:
    """Return sum (eta_i - eta_{i-1}) f of the changes from block ``sources`` on, for f and its derivatives.

    ``kernel``: (rates, lengths, times left, times passed at the starts) -> f, df/drate, df/dleft, df/dpassed.
    """

    def part(rates: Array, lengths: Array, left: Array, ends: Array) -> tuple[float, Array, Array, Array]:
        change = np.diff(rates, prepend=0.0)
        change[:sources] = 0.0
        value, by_rate, by_left, by_start = kernel(rates, lengths, left[:-1], np.append(0.0, ends[:-1]))
        counted = np.where(np.arange(rates.size) >= sources, value, 0.0)
        direct = change * by_rate + counted - np.append(counted[1:], 0.0)
        return float(change @ value), direct, change * by_left, np.append((change * by_start)[1:], 0.0)

    return part


def _ansatz(law: Any, values: dict[str, float], warmup: int, noise: Array) -> _Part:
    c, gamma, s = values["c4"], values["gamma"], values["s"]

    def kernel(rates: Array, lengths: Array, left: Array, start: Array) -> tuple[Array, Array, Array, Array]:
        kept = (1.0 + c * left) ** -gamma
        signal = values["c2"] * np.maximum(start, _LEAST) ** -s * (start > 0.0)
        level = values["c23"] + signal
        by_start = -s * signal / np.maximum(start, _LEAST) * (1.0 - kept)
        return level * (1.0 - kept), np.zeros_like(rates), level * gamma * c * kept / (1.0 + c * left), by_start

    return _of_changes(kernel, warmup + 1)


def _multi_power(law: Any, values: dict[str, float], warmup: int, noise: Array) -> _Part:
    strength, k1, k2 = values["C"], values["kappa1"], values["kappa2"]

    def kernel(rates: Array, lengths: Array, left: Array, start: Array) -> tuple[Array, Array, Array, Array]:
        rate = np.maximum(rates, _LEAST)
        speed = values["C1"] * rate**-k1
        kept = (1.0 + speed * left) ** -k2
        slope = strength * k2 * kept / (1.0 + speed * left)
        return strength * (1.0 - kept), -slope * left * k1 * speed / rate, slope * speed, np.zeros_like(rates)

    return _of_changes(kernel, 0 if law.warmup_sources else warmup + 1)


def _momentum(law: Any, values: dict[str, float], warmup: int, noise: Array) -> _Part:
    decay = values["decay"]

    def kernel(rates: Array, lengths: Array, left: Array, start: Array) -> tuple[Array, Array, Array, Array]:
        age = np.cumsum(lengths[::-1])[::-1]
        zero = np.zeros_like(rates)
        return values["C"] * -np.expm1(age * np.log(decay)) / (1.0 - decay), zero, zero, zero

    return _of_changes(kernel, warmup + 1)


_PARTS: Final[dict[type, Callable[[Any, dict[str, float], int, Array], _Part]]] = {
    FunctionalLaw: _functional,
    AnsatzLaw: _ansatz,
    MultiPowerLaw: _multi_power,
    MomentumLaw: _momentum,
}
_SIGNAL: Final[dict[type, tuple[str, str]]] = {
    FunctionalLaw: ("A", "s"),
    AnsatzLaw: ("c1", "s"),
    MultiPowerLaw: ("A", "kappa"),
    MomentumLaw: ("A", "kappa"),
}
