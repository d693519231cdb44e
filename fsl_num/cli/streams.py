"""Standard output and standard error: what cannot be shown there is spelled out, and a reader that left is noticed.

>>> printable("β ≤ x², \\x1b[2J", "ascii")
'beta <= x^2, \\\\x1b[2J'
"""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_CONTROL_BUT_COLOURS: Final = re.compile(r"\x1b(?!\[[\d;]*m)|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f]")
_SPELLED: Final = {
    "─": "-", "━": "-", "│": "|", "—": "-", "–": "-", "−": "-", "…": "...", "·": "*", "×": "x", "≤": "<=", "≥": ">=",
    "≠": "!=", "≈": "~", "∼": "~", "∞": "inf", "∑": "sum", "∫": "integral", "√": "sqrt", "∈": "in", "→": "->",
    "±": "+-", "“": '"', "”": '"', "‘": "'", "’": "'", "ℓ": "l", "⟨": "<", "⟩": ">", "•": "*",
}  # fmt: skip


class OutputError(OSError):
    """What was found could not be given out: its reader left, or there is no room for it.

    >>> str(OutputError("the disk is full"))
    'the disk is full'
    """


def emit(text: str | bytes) -> None:
    """Write text, or bytes as they are, to standard output.

    Raises OutputError where nobody takes it; its text is empty where the reader left, as ``head`` does.
    """
    stream = sys.stdout
    if stream is None:
        raise OutputError("standard output is closed")
    try:
        if isinstance(text, bytes) and hasattr(stream, "buffer"):
            stream.flush()
            stream.buffer.write(text)
        else:
            stream.write(text.decode("utf-8", "replace") if isinstance(text, bytes) else text)
        stream.flush()
    except (BrokenPipeError, ValueError) as error:  # ValueError: it was closed in this process
        raise OutputError("") from error
    except OSError as error:
        raise OutputError(f"standard output cannot be written to: {error.strerror or error}") from error


def emit_text(text: str, *, coloured: bool = False) -> None:
    """Write a text and the end of its line, with what the stream cannot show spelled out."""
    emit(printable(text, getattr(sys.stdout, "encoding", None), coloured=coloured) + "\n")


def complain(text: str) -> None:
    """Say one line on standard error, where there is one."""
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            print(printable(text, sys.stderr.encoding), file=sys.stderr, flush=True)


def discard_output() -> None:
    """Let what is left in the buffer of standard output go nowhere, so that Python does not complain at its end."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def printable(text: str, encoding: str | None, *, coloured: bool = False) -> str:
    """The text without characters that steer a terminal (``coloured``: but for colours) or that ``encoding`` lacks."""
    pattern = _CONTROL_BUT_COLOURS if coloured else _CONTROL
    shown = pattern.sub(lambda match: f"\\x{ord(match[0]):02x}", text)
    try:
        shown.encode(encoding or "utf-8")
    except UnicodeEncodeError:
        return "".join(_encodable(shown, encoding or "utf-8"))
    return shown


def _encodable(text: str, encoding: str) -> Iterator[str]:
    for letter in text:
        try:
            letter.encode(encoding)
        except UnicodeEncodeError:
            yield _spelled(letter)
        else:
            yield letter


def _spelled(letter: str) -> str:
    """A character in ASCII: its name where it is Greek, ^ or _ where it stands above or below, else its number."""
    if letter in _SPELLED:
        return _SPELLED[letter]
    name = unicodedata.name(letter, "")
    if name.startswith("GREEK ") and " LETTER " in name:
        spelled = name.rpartition(" LETTER ")[2].partition(" ")[0].lower()
        return spelled if "SMALL" in name else spelled.capitalize()
    plain = unicodedata.normalize("NFKD", letter).replace("−", "-")
    plain = "".join(character for character in plain if character.isascii())
    if plain:
        return ("^" if "SUPERSCRIPT" in name else "_" if "SUBSCRIPT" in name else "") + plain
    return letter.encode("ascii", "backslashreplace").decode("ascii")
