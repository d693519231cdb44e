"""The functional scaling law: a schedule goes in, the order of the excess risk comes out.

``M^-(s beta) + T^-s + sigma^2 N/B``, with N the noise integral of the schedule, and the change of variable between
physical time tau (steps) and intrinsic time t, under which the noise integral gains a factor of the learning rate.
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, Integral, Piecewise

from fsl_sym.algebra.printing import latex
from fsl_sym.integrals import GrowthOrder, noise_integral
from fsl_sym.integrals.closed_form import ClosedForm
from fsl_sym.proof import Derivation, Instance, Step, Substitution
from fsl_sym.schedules import FRACTION, Phase, Schedule
from fsl_sym.schedules.own import as_schedule
from fsl_sym.spectrum import decay, forgetting_kernel, over_modes
from fsl_sym.symbols import T1, T2, B, M, T, beta, j, s, sigma, t, tau


@dataclass(frozen=True, slots=True)
class FunctionalScalingLaw:
    """The functional scaling law of one schedule.

    Attributes
    ----------
    schedule
        The schedule.
    noise
        Its noise integral in closed form, exact for every M.
    conditions
        What the law needs; up to constants it holds only then.

    Examples
    --------
    >>> functional_scaling_law("constant").signal
    T**(-s)
    """

    schedule: Schedule
    noise: ClosedForm
    conditions: tuple[str, ...] = ("T >= 1", "sigma^2 bounded below", "the batch size is constant")

    def __str__(self) -> str:
        return str(self.expression)

    def __repr__(self) -> str:
        return f"<FunctionalScalingLaw of the {self.schedule.name} schedule>"

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {latex(self.expression)}$"

    @property
    def total(self) -> Expr:
        """The intrinsic time in the symbols of the noise integral: T, or T_1 + T_2 with two phases."""
        return T1 + T2 if len(self.schedule.phases) == 2 else T

    @property
    def approximation(self) -> Expr:
        """The risk of the features that the model lacks, M^-(s beta)."""
        return M ** (-s * beta)

    @property
    def signal(self) -> Expr:
        """What is not yet learned after the intrinsic time, T^-s."""
        return self.total**-s

    @property
    def injected_noise(self) -> Expr:
        """sigma^2 N/B, exact."""
        return sigma**2 / B * self.noise.exact

    @property
    def expression(self) -> Expr:
        """The law with the exact noise integral."""
        return self.approximation + self.signal + self.injected_noise

    @property
    def orders(self) -> tuple[GrowthOrder, ...]:
        """The law as a sum of growth orders, each with the condition under which it is there.

        Examples
        --------
        >>> [order.expression for order in functional_scaling_law("constant").orders]
        [M**(-beta*s), T**(-s), a*sigma**2/B]
        """
        first = GrowthOrder(({M: -s * beta},))
        second = GrowthOrder(({self.total: -s},))
        noise = tuple(order.times(sigma, 2).times(B, -1) for order in self.noise.order)
        return (first, second, *noise)

    @property
    def intrinsic_times(self) -> dict[Expr, Expr]:
        """The intrinsic times in physical quantities, for example ``T: (a - b) K/log(a/b)``."""
        if len(self.schedule.phases) != 2:
            return {T: self.schedule.total}
        return {name: phase.total for name, phase in zip((T1, T2), self.schedule.phases, strict=True)}


def functional_scaling_law(known: str | Schedule) -> FunctionalScalingLaw:
    """The functional scaling law of a schedule.

    Source: equation labelled eqn: fsl.

    Parameters
    ----------
    known
        A name in :data:`fsl_sym.schedules.SCHEDULES`, or a schedule of one's own.

    Returns
    -------
    FunctionalScalingLaw
        With exact noise and growth orders.

    Raises
    ------
    ValueError
        If there is no such schedule.

    Examples
    --------
    >>> functional_scaling_law("wsd").signal
    (T_1 + T_2)**(-s)
    """
    return FunctionalScalingLaw(as_schedule(known), noise_integral(known))


def physical_noise(known: str | Schedule) -> Expr:
    """N as an integral over the steps: ``int_0^K K_M(T(K) - T(tau)) phi(tau)^2 dtau``, for every schedule.

    Source: the convolution in the equation labelled eqn: fsl.

    One learning rate comes from gamma and one from ``dt = phi dtau``.

    Examples
    --------
    >>> from fsl_sym.symbols import K
    >>> physical_noise("cosine").limits
    ((tau, 0, K),)
    """
    schedule = as_schedule(known)
    left = schedule.total - schedule.intrinsic_time
    rate = schedule.phi
    if isinstance(rate, Piecewise):
        rate = Piecewise(*rate.args[:-1], (rate.args[-1][0], True))
        left = schedule.total - Piecewise(
            *schedule.intrinsic_time.args[:-1], (schedule.intrinsic_time.args[-1][0], True)
        )
    return Integral(forgetting_kernel(left) * rate**2, (tau, 0, schedule.length))


def _phase_steps(phase: Phase) -> tuple[Step, ...]:
    """From intrinsic to physical time in one phase, mode by mode; y is the fraction of the steps gone, or left."""
    assert phase.gamma is not None
    # y in (0, 1) keeps the sign of every base in sight
    share, said = (FRACTION, "y") if phase.open_ended else (1 - FRACTION, "(1 - y)")
    along = phase.length * share
    time = phase.intrinsic_time.subs(tau, along)
    intrinsic = over_modes(Integral(j ** (-2 * beta) * decay(phase.total - t) * phase.gamma, (t, 0, phase.total)))
    rate = phase.phi.subs(tau, along)
    left = phase.total - time
    by_fraction = over_modes(Integral(j ** (-2 * beta) * decay(left) * rate**2 * phase.length, (FRACTION, 0, 1)))
    physical = over_modes(
        Integral(j ** (-2 * beta) * decay(phase.total - phase.intrinsic_time) * phase.phi**2, (tau, 0, phase.length))
    )
    by_steps = Step(physical, by_fraction, Substitution(tau, FRACTION, along), f"tau = length {said}")
    backwards = Derivation("by the steps", "The fraction that is left, by the steps", (by_steps,))
    return (
        Step(intrinsic, by_fraction, Substitution(t, FRACTION, time), f"dt = phi dtau, with tau = length {said}"),
        Step(by_fraction, physical, Instance(backwards), f"tau = length {said}"),
    )


def change_of_time(known: str | Schedule) -> tuple[Derivation, ...]:
    """That the noise integral in intrinsic time is the one over the steps, for each phase of a schedule, or its name.

    Source: equation labelled eqn: sde-instrinc.

    Raises
    ------
    ValueError
        If gamma has no closed form, so that only the integral over the steps can be written down.

    Examples
    --------
    >>> [derivation.verify().holds for derivation in change_of_time("constant")]
    [True]
    """
    known = as_schedule(known)
    if any(phase.gamma is None for phase in known.phases):
        raise ValueError(f"the learning rate of {known.name!r} has no closed form in intrinsic time: {known.remark}")
    return tuple(
        Derivation(
            f"change of time {known.name}, {phase.name}",
            f"Physical and intrinsic time of the {phase.name}",
            _phase_steps(phase),
            "eqn: fsl-simplified",
        )
        for phase in known.phases
    )
