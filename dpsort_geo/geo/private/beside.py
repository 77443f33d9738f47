"""What stands beside the coordinates of private points: the columns of axes, each row by itself.

A value means the same whatever the other rows hold: text as it is written, whole numbers, dates as
the clock shows them. No message tells a value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
import pandas as pd

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
        # Arrow itself cannot decode one of string views, as polars has them
        known = arrow_values(column.dictionary)
        return [None if at is None else known[at] for at in column.indices.to_pylist()]
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        column = pc.local_timestamp(column)  # the clock as it is shown there
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return column.to_numpy(zero_copy_only=False).astype("datetime64[s]")
    if getattr(kind, "extension_name", "") == "arrow.uuid":
        return [None if one is None else str(one) for one in column.to_pylist()]
    return column.to_pylist()


def frame_values(frame: Any, names: Sequence[str]) -> tuple[Any, ...]:
    """The columns of a pandas frame."""
    for name in names:
        if not hasattr(frame, "columns") or name not in frame.columns:
            raise BadInputError(f"There is no column {name!r} in the points.")
        refuse_twice(frame.columns, name)
    return tuple(_series_values(frame[name], name) for name in names)


def refuse_twice(columns: Any, name: Any) -> None:
    """Refuse a name that several columns of a frame have."""
    if list(columns).count(name) > 1:
        raise BadInputError(f"The points have more than one column named {name!r}: rename one.")


def _series_values(column: Any, name: str) -> Any:
    """The values of a pandas column."""
    if column.dtype.kind == "b":
        raise BadInputError(
            f"The column {name!r} is true or false, and an axis takes text, whole numbers or "
            "dates: write it as text first."
        )
    zone = getattr(column.dtype, "tz", None)
    if zone is not None:
        column = column.dt.tz_localize(None)
    plain = column.dtype.kind if isinstance(column.dtype, np.dtype) else "O"
    return column.to_numpy() if plain in "M" else column.astype(object).tolist()


def given_values(
    values: Values, names: Sequence[str], rows: int, index: Any = None
) -> tuple[Any, ...]:
    """The values that were given beside points without columns, which may have an index."""
    if not isinstance(values, Mapping) or set(values) != set(names):
        wanted = ", ".join(f"{name!r}: ..." for name in names)
        raise BadInputError(f"These points have no columns: give values={{{wanted}}}.")
    found = [values[name] for name in names]
    if any(len(column) != rows for column in found):
        raise BadInputError("There must be exactly one value of each axis for each point.")
    for i, name in enumerate(names):
        if isinstance(found[i], pd.Series):
            if has_another_index(found[i], index):
                raise BadInputError(
                    f"The values of {name!r} have another index than the points; "
                    "give an array in the order of the points."
                )
            found[i] = _series_values(found[i], name)
    return tuple(found)


def refuse_values(values: Values) -> None:
    """Refuse values beside points that have columns: which of the two are meant, nobody knows."""
    if values is not None:
        raise BadInputError(
            "values= is for points without columns, such as an array; the columns of these points "
            "are read by their names: leave values= out."
        )


def has_another_index(column: Any, index: Any) -> bool:
    """Whether a pandas column belongs to other rows; a plain list has no index.

    pandas knows rows by their index: by position, another order would give values away.
    """
    theirs = getattr(column, "index", None)
    same = getattr(theirs, "equals", None)
    return index is not None and same is not None and not same(index)
