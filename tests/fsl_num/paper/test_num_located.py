"""What claims of the paper assume in numbers is compared with what they measure, and refused where it does not hold."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from fsl_num.claims.hypotheses import Located, violated
from fsl_num.claims.registry import claim
from fsl_num.claims.verification import samples_of


def sample_of(subject):
    return samples_of(subject, "quick", 0)[subject.regimes[-1]][0]


@cache
def measurement(name):
    """The claim, a sample, and what it measures there: once for all letters that are changed."""
    subject = claim(name)
    sample = sample_of(subject)
    return subject, sample, subject.measure(sample)


def changed(measured, letter, change):
    """The measurement with other values of one letter, given by their logarithms."""
    if isinstance(measured, Located):
        logs = {letter: change(measured.logs[letter])} if letter in measured.letters else {}
        letters = {**measured.letters, **{name: np.exp(log) for name, log in logs.items()}}
        return Located(changed(measured.values, letter, change), letters)
    if hasattr(measured, "logs"):  # a ray, or the draws of one: an array for each model size
        own = measured.logs.get(letter, [])
        moved = change(own) if isinstance(own, np.ndarray) else [change(np.asarray(part)) for part in own]
        return replace(measured, logs={**measured.logs, **({letter: moved} if len(own) else {})})
    if isinstance(measured, Mapping):
        return {name: changed(part, letter, change) for name, part in measured.items()}
    if isinstance(measured, list | tuple) and len(measured) == 2 and isinstance(measured[0], Mapping):
        point, value = measured
        own = {letter: float(np.exp(change(np.log(float(point[letter])))))} if letter in point else {}
        return ({**point, **own}, value)
    return [changed(part, letter, change) for part in measured] if isinstance(measured, list | tuple) else measured


def times(factor):
    return lambda logs: logs + np.log(factor)


def finite(logs):
    return np.full_like(logs, 20.0)


def rising(logs):
    return logs + np.linspace(0.0, 1.0, logs.size)


INFINITE = (
    "cor: contraction/sharp", "batch-switch/excess", "batch-switch/time-to-noise", "batch-switch/time-to-signal",
    "data-quality/law", "data-quality/late-share", "weight-decay/law", "weight-decay/forgetting", "exp-decay/I1-sharp",
    "exp-decay/I2-sharp", "appendix:llm_pre-training/kernel-of-the-model", "eqn: FSL-optimization/power-decay",
    "horizon-free/easier-tasks", "averaging/data", "vanishing-end/named-shapes", "optimal-schedule/decay",
)  # fmt: skip
OUTSIDE = [
    *((name, "M", finite) for name in INFINITE),
    *(
        (name, "a", times(10.0))
        for name in ("thm:chinchilla", "thm:geometric", "horizon-free/law", "batch-switch/excess")
    ),
    *(
        (name, "gamma", times(40.0))
        for name in ("data-quality/law", "weight-decay/law", "thm:fsl-zero-noise/batch-term")
    ),
    *(
        (name, "t", times(10.0))
        for name in ("lem: half-scale", "cor: contraction", "lemma:convolution-kernel/attained")
    ),
    ("critical-time", "t", times(20.0)),
    ("critical-time", "t", times(0.05)),
    ("lem: half-scale/beyond", "t", times(0.1)),
    ("ass:capacity/powers-up-to-constants", "t", times(2.0)),
    ("appendix:proof_random/recursion", "t", times(1.1)),
    ("appendix:proof_random/recursion", "t", times(0.9)),
    ("lemma:convolution-kernel/mass", "M", lambda logs: np.inf),
    ("approximation-error", "N", times(0.9)),
    ("thm: fsl-hard-regime/noise-limit", "sigma^2", times(1e-4)),
    ("thm: fsl-hard-regime/fixed-noise", "sigma^2", rising),
    ("appendix:llm_pre-training/discretisation", "K", times(3.0)),
    ("appendix:llm_pre-training/signal-at-the-end", "t_k", times(1.1)),
    ("horizon-free/law", "g", lambda logs: np.full_like(logs, np.log(0.5))),
    ("horizon-free/law-steep", "g", lambda logs: np.full_like(logs, np.log(0.5))),
    ("data-quality/late-share", "sigma_0", finite),
]
"""Claims, a letter of what they measure, and values of it outside the hypotheses."""


@pytest.mark.parametrize(("name", "letter", "change"), OUTSIDE)
def test_what_is_measured_outside_the_hypotheses_is_not_judged(name, letter, change):
    subject, sample, measured = measurement(name)
    assert violated(subject, sample, measured) == ""
    assert violated(subject, sample, changed(measured, letter, change)) != ""


def test_tasks_at_a_border_are_not_judged():
    subject = claim("best-constants/limits")
    sample = sample_of(subject)
    at_border = replace(sample, s=2 - 1 / sample.beta)
    measured = subject.measure(sample)
    assert violated(subject, sample, measured) == "" != violated(subject, at_border, measured)
