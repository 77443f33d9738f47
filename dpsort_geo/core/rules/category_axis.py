"""What: a public axis of categories, and which of its values a record falls under."""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ..errors import BadInputError

Array = np.ndarray


@dataclass(frozen=True)
class CategoryAxis:
    """A column with a public list of values; "other" in the list takes all that is not in it.

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
        known = {value: number for number, value in enumerate(self.values)}
        other = known.get(OTHER, -1)
        each, place = number_values(values)
        texts = [_as_text(value) for value in each]
        number = np.array([other if t is None else known.get(t, other) for t in texts], np.int64)
        found = number[place]
        if (found < 0).any():
            raise BadInputError(
                f"A value of {self.name!r} is missing or not in its public list: complete the "
                f"list, or add {OTHER!r} to it."
            )
        return found

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
    if isinstance(value, (bool, np.bool_)) or value is None:
        return None
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)) and math.isfinite(value) and value == int(value):
        return str(int(value))  # a column of whole numbers with gaps is one of decimals
    return None


#: the slice of values that are missing or not declared, where an axis declares it
OTHER = "other"


#: slices of one axis, and of all axes together
MOST_SLICES = 4096


def number_values(values: Any) -> Tuple[List[Any], Array]:
    """Distinct values and where each stands; 1 and True are not the same, nor are two clocks.

    Python takes 00:30+02:00 and 22:30Z for equal, and numpy compares dates of two units in the
    finer one, where they may wrap around; which of them came first must not matter.
    """
    listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
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
    return value.utcoffset() if isinstance(value, datetime.datetime) else None


def check_name(name: Any) -> None:
    if not isinstance(name, str) or not name or len(name) > 200:
        raise BadInputError("An axis needs the name of its column.")
