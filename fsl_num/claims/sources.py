"""Which code a claim is made of: the modules of its functions, all that these import, and a digest of their sources.

>>> from fsl_num.claims.registry import claim
>>> modules = Sources().closure(modules_of(claim("lem: half-scale")))
>>> "fsl_num.spectrum" in modules, "fsl_num.cli" in modules
(True, False)
"""

from __future__ import annotations

import ast
import functools
import hashlib
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any

from sympy import Basic

from fsl_sym.proof import formulas

PACKAGES = ("fsl_sym", "fsl_num")
_BY_NAME = ("import_module", "__import__")
"""What imports a module whose name is a string."""

HOME = Path(__file__).resolve().parents[2]
"""The folder that holds both packages: the checkout, or where they were installed."""
LOADED = time.time()
"""When this process loaded the packages, in seconds since the epoch: a source written later may not be what runs."""


class Sources:
    """The sources of both packages below one folder, each read once.

    Imports are read from the text, wherever in it they stand. A module that imports others by a computed name is
    taken to need all modules of the package that the name begins with.
    """

    def __init__(self, home: Path = HOME) -> None:
        self.home = home
        self._imports: dict[str, frozenset[str]] = {}
        self._foreign: dict[str, frozenset[str]] = {}
        self._digests: dict[str, str] = {}
        self._paths: dict[str, Path | None] = {}
        self._closures: dict[frozenset[str], frozenset[str]] = {}

    def path(self, module: str) -> Path | None:
        """The file of a module of the two packages; None for any other."""
        if module.split(".")[0] not in PACKAGES:
            return None
        if module not in self._paths:
            place = self.home.joinpath(*module.split("."))
            candidates = (place / "__init__.py", place.with_name(f"{place.name}.py"))
            self._paths[module] = next((candidate for candidate in candidates if candidate.is_file()), None)
        return self._paths[module]

    def imports(self, module: str) -> frozenset[str]:
        """The modules of the two packages that a module imports, the packages around it included."""
        if module not in self._imports:
            path = self.path(module)
            assert path is not None
            named = set(self._named(_importing(path.read_bytes()), module))
            around = {name for importer in {module, *named} for name in _parents(importer)}
            self._imports[module] = frozenset(name for name in named | around if self.path(name) is not None)
            self._foreign[module] = frozenset(named - self._imports[module])
        return self._imports[module]

    def uses(self, package: str, modules: Iterable[str]) -> bool:
        """Whether one of the closure of these modules imports a package of others, wherever in its text.

        >>> Sources().uses("flint", ["fsl_num.volterra"]), Sources().uses("flint", ["fsl_num.spectrum"])
        (True, False)
        """
        return any(package in self._foreign[module] for module in self.closure(modules))

    def closure(self, modules: Iterable[str]) -> frozenset[str]:
        """These modules of the two packages and all that they import, directly or not."""
        begin = frozenset(modules)
        if begin not in self._closures:
            reached: set[str] = set()
            waiting = [module for module in begin if self.path(module) is not None]
            while waiting:
                module = waiting.pop()
                if module not in reached:
                    reached.add(module)
                    waiting += self.imports(module) - reached
            self._closures[begin] = frozenset(reached)
        return self._closures[begin]

    def digest(self, modules: Iterable[str]) -> str:
        """SHA-256 over the names and the sources of all modules of the closure."""
        whole = hashlib.sha256()
        for module in sorted(self.closure(modules)):
            if module not in self._digests:
                path = self.path(module)
                assert path is not None
                self._digests[module] = hashlib.sha256(path.read_bytes()).hexdigest()
            whole.update(f"{module} {self._digests[module]}\n".encode())
        return whole.hexdigest()

    def written_since(self, start: float, modules: Iterable[str]) -> str:
        """A module of the closure whose source was written after a time (seconds since the epoch); "" without one."""
        paths = ((module, self.path(module)) for module in sorted(self.closure(modules)))
        return next((module for module, path in paths if path is not None and path.stat().st_mtime > start), "")

    def _named(self, nodes: Iterable[ast.AST], module: str) -> Iterator[str]:
        for node in nodes:
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                yield node.module
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
                if node.module in PACKAGES and any(self.path(f"{node.module}.{a.name}") is None for a in node.names):
                    yield from self._below(node.module)  # a public name, found by a table
            elif isinstance(node, ast.Call):
                if module not in PACKAGES:  # their tables load a module only for a name that is asked of them
                    yield from self._computed(node, module)

    def _computed(self, call: ast.Call, module: str) -> Iterator[str]:
        name = call.args[0] if call.args else None
        if isinstance(name, ast.Constant):
            yield str(name.value)
            return
        begin = name.values[0] if isinstance(name, ast.JoinedStr) and name.values else None
        prefix = str(begin.value).rpartition(".")[0] if isinstance(begin, ast.Constant) else ""
        yield from self._below(prefix or module)

    def _below(self, package: str) -> Iterator[str]:
        folder = self.home.joinpath(*package.split("."))
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(self.home).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.lru_cache(maxsize=4096)  # a source is read by every cache of outcomes, and parsed once
def _importing(text: bytes) -> tuple[ast.AST, ...]:
    """The places of a source that import something."""

    def imports(node: ast.AST) -> bool:
        by_name = isinstance(node, ast.Call) and _called(node) in _BY_NAME
        return by_name or isinstance(node, ast.Import | ast.ImportFrom)

    tree = ast.parse(text)
    # a call may stand within any expression; the statements alone are a tenth of the nodes
    calls = any(name.encode() in text for name in _BY_NAME)
    return tuple(filter(imports, ast.walk(tree) if calls else _statements(tree.body)))


def _statements(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Statements with those inside of them."""
    for node in nodes:
        yield node
        for inside in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from _statements(getattr(node, inside, ()))


def modules_of(value: Any) -> frozenset[str]:
    """The modules in which the functions of a claim are written, those that they hold on to included."""
    return frozenset(text for kind, text in parts_of(value) if kind == "module")


def parts_of(value: Any) -> tuple[tuple[str, str], ...]:
    """What a claim is made of, in order: ("module", its name) for each function and object, ("value", its text).

    >>> [text for kind, text in parts_of((1, "one", len)) if kind == "value"]
    ['int 1', "str 'one'", 'builtin_function_or_method']
    """
    return tuple(_walk(value, set()))


def _walk(value: Any, seen: set[int]) -> Iterator[tuple[str, str]]:
    if value is None:
        return
    if isinstance(value, str | bytes | int | float | complex | Basic):
        yield "value", f"{type(value).__name__} {value!r}"
        return
    if id(value) in seen:
        return
    seen.add(id(value))
    inner: list[Any] = []
    if isinstance(value, functools.partial):
        inner = [value.func, value.args, value.keywords]
    elif isinstance(value, FunctionType):
        yield "module", value.__module__
        yield "value", value.__qualname__
        # Of code that stands at one place in a source, only what it holds on to can differ.
        inner = [_content(cell) for cell in value.__closure__ or ()]
        inner += [value.__defaults__, value.__kwdefaults__, getattr(value, "__wrapped__", None)]
    elif isinstance(value, MethodType):
        inner = [value.__func__, value.__self__]
    elif isinstance(value, Mapping):
        inner = [part for pair in value.items() for part in pair]
    elif isinstance(value, list | tuple):
        inner = list(value)
    elif isinstance(value, set | frozenset):
        inner = sorted(value, key=repr)
    elif isinstance(value, type):
        yield "module", value.__module__
        yield "value", value.__qualname__
    else:
        yield "module", type(value).__module__
        yield "value", type(value).__qualname__
        stated = type(value).__module__ == formulas.__name__
        if is_dataclass(value) and (stated or not type(value).__module__.startswith("fsl_sym")):
            inner = [getattr(value, field.name) for field in fields(value)]
        else:  # any other result of fsl_sym follows from its sources; a cache of results stands before a function
            inner = [getattr(value, "__wrapped__", None)]
    for part in inner:
        yield from _walk(part, seen)


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a name that is not bound yet
        return None


def _parents(module: str) -> Iterator[str]:
    """The packages around a module, but for the two outermost: their tables of public names run nothing."""
    parts = module.split(".")
    yield from (".".join(parts[:size]) for size in range(2, len(parts)))
