"""The noise integral of the WSD-like schedule: decay phase plus what is left of the stable phase."""

from __future__ import annotations

from sympy import Integer, Integral

from fsl_sym.integrals.closed_form import ClosedForm, GrowthOrder, cut_order
from fsl_sym.integrals.exponential_decay import i1_sum, i2_sum, noise_steps
from fsl_sym.integrals.stable_phase import finite_stable_phase_noise
from fsl_sym.proof import Derivation, Linear, Step, Substitution
from fsl_sym.spectrum import forgetting_kernel
from fsl_sym.symbols import T1, T2, a, b, t, z


def warmup_stable_decay_noise() -> ClosedForm:
    """N = b I1(T_2) + (a - b) I2(T_2) + a sum (lambda_j/2) (exp(-2 lambda_j T_2) - exp(-2 lambda_j (T_1 + T_2))).

    Exact for every M, T_1 and T_2; the integral over the stable phase and that over the decay phase are added. The
    last sum is the noise of the stable phase that is not yet forgotten; it is at most a C min{M, T_2^(1/beta)}/T_2.

    Examples
    --------
    >>> warmup_stable_decay_noise().derivation.verify().holds
    True
    """
    stable = finite_stable_phase_noise(z)
    # the clock runs backwards from the end of the stable phase: z = T_1 - t
    forward = Integral(a * forgetting_kernel(T1 + T2 - t), (t, 0, T1))
    backward = Integral(a * forgetting_kernel(T2 + z), (z, 0, T1))
    turned = Step(forward, backward, Substitution(t, z, T1 - z), "z = T_1 - t, the time to the end of the phase")
    first = Derivation("stable part", "The stable phase", (turned, *stable.derivation.steps))
    second = Derivation("decay part", "The decay phase", noise_steps(T2))
    value = b * i1_sum(T2) + (a - b) * i2_sum(T2) + stable.exact
    steps = (
        Step(
            forward + second.steps[0].before,
            value,
            Linear(((Integer(1), first), (Integer(1), second))),
            "both phases together",
        ),
    )
    decayed = cut_order(T2).times(a - b)
    derivation = Derivation("WSD-like noise", "Noise of the WSD-like schedule", steps, "thm: wsd")
    return ClosedForm("wsd", value, derivation, (GrowthOrder(({b: Integer(1)},)), decayed))
