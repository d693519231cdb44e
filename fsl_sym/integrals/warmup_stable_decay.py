"""The noise integral of the WSD-like schedule: decay phase plus what is left of the stable phase."""

from __future__ import annotations

from sympy import Add, Integer, Integral, log

from fsl_sym.derivation import Derivation, Step
from fsl_sym.integrals.closed_form import ClosedForm, GrowthOrder
from fsl_sym.integrals.exponential_decay import gamma_step, i1_sum, i2_sum, noise_steps
from fsl_sym.integrals.stable_phase import finite_stable_phase_noise
from fsl_sym.justifications import Identity, Substitution, Termwise
from fsl_sym.schedules import schedule
from fsl_sym.spectrum import forgetting_kernel
from fsl_sym.symbols import K2, T1, T2, M, a, b, beta, t, z


def warmup_stable_decay_noise() -> ClosedForm:
    """N = b I1(T_2) + (a - b) I2(T_2) + a sum (lambda_j/2) (exp(-2 lambda_j T_2) - exp(-2 lambda_j (T_1 + T_2))).

    Exact for every M, T_1 and T_2. The last sum is the noise of the stable phase that is not yet forgotten; it is
    at most a C min{M, T_2^(1/beta)}/T_2, hence at most (a - b) times that plus b C.

    Examples
    --------
    >>> warmup_stable_decay_noise().derivation.verify().holds
    True
    """
    stable = finite_stable_phase_noise(z)
    decay = noise_steps(T2)
    # the clock runs backwards from the end of the stable phase: z = T_1 - t
    forward = Integral(a * forgetting_kernel(T1 + T2 - t), (t, 0, T1))
    backward = Integral(a * forgetting_kernel(T2 + z), (z, 0, T1))
    total = T1 + T2
    end = decay[-1].after
    phases = schedule("WSD-like").phases
    assert phases[0].gamma is not None and phases[1].gamma is not None
    steps = (
        Step(phases[0].gamma, a, "identity", "the stable phase has the peak rate", Identity(), begins=True),
        Step(phases[1].gamma.subs(K2, T2 * log(a / b) / (a - b)), gamma_step(K2, T2).after, "identity",
             "the decay phase falls linearly in intrinsic time", Identity(), begins=True),
        Step(forward, backward, "substitution", f"z = T_1 - t, with T = {total}",
             Substitution(t, z, T1 - z), begins=True),
        *stable.derivation.steps,
        *decay,
        Step(Add(stable.exact, end, evaluate=False), b * i1_sum(T2) + (a - b) * i2_sum(T2) + stable.exact, "sum",
             "both phases together", Termwise(), begins=True),
    )  # fmt: skip
    decayed = GrowthOrder(({M: Integer(1), T2: -Integer(1)}, {T2: 1 / beta - 1})).times(a - b)
    derivation = Derivation(
        "WSD-like noise", "Noise of the WSD-like schedule", steps, ("a > b", "M finite"), "thm: wsd"
    )
    return ClosedForm("WSD-like", steps[-1].after, derivation, (GrowthOrder(({b: Integer(1)},)), decayed))
