"""Private names of the packages in a test, and what a test replaces in them, read from its source."""

import ast

from project import PACKAGES

HIDDEN = {"__closure__", "__code__", "__globals__", "__wrapped__"}
"""Ways around a public name."""


def is_private(name):
    """Whether a name begins with one underscore, or leads around public ones."""
    return name in HIDDEN or name.startswith("_") and not name.startswith("__")


def private_names(source):
    """One sentence for each private name of ours that a test imports, asks an object for, or replaces by its name."""
    tree = ast.parse(source)
    outside = set(_names_from_outside(tree)) | {"self", "cls", "super"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            used = [part for name in _imported(node) for part in name.split(".")]
        elif isinstance(node, ast.Attribute) and _root(node) not in outside:
            used = [node.attr]
        elif isinstance(node, ast.Call) and _replaces(node) and _root(node.args[0]) not in outside:
            texts = [argument.value for argument in node.args[:2] if isinstance(argument, ast.Constant)]
            used = [part for text in texts if isinstance(text, str) for part in text.split(".")]
        else:
            continue
        yield from (f"line {node.lineno}: {name}" for name in used if is_private(name))


def replaced_names(source):
    """One text for each attribute or module of our packages that a test replaces: of what, and its name."""
    tree = ast.parse(source)
    outside = set(_names_from_outside(tree))
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and _replaces(node, "setitem")):
            continue
        first, *arguments = node.args
        if node.func.attr == "setitem":
            first, arguments = arguments[0], []
        if isinstance(first, ast.Constant):
            if str(first.value).split(".")[0] in PACKAGES:
                yield str(first.value)
        elif (
            arguments
            and _root(first) not in outside
            and not _is_of_outside(first, outside)
            and isinstance(arguments[0], ast.Constant)
        ):
            yield f"{ast.unparse(first)}.{arguments[0].value}"


def _is_of_outside(node, outside):
    """Whether a chain of attributes leads through one of our modules to what is not ours, as writing.os does."""
    return isinstance(node, ast.Attribute) and node.attr in outside


def _imported(node):
    """The dotted names that a statement imports from our packages."""
    above = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
    return [above + alias.name for alias in node.names if (above + alias.name).split(".")[0] in PACKAGES]


def _names_from_outside(tree):
    """The names that stand for modules of others, or for what is in them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom) and not _imported(node):
            yield from ((alias.asname or alias.name).split(".")[0] for alias in node.names)


def _root(node):
    """The name at the left end of a chain of attributes, subscripts and calls; the text itself of a string."""
    while not isinstance(node, ast.Name | ast.Constant):
        inner = getattr(node, "value", None) or getattr(node, "func", None)
        if not isinstance(inner, ast.AST):
            return ""
        node = inner
    return node.id if isinstance(node, ast.Name) else ""


def _replaces(call, *names):
    """Whether a call is one of monkeypatch's that name an attribute, or one of ``names``."""
    named = isinstance(call.func, ast.Attribute) and call.func.attr in {"setattr", "delattr", *names}
    return named and bool(call.args)
