"""The minus sign as texts print it, where one of the keyboard is meant; what reads typed numbers asks here.

>>> with_plain_minus("1e\\u22123")
'1e-3'
"""

from __future__ import annotations

from typing import Final

_PRINTED: Final = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"))


def with_plain_minus(text: str) -> str:
    """Return a text with the hyphen-minus of the keyboard for the minus sign, hyphens and dashes of printed texts.

    >>> with_plain_minus("a\\u2013b"), with_plain_minus("a-b")
    ('a-b', 'a-b')
    """
    return text.translate(_PRINTED)
