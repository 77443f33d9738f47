"""Coordinates out of Arrow columns: well-known binary, text, or points as Arrow has them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from pyproj import CRS

from ...core.errors import BadInputError
from ..write import WKB_POINT
from .coordinates import (
    EMPTY,
    EWKB_POINT,
    MULTIPOINT,
    NOT_POINTS,
    finite,
    from_objects,
    from_wkb_buffer,
)
from .point_crs import parse_crs

Array = np.ndarray


def storage(column: Any) -> Any:
    """An Arrow array as it is stored, whatever type somebody has made of it."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    while isinstance(column, pa.ExtensionArray):
        column = column.storage
    return column


def from_arrow(column: Any, srid: int | None = None, gaps: bool = False) -> tuple[Array, Array]:
    """Coordinates of an Arrow array of points: WKB, text, or native (separated, interleaved)."""
    import pyarrow as pa

    column = storage(column)
    if len(column) == 0:
        return np.empty(0), np.empty(0)
    if column.null_count:
        if not gaps:
            raise BadInputError(EMPTY)
        return _around_gaps(column, srid)
    kind = column.type
    if is_text(kind):
        return from_objects(column.to_pylist(), srid, gaps)
    if pa.types.is_struct(kind):
        if kind.num_fields < 2 or not pa.types.is_floating(kind.field(0).type):
            raise BadInputError(NOT_POINTS)
        return finite(_numbers(column.field(0), gaps), _numbers(column.field(1), gaps), gaps)
    if pa.types.is_fixed_size_list(kind) and pa.types.is_floating(kind.value_type):
        values = _numbers(column.flatten(), gaps).reshape(len(column), kind.list_size)
        return finite(values[:, 0].copy(), values[:, 1].copy(), gaps)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        nested = kind.value_type
        is_multipoint = pa.types.is_struct(nested) or pa.types.is_fixed_size_list(nested)
        raise BadInputError(MULTIPOINT if is_multipoint else NOT_POINTS)
    return _from_arrow_wkb(column, srid, gaps)


def _around_gaps(column: Any, srid: int | None) -> tuple[Array, Array]:
    there = np.asarray(column.is_valid().to_numpy(zero_copy_only=False))
    x, y = np.full(len(column), np.nan), np.full(len(column), np.nan)
    x[there], y[there] = from_arrow(column.drop_null(), srid, gaps=True)
    return x, y


def _from_arrow_wkb(column: Any, srid: int | None, gaps: bool) -> tuple[Array, Array]:
    import pyarrow as pa

    n = len(column)
    if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        _, offset_buffer, data = column.buffers()
        width = np.int32 if pa.types.is_binary(column.type) else np.int64
        offset = np.frombuffer(offset_buffer, width)[column.offset : column.offset + n + 1]
        length = np.diff(offset)
        # GDAL's stream of a FlatGeobuf shows a missing geometry by its length alone
        if data is None or (length <= 0).any():
            if not gaps:
                raise BadInputError(EMPTY)
            return from_objects([one or None for one in column.to_pylist()], srid, gaps)
        if (length == (EWKB_POINT if srid else WKB_POINT).itemsize).all():
            plain = from_wkb_buffer(data, n, int(offset[0]), srid, gaps)
            if plain is not None:
                return plain
    elif not is_binary(column.type):
        raise BadInputError("The geometry column must be well-known binary or GeoArrow points.")
    return from_objects(column.to_pylist(), srid, gaps)


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is text."""
    import pyarrow as pa

    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view()
    )


def is_binary(kind: Any) -> bool:
    """Whether an Arrow type is bytes."""
    import pyarrow as pa

    return bool(
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
        or kind == pa.binary_view()
    )


def from_arrow_numbers(x: Any, y: Any, gaps: bool = False) -> tuple[Array, Array]:
    """Coordinates of two Arrow arrays of numbers."""
    import pyarrow as pa

    for column in (x, y):
        kind = column.type
        if not (
            pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind)
        ):
            raise BadInputError("The coordinate columns must hold numbers.")
    return finite(_numbers(x, gaps), _numbers(y, gaps), gaps)


def _numbers(column: Any, gaps: bool = False) -> Array:
    import pyarrow as pa

    if column.null_count and not gaps:
        raise BadInputError(EMPTY)
    if column.type != pa.float64():
        column = column.cast(pa.float64(), safe=False)
    return np.asarray(column.to_numpy(zero_copy_only=False))


def extension_crs(metadata: bytes | None) -> CRS | None:
    """The CRS in the metadata of a GeoArrow extension type."""
    try:
        parsed = json.loads(metadata or b"{}")
    except ValueError:
        return None
    return parse_crs(parsed.get("crs")) if isinstance(parsed, dict) else None
