"""A slice of a release on the geopandas face."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, List, Mapping

from ..core.errors import BadInputError
from ..core.public.decode import Decoded
from .release import Release


@dataclass(frozen=True, repr=False, kw_only=True)
class GeoSlice(Release):
    """Some slices of a release: read like a release, within the same promise."""

    whole: Release
    chosen: Mapping[int, List[int]]

    @cached_property
    def decoded(self) -> Decoded:
        return self.whole.decoded.select(self.chosen)

    @property
    def n(self) -> int:
        """About how many points the slices hold; unlike the total this is an estimate."""
        return self.decoded.n

    def select(self, **chosen: Any) -> Release:
        raise BadInputError("A slice cannot be cut again: choose all axes in one select().")

    def against(
        self, prior: Any, weight: Any = None, transform: Any = None, crs: Any = None
    ) -> Release:
        raise BadInputError("Read the whole release against a prior, and select() from that.")

    def save(self, path: Any, overwrite: bool = True) -> None:
        raise BadInputError("A slice is a way to read a release: save the whole release.")

    def __str__(self) -> str:
        axes = self.release.axes
        what = "; ".join(
            f"{axes[axis].name}: " + ", ".join(axes[axis].labels[one] for one in own[:6])
            for axis, own in self.chosen.items()
        )
        points = "1 point" if self.n == 1 else f"{self.n:,} points"
        return f"about {points} ({what}) of an {super().__str__()}"
