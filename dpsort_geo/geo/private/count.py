"""From whatever holds points to the private table that is measured."""

from __future__ import annotations

import os
from typing import (
    TYPE_CHECKING,
    Any,
    Mapping,
    Optional,
    Protocol,
    Sequence,
    Tuple,
    TypeVar,
    Union,
)

import geopandas as gpd
import numpy as np
import shapely

from ...core.errors import BadInputError
from ...core.private.cells import Cells
from ...core.private.extent import Extents
from ...core.private.publish import count_stream
from ...core.private.slices import SlicedCells
from ...core.rules.axes import Axis
from ..database import PostGIS
from ..domain import Area, Domain, as_domain
from .axes import count_with_axes
from .beside import refuse_values
from .extent import refuse_shown
from .parts import Work
from .points import is_dask, is_spark, point_stream
from .rows import Choice, Progress, Rows, wanted_columns
from .table import Reading

Array = np.ndarray
Table = TypeVar("Table", bound=Union[Cells, SlicedCells])

if TYPE_CHECKING:
    import dask.dataframe as dd


class HasGeoInterface(Protocol):
    """Features or geometries of any library, in the way that all of them understand."""

    @property
    def __geo_interface__(self) -> Mapping[str, Any]: ...


class HasArrowStream(Protocol):
    """A table of any library that speaks Arrow."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


#: whatever holds points
Points = Union[
    gpd.GeoDataFrame,
    gpd.GeoSeries,
    Array,
    Sequence[Tuple[float, float]],
    Sequence[shapely.Point],
    str,
    "os.PathLike[str]",
    HasGeoInterface,
    HasArrowStream,
    "dd.DataFrame",
    PostGIS,
]


def count_cells(
    points: Points,
    domain: Area,
    *,
    columns: Optional[Tuple[str, str]] = None,
    points_crs: Any = None,
    layer: Optional[str] = None,
    decimal: str = ".",
    client: Any = None,
    progress: Optional[Progress] = None,
) -> Cells:
    """Count points by cell: exact, private, mergeable. What `publish` measures, and takes.

    With ``client`` the pieces of a file or the partitions of a dask frame are counted by the
    workers of that dask cluster. The other arguments are those of `publish`.

    >>> domain = Domain.from_bounds((0, 0, 4, 4), crs="EPSG:3857", order=2)
    >>> cells = count_cells(np.array([[0.5, 0.5], [0.6, 0.4], [3.5, 3.5]]), domain)
    >>> cells
    <Cells: private counts on a grid of 2^2 x 2^2 cells>
    >>> cells.count
    array([2, 1])
    """
    domain, how = as_domain(domain), Reading(points_crs, layer, decimal)
    if client is not None or is_dask(points) or is_spark(points):
        counted = _count_on_engine(points, Work(domain, None, how=how), columns, client)
        assert isinstance(counted, Cells)
        return counted
    return _count(points, domain, Choice(), "adaptive", columns, None, progress, how)


def _count_on_engine(
    points: Any, work: Work, columns: Optional[Tuple[str, str]], client: Any
) -> Union[Cells, SlicedCells]:
    """The same table, counted by the workers of dask or Spark."""
    person = work.choice.person
    if not (person is None or isinstance(person, (str, tuple))):
        raise BadInputError("On a cluster person= is the name of a column, or of several.")
    if is_spark(points):
        if client is not None:
            raise BadInputError("client= is a dask cluster; a Spark frame has its own.")
        from . import spark

        cells, extents = spark.count_points(points, work, columns)
    else:
        from . import cluster

        cells, extents = cluster.count_points(points, work, client, columns)
    return _check_extents(cells, extents, work.domain)


def tabulate(
    points: Any,
    domain: Domain,
    axes: Tuple[Axis, ...],
    choice: Choice,
    method: str,
    columns: Optional[Tuple[str, str]],
    values: Optional[Mapping[str, Any]],
    progress: Optional[Progress],
    how: Reading,
    client: Any,
) -> Union[Cells, SlicedCells]:
    """The private table that is measured, however the points come."""
    if isinstance(points, Cells):
        return _check_cells(points, domain, choice, columns, client, axes)
    if client is not None or is_dask(points) or is_spark(points):
        refuse_values(values)
        work = Work(domain, None, axes, choice, method, how)
        return _count_on_engine(points, work, columns, client)
    if axes:
        cells, extents = count_with_axes(
            points, domain, axes, choice, columns, values, progress, how
        )
        return _check_extents(cells, extents, domain)
    return _count(points, domain, choice, method, columns, values, progress, how)


def _count(
    points: Any,
    domain: Domain,
    choice: Choice,
    method: str,
    columns: Optional[Tuple[str, str]],
    values: Optional[Mapping[str, Any]],
    progress: Optional[Progress],
    how: Reading,
) -> Cells:
    wanted = wanted_columns((), choice)
    stream = point_stream(points, domain, choice.person, columns, wanted, values, how)
    rows = Rows(stream, domain, choice, (), progress)
    batches = ((x, y, who) for x, y, who, _ in rows)
    persons = choice.person is not None
    cells = count_stream(domain.grid, batches, persons, method, choice.max_points)
    return _check_extents(cells, rows.extents, domain)


def _check_extents(cells: Table, extents: Optional[Extents], domain: Domain) -> Table:
    """The table, unless the domain was taken from the points."""
    if extents is not None:
        refuse_shown(extents, domain)
    return cells


def _check_cells(
    cells: Cells, domain: Domain, choice: Choice, columns: Any, client: Any, axes: Tuple[Axis, ...]
) -> Cells:
    """A table that was counted before, if it is one of this domain."""
    if axes:
        raise BadInputError("With by= or time= give the points themselves.")
    if not choice.keeps_all:
        raise BadInputError(
            "Cells no longer know when and where exactly their points were; with window= or "
            "outside='drop' give the points themselves."
        )
    if choice.person is not None:
        raise BadInputError(
            "Cells no longer know whose points they hold; with person= give the points themselves."
        )
    if columns is not None or client is not None:
        raise BadInputError("columns= and client= are for count_cells; these points are counted.")
    if cells.grid != domain.grid:
        raise BadInputError(
            "These cells were counted on another grid; count the points on the domain that they "
            "are published on."
        )
    return cells
