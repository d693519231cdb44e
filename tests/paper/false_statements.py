"""How a changed statement is made of the statement of a claim: what the falsehoods of :mod:`falsehoods` are written in.

A change is a function of a statement, a sample and the claim's formula; numbers may depend on s and beta.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fsl_num.claims.claim import Sample
from fsl_num.claims.formula_laws import order_statement
from fsl_num.claims.hypotheses import bare
from fsl_num.claims.registry import claim
from fsl_num.claims.statements import Joint
from fsl_num.claims.verification import samples_of
from fsl_num.paper.allocation.forms import End
from fsl_sym.domain import regime_of
from fsl_sym.proof import Formula
from fsl_sym.values import exact


@dataclass(frozen=True)
class Changed:
    """A statement about the paper beside the one it makes: which claim judges it, and how it differs.

    ``at`` are points (s, beta) outside those that the claim is checked at; ``regime`` is the only one in which the
    statement differs; ``measure`` is a measurement in the place of the claim's; ``rays`` is a part of the names of the
    only rays that are about it; ``true`` says that it is true after all.
    """

    name: str
    claim: str
    change: Any
    at: tuple = ()
    regime: str = ""
    measure: Any = None
    rays: str = ""
    true: bool = False

    def samples(self, profile):
        """The points at which it is judged."""
        subject = claim(self.claim)
        if self.at:
            return [Sample(regime_of(*point).name, *map(exact, point)) for point in self.at]
        samples = samples_of(subject, profile, 0)
        return [sample for regime in samples if self.regime in ("", regime) for sample in samples[regime]]

    def judged(self, sample):
        """What the measurement says about it."""
        subject = claim(self.claim)
        measured = bare((self.measure or subject.measure)(sample))
        if self.rays:
            measured = [ray for ray in measured if self.rays in ray.name]
        return self.change(subject.says(sample), sample, subject.formula).judge(measured)

    def refused(self, profile):
        """Where it is first refused, and how; None where the measurements agree with it."""
        for sample in self.samples(profile):
            judgement = self.judged(sample)
            if not judgement.holds:
                return f"s = {sample.s}, beta = {sample.beta}: {judgement.detail}"
        return None


def _at(number, sample):
    return float(number(*sample.point) if callable(number) else number)


def as_it_is(statement, sample, formula):
    """The statement itself, judged where or on what the claim does not judge it."""
    return statement


def part(name, change):
    """One part of a joint statement, changed; the others are left out."""
    return lambda statement, sample, formula: Joint({name: change(statement.parts[name], sample, formula)})


def every_part(change):
    """All parts of a joint statement changed."""
    return lambda statement, sample, formula: Joint(
        {name: change(part, sample, formula) for name, part in statement.parts.items()}
    )


def having(**fields):
    """Other fields: a direction, an end of an interval."""
    return lambda statement, sample, formula: replace(statement, **fields)


both_ways = having(direction="both")


def moved(**steps):
    """Exponents moved by steps; where a letter stands in several terms, the name ends with the place of the term."""

    def change(statement, sample, formula):
        if isinstance(statement, End):
            return End(change(statement.order, sample, formula))
        exponents = dict(statement.exponents)
        for name, step in steps.items():
            key = name.replace("_", " ") if name.replace("_", " ") in exponents else name
            exponents[key] += _at(step, sample)
        return replace(statement, exponents=exponents)

    return change


def term(step, beginning):
    """The exponent whose name begins so moved by a step."""

    def change(statement, sample, formula):
        (key,) = (name for name in statement.exponents if name.startswith(beginning))
        return moved(**{key: step})(statement, sample, formula)

    return change


def order(power=None, log_power=None):
    """Another power of the budget, or of its logarithm."""

    def change(statement, sample, formula):
        if isinstance(statement, End):
            return End(change(statement.order, sample, formula))
        powers = {"power": power, "log power": log_power}
        exponents = {name: _at(value, sample) for name, value in powers.items() if value is not None}
        return replace(statement, exponents={**statement.exponents, **exponents})

    return change


def law(function):
    """Another law: ``function`` of the logs along a ray, s and beta is its log."""
    return lambda statement, sample, formula: replace(
        statement, exponents={}, law=lambda exponents, logs: function(logs, *sample.point)
    )


def times(function):
    """The law times exp(``function`` of the logs along a ray, s and beta)."""
    return lambda statement, sample, formula: replace(
        statement, law=lambda exponents, logs: statement.law(exponents, logs) + function(logs, *sample.point)
    )


def right(change_of_right):
    """Another right side of an order."""
    return lambda statement, sample, formula: order_statement(
        Formula(formula.left, formula.relation, change_of_right(formula.right)), sample
    )


def scaled(factor):
    """A sharp value times a number."""
    return claimed(lambda statement, point, sample: factor * statement.claimed(point))


def claimed(function):
    """Another sharp value, of the statement, the point and the sample."""
    return lambda statement, sample, formula: replace(
        statement, claimed=lambda point: function(statement, point, sample)
    )


def mixed(own, name, share):
    """``own`` times the sharp value and ``share`` times that of one of its wrong versions."""
    return claimed(
        lambda statement, point, sample: own * statement.claimed(point) + share * statement.wrong[name](point)
    )


def largest(*logs):
    """The log of the largest of terms given by their logs."""
    return np.maximum.reduce(np.broadcast_arrays(*logs))


def least(*logs):
    """The log of the least of terms given by their logs."""
    return np.minimum.reduce(np.broadcast_arrays(*logs))
