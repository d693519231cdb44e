"""Docstrings as the documentation shows them: examples as code, and roles of cross-references as names."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

ROLE = re.compile(r":(?:class|func|meth|mod|data|attr|exc):`~?([^`]+)`")
EXAMPLE = re.compile(r"(?:(?<=\n\n)|\A)(?P<indent> *)(?=>>> )(?P<lines>(?:.+\n?)+)")


class Docstrings(Extension):
    """Rewrites the docstring of every object when it is loaded."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Put examples between fences where no heading says that they are examples, and name what roles name."""
        if obj.docstring and not getattr(obj.docstring, "rewritten", False):
            text = ROLE.sub(lambda role: f"`{role[1].rpartition('.')[2]}`", obj.docstring.value)
            if "Examples\n----" not in text:
                text = EXAMPLE.sub(r"\g<indent>```pycon\n\g<lines>\n\g<indent>```", text)
            obj.docstring.value = text
            obj.docstring.rewritten = True  # type: ignore[attr-defined]
