"""A page as a strict reader sees it: its tree, its texts, and what is wrong with its structure."""

import re
import unicodedata
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "hr", "input", "img"}
FOREIGN = {"path", "circle", "rect", "mspace"}
"""Elements of SVG and MathML without content, which may be closed at once."""


@dataclass
class Node:
    """An element: its tag, attributes, children (elements and texts)."""

    tag: str
    attributes: dict
    children: list = field(default_factory=list)

    @property
    def text(self):
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def find(self, tag=None, **attributes):
        """All elements below with that tag and those attributes, in order."""
        for child in self.children:
            if isinstance(child, Node):
                matches = all(child.attributes.get(key.rstrip("_")) == value for key, value in attributes.items())
                if matches and tag in (None, child.tag):
                    yield child
                yield from child.find(tag, **attributes)


class Reader(HTMLParser):
    """Builds the tree and refuses what is not well formed."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.root = Node("#document", {})
        self.open = [self.root]
        self.doctype = None
        self.feed(page)
        self.close()
        assert self.open == [self.root], [node.tag for node in self.open]

    def handle_decl(self, decl):
        self.doctype = decl

    def handle_starttag(self, tag, attrs):
        assert len(dict(attrs)) == len(attrs), (tag, attrs)
        node = Node(tag, dict(attrs))
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_startendtag(self, tag, attrs):
        assert tag in FOREIGN, f"<{tag}/> is not HTML"
        self.open[-1].children.append(Node(tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data):
        self.open[-1].children.append(data)


def luminance(colour):
    """The relative luminance of #rrggbb, as the guidelines for accessible content define it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first, second):
    """The contrast of two colours, from 1 to 21."""
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def seen(html):
    """What a reader sees, without tags."""
    return unescape(re.sub(r"<[^>]+>", "", html))


GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi rho sigma tau phi chi psi omega Gamma Delta "
    "Theta Lambda Sigma Phi Psi Omega"
).split()
SIGNS = {"sum": "∑", "int": "∫", "grad": "∇", "infinity": "∞"} | {
    name: unicodedata.lookup(
        f"GREEK {'SMALL' if name.islower() else 'CAPITAL'} LETTER {name.upper().replace('BD', 'D')}"
    )
    for name in GREEK
}


def letters(text, names):
    """The letters and numbers of a text alone, names of signs as the signs: what typesetting keeps."""
    named = re.sub(r"(?<![A-Za-z])[A-Za-z]+(?![A-Za-z0-9])", lambda word: names.get(word[0], word[0]), text)
    return re.sub(r"[^\w∑∫∇∞]|[_\u0302]", "", named)
