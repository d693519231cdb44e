"""What is asked of a public name: a docstring of its own, with an example that the doctests run."""

import inspect
import re

OTHER_SECTIONS = re.compile(r"^ *(Args|Arguments|Returns|Raises|Yields|Example|Examples):$", re.MULTILINE)
A_SECTION = re.compile(r"^ *(Parameters|Returns|Raises|Attributes)\n *-{6,}$", re.MULTILINE)


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
    if A_SECTION.search(doc or "") and ">>>" in doc and "Examples\n" not in doc:
        missing.append("the heading Examples")
    return missing
