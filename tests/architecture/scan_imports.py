"""Which outside packages each module imports, read from its source."""

import ast
import re
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
            found.add(_package_of(node.args[0]) if node.args else "<computed>")
    return {name for name in found if name not in sys.stdlib_module_names}


def _package_of(name):
    """The top-level package of a module imported by name, which import contracts do not see."""
    if isinstance(name, ast.Constant):
        return str(name.value).split(".")[0]
    text = ast.unparse(name)
    if text.startswith("f'{__name__}."):
        return "sys"  # a module of the importer's own package: nothing from outside
    prefix = re.match(r"f'(\w+)\.", text)
    return prefix[1] if prefix else "<computed>"


def _called(call):
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


SYM_ALLOWED = {"sympy", "fsl_sym"}
SOLVER_ALLOWED = {"numpy", "scipy", "numba", "mpmath", "tqdm", "flint", "matplotlib", "pyarrow", "fsl_num"}
JOINT_ALLOWED = SOLVER_ALLOWED | {"sympy", "fsl_sym", "matplotlib"}
REPORT_ALLOWED = JOINT_ALLOWED | {"rich", "jinja2", "markupsafe", "latex2mathml"}  # tables, pages and their formulas
CLI_ALLOWED = JOINT_ALLOWED | {"click", "distributed"}  # an address of a cluster is reached by its own client
JOINT = ("claims", "paper", "report", "cli", "__main__.py")
"""What in fsl_num may import both packages: the verification, the reports, the command line."""


def allowed(path: Path):
    """The outside packages that the module at ``path`` (seen from the root of the project) may import (R1, R2)."""
    if path.parts[0] == "fsl_sym":
        return SYM_ALLOWED
    if path.parts[1] == "cli":
        return CLI_ALLOWED
    if path.parts[1] == "report":
        return REPORT_ALLOWED
    return JOINT_ALLOWED if path.parts[1] in JOINT else SOLVER_ALLOWED


def forbidden_imports(path: Path, source: str):
    """What the module at ``path`` imports and may not."""
    return outside_imports(source) - allowed(path)
