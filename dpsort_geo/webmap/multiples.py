"""Small multiples: one small map a slice, for notebooks."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any, List, Tuple

import numpy as np
from branca.utilities import image_to_url

from ..core.accuracy import terms_of
from ..core.curve import hilbert
from ..core.errors import BadInputError
from ..core.public.picture import RAMP
from .build import two_digits
from .field import area_unit, sample, smooth_density, top_of
from .sheet import choose_sheet
from .slices import block_shares, time_words

Array = np.ndarray

_PIXELS = 220
_LEVEL = 6
#: maps of a page of small multiples; more are no overview
MOST_PANELS = 60


@dataclass(frozen=True)
class SmallMultiples:
    """Small maps of all slices of an axis; a notebook shows them."""

    axis: str
    #: caption, what the darkest colour means, and the picture: bytes of rows, columns and RGBA
    panels: List[Tuple[str, str, Array]]

    def _repr_html_(self) -> str:
        figures = "".join(
            '<figure style="margin:0 14px 14px 0">'
            f'<img alt="{escape(caption)}" src="{image_to_url(picture)}" '
            f'style="display:block;height:{_PIXELS}px">'
            f"<figcaption><b>{escape(caption)}</b><br>"
            f'<span style="opacity:0.7">{escape(darkest)}</span></figcaption></figure>'
            for caption, darkest, picture in self.panels
        )
        return f'<div style="display:flex;flex-wrap:wrap;font:13px sans-serif">{figures}</div>'

    def __repr__(self) -> str:
        return f"<{len(self.panels)} small maps by {self.axis}>"


def small_multiples(release: Any, number: int) -> SmallMultiples:
    """A small map for each slice of an axis, in colours of its own."""
    axis, decoded, domain = release.axes[number], release.decoded, release.domain
    if axis.size > MOST_PANELS:
        raise BadInputError(
            f"{axis.name!r} has {axis.size} slices, more than the {MOST_PANELS} small maps that "
            "can be looked at; to_map() has a slider for them."
        )
    rate, *_ = terms_of(release.release, release.domain.side)
    field = smooth_density(decoded, domain, rate, release.expected_error)
    level = min(_LEVEL, domain.grid.order)
    kept, shares, _, _ = block_shares(decoded, domain, level)
    sheet = choose_sheet(domain)
    x, y, inside = sheet.pixels(_PIXELS)
    whole = field.at(x, y) * inside
    ground = sample(domain, (field.share > 0) * 1.0, np.ones_like(field.share, bool), x, y) * inside
    unit = area_unit(top_of(whole))
    panels = []
    for label, total, share in zip(axis.labels, decoded.maps[number].total, shares[number]):
        coarse, known = _laid_out(kept, share, level)
        values = whole * sample(domain, coarse, known, x, y)
        cap = top_of(values)
        words = time_words(axis, label) if hasattr(axis, "cycle") else label
        darkest = f"darkest: {two_digits(cap * unit['km2'])} {unit['text']} and more"
        picture = _coloured(values, cap, ground)
        panels.append((f"{words}, about {two_digits(float(total))}", darkest, picture))
    return SmallMultiples(axis.name, panels)


def _laid_out(kept: Array, share: Array, level: int) -> Tuple[Array, Array]:
    """Shares of blocks as a square picture, row 0 the south."""
    column, row = hilbert.decode(kept, level)
    values, known = np.zeros((2**level, 2**level)), np.zeros((2**level, 2**level), bool)
    values[row, column], known[row, column] = share, True
    return values, known


def ramp(share: Array) -> Array:
    """Colours of shares between 0 and 1, as bytes.

    >>> ramp(np.array([0.0, 1.0]))
    array([[254, 240, 200],
           [ 59,  15,  80]], dtype=uint8)
    """
    stops = np.linspace(0, 1, len(RAMP))
    mixed = [np.interp(share, stops, [colour[c] for colour in RAMP]) for c in range(3)]
    return np.rint(np.stack(mixed, axis=-1)).astype(np.uint8)


def _coloured(values: Array, cap: float, ground: Array) -> Array:
    picture = np.zeros((*values.shape, 4), np.uint8)
    picture[..., :3] = ramp(np.sqrt(np.clip(values / cap, 0, 1)))
    picture[..., 3] = np.rint(255 * np.clip(ground, 0, 1))
    return picture
