"""Maps of a release: a page, a map in a notebook, small maps side by side."""

from __future__ import annotations

import os
from typing import Any, Optional, Union

import numpy as np

from ..core.atomic import write_text
from ..core.errors import BadInputError
from ..webmap.build import make_page
from ..webmap.multiples import SmallMultiples, small_multiples
from ..webmap.page import Page
from . import axes
from .facts import Facts
from .zones import Zones

Array = np.ndarray
PathLike = Union[str, "os.PathLike[str]"]


class Maps(Facts):
    """What a release has to show; a base of `Release`."""

    def explore(self, tiles: Any = "https://tile.openstreetmap.org/{z}/{x}/{y}.png") -> Any:
        """A ``folium.Map`` with density, points and outline, for notebooks."""
        return self.map_page(tiles=tiles, mercator=True).folium_map()

    def to_map(
        self,
        path: PathLike,
        title: Optional[str] = None,
        tiles: Any = None,
        zones: Optional[Zones] = None,
        label: Optional[str] = None,
        per: Optional[str] = None,
        **words: Optional[str],
    ) -> None:
        """Write the map as one page that needs no network; ``tiles`` adds a base map that does.

        Parameters
        ----------
        title
            The heading. ``what``, ``when`` and ``source`` (text) say more below it.
        zones
            Polygons: a map of the number of points in each, with a table, instead of the density.
            Zones where the number is not reliable are hatched.
        label
            The column of the zones with their names.
        per
            A column of the zones, such as "population": rates instead of numbers.
        """
        write_text(path, self.map_page(title, tiles, zones, label, per, **words).html())

    def map_page(
        self,
        title: Optional[str] = None,
        tiles: Any = None,
        zones: Optional[Zones] = None,
        label: Optional[str] = None,
        per: Optional[str] = None,
        **more: Any,
    ) -> Page:
        """What the map shows: for `to_map`, `explore`, and pages with further layers."""
        return make_page(self, title, tiles, zones, label, per, **more)

    def small_multiples(self, axis: str) -> SmallMultiples:
        """A small map for each value of an axis, side by side in a notebook.

        ``axis`` is its name, such as "type"; "time" is the one with dates.
        """
        if hasattr(self, "chosen"):
            raise BadInputError("Draw small maps of the release itself, not of a slice of it.")
        return small_multiples(self, axes.axis_number(self.axes, axis))
