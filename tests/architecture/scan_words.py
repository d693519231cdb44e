"""Words that no file of the project may hold: paths of one machine, hosts of package registries, talk of a workplace.

And words that a reader of the paper would have to guess, which no source, page or message may hold.

The patterns are written so that they do not match this file.
"""

import ast
import re

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


def guessed_words(path, text):
    """The words of a source or a page whose meaning a reader would have to guess, and such names of variables."""
    words = GUESSED.findall(text)
    if path.suffix == ".py":
        nodes = list(ast.walk(ast.parse(text)))
        words += [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
        words += [node.arg for node in nodes if isinstance(node, ast.arg)]
    return sorted({word for word in words if word in NO_NAMES or GUESSED.fullmatch(word)})


def forbidden_words(text):
    """One sentence for each forbidden thing in a text."""
    return [
        f"line {text.count(chr(10), 0, match.start()) + 1}: {kind}: {match.group().strip()!r}"
        for kind, pattern in FORBIDDEN.items()
        for match in re.finditer(pattern, text, re.M | re.I if kind == "talk of the workplace" else re.M)
    ]
