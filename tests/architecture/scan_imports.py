"""Which outside packages each module imports, read from its source."""

import ast
import sys
from pathlib import Path


def outside_imports(source):
    """The top-level names outside the standard library that a source imports, wherever in it the import stands."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add(node.module.split(".")[0])
        elif isinstance(node, ast.Call) and _called(node) in {"import_module", "__import__"}:
            # An import by name escapes import contracts: a literal is read, anything else must be the lazy table's.
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant):
                found.add(str(first.value).split(".")[0])
            elif not (isinstance(first, ast.JoinedStr) and ast.unparse(first) == "f'{__name__}.{home}'"):
                found.add("<computed>")
    return {name for name in found if name not in sys.stdlib_module_names}


def _called(call):
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


SYM_ALLOWED = {"sympy", "fsl_sym"}
SOLVER_ALLOWED = {"numpy", "scipy", "mpmath", "tqdm", "flint", "fsl_num"}
COURT_ALLOWED = SOLVER_ALLOWED | {"sympy", "fsl_sym", "matplotlib"}
COURT = ("theorems", "report", "cli", "__main__.py")
"""What in fsl_num may import both packages: the court, the reports, the command line."""


def allowed(path: Path):
    """The outside packages that the module at ``path`` (seen from the root of the project) may import (R1, R2)."""
    if path.parts[0] == "fsl_sym":
        return SYM_ALLOWED
    return COURT_ALLOWED if path.parts[1] in COURT else SOLVER_ALLOWED


def forbidden_imports(path: Path, source: str):
    """What the module at ``path`` imports and may not."""
    return outside_imports(source) - allowed(path)
