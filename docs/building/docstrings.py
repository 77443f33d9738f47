"""Docstrings as the site shows them: their doctests are examples, their roles plain code."""

from __future__ import annotations

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(?:meth|class|func|attr):`~?([^`]+)`")
#: the first line of a doctest that no heading announces
_DOCTEST = re.compile(r"(?m)^>>> ")


def readable(text: str) -> str:
    """The docstring in numpydoc's words.

    >>> readable("Give one.\\n\\n>>> one()\\n1").splitlines()[2:]
    ['Examples', '--------', '>>> one()', '1']
    """
    text = _ROLE.sub(r"`\1`", text)
    if "\n--------\n>>> " not in text:
        text = _DOCTEST.sub("Examples\n--------\n>>> ", text, count=1)
    return text


class Readable(griffe.Extension):
    """What mkdocstrings calls for everything that it has read."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = readable(obj.docstring.value)
