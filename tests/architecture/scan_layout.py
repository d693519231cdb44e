"""The size of files and the mirror of modules in tests (R5)."""

import ast
from functools import cache

LIMIT = 400
"""Lines that no file reaches past."""

WITHIN = {
    "fsl_num/validation.py": "tests/fsl_num/test_num_spectrum.py",
    "fsl_num/claims": "tests/test_theorems.py",
    "fsl_num/paper": "tests/test_theorems.py",
}
"""Inner modules, or folders of them, that are tested through the module that they serve: where.

The generic test of the theorems verifies every claim of the registry, and so runs every module of the runner.
"""


def too_long(source):
    """Whether a file has more lines than it may."""
    return len(source.splitlines()) > LIMIT


def is_empty(source):
    """Whether a module has nothing to test: no statement but its docstring and imports."""
    harmless = (ast.Import, ast.ImportFrom)
    return all(
        isinstance(node, harmless)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__")
        for node in ast.parse(source).body
    )


def mirrors(path):
    """The paths that the test file of a module may have: of the module itself, or of a package around it.

    fsl_num/volterra/fast.py is tested in tests/fsl_num/volterra, in test_num_volterra_fast.py or test_num_fast.py, or
    with its package in test_num_volterra.py.
    """
    package, *parts = path.with_suffix("").parts
    parts = [part for part in parts if part != "__init__"]
    prefix = f"test_{package.removeprefix('fsl_')}_"
    names = [f"{prefix}{'_'.join(parts[:size])}.py" for size in range(len(parts), 0, -1)]
    names += [f"{prefix}{part}.py" for part in parts]
    return [f"{folder}/{name}" for folder in folders_of_tests(path) for name in names]


def folders_of_tests(path):
    """The folders in which the tests of a module may stand: the mirrors of its own and of those around it.

    What lies in a folder of a package is not tested in the folder of the package itself.
    """
    inner = [parent for parent in path.parents if len(parent.parts) > 1] or [path.parent]
    return [f"tests/{folder.as_posix()}" for folder in inner]


@cache  # the same hundreds of sources are asked about once for every module
def imported_modules(source):
    """The dotted names of the modules that a source imports, wherever in it the import stands."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(found)


def is_tested(path, tests):
    """Whether a module has a test: its mirror, or a test file that imports it itself, or its place in WITHIN.

    ``tests`` is a mapping from the path of every test file to its source.
    """
    name = ".".join(part for part in path.with_suffix("").parts if part != "__init__")
    return (
        any(mirror in tests for mirror in mirrors(path))
        or any(name in imported_modules(source) for source in tests.values())
        or any(path.is_relative_to(place) and test in tests for place, test in WITHIN.items())
    )


def toothless_tests(source):
    """The tests that cannot fail: no assert, raises or warns in them, nor in a helper of the file that they call."""
    tree = ast.parse(source)
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}

    def asserts(function, seen):
        for node in ast.walk(function):
            if isinstance(node, ast.Assert):
                return True
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func).rsplit(".", 1)[-1]
                if name in {"raises", "warns"} or name.startswith("assert_"):
                    return True
                if name in functions and name not in seen and asserts(functions[name], seen | {name}):
                    return True
        return False

    return [name for name, node in functions.items() if name.startswith("test") and not asserts(node, {name})]
