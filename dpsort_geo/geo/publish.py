"""From whatever holds points to a release: count, plan, debit, measure, in this order."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any, Callable, List, Optional, Tuple, Union

import numpy as np

from .. import planning
from ..budget import (
    PERSON_POINTS,
    PERSON_UNITS,
    EpsilonLike,
    check_neighbours,
    epsilon_text,
    exact_epsilon,
)
from ..errors import BadInput
from ..publisher.cells import Cells, Tally
from ..publisher.ledger import Ledger
from ..publisher.measure import METHODS, count, measure
from ..publisher.persons import joined_names
from ..reader.density import pixel_area, raster
from .crs import crs_name, crs_text
from .domain import Domain
from .points import is_dask, point_stream, projected
from .release import GeoRelease

Array = np.ndarray
Progress = Callable[[int, Optional[int]], None]

#: above this an epsilon promises little
_HIGH_EPSILON = 3
#: pixels as fine as this, along the outline, are the edge of a domain
_EDGE_LEVEL = 8
#: n epsilon from which on a release shows more than noise
_CLEAR = 100
#: points counted at a time
_CHUNK = 1 << 20


class PrivacyWarning(UserWarning):
    """Something that a publisher should know before the release goes out."""


def publish(
    points: Any,
    epsilon: EpsilonLike,
    domain: Domain,
    *,
    method: str = "adaptive",
    group_size: Union[int, str, None] = None,
    neighbours: str = "replace",
    person: Any = None,
    ledger: Union[Ledger, str, "os.PathLike[str]", None] = None,
    dataset: Optional[str] = None,
    columns: Optional[Tuple[str, str]] = None,
    progress: Optional[Progress] = None,
) -> GeoRelease:
    """Publish points under differential privacy.

    Parameters
    ----------
    points
        A GeoDataFrame or GeoSeries, an (n, 2) array in the domain's CRS, anything with
        ``__geo_interface__`` or ``__arrow_c_stream__``, a path, or a dask frame.
    epsilon
        The whole privacy budget of this release; decimal text such as "0.1" is taken exactly.
    domain
        Where points may lie. Points outside are moved to the nearest allowed cell.
    method
        "adaptive" for maps and counts, "sort" for the paper's mechanism, or "hybrid".
    group_size
        For "sort" and "hybrid": points a group; None for the default; for "sort" also "paper".
    neighbours
        "replace" publishes the exact n; "add-remove" makes n noisy too.
    person
        Name of the column, or an array, that says whose point it is. Each person counts once and
        all their points are protected together. Without it one *point* is protected.
    ledger, dataset
        The ledger to debit before any noise is drawn, and the name of the data set in it.
    columns
        Names of two columns with x and y, for tables without geometry.
    progress
        Called with rows read so far and rows in all (None when not known).

    Examples
    --------
    >>> domain = Domain.from_bounds((0, 0, 1000, 1000), crs="EPSG:3857")
    >>> rng = np.random.default_rng(1)
    >>> release = publish(rng.uniform(0, 1000, (5000, 2)), 1, domain, neighbours="add-remove")
    >>> release.epsilon, release.kind
    ('1', 'adaptive')
    """
    _check(epsilon, domain, method, neighbours, group_size)
    book, name = _book(ledger, dataset, points)
    cells = _counted(points, domain, person, method, columns, progress)
    unit = "point" if person is None else "person"
    n = cells.n // _units(method, person)
    if n == 0:
        raise BadInput("There are no points to publish.")
    for warning in _doubts(n, epsilon, domain, method, neighbours):
        warnings.warn(warning, PrivacyWarning, stacklevel=2)
    if book is not None:
        book.debit(name, epsilon, unit, neighbours, ledger_text(domain), method)
    core = measure(cells, epsilon, method, group_size, neighbours, unit)
    core = replace(
        core,
        crs=crs_text(domain.crs),
        working_crs=crs_text(domain.working_crs),
        ledger=book is not None,
    )
    return GeoRelease(core, domain)


def second_thought(release: GeoRelease) -> Optional[str]:
    """What looks wrong about a release, from what everybody can see in it.

    Points in another CRS, or with x and y swapped, are moved to the nearest allowed cells, in
    silence: how many there were is private. But the release itself shows where the mass went.
    """
    if release.release.size * release.release.exact_epsilon < _CLEAR:
        return None
    grid = release.domain.grid
    level = min(_EDGE_LEVEL, grid.order)
    allowed = np.pad(pixel_area(grid, level) > 0, 1)
    inner = allowed.copy()
    for axis in (0, 1):
        inner &= np.roll(allowed, 1, axis) & np.roll(allowed, -1, axis)
    mass = raster(release.decoded, level)
    if mass[~inner[1:-1, 1:-1]].sum() <= release.release.size / 2:
        return None
    return (
        "Most of the published points lie at the edge of the domain; check that the points are "
        "in the CRS that they say, with x and y in the right order."
    )


def plan(
    n: int,
    epsilon: Optional[EpsilonLike] = None,
    domain: Optional[Domain] = None,
    *,
    target_error: Optional[float] = None,
    method: str = "adaptive",
    unit: str = "point",
) -> planning.Plan:
    """What to expect before any data is touched; give epsilon, or the error to reach in metres.

    >>> domain = Domain.from_bounds((0, 0, 50_000, 50_000), crs="EPSG:3857")
    >>> plan(n=50_000, epsilon=1.0, domain=domain).expected_error < 500
    True
    """
    if not isinstance(domain, Domain):
        raise BadInput("A plan needs the domain: make one with Domain.from_bounds.")
    return planning.plan_side(
        n, domain.side, epsilon=epsilon, target_error=target_error, method=method, unit=unit
    )


def count_cells(
    points: Any,
    domain: Domain,
    *,
    columns: Optional[Tuple[str, str]] = None,
    client: Any = None,
    progress: Optional[Progress] = None,
) -> Cells:
    """Count points by cell: exact, private, mergeable. What `publish` measures.

    With ``client`` the pieces of a file or the partitions of a dask frame are counted by the
    workers of that dask cluster.

    >>> domain = Domain.from_bounds((0, 0, 4, 4), crs="EPSG:3857", order=2)
    >>> count_cells(np.array([[0.5, 0.5], [0.6, 0.4], [3.5, 3.5]]), domain).count
    array([2, 1])
    """
    if client is not None or is_dask(points):
        from .cluster import count_cells as count_on_cluster

        return count_on_cluster(points, domain, client, columns)
    stream = point_stream(points, domain, None, columns)
    tally = Tally(domain.grid)
    done = 0
    for x, y, _ in stream:
        for start in range(0, x.size, _CHUNK):
            here = slice(start, start + _CHUNK)
            tally.add(*projected(domain, stream, x[here], y[here]))
        done += x.size
        if progress is not None:
            progress(done, stream.total_rows)
    if not done:
        raise BadInput("There are no points to publish.")
    return tally.cells()


def ledger_text(domain: Domain) -> str:
    """The domain on one line, for the ledger."""
    box = " ".join(f"{value:.6g}" for value in domain.bounds)
    return f"{box} {crs_name(domain.crs)} order {domain.grid.order}"


def _check(
    epsilon: EpsilonLike, domain: Any, method: str, neighbours: str, group_size: Any
) -> None:
    exact_epsilon(epsilon)
    check_neighbours(neighbours)
    if not isinstance(domain, Domain):
        raise BadInput(
            "The domain must be given, with Domain.from_bounds or Domain.from_polygon: "
            "bounds taken from the points would tell where the outermost of them is."
        )
    if method not in METHODS:
        raise BadInput("The method must be 'adaptive', 'sort' or 'hybrid'.")
    if group_size is not None and method == "adaptive":
        raise BadInput("group_size belongs to method='sort' and method='hybrid'.")
    whole = isinstance(group_size, (int, np.integer)) and group_size >= 1
    if not (group_size is None or whole or (group_size == "paper" and method == "sort")):
        raise BadInput("group_size is a whole number of points; for method='sort' also 'paper'.")
    if domain.grid.n_cells < 2:
        raise BadInput("A domain of one cell has nothing to hide or show; use a finer grid.")


def _book(ledger: Any, dataset: Optional[str], points: Any) -> Tuple[Optional[Ledger], str]:
    if ledger is None:
        return None, ""
    if dataset is None:
        if not isinstance(points, (str, os.PathLike)):
            raise BadInput("The ledger needs to know which data set this is: give dataset='name'.")
        dataset = Path(points).name.split(".")[0]
        if not dataset or set(dataset) & set("*?["):
            raise BadInput("Many files need a name in the ledger: give dataset='name'.")
    return (ledger if isinstance(ledger, Ledger) else Ledger(Path(ledger))), dataset


def _units(method: str, person: Any) -> int:
    if person is None:
        return 1
    return PERSON_UNITS if method == "adaptive" else PERSON_POINTS


def _counted(
    points: Any,
    domain: Domain,
    person: Any,
    method: str,
    columns: Optional[Tuple[str, str]],
    progress: Optional[Progress],
) -> Cells:
    if person is None:
        return count_cells(points, domain, columns=columns, progress=progress)
    # a person must come with all their points at once, so these are gathered first
    stream = point_stream(points, domain, person, columns)
    gathered: List[Tuple[Array, Array, Array]] = []
    done = 0
    for x, y, who in stream:
        gathered.append((*projected(domain, stream, x, y), np.asarray(who)))
        done += x.size
        if progress is not None:
            progress(done, stream.total_rows)
    if not gathered:
        raise BadInput("There are no points to publish.")
    xs, ys, names = zip(*gathered)
    who = joined_names(names)
    return count(domain.grid, np.concatenate(xs), np.concatenate(ys), who, method)


def _doubts(
    n: int, epsilon: EpsilonLike, domain: Domain, method: str, neighbours: str
) -> List[str]:
    found = []
    if exact_epsilon(epsilon) > _HIGH_EPSILON:
        found.append(
            f"Epsilon {epsilon_text(epsilon)} promises little: results may be "
            f"e^{epsilon_text(epsilon)} times as likely; 0.1 to 3 is usual."
        )
    if neighbours == "replace":
        # whether this is said depends on n, so it is said only where n is public
        expected = planning.expected_error(n, float(exact_epsilon(epsilon)), domain.side, method)
        if expected > domain.side / 10:
            found.append(
                "The published points will be off by more than a tenth of the domain: "
                "use a larger epsilon, a smaller domain or more points."
            )
        found.append(
            "The exact number of points is part of the release; if it is private too, "
            "publish with neighbours='add-remove'."
        )
    return found
