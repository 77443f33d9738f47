"""What stands beside the coordinates of private points: the columns of axes, each row by itself.

A value means the same whatever the other rows hold: text as it is written, whole numbers, dates as
the clock shows them. No message tells a value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ...core.errors import BadInputError

Array = np.ndarray
Values = Optional[Mapping[str, Any]]


@dataclass(frozen=True, repr=False)
class Beside:
    """What stands beside the coordinates of a batch: persons, and a column for each axis."""

    person: Optional[Array]
    values: tuple[Any, ...]


def arrow_values(column: Any) -> Any:
    """The values of an Arrow column, None or NaT where there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if getattr(kind, "extension_name", "") in ("arrow.json", "arrow.opaque"):
        column = column.storage
        kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.dictionary_decode()
        kind = column.type
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        column = pc.local_timestamp(column)  # the clock as it is shown there
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return column.to_numpy(zero_copy_only=False).astype("datetime64[s]")
    if getattr(kind, "extension_name", "") == "arrow.uuid":
        return [None if one is None else str(one) for one in column.to_pylist()]
    return column.to_pylist()


def frame_values(frame: Any, names: Sequence[str]) -> tuple[Any, ...]:
    """The columns of a pandas frame."""
    found = []
    for name in names:
        if not hasattr(frame, "columns") or name not in frame.columns:
            raise BadInputError(f"There is no column {name!r} in the points.")
        column = frame[name]
        if column.dtype.kind == "b":
            raise BadInputError(
                f"The column {name!r} is true or false, and an axis takes text, whole numbers or "
                "dates: write it as text first."
            )
        zone = getattr(column.dtype, "tz", None)
        if zone is not None:
            column = column.dt.tz_localize(None)
        plain = column.dtype.kind if isinstance(column.dtype, np.dtype) else "O"
        found.append(column.to_numpy() if plain in "M" else column.astype(object).tolist())
    return tuple(found)


def given_values(values: Values, names: Sequence[str], rows: int) -> tuple[Any, ...]:
    """The values that were given beside an array of points."""
    if not isinstance(values, Mapping) or set(values) != set(names):
        wanted = ", ".join(f"{name!r}: ..." for name in names)
        raise BadInputError(f"An array of points has no columns: give values={{{wanted}}}.")
    found = tuple(values[name] for name in names)
    if any(len(column) != rows for column in found):
        raise BadInputError("There must be exactly one value of each axis for each point.")
    return found
