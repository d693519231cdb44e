r"""What curves of one or two model sizes say of the term D M^-x for the size, x = s beta (Chinchilla: kappa1).

Every size has one level, L0 + D M^-x, and two levels do not determine three numbers: any L0 from 0 up to the lower
level goes with one D and one x that give the same two levels, and so the same losses at both sizes. The two levels are
identifiable; the level of a third size between them lies between theirs, that of one beyond them may be far off. One
size determines its level alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from fsl_num.curves.laws.base import Law
from fsl_num.curves.laws.shared import size_column
from fsl_num.curves.plan import Plan
from fsl_num.validation import Array

ENOUGH_SIZES: Final = 3
"""Three levels determine L0, D and x."""

_NEARLY = 0.999  # of the lower level: L0 at it would need an infinite x


def sizes_of(plans: Sequence[Plan]) -> list[float]:
    """Return the model sizes among the plans, each once, the smallest first.

    >>> sizes_of([Plan([0.1], model_size=20.0), Plan([0.1], model_size=10.0), Plan([0.1], model_size=20.0)])
    [10.0, 20.0]
    """
    return sorted({plan.model_size for plan in plans if plan.model_size is not None})


def constant_loss(law: Law, theta: Array, model_size: float | None = None) -> float:
    """Return what no learning rate changes: L0, and the term of the model size where the law has one.

    >>> from fsl_num.curves.laws import law
    >>> constant_loss(law("momentum"), np.array([2.0, 0.5, 1.0, 0.5, 0.5]))
    2.0
    """
    values = dict(zip(law.names, theta.tolist(), strict=True))
    if not law.size_term:
        return float(values["L0"])
    level, coefficient, exponent = law.size_term
    size = float(size_column([Plan([1.0], model_size=model_size, name="the schedule")])[0])
    return float(values[level] + values[coefficient] * size ** -(values[exponent] * _factor(law, theta[None])[0]))


def unidentified(law: Law, plans: Sequence[Plan]) -> tuple[str, ...]:
    """Return the parameters that too few sizes do not identify: (level, coefficient, exponent), or none.

    >>> from fsl_num.curves.laws import law
    >>> unidentified(law("fsl-sizes"), [Plan([0.1], model_size=1e6), Plan([0.1], model_size=1e7)])
    ('L0', 'D', 'beta')
    """
    return law.size_term if law.size_term and len(sizes_of(plans)) < ENOUGH_SIZES else ()


def unidentified_words(law: Law, plans: Sequence[Plan], theta: Array) -> str:
    """Return in words what the sizes identify and what they do not.

    >>> from fsl_num.curves.laws import law
    >>> plans = [Plan([0.1], [1], model_size=1e6), Plan([0.1], [1], model_size=1e8)]
    >>> unidentified_words(law("chinchilla"), plans, np.array([1.0, 100.0, 1.0, 0.5, 0.3])).split(":")[0]
    'L0, A1 and kappa1 cannot be identified from two sizes'
    """
    level, coefficient, exponent = law.size_term
    sizes = sizes_of(plans)
    few = "two sizes" if len(sizes) == 2 else "one size"
    head = f"{level}, {coefficient} and {exponent} cannot be identified from {few}"
    if len(sizes) < 2:
        return (
            f"{head}: only the sum of {level} and the term of the size is, and the loss of another size is unknown. Fit"
            " curves of three sizes or more."
        )
    x = theta[law.names.index(exponent)] * _factor(law, theta[None])[0]
    low, high = (theta[law.names.index(coefficient)] * size**-x for size in sizes)
    return (
        f"{head}: known is that the loss with {sizes[1]:.4g} parameters is {low - high:.3g} below that with"
        f" {sizes[0]:.4g}, and every split of the two levels into {level} and the term of the size fits alike. The loss"
        " of a third size beyond the two is unknown; curves of a third size would identify these parameters."
    )


def respread(law: Law, samples: Array, plans: Sequence[Plan], stream: np.random.Generator) -> Array:
    """Return refits with every split of the levels of too few sizes drawn alike; the losses at these sizes stay.

    L0 is drawn evenly between 0 and the lowest level. With two sizes D and x follow; with one, x is drawn evenly in its
    logarithm.

    >>> from fsl_num.curves.laws import law
    >>> plans = [Plan([0.1], [1], model_size=size) for size in (1e6, 1e8)]
    >>> theta = respread(law("chinchilla"), np.array([[1.0, 100.0, 0.0, 0.5, 0.3]]), plans, np.random.default_rng(0))
    >>> [round(float(theta[0, 0] + theta[0, 1] * size ** -theta[0, 3]), 9) for size in (1e6, 1e8)]
    [1.1, 1.01]
    """
    if not unidentified(law, plans) or not sizes_of(plans):
        return samples
    level, coefficient, exponent = (law.names.index(name) for name in law.size_term)
    factor, sizes = _factor(law, samples), sizes_of(plans)
    x = samples[:, exponent] * factor
    levels = [samples[:, level] + samples[:, coefficient] * size**-x for size in sizes]
    draws = np.array(samples)
    base = stream.uniform(0.0, 1.0, len(samples)) * _NEARLY * levels[-1]
    if len(sizes) == 2:
        falls = levels[0] > levels[1] * (1 + 1e-9)
        left = np.log((levels[0] - base) / (levels[1] - base)) / np.log(sizes[1] / sizes[0])
        base, left = np.where(falls, base, samples[:, level]), np.where(falls, left, x)
    else:
        kind = law.parameters[exponent]
        left = np.exp(stream.uniform(np.log(kind.lower), np.log(kind.upper), len(samples))) * factor
    draws[:, level], draws[:, exponent] = base, left / factor
    draws[:, coefficient] = (levels[0] - base) * sizes[0] ** left
    return draws


def _factor(law: Law, samples: Array) -> Array:
    """What the exponent is multiplied with: s where the law has it."""
    return samples[:, law.names.index("s")] if "s" in law.names else np.ones(len(samples))
