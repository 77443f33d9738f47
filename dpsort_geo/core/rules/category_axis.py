"""What: a public axis of categories, and which of its values a record falls under."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ..errors import BadInputError

Array = np.ndarray


@dataclass(frozen=True)
class CategoryAxis:
    """A column with a public list of values; "other" in the list takes all that is not in it.

    Whole numbers are their text, and text such as "1.0" is "1" where the list has no "1.0". A value
    that is neither text nor a number is refused, whatever the list has.

    >>> axis = CategoryAxis("type", ("burglary", "theft", "other"))
    >>> axis.slices(["theft", "arson", None])
    array([1, 2, 2])
    """

    name: str
    values: Tuple[str, ...]

    def __post_init__(self) -> None:
        check_name(self.name)
        values = tuple(_as_text(value) for value in self.values)
        if None in values or any(not value for value in values):
            raise BadInputError(f"The values of {self.name!r} must be text or whole numbers.")
        if not 2 <= len(values) <= MOST_SLICES or len(set(values)) != len(values):
            raise BadInputError(
                f"The axis {self.name!r} needs a list of 2 to {MOST_SLICES} different values."
            )
        object.__setattr__(self, "values", values)

    @property
    def column(self) -> str:
        return self.name

    @property
    def size(self) -> int:
        return len(self.values)

    @property
    def labels(self) -> Tuple[str, ...]:
        return self.values

    def slices(self, values: Sequence[Any]) -> Array:
        """The number of the slice of every value."""
        each, place = number_values(values)
        if not all(map(self.takes, each)):
            raise BadInputError(
                f"{self.name!r} has values that are no category: an axis takes text, whole numbers "
                "or dates, and dates belong to time=; write others as text, true and false too."
            )
        known = {value: number for number, value in enumerate(self.values)}
        other = known.get(OTHER, -1)
        found = np.array([_find(value, known, other) for value in each], np.int64)[place]
        if (found < 0).any():
            raise BadInputError(
                f"A value of {self.name!r} is missing or not in its public list: complete the "
                f"list, or add {OTHER!r} to it."
            )
        return found

    def takes(self, value: Any) -> bool:
        """Whether a value is of a kind that a category has, or missing; not whether it is known."""
        return isinstance(value, str) or _is_number(value) or is_missing(value)

    def choose(self, wanted: Any) -> List[int]:
        """The slices that are meant by a value, or by several."""
        chosen = [wanted] if isinstance(wanted, (str, int)) else list(wanted)
        for value in chosen:
            if _as_text(value) not in self.values:
                raise BadInputError(
                    f"{value!r} is not a value of {self.name!r}: {', '.join(self.values)}."
                )
        return sorted({self.values.index(str(_as_text(value))) for value in chosen})

    def to_dict(self) -> Dict[str, Any]:
        return {"kind": "category", "name": self.name, "values": list(self.values)}


def _as_text(value: Any) -> Optional[str]:
    """A category as text, by the value alone; None if it is missing or no category."""
    if isinstance(value, str):
        return value
    if not _is_number(value) or is_missing(value):
        return None
    plain = value.item() if isinstance(value, np.generic) else value
    # a column of whole numbers with gaps is one of decimals
    if -_ENDLESS < plain < _ENDLESS and plain == int(plain):
        return str(int(plain))
    return None


def _find(value: Any, known: Dict[str, int], other: int) -> int:
    """The slice of a value, by it and the list alone."""
    text = _as_text(value)
    if text is None:
        return other
    whole = None if text in known else _WHOLE.fullmatch(text)
    return known.get(whole[1] if whole else text, other)


def is_missing(value: Any) -> bool:
    """Whether there is no value: None, NaN, or what numpy and pandas have for it.

    >>> [is_missing(one) for one in (None, float("nan"), np.datetime64("NaT"), "", 0)]
    [True, True, True, False, False]
    """
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, (float, np.floating, np.datetime64, np.timedelta64)):
        return bool(value != value)
    # pandas.NA, and pandas.NaT, which passes for a date
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _is_number(value: Any) -> bool:
    # to Python true is a whole number, and to numpy a duration
    known = (int, float, Decimal, np.integer, np.floating)
    return isinstance(value, known) and not isinstance(value, (bool, np.timedelta64))


#: the slice of values that are missing or not declared, where an axis declares it
OTHER = "other"


#: a whole number as pandas writes it into a CSV where some are missing
_WHOLE = re.compile(r"(-?[0-9]+)\.0+")


#: no number from here on is written out: it would be longer than any text of a list
_ENDLESS = 1e300


#: slices of one axis, and of all axes together
MOST_SLICES = 4096


def number_values(values: Any) -> Tuple[List[Any], Array]:
    """Distinct values and where each stands; 1 and True are not the same, nor are two clocks.

    Python takes 00:30+02:00 and 22:30Z for equal, and numpy compares dates of two units in the
    finer one, where they may wrap around; which of them came first must not matter.
    """
    # numpy would make a list of whole numbers of dates and durations in nanoseconds
    plain = isinstance(values, np.ndarray) and values.dtype.kind not in "mM"
    listed = values.tolist() if plain else list(values)
    known: Dict[Any, int] = {}
    try:
        place = [known.setdefault((type(one), one, _zone(one)), len(known)) for one in listed]
    except TypeError:
        known = {}
        place = [-1]
    if not known and listed:  # not raised above: an error remembers what it was about
        raise BadInputError("An axis takes text, whole numbers or dates.")
    return [value for _, value, _ in known], np.array(place, np.int64)


def _zone(value: Any) -> Any:
    if isinstance(value, np.datetime64):
        return value.dtype.str
    dated = isinstance(value, datetime.datetime) and not is_missing(value)
    return value.utcoffset() if dated else None


def check_name(name: Any) -> None:
    if not isinstance(name, str) or not name or len(name) > 200:
        raise BadInputError("An axis needs the name of its column.")
