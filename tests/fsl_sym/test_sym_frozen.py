"""Derivations, verdicts and solutions are values: nobody can change them."""

from dataclasses import is_dataclass
from importlib import import_module
from pkgutil import walk_packages

import fsl_sym.allocation
import fsl_sym.allocation_derivation
import fsl_sym.ansatz
import fsl_sym.capacity_comparison
import fsl_sym.derivation
import fsl_sym.domain
import fsl_sym.exponents.cells
import fsl_sym.exponents.certificate
import fsl_sym.exponents.law
import fsl_sym.exponents.outcome
import fsl_sym.exponents.programme
import fsl_sym.exponents.simplex
import fsl_sym.exponents.solve
import fsl_sym.functional
import fsl_sym.integrals.closed_form
import fsl_sym.justifications
import fsl_sym.laws
import fsl_sym.matrix_words
import fsl_sym.mellin
import fsl_sym.mellin_transform
import fsl_sym.order
import fsl_sym.schedules
import fsl_sym.spectrum
import fsl_sym.verification


def test_no_dataclass_can_be_changed():
    names = [each.name for each in walk_packages(fsl_sym.__path__, "fsl_sym.")]
    found = [
        kind
        for name in names
        for kind in vars(import_module(name)).values()
        if isinstance(kind, type) and is_dataclass(kind) and kind.__module__.startswith("fsl_sym")
    ]
    assert fsl_sym.exponents.solve.Region in found and len(set(found)) > 50
    assert [kind for kind in found if not kind.__dataclass_params__.frozen] == []
