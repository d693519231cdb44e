"""The size of files and the mirror of modules in tests (R5)."""

import ast

LIMIT = 400
"""Lines that no file reaches past."""

ELSEWHERE = {
    "fsl_sym/__init__.py": "tests/architecture/test_arch_imports.py",
    "fsl_num/__init__.py": "tests/architecture/test_arch_imports.py",
    "fsl_num/__main__.py": "tests/fsl_num/test_num_cli.py",
    "fsl_num/theorems": "tests/test_theorems.py",
}
"""Modules, or folders of them, whose test is not their mirror, and where it is."""


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
    """The names that the test file of a module may have: of the module itself, or of a package around it.

    fsl_num/volterra/fast.py is tested in test_num_volterra_fast.py, or with its package in test_num_volterra.py.
    """
    package, *rest = path.with_suffix("").parts
    rest = [part for part in rest if part != "__init__"]
    prefix = f"test_{package.removeprefix('fsl_')}_"
    return [f"tests/{package}/{prefix}{'_'.join(rest[:size])}.py" for size in range(len(rest), 0, -1)]


def places_of_test(path):
    """Where the test of a module may stand."""
    named = [test for place, test in ELSEWHERE.items() if path.as_posix() == place or path.is_relative_to(place)]
    return named + mirrors(path)


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
