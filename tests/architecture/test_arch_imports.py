"""R1 to R3: who imports whom, read from the source and seen in a running interpreter."""

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from project import PACKAGES, ROOT, module_name, modules, offenders
from scan_imports import JOINT, forbidden_imports

HEAVY = ("numpy", "scipy", "sympy", "mpmath", "matplotlib", "pandas", "flint", "tqdm", "numba", "rich", "jinja2")

SOLVERS = [module_name(path) for path in modules() if path.parts[0] == "fsl_num" and path.parts[1] not in JOINT]
SYMBOLIC = [module_name(path) for path in modules() if path.parts[0] == "fsl_sym"]


def test_a_module_imports_only_what_its_side_may():
    assert offenders(modules(), forbidden_imports) == {}


@pytest.mark.parametrize(
    ("path", "source", "found"),
    [
        ("fsl_sym/order.py", "import numpy as np", {"numpy"}),
        ("fsl_sym/order.py", "def f():\n    from mpmath import mp", {"mpmath"}),
        ("fsl_sym/order.py", "import fsl_num.spectrum", {"fsl_num"}),
        ("fsl_sym/order.py", "__import__('scipy')", {"scipy"}),
        ("fsl_sym/order.py", "import_module(name)", {"<computed>"}),
        ("fsl_sym/order.py", "import_module(f'num{name}')", {"<computed>"}),
        ("fsl_sym/order.py", "import_module(f'fsl_num.{name}')", {"fsl_num"}),
        ("fsl_sym/order.py", "import_module(f'{__name__}.{name}')", set()),
        ("fsl_num/spectrum.py", "import sympy", {"sympy"}),
        ("fsl_num/volterra/fast.py", "from fsl_sym.symbols import s", {"fsl_sym"}),
        ("fsl_num/claims/verify.py", "import pandas", {"pandas"}),
        ("fsl_num/claims/verify.py", "import sympy, math\nfrom fsl_sym import laws", set()),
    ],
)
def test_the_scanner_sees_a_forbidden_import(path, source, found):
    assert forbidden_imports(Path(path), source) == found


def lint_imports(folder):
    """Run the import contracts of pyproject.toml on the packages in a folder."""
    code = "from importlinter.cli import lint_imports; exit(lint_imports(no_cache=True))"
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_import_contracts_hold():
    result = lint_imports(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr
    assert " 0 broken" in result.stdout


FORBIDDEN = {
    "R1": [
        ("fsl_sym/symbols.py", "import numpy", "fsl_sym.symbols -> numpy "),
        ("fsl_sym/symbols.py", "import fsl_num.spectrum", "fsl_sym.symbols -> fsl_num.spectrum "),
    ],
    "R2": [
        ("fsl_num/spectrum.py", "import sympy", "fsl_num.spectrum -> sympy "),
        ("fsl_num/spectrum.py", "import fsl_sym.symbols", "fsl_num.spectrum -> fsl_sym.symbols "),
    ],
    "R3: inside fsl_num": [
        ("fsl_num/writing.py", "import fsl_num.report.tables", "fsl_num.writing -> fsl_num.report.tables "),
        ("fsl_num/unplaced.py", "import math", "- fsl_num.unplaced"),
    ],
    "R3: no circle": [
        ("fsl_num/claims/label_table.py", "def f():\n    import fsl_num.claims.labels", ".labels -> .label_table "),
    ],
    "R3: inside fsl_sym": [
        ("fsl_sym/symbols.py", "import fsl_sym.order", "fsl_sym.symbols -> fsl_sym.order "),
        ("fsl_sym/unplaced.py", "import math", "- fsl_sym.unplaced"),
    ],
}
"""The contracts, and what breaks each: a module, what it imports, and how that is reported."""


def test_every_forbidden_import_breaks_its_contract(tmp_path):
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for module, source, _ in (case for imports in FORBIDDEN.values() for case in imports):
        with (tmp_path / module).open("a", encoding="utf-8") as stream:
            stream.write(f"\n{source}\n")
    result = lint_imports(tmp_path)
    assert result.returncode == 1
    shown = re.sub(r"\x1b\[\d*m", "", result.stdout)  # import-linter 2.6 colours what no terminal shows
    broken = re.split(r"\n(?=R\d: )", shown.rpartition("Broken contracts")[2])
    for contract, imports in FORBIDDEN.items():
        (report,) = [line for line in broken if line.startswith(contract)]
        assert all(reported in report for _, _, reported in imports), report


@cache
def loaded_after(*statements):
    """The top-level packages that one fresh interpreter has loaded after each of some statements, one after another."""
    shown = "print('loaded', *sorted({name.split('.')[0] for name in sys.modules}))"
    code = "\n".join(["import sys", "sys.path.insert(0, '.')", *(f"{statement}\n{shown}" for statement in statements)])
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return [set(line.split()[1:]) for line in result.stdout.splitlines() if line.startswith("loaded ")]


def used():
    """What is loaded by the packages alone, then by a call for help, then by a list of the claims."""
    return loaded_after(
        "import fsl_sym, fsl_num, fsl_num.claims, fsl_num.report",
        "from fsl_num.cli import main; main([])",
        "from fsl_num.claims.registry import all_claims; all_claims()",
    )


def test_the_packages_and_a_call_for_help_load_nothing_heavy():
    for loaded in used()[:2]:
        assert {"fsl_sym", "fsl_num"} <= loaded
        assert not loaded.intersection(HEAVY)


def test_the_claims_are_listed_without_what_measures_them():
    loaded = used()[2]
    assert "sympy" in loaded and not loaded.intersection({"scipy", "numba"})


def test_every_symbolic_module_runs_without_numbers():
    (loaded,) = loaded_after("import " + ", ".join(SYMBOLIC))
    # sympy itself loads mpmath, and flint where it is installed; that none of ours does is read from the source above.
    assert not loaded.intersection({*HEAVY, "fsl_num"} - {"sympy", "mpmath", "flint"})


def test_every_solver_runs_without_symbols():
    (loaded,) = loaded_after("import " + ", ".join(SOLVERS))
    assert not loaded.intersection({"sympy", "fsl_sym", "matplotlib", "pandas"})
