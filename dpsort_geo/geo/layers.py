"""Layers of files: which one is meant."""

from __future__ import annotations

import os
from typing import Any, Optional

from ..core.errors import BadInputError

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
