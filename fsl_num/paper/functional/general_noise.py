"""thm: fsl-general-noise, prop:fsl-weak-upper-bound and eqn:fsl-intro: every noise, in the window and beyond it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import chain

import numpy as np
from sympy import Ge, Le, Symbol

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Joint, Ray, Statement
from fsl_num.paper.block_constants import UP_TO_CONSTANTS, Constants
from fsl_num.paper.block_spectra import block_modes
from fsl_num.paper.functional.falling_rate import functionals
from fsl_num.paper.functional.formulas import LAW, MIXED_PAIR, POWERS, functional, risk_is
from fsl_num.paper.functional.laws import FAMILY, GIVEN, dropped, functional_law, without
from fsl_num.paper.functional.rays import (
    Rays,
    all_rays,
    balanced,
    decided,
    everywhere,
    later,
    loud,
    unstable,
    window,
)
from fsl_num.paper.functional.runs import AFTER, BEYOND, EDGE, led
from fsl_num.paper.hypotheses import MODEL
from fsl_num.paper.kernel.rays import (
    Quantity,
    decades,
    joined_ray,
    outside_window,
    repeating_rays,
    the_signal,
    window_law,
)  # fmt: skip
from fsl_sym import best_constants
from fsl_sym.proof import AllOf, Formula, same_order
from fsl_sym.spectrum import signal
from fsl_sym.symbols import E, M, beta, s, t

CRITICAL = Symbol("c", positive=True)
"""The critical time in units of M^beta."""
MULTIPLES = (0.25, 1.0, 4.0)
"""Those at which it is measured."""
AT_CRITICAL = same_order(signal(CRITICAL * M**beta), M ** (-s * beta))
IS_LAW, IS_POWERS = risk_is(LAW), risk_is(functional(POWERS))
IN_WINDOW = replace(IS_POWERS, where=Le(t, CRITICAL * M**beta))
FROM_BELOW = Formula(LAW, "<~", E, where=Ge(t, CRITICAL * M**beta))
FROM_ABOVE = replace(risk_is(functional(POWERS), "<~"), where=Ge(t, CRITICAL * M**beta))
WEAK = risk_is(functional(MIXED_PAIR), "<~")


def late(ray: Ray) -> bool:
    """Whether t >= 0.3 M^beta along the ray."""
    return any(path.name in ray.name for path in (EDGE, AFTER, BEYOND))


def _critical(sample: Sample) -> list[Ray]:
    s, beta = sample.point

    def of_spectrum(constants: Constants) -> Quantity:
        def left(time: float, size: float) -> float:
            modes, _ = block_modes(constants, s, beta, size, time)
            return float(np.exp(-modes.rates * time) @ modes.start)

        return left

    exact = [joined_ray(the_signal(sample), beta, 1.0, c, decades(s), clock="M") for c in MULTIPLES]
    # lambda_M is up to twice M^-beta: by c = 2 the last mode has fallen as far
    repeating = [repeating_rays(of_spectrum, sample, 1.0, min(c, 2.0), decades(s), clock="M") for c in MULTIPLES]
    return [*exact, *chain.from_iterable(repeating)]


def _general(sample: Sample) -> Joint:
    return Joint(
        {
            "window": functional_law(sample, IN_WINDOW),
            "from below": functional_law(sample, FROM_BELOW),
            "from above": functional_law(sample, FROM_ABOVE),
        }
    )


def _general_measured(sample: Sample) -> dict[str, Rays]:
    return {
        "window": window(sample),
        "from below": (*window(sample), *filter(late, everywhere(sample)), *balanced(sample)),
        "from above": (*window(sample), *balanced(sample), *loud(sample)),
    }


def _general_mutants(sample: Sample) -> dict[str, Statement]:
    parts = _general(sample).parts
    swapped = {
        "from below with K_infinity": (
            "from below",
            functional_law(sample, replace(FROM_BELOW, left=functional(POWERS))),
        ),
        "from above of that order": ("from above", functional_law(sample, IN_WINDOW)),
        "from above without label noise": ("from above", without(sample, "label_inf", FROM_ABOVE)),
        "window without the signal": ("window", without(sample, "e_inf", IN_WINDOW)),
    }
    if sample.s * sample.beta <= sample.beta - 1:
        # For s <= 1 - 1/beta the law with K_infinity is a lower bound on these rays too: sigma^2 is balanced. (In exact
        # numbers: floats would put a point of the edge on either side.)
        del swapped["from below with K_infinity"]
    return {name: Joint({**parts, part: wrong}) for name, (part, wrong) in swapped.items()}


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "thm: fsl-general-noise", "thm: fsl-general-noise", 549, "every noise: the law in the window, bounds beyond",
        AllOf((IN_WINDOW, FROM_BELOW, FROM_ABOVE)),
        (*GIVEN, "sigma >= 0"), _general_measured, _general, _general_mutants,
        depends=("approximation-error", "lemma:convolution-kernel", "prop:fsl-weak-upper-bound"), family=FAMILY,
        moved=led, instances=functionals,
        beyond=lambda sample: {name: {"window": rays} for name, rays in unstable(sample).items()},
        quoted=r"There exists a $c>0$ such that for $0\leq t \leq c M^\beta$,  it holds that",
    ),
    Claim(
        "thm: fsl-general-noise/all-times", "thm: fsl-general-noise", 549, "the law with K_M: all t, all s, all noise",
        IS_LAW,
        (*GIVEN, "0 <= sigma^2 <= 1e60", "1/4 <= t <= 100 M^beta"), lambda sample: all_rays(sample),
        functional_law,
        lambda sample: dropped("delta", "e", "label", *(("batch",) if decided(sample) else ()))(sample),
        derive=best_constants.all_times_derivations, role="stronger", strengthens="thm: fsl-general-noise",
        depends=("cor: contraction/longer",), family=FAMILY,
        beyond=lambda sample: {**unstable(sample), **later(sample)},
        remark="It contains the theorems on general, constant and zero label noise and, with the kernel of M "
               "features, the hard regime.",
    ),
    Claim(
        "prop:fsl-weak-upper-bound", "prop:fsl-weak-upper-bound", 2211, "the upper bound with K_infinity, all t",
        WEAK,
        (*GIVEN, "sigma >= 0", "t > 0"),
        lambda sample: (*window(sample), *balanced(sample), *loud(sample)),
        lambda sample: functional_law(sample, WEAK),
        lambda sample: {"of that order": functional_law(sample, replace(WEAK, relation="~"))}
        | {f"without {term}": without(sample, term, WEAK) for term in ("delta", "e", "label_inf")},
        depends=("lemma:convolution-kernel",), family=FAMILY, moved=led, beyond=unstable,
        quoted=r"\mathbb{E}[\mathcal{E}_t] \lesssim M^{-s\beta} + e_M(t)",
    ),
    Claim(
        "eqn:fsl-intro", "eqn:fsl-intro", 165, "the law of the introduction, inside the window",
        IS_POWERS, (*GIVEN, "t <= 3 M^beta"), window,
        lambda sample: functional_law(sample, IS_POWERS),
        lambda sample: {f"without {term}": without(sample, term, IS_POWERS) for term in ("e_inf", "label_inf")},
        depends=("thm: fsl-general-noise", "thm: fsl-hard-regime/corrected"), family=FAMILY,
        moved=led,
        beyond=lambda sample: {"a loud burst, t = 100 M^beta": loud(sample)},
        quoted="and under some conditions",
        remark="The introduction leaves its conditions open; they can be these.",
    ),
    Claim(
        "critical-time", "thm: fsl-general-noise", 577, "at the critical time the signal has reached its limit",
        AT_CRITICAL,
        (MODEL, "M^beta/4 <= t <= 4 M^beta", UP_TO_CONSTANTS),
        _critical, partial(window_law, AT_CRITICAL),
        instances=lambda sample: [{AT_CRITICAL.left: the_signal(sample)(2.0, 3), M: 3,
                                   CRITICAL: 2.0 * 3.0 ** -sample.point[1]}],
        beyond=lambda sample: {
            "t = M^(beta/2)": [joined_ray(the_signal(sample), sample.point[1], 0.5, 1.0, decades(sample.point[0]) / 2.0,
                                          clock="M")],
            "t beyond M^beta": outside_window(the_signal(sample), sample)["t beyond M^beta"],
        },
        depends=("lemma:ke-power/signal-window",),
        family="gaps",
        quoted=r"we have $e_M(t_M) \!\asymp\! M^{-s\beta}$",
    ),
)  # fmt: skip
