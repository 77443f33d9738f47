"""Counting private points by cell, category and date."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable, Optional

import numpy as np

from ...core.private.extent import Extents
from ...core.private.persons import joined_names, take_points
from ...core.private.slices import SlicedCells, SlicedTally, count_slices, joint_slices
from ...core.rules.axes import Axis
from ..domain import Domain
from .beside import Values
from .points import point_stream
from .rows import Choice, Rows, wanted_columns
from .table import PLAINLY, Reading


def count_with_axes(
    points: Any,
    domain: Domain,
    axes: Sequence[Axis],
    choice: Choice,
    columns: Optional[tuple[str, str]],
    values: Values,
    progress: Optional[Callable[[int, Optional[int]], None]],
    how: Reading = PLAINLY,
) -> tuple[SlicedCells, Optional[Extents]]:
    """Count points by cell and slice, and see how far they reach."""
    names = tuple(axis.column for axis in axes)
    wanted = wanted_columns(names, choice)
    stream = point_stream(points, domain, choice.person, columns, wanted, values, how)
    rows = Rows(stream, domain, choice, names, progress)
    tally, gathered = SlicedTally(domain.grid, axes), []
    for x, y, who, labels in rows:
        joint = joint_slices(axes, labels)
        if choice.person is None:
            tally.add(x, y, joint)
        else:
            # a person must come with all their points at once, so these are gathered first
            gathered.append((x, y, joint, np.asarray(who)))
    if not gathered:
        found = tally.cells()
    else:
        xs, ys, joints, names_of_all = zip(*gathered)
        x, y, joint = (np.concatenate(part) for part in (xs, ys, joints))
        person: Any = joined_names(names_of_all)
        if choice.max_points is not None:
            kept = take_points(person, choice.max_points)
            x, y, joint, person = x[kept], y[kept], joint[kept], None
        found = count_slices(domain.grid, axes, x, y, joint, person)
    return found, rows.extents
