"""Where a claim stands in the sources: statement, formula, proof, measurement, test, and what judges it."""

from __future__ import annotations

import ast
import functools
import inspect
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from fsl_num.claims.claim import Claim
from fsl_num.claims.registry import file_of
from fsl_num.claims.sources import HOME, PACKAGES
from fsl_num.claims.verification import verify
from fsl_sym.proof import Derivation, Step

Place = dict[str, Any]
"""The name of what is written there, its file (seen from the folder of the packages) and line."""

_TEST = "tests/test_theorems.py"
"""The one generic test of every claim; it is part of a checkout, not of an installation."""


def places(claim: Claim) -> dict[str, Place | None]:
    """The places of a claim by what stands there; None where there is nothing.

    >>> from fsl_num.claims.registry import claim
    >>> found = places(claim("tab: optimal-scaling"))
    >>> {name: place["file"].rpartition("/")[2] for name, place in found.items() if place}["formula"]
    'comparisons.py'
    """
    stated, formula = _statement(claim)
    return {
        "stated": stated,
        "formula": formula,
        "proof": _proof(claim),
        "measured": _measured(claim),
        "test": generic_test_place((HOME, Path.cwd())),
        "judged": source_place(verify),
    }


def source_place(function: Any) -> Place | None:
    """Where a function is written; None for None.

    >>> source_place(source_place)["file"]
    'fsl_num/report/places.py'
    """
    if function is None:
        return None
    function = _unwrapped(function)
    if not (inspect.isfunction(function) or inspect.ismethod(function) or inspect.isclass(function)):
        function = type(function)  # an object that is called: its class is where it is written
    path = _file(inspect.getsourcefile(function) or inspect.getfile(function))
    return _place(function.__qualname__, path, inspect.getsourcelines(function)[1])


def generic_test_place(folders: Sequence[Path]) -> Place:
    """Where the generic test of all claims stands: its function and line in the first folder that has the tests.

    Without the tests at hand the name and line are None.
    """
    for folder in folders:
        if (folder / _TEST).is_file():
            for node in ast.walk(_parsed(folder / _TEST)):
                if isinstance(node, ast.FunctionDef) and "all_claims()" in " ".join(
                    map(ast.unparse, node.decorator_list)
                ):
                    return {"name": node.name, "file": _TEST, "line": node.lineno}
    return {"name": None, "file": _TEST, "line": None}


# ---- statement and formula -------------------------------------------------------------------------------------------


def _statement(claim: Claim) -> tuple[Place | None, Place | None]:
    """Where the claim is written down, and where the formula that it states; the file of its theorem at worst."""
    if not (file := file_of(claim.id)):
        return None, None
    module = sys.modules[file]
    path = _file(module.__file__ or "")
    for call in _calls(path):
        keywords = {keyword.arg: keyword.value for keyword in call.keywords}
        first = call.args[0] if call.args else keywords.get("id")
        if first is not None and _text(first, module) == claim.id:
            stated = _place(claim.id, path, call.lineno)
            is_claim = isinstance(call.func, ast.Name) and call.func.id == "Claim"
            formula = keywords.get("stated") or (call.args[4] if is_claim and len(call.args) > 4 else None)
            return stated, _formula(formula, module, claim.id) if formula else stated
    at_worst = _place(claim.id, path, 1)
    return at_worst, at_worst


@functools.cache
def _calls(path: Path) -> tuple[ast.Call, ...]:
    return tuple(node for node in ast.walk(_parsed(path)) if isinstance(node, ast.Call))


@functools.cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _text(node: ast.expr, module: ModuleType) -> str | None:
    """The text that an expression of constants and names of its module stands for, if it is one."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.Name):
        return str(getattr(module, node.id, ""))
    if isinstance(node, ast.JoinedStr):
        parts = [
            _text(piece.value if isinstance(piece, ast.FormattedValue) else piece, module) for piece in node.values
        ]
        return None if None in parts else "".join(filter(None, parts))
    return None


def _formula(node: ast.expr, module: ModuleType, name: str) -> Place:
    """Where the formula is written that an argument of a claim names, or the argument itself."""
    named = node.func if isinstance(node, ast.Call) else node
    if isinstance(named, ast.Attribute) and isinstance(named.value, ast.Name):
        around = getattr(module, named.value.id, None)
        definition = _definition(around, named.attr) if isinstance(around, ModuleType) else None
    else:
        definition = _definition(module, named.id) if isinstance(named, ast.Name) else None
    here = _place(name, _file(module.__file__ or ""), node.lineno)
    # same_order(...) and its like, made elsewhere: the formula is what stands here
    return (
        here if definition is None or isinstance(node, ast.Call) and definition["file"] != here["file"] else definition
    )


def _definition(module: ModuleType, name: str) -> Place | None:
    """Where a name of a module is defined, followed through imports."""
    path = _file(module.__file__ or "")
    for node in _parsed(path).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in PACKAGES:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return _definition(sys.modules[node.module or ""], alias.name)
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        named = {part.id for target in targets if target for part in ast.walk(target) if isinstance(part, ast.Name)}
        if name in named | {getattr(node, "name", None)}:
            return _place(name, path, node.lineno)
    return None


# ---- proof and measurement -------------------------------------------------------------------------------------------


def _proof(claim: Claim) -> Place | None:
    """Where the derivation is written: the first function of `fsl_sym`, from the claim's own on, that makes it.

    The claim's own where there is none: a step by which it follows from another theorem.
    """
    derive = claim.derive
    waiting, seen = [_unwrapped(derive)], set[int]()
    while waiting:
        function = waiting.pop(0)
        function = getattr(function, "__func__", function)
        if isinstance(function, type):  # a part of a statement that holds its own proof
            function = vars(function).get("derivations")
        if isinstance(function, FunctionType) and id(function) not in seen:
            if _derives(function):
                return source_place(function)
            seen.add(id(function))
            used = list(_used(function))
            parts = [part for part in used if isinstance(part, type) and "derivations" in vars(part)]
            waiting = [*parts, *waiting, *used]
    return _own(source_place(derive), claim)


def _derives(function: FunctionType) -> bool:
    """Whether a function of `fsl_sym` has steps of a derivation, or returns what holds derivations."""
    if not function.__module__.startswith("fsl_sym.") or function.__module__.startswith("fsl_sym.proof."):
        return False
    if {Derivation, Step} & set(_used(function)):
        return True
    returned = str(function.__annotations__.get("return", ""))
    held = dir(function.__globals__.get(returned))
    return "Derivation" in returned or "derivation" in held or "derivations" in held


def _measured(claim: Claim) -> Place | None:
    """Where the measurement is written."""
    return _own(source_place(claim.measure), claim)


def _own(place: Place | None, claim: Claim) -> Place | None:
    """The place of a function; one without a name of its own bears that of the claim."""
    return place and (place | {"name": claim.id} if "<lambda>" in place["name"] else place)


def _used(function: FunctionType) -> Iterator[Any]:
    """The functions and classes of the two packages that a function names, in the order of its code."""
    names, known = list(_names(function.__code__)), function.__globals__
    around = [module for module in map(known.get, names) if isinstance(module, ModuleType)]
    values = [known.get(name) or next((vars(module)[name] for module in around if name in vars(module)), None)
              for name in names]  # fmt: skip
    values += [cell.cell_contents for cell in function.__closure__ or ()]
    values = [type(value[0]) if isinstance(value, list | tuple) and value else value for value in values]
    for value in map(_unwrapped, values):
        if isinstance(value, FunctionType | type) and str(value.__module__).split(".")[0] in PACKAGES:
            yield value


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _names(const)


def _unwrapped(function: Any) -> Any:
    """What a function was before arguments were bound or something was put around it, however often."""
    while inner := function.func if isinstance(function, functools.partial) else getattr(function, "__wrapped__", None):
        function = inner
    return function


@functools.cache
def _file(name: str) -> Path:
    """Where a source is; the system is asked once for each, not for each claim."""
    return Path(name).resolve()


def _place(name: str, path: Path, line: int) -> Place:
    shown = path.relative_to(HOME) if path.is_relative_to(HOME) else path
    return {"name": name, "file": shown.as_posix(), "line": line}
