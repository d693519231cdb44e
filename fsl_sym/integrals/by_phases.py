"""The noise integral of every schedule, mode by mode: a sum over its phases, closed where the rate is constant.

Where gamma(t) has no elementary form, what is left is an integral over the steps in each mode; the order of the whole
follows from how the rate ends (:mod:`fsl_sym.integrals.vanishing_end`).
"""

from __future__ import annotations

from sympy import Expr, Integer, Integral, Symbol

from fsl_sym.integrals.closed_form import ClosedForm
from fsl_sym.integrals.vanishing_end import noise_orders
from fsl_sym.proof import Antiderivative, Derivation, Identity, Interchange, Linear, Step, Substitution
from fsl_sym.schedules import Phase, Schedule
from fsl_sym.spectrum import LAM, decay, forgetting_kernel, over_modes
from fsl_sym.symbols import beta, j, tau

_SHARE = Symbol("y", positive=True)
"""The square root of the fraction of the steps that are gone: in it a rate of square roots is a polynomial."""


def _phase_noise(phase: Phase, later: Expr) -> Derivation:
    """``int_0^length K_M(later + total - T(tau)) phi(tau)^2 dtau`` as a sum over the modes."""
    left = later + phase.total - phase.intrinsic_time
    whole = Integral(forgetting_kernel(left) * phase.phi**2, (tau, 0, phase.length))
    mode = j ** (-2 * beta) * decay(left) * phase.phi**2
    by_mode = over_modes(Integral(mode, (tau, 0, phase.length)))
    apart = Step(whole, by_mode, Interchange(), "the integral of a finite sum")
    title = f"Noise of the {phase.name}"
    if not phase.phi.has(tau):
        value = over_modes(phase.phi * LAM * (decay(later) - decay(later + phase.total)) / 2)
        primitive = Antiderivative(phase.phi * LAM * decay(left) / 2)
        closed = Derivation(title, title, (apart, Step(by_mode, value, primitive, "each mode forgets at 2 lambda_j")))
        if closed.verify().holds:
            return closed
    plain = Derivation(title, title, (apart,))
    if plain.verify().holds:
        return plain
    along = phase.length * _SHARE**2
    turned = (whole.function.subs(tau, along), mode.subs(tau, along))
    inside, inner = (integral * 2 * phase.length * _SHARE for integral in turned)
    by_share = Integral(inside, (_SHARE, 0, 1))
    with_share = Derivation(
        title,
        title,
        (
            Step(whole, by_share, Substitution(tau, _SHARE, along), "tau = length y^2"),
            Step(by_share, over_modes(Integral(inner, (_SHARE, 0, 1))), Interchange(), "the integral of a finite sum"),
        ),
    )
    kept = Derivation(title, title, (Step(whole, whole, Identity(), "as it is defined, by the steps"),))
    return with_share if with_share.verify().holds else kept


def noise_by_phases(known: Schedule) -> ClosedForm:
    """N of a schedule, exact for every M, as a sum over modes of integrals over the steps of each phase.

    >>> from fsl_sym.schedules import schedule
    >>> noise_by_phases(schedule("8-1-1")).derivation.verify().holds
    True
    """
    later: Expr = Integer(0)
    parts: list[Derivation] = []
    for phase in reversed(known.phases):
        parts.insert(0, _phase_noise(phase, later))
        later += phase.total
    steps = parts[0].steps
    if len(parts) > 1:
        before = sum((part.steps[0].before for part in parts), Integer(0))
        after = sum((part.steps[-1].after for part in parts), Integer(0))
        steps = (Step(before, after, Linear(tuple((Integer(1), part) for part in parts)), "all phases together"),)
    derivation = Derivation(f"{known.name} noise", f"Noise of {known.name}, mode by mode", steps)
    return ClosedForm(known.name, steps[-1].after, derivation, noise_orders(known))
