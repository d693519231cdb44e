"""What is asked of a public name: a docstring of its own, with an example that the doctests run."""

import inspect


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
    return missing
