"""Names and other public text in a ledger: one spelling, one line, never too long."""

from __future__ import annotations

import os
import unicodedata
from typing import Any

from ..errors import BadInputError

LONGEST_NAME = 200
_LONGEST_PATH = 4096


def same_name(a: str, b: str) -> bool:
    """Whether two names are those of one data set: case, spaces and forms of a letter play no part.

    >>> same_name("Calls 2026", " calls  2026")
    True
    """
    return name_key(check_name(a)) == name_key(check_name(b))


def path_text(release: Any) -> str:
    """Where a release goes, as text."""
    return "" if release is None else check_line("release", os.fspath(release), _LONGEST_PATH)


def check_name(text: str, what: str = "dataset") -> str:
    """The name of a data set, or of a population, in one spelling."""
    name = check_line(what, text, LONGEST_NAME)
    if not name:
        whom = "the data set, such as 'calls-2024'" if what == "dataset" else "the population"
        raise BadInputError(f"The ledger needs a name for {whom}.")
    return name


def check_line(what: str, text: str, longest: int) -> str:
    """Public text on one line, in one spelling: 'calls ' and 'calls' are the same data set."""
    if not isinstance(text, str):
        raise BadInputError(f"The ledger's {what} must be text.")
    text = " ".join(unicodedata.normalize("NFC", text).split())
    if len(text) > longest or not text.isprintable():
        raise BadInputError(
            f"The ledger's {what} must be printable and at most {longest} characters."
        )
    return text


def name_key(name: str) -> str:
    """What makes two names one: upper and lower case are the same."""
    return unicodedata.normalize("NFC", " ".join(name.split()).casefold())
