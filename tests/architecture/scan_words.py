"""Words that no file of the project may hold: paths of one machine, hosts of package registries, talk of a workplace.

And words that a reader of the paper would have to guess, which no source, page or message may hold.

The patterns are written so that they do not match this file.
"""

import ast
import json
import re
from doctest import DocTestParser
from functools import cache

FORBIDDEN = {
    "an absolute path": r"(?<![\w.~/:-])/(?:wor[k]|far[m]|roo[t]|hom[e]|User[s]|tm[p]|mn[t]|op[t])/\w",
    "a path of one machine": r"\b[A-Z]:\\[A-Z]",
    "the host of a package registry": r"(?:pypi|npmjs|anaconda|pythonhosted|debian|crates)\.(?:or[g]|co[m]|i[o])",
    "talk of the workplace": (
        r"\bfar[m]-(?:studio|bench)|before-sto[p]|closing not[e]|DEVELOPER[S]\.md|(?:^|[^\w.])(?:\.\./)?share[d]/|"
        r"\bissue[s]? #?\d+\b|\bcoordinato[r]\b|\bclaud[e]\b|anthropi[c]|chatgp[t]"
    ),
}


GUESSED = re.compile(r"\b(?:hear[ds]|hearings?|told|untold|speaks?|blunt|springs?|docket|ragged)\b", re.IGNORECASE)
NO_NAMES = {"found", "told", "heard"}
"""Names that say nothing of what a variable holds."""
SAY_NOTHING = {"each", "one", "rest", "rests", "both", "it", "this", "that", "thing", "what", "which", "how"}
"""Such names that no example, no cell of a notebook and no test may give either."""


def guessed_words(path, text):
    """The words of a source or a page whose meaning a reader would have to guess, and such names of variables."""
    words = GUESSED.findall(text)
    if path.suffix == ".py":
        words += [name for name in names_given(text) if name in NO_NAMES or GUESSED.fullmatch(name)]
    return sorted(set(words))


def names_that_say_nothing(path, text):
    """Those that a source or a page gives in its code, in its examples or in the cells of a notebook."""
    sources = [text] if path.suffix == ".py" else []
    if path.suffix == ".ipynb":
        cells = [cell["source"] for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
        sources += ["".join(line for line in lines if not line.startswith("%")) for lines in cells]
    else:
        sources += [example.source for example in DocTestParser().get_examples(text)]
    return sorted(SAY_NOTHING.intersection(name for source in sources for name in names_given(source)))


@cache  # two scanners ask of the sources
def names_given(source):
    """Every name that a source gives: to variables, parameters, attributes, functions, classes and modules."""
    return frozenset(_names_in(source))


def _names_in(source):
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.arg(arg=name) | ast.alias(asname=str(name)):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.MatchMapping(rest=str(name)):
                yield name


def forbidden_words(text):
    """One sentence for each forbidden thing in a text."""
    return [
        f"line {text.count(chr(10), 0, match.start()) + 1}: {kind}: {match.group().strip()!r}"
        for kind, pattern in FORBIDDEN.items()
        for match in re.finditer(pattern, text, re.M | re.I if kind == "talk of the workplace" else re.M)
    ]
