"""What holds for every value of the package: it cannot be changed, and its rule belongs to its kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import FrozenInstanceError, fields, is_dataclass
from importlib import import_module
from inspect import getmembers, isclass
from pkgutil import walk_packages

import pytest

import fsl_sym
from fsl_sym.order import Order
from fsl_sym.proof import Identity, Step
from fsl_sym.symbols import a, b


def values() -> Iterator[type]:
    for module in walk_packages(fsl_sym.__path__, "fsl_sym."):
        for _, kind in getmembers(import_module(module.name), isclass):
            if kind.__module__ == module.name and is_dataclass(kind):
                yield kind


KINDS = sorted(set(values()), key=lambda kind: (kind.__module__, kind.__name__))


def test_there_are_values_in_most_modules() -> None:
    assert len(KINDS) >= 40 and len({kind.__module__ for kind in KINDS}) >= 15


def test_a_value_cannot_be_changed() -> None:
    assert [kind for kind in KINDS if not kind.__dataclass_params__.frozen] == []  # type: ignore[attr-defined]
    rules = [kind for kind in KINDS if kind.__module__.startswith("fsl_sym.proof.rules")]
    assert [kind for kind in rules if {"rule", "relation"} & {field.name for field in fields(kind)}] == []


def test_a_value_says_so_when_it_is_changed() -> None:
    step = Step(a, a, Identity(), "the same")
    with pytest.raises(FrozenInstanceError):
        step.after = b  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        Order(1).power = b  # type: ignore[misc]
    with pytest.raises(TypeError):
        Identity(relation="<=")  # type: ignore[call-arg]


def test_equal_values_are_equal_and_can_be_looked_up() -> None:
    assert Order(1, 2) == Order(1, 2) != Order(2, 1)
    assert {Order("1/2"): "root"}[Order("1/2")] == "root"
    assert Identity() == Identity() != Identity(((a, b),))


def test_public_names_are_found_and_others_are_named() -> None:
    for name in fsl_sym.__all__:
        assert getattr(fsl_sym, name) is not None
    assert dir(fsl_sym) == sorted(fsl_sym.__all__)
    with pytest.raises(AttributeError, match="no attribute 'cosine'.*public names: Allocation"):
        fsl_sym.cosine  # noqa: B018
