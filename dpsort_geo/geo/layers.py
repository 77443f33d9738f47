"""Layers of files: which one is meant, and public polygons read from them."""

from __future__ import annotations

import os
import warnings
from typing import Any, Optional

from ..core.errors import BadInputError, hide_secrets

_MARK = "|layername="


def split_layer(path: Any, layer: Optional[str] = None) -> tuple[str, Optional[str]]:
    """A path and the layer that is named in it, as QGIS writes it, or beside it.

    >>> split_layer("city.gpkg|layername=wards")
    ('city.gpkg', 'wards')
    """
    bare, _, named = os.fspath(path).partition(_MARK)
    if named and layer and named != layer:
        raise BadInputError("The path names another layer than layer=; say it once.")
    return bare, named or layer


def pick_layer(path: str, layer: Optional[str], kind: str) -> str:
    """The layer that is named; else the only one, or the only one of this kind of geometry."""
    import pyogrio

    layers = [(str(name), str(type_)) for name, type_ in pyogrio.list_layers(path)]
    return choose_layer(layers, path, layer, kind)


def choose_layer(layers: list[tuple[str, str]], path: str, layer: Optional[str], kind: str) -> str:
    """One of these layers, as `pick_layer` does."""
    names = [name for name, _ in layers]
    listed = ", ".join(repr(name) for name in names)
    if layer is not None:
        if layer in names:
            return layer
        raise BadInputError(
            f"{os.path.basename(path)} has no layer {layer!r}; it has {listed or 'none'}."
        )
    if len(names) == 1:
        return names[0]
    fitting = [name for name, type_ in layers if kind.lower() in type_.lower()]
    if len(fitting) == 1:
        return fitting[0]
    name = os.path.basename(path)
    # only points have an argument of that name; for polygons the shell has two
    how = "with layer= or " if kind == "Point" else ""
    raise BadInputError(
        f"{name} has several layers, {listed}: say which {how}as '{name}{_MARK}{names[0]}'."
    )


def read_polygons(path: str, layer: Optional[str] = None) -> Any:
    """The geometries of a file of public polygons and their CRS; GeoParquet needs geopandas."""
    bare, layer = split_layer(path, layer)
    if bare.lower().endswith("parquet"):
        return read_frame(path, layer)

    def read() -> Any:
        import shapely

        from .polygons import Shapes, read_quickly

        found = read_quickly(bare, layer)
        if found is not None:
            return found
        import pyogrio.raw

        meta, _, shapes, _ = pyogrio.raw.read(
            bare, layer=pick_layer(bare, layer, "Polygon"), columns=[]
        )
        return Shapes(shapely.from_wkb(shapes), meta["crs"])

    return _explained(bare, read)


def read_frame(path: str, layer: Optional[str] = None) -> Any:
    """A file of public polygons as a GeoDataFrame."""
    bare, layer = split_layer(path, layer)

    def read() -> Any:
        import geopandas

        if not bare.lower().endswith("parquet"):
            return geopandas.read_file(bare, layer=pick_layer(bare, layer, "Polygon"))
        if layer is not None:
            raise BadInputError(f"{os.path.basename(bare)} has no layers: name none.")
        return geopandas.read_parquet(bare)

    return _explained(bare, read)


def _explained(path: str, read: Any) -> Any:
    try:
        with warnings.catch_warnings():  # they name the path, and what may be secret in it
            warnings.simplefilter("ignore")
            return read()
    except BadInputError:
        raise
    except Exception as error:
        # these files are public, but a traceback of a reader library helps nobody
        reason = str(error).splitlines()[0] if str(error) else "it cannot be read"
        sentence = f"{path} cannot be read as polygons: {reason}"
    raise BadInputError(hide_secrets(sentence))
