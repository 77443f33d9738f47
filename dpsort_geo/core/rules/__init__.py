"""The public rule of each mechanism: what is asked, at what rate, and the check of a file.

A mechanism is found by its path. Its name here is the name of three modules: ``rules/X`` has what a
release measured and its check, ``private/X`` draws it, ``public/X`` reads it. To add one, write the
three files and add the name.
"""

from __future__ import annotations

from importlib import import_module
from typing import Sequence, Type, cast

from ..errors import BadInputError
from .measured import Measured

#: the registry of mechanisms
MECHANISMS = ("adaptive", "sort", "hybrid", "views")
#: what ``method=`` can be; with axes, "adaptive" is the mechanism "views"
METHODS = ("adaptive", "sort", "hybrid")


def check_mechanism(name: str, known: Sequence[str] = MECHANISMS) -> None:
    """Refuse what is not the name of a mechanism."""
    if name not in known:
        raise BadInputError("The method must be 'adaptive', 'sort' or 'hybrid'.")


def mechanism_of(method: str, has_axes: bool = False) -> str:
    """The mechanism that ``method=`` means, for points with or without a category or a date.

    >>> mechanism_of("adaptive", has_axes=True)
    'views'
    """
    check_mechanism(method, METHODS)
    if has_axes and method != "adaptive":
        raise BadInputError("Only method='adaptive' knows categories and dates: leave method= out.")
    return "views" if has_axes else method


def measured_by(name: str) -> Type[Measured]:
    """The type of what a mechanism measures.

    >>> measured_by("sort").__name__
    'SortSums'
    """
    check_mechanism(name)
    return cast("Type[Measured]", import_module(f".{name}", __package__).MEASURED)
