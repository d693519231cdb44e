"""The places of a TeX source that make claims: statements, numbered formulas, and boxes that hold neither."""

import re

STATEMENTS = ("theorem", "lemma", "proposition", "corollary", "assumption", "definition")
FORMULAS = ("equation", "align", "gather", "multline", "eqnarray")
BOX = "tcolorbox"


def places(source):
    """(first line, last line, kind, label) of each place, in order; kind is "formula" for all numbered formulas.

    The label is the place's own, or where it has none that of the section around it with the line. Comments count as
    empty.
    """
    lines = [re.sub(r"(?<!\\)%.*", "", line) for line in source.splitlines()]
    found, boxes, section = [], [], ""
    for number, line in enumerate(lines, 1):
        if re.search(r"\\(sub)*section\*?\s*\{", line):
            named = re.search(r"\\label\{([^}]*)\}", " ".join(lines[number - 1 : number + 2]))
            section = named[1] if named else section
        for kind in re.findall(r"\\begin\{(\w+)\}", line):
            if kind not in (*STATEMENTS, *FORMULAS, BOX):
                continue
            last = next(n for n in range(number, len(lines) + 1) if rf"\end{{{kind}}}" in lines[n - 1])
            text = "\n".join(lines[number - 1 : last])
            if kind == BOX:
                boxes.append((number, last, "box", f"{section}:{number}"))
            elif kind in STATEMENTS:
                found.append((number, last, kind, _own_label(text) or f"{section}:{number}"))
            elif _numbered(kind, text) or r"\label" in text:
                label = re.search(r"\\label\{([^}]*)\}", text)
                found.append((number, last, "formula", label[1] if label else f"{section}:{number}"))
    alone = [box for box in boxes if not any(box[0] <= box_beside[0] <= box[1] for box_beside in found)]
    return sorted(found + alone)


def labels(source):
    """Every label of the source that is not commented out."""
    return {label for line in source.splitlines() for label in re.findall(r"\\label\{([^}]*)\}", _uncommented(line))}


def _uncommented(line):
    return re.sub(r"(?<!\\)%.*", "", line)


def _own_label(text):
    """The label of a statement, not that of a formula in it."""
    for kind in FORMULAS:
        text = re.sub(rf"\\begin\{{{kind}\}}.*?\\end\{{{kind}\}}", "", text, flags=re.DOTALL)
    label = re.search(r"\\label\{([^}]*)\}", text)
    return label[1] if label else None


def _numbered(kind, text):
    silent = len(re.findall(r"\\nonumber|\\notag", text))
    rows = 1 if kind == "equation" else 1 + len(re.findall(r"\\\\(?!\s*\\end)", text))
    return silent < rows
