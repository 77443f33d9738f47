"""A series on one page: a picture and answers for each window of time, and for all together."""

from __future__ import annotations

from dataclasses import fields
from types import SimpleNamespace
from typing import Any, Dict, List, Sequence, Tuple

import numpy as np

from ..core import accuracy
from ..core.errors import BadInputError
from ..core.public import points as diffusion
from ..core.public.intervals import Estimate, limits, total_variance
from ..core.statement import counted_words
from .build import describe_sheet, pack_solid
from .dots import MOST_DOTS, Layer, dots_layer, even_sample
from .field import Field, area_unit, pack_field, smooth_density
from .ground import pack_ground
from .page import Page
from .regions import CONFIDENCE, Asked, ask_levels, choose_regions, pack_regions
from .sheet import Sheet, choose_sheet
from .slices import label_words, span_words
from .words import promise_words

Array = np.ndarray

#: of a normal law, for ranges of 90 %
_REACH = 1.645
#: a page of more windows than this would be too large to send
_MOST = 200


def make_series_page(
    releases: Dict[str, Any], alone: Dict[str, Any], unit: str, title: str
) -> Page:
    """The page of releases by their windows, read as they are shown and each by itself.

    What all windows hold together is told from those read by themselves: their errors have nothing
    to do with each other.
    """
    labels, every = list(releases), list(releases.values())
    _refuse_unlike(every)
    sheet = choose_sheet(every[-1].domain, False)
    people = counted_words(every[-1].release)
    words = [label_words(label) for label in labels]
    asked = [ask_levels(each.decoded, each.domain) for each in every]
    together = _add([ask_levels(each.decoded, each.domain) for each in alone.values()])
    pictures = [_smooth(each) for each in every]
    total = Field(
        pictures[-1].domain, pictures[-1].level,
        np.sum([each.density for each in pictures], axis=0), pictures[-1].share,
    )  # fmt: skip
    shown, *windows = [
        _pack_window(picture, own, each, sheet)
        for picture, own, each in zip(
            [total, *pictures], [together, *asked], [_sum_of(every), *(r.release for r in every)]
        )
    ]
    sizes = [float(each.size) for each in every]
    cap = shown["field"]["cap"] * max(sizes) / max(sum(sizes), 1.0)
    when = span_words(words[0], words[-1])
    error = max(each.expected_error for each in every)
    data: Dict[str, Any] = {
        "people": people,
        "when": when,
        "tiles": None,
        "error": float(error) if np.isfinite(error) else sheet.domain.side / 100,
        "sheet": describe_sheet(sheet),
        "ground": pack_ground(sheet),
        **shown,
        "unit": area_unit(cap),
        "slices": {
            "axes": [{"name": unit, "time": True, "labels": labels, "words": words}],
            "windows": windows,
            "totals": [sum(sizes), *sizes],
        },
    }
    weakest = max(every, key=lambda each: float(each.epsilon))
    promise = promise_words(weakest.statement())
    promise.how.append(f"Each {unit} was published by itself.")
    promise.how.append(every[-1].error_words())
    off = f"typically {accuracy.length_words(error)} off" if np.isfinite(error) else None
    facts = [
        ("What", f"about {sum(sizes):,.0f} protected {people}"), ("When", when), ("Accuracy", off)
    ]  # fmt: skip
    columns = (unit.capitalize(), "About", "Likely between")
    return Page(
        title, facts, promise, data, [_dots(every, sheet)],
        (f"How many, by {unit}", columns, _rows(words, every)),
        all(each.private for each in every),
    )  # fmt: skip


def _refuse_unlike(releases: Sequence[Any]) -> None:
    if len(releases) > _MOST:
        raise BadInputError(
            f"The series has {len(releases)} windows; a page shows {_MOST} at most. Copy those "
            "that it should show into a folder of their own."
        )
    if any(each.domain.grid != releases[0].domain.grid for each in releases):
        raise BadInputError(
            "The windows of the series were published on different domains, which one map cannot "
            "compare: draw each with `map`."
        )


def _smooth(release: Any) -> Field:
    rate, *_ = accuracy.terms_of(release.release, release.domain.side)
    return smooth_density(release.decoded, release.domain, rate, release.expected_error)


def _sum_of(releases: Sequence[Any]) -> Any:
    """All that limits ask of a release, of all of them together."""
    exact = all(each.release.neighbours == "replace" for each in releases)
    return SimpleNamespace(
        size=sum(each.size for each in releases), neighbours="replace" if exact else "add-remove"
    )


def _add(asked: List[Asked]) -> Asked:
    """What several releases tell about the same squares: masses and variances add up."""
    first = asked[0]
    return {
        level: (
            room,
            Estimate(
                *(
                    np.sum([getattr(each[level][1], part.name) for each in asked], axis=0)
                    for part in fields(Estimate)
                )
            ),
        )
        for level, (room, _) in first.items()
    }


def _pack_window(picture: Field, asked: Asked, release: Any, sheet: Sheet) -> Dict[str, Any]:
    def limited(estimate: Estimate) -> "Tuple[Array, Array, Array]":
        low, high = limits(release, estimate, CONFIDENCE)
        return estimate.mass, low, np.maximum(high, low)

    regions, answers = choose_regions(
        {level: (room, limited(own)) for level, (room, own) in asked.items()}, picture.domain
    )
    return {
        "field": {**pack_field(picture, sheet), **pack_solid(regions, answers, sheet)},
        "regions": pack_regions(regions, [answers], sheet),
    }


def _dots(releases: Sequence[Any], sheet: Sheet) -> Layer:
    total = sum(each.decoded.n for each in releases)
    share = min(1.0, MOST_DOTS / max(total, 1))
    places: List[Array] = [np.zeros((2, 0))]
    for each in releases:
        rank = even_sample(each.decoded.n, int(each.decoded.n * share))
        places.append(np.stack(sheet.place(*diffusion.points_at(each.decoded, rank, True))))
    window = np.repeat(np.arange(len(releases)), [part.shape[1] for part in places[1:]])
    u, v = np.concatenate(places, axis=1)
    return dots_layer("Points", u, v, sheet.window, total=total, labels=[window])


def _rows(words: Sequence[str], releases: Sequence[Any]) -> List[Sequence[str]]:
    rows: List[Sequence[str]] = []
    for name, each in zip(words, releases):
        reach = _REACH * float(np.sqrt(total_variance(each.release)))
        low, high = max(0.0, each.size - reach), each.size + reach
        rows.append((name, f"{each.size:,}", f"{low:,.0f} and {high:,.0f}"))
    return rows
