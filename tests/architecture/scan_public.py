"""What is asked of a public name: a docstring of its own, with an example that the doctests run."""

import ast
import doctest
import inspect
import re

OTHER_SECTIONS = re.compile(r"^ *(Args|Arguments|Returns|Raises|Yields|Example|Examples):$", re.MULTILINE)
A_SECTION = re.compile(r"^ *(Parameters|Returns|Raises|Attributes)\n *-{6,}$", re.MULTILINE)
PARAMETERS = re.compile(r"^Parameters\n-{6,}\n(.*?)(?=^\w+\n-{5,}$|\Z)", re.MULTILINE | re.DOTALL)


def lacks(name, value, module_doc):
    """What the public object ``value`` lacks, as a list of words; a constant borrows the docstring of its module."""
    if inspect.isclass(value) or inspect.isroutine(value):
        doc = vars(value).get("__doc__") if inspect.isclass(value) else value.__doc__
    else:
        doc = module_doc if name in (module_doc or "") else None
    missing = []
    if not (doc or "").strip():
        missing.append("a docstring")
    if ">>>" not in (doc or ""):
        missing.append("an example")
    # the documentation reads the sections of numpydoc, and takes what follows the last of them for a part of it
    if OTHER_SECTIONS.search(doc or ""):
        missing.append("sections as numpydoc has them")
    if strange := undeclared(value, doc or ""):
        missing.append(f"parameters called {', '.join(strange)}")
    if A_SECTION.search(doc or "") and ">>>" in doc and "Examples\n" not in doc:
        missing.append("the heading Examples")
    return missing


def undeclared(value, doc):
    """What stands as a parameter in a docstring, and is none of the signature: prose after the section, too."""
    section = PARAMETERS.search(inspect.cleandoc(doc))
    if section is None or not callable(value):
        return []
    entries = [line for line in section[1].splitlines() if line and not line.startswith(" ")]
    names = [name for entry in entries for name in entry.partition(" : ")[0].split(", ")]
    return [name for name in names if name not in inspect.signature(value).parameters]


def not_called(owner):
    """The public methods of a class that no example calls, in its docstring or in theirs."""
    members = {name: member for name, member in vars(owner).items() if not name.startswith("_")}
    methods = {
        name: getattr(member, "__func__", member)
        for name, member in members.items()
        if inspect.isfunction(getattr(member, "__func__", member))
    }
    docs = [vars(owner).get("__doc__"), *(method.__doc__ for method in methods.values())]
    sources = [example.source for doc in docs for example in doctest.DocTestParser().get_examples(doc or "")]
    nodes = [node for source in sources for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    called = {node.func.attr for node in nodes if isinstance(node.func, ast.Attribute)}
    return [name for name in methods if name not in called]
