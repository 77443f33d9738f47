"""What a dry run found, in words and as a small picture. Private, and it says so first."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any, Optional

import numpy as np

Array = np.ndarray

PRIVATE = (
    "PRIVATE: exact numbers of the points themselves. Keep this where they are; publish none of it."
)
#: where points outside of the domain lie, in words
SIDES = {
    "west": "to its west",
    "south": "to its south",
    "east": "to its east",
    "north": "to its north",
    "beside": "within its box but outside of its polygon",
}
#: from no points to many
_SHADES = "░▒▓█"
_WIDTH, _HEIGHT = 64, 32
_MOST_LISTED = 8


@dataclass(frozen=True, repr=False)
class AxisFound:
    """Values of a column beside those that are declared, with the number of rows of each."""

    column: str
    declared: dict[str, int]
    #: values that are in no list
    strange: dict[str, int]
    missing: int
    early: int = 0
    late: int = 0
    first_last: Optional[tuple[str, str]] = None
    takes_rest: bool = False
    #: values of a kind that the axis takes in no case
    unfit: int = 0

    def lines(self) -> list[str]:
        """In words."""
        empty = [name for name, count in self.declared.items() if not count]
        found = f"{self.column}: {_plural(len(self.declared) - len(empty), 'declared slice')} found"
        if empty:
            found += f", {len(empty):,} declared and not found ({_list_some(empty)})"
        lines = [found]
        if self.strange:
            named = [f"{name!r} {count:,}" for name, count in self.strange.items()]
            into = "counted as 'other'" if self.takes_rest else "refused"
            lines.append(f"  found and not declared, {into}: {_list_some(named)}")
        if self.first_last is not None:
            lines.append(f"  from {self.first_last[0]} to {self.first_last[1]}")
        if self.early or self.late:
            lines.append(
                f"  before the range: {self.early:,}; after it: {self.late:,} "
                "(moved to the nearest bin)"
            )
        if self.missing:
            lines.append(f"  without a value, or not understood: {self.missing:,}")
        if self.unfit:
            lines.append(f"  neither text nor of another kind that an axis takes: {self.unfit:,}")
        return lines


@dataclass(frozen=True, repr=False)
class Check:
    """What a dry run found. Private: `print` and notebooks show it, its repr does not."""

    #: which columns and which CRS were understood
    read: str
    crs: str
    domain: str
    rows: int
    #: rows without a place
    missing: int
    #: points that have no place in the domain's CRS
    nowhere: int
    outside: int
    sides: dict[str, int]
    persons: Optional[int]
    #: points without a person
    nobody: int
    most_points: int
    typical_points: float
    axes: tuple[AxisFound, ...]
    #: a sentence for each mistake that would cost epsilon, or that publish refuses
    problems: tuple[str, ...]
    picture: Array
    #: share of allowed cells in each square of the picture; row 0 is the south
    allowed: Array
    plan: Any

    def __repr__(self) -> str:
        return "<Check: private; print it to see it>"

    def facts(self) -> dict[str, Any]:
        """All of it as plain values, for machines on the publisher's side."""
        return {
            "private": PRIVATE, "read": self.read, "crs": self.crs, "domain": self.domain,
            "rows": self.rows, "missing": self.missing, "nowhere": self.nowhere,
            "outside": self.outside, "sides": self.sides, "persons": self.persons,
            "without_person": self.nobody, "most_points": self.most_points,
            "typical_points": self.typical_points,
            "axes": [vars(axis) for axis in self.axes], "problems": list(self.problems),
            "plan": None if self.plan is None else str(self.plan),
        }  # fmt: skip

    def lines(self) -> list[str]:
        """In words, without the picture."""
        inside = self.rows - self.missing - self.outside
        lines = [
            f"Read: {self.read}.",
            f"{self.domain}.",
            f"{_plural(self.rows, 'row')}: {inside:,} in the domain, {self.outside:,} outside "
            f"of it, {self.missing:,} without a place (empty, or not a number).",
        ]
        where = [f"{count:,} {SIDES[side]}" for side, count in self.sides.items() if count]
        if self.nowhere:
            where.append(f"{self.nowhere:,} where the domain's CRS has no place")
        if where:
            lines.append(f"Outside: {', '.join(where)}.")
        if self.persons is not None:
            without = f", {self.nobody:,} without a person" if self.nobody else ""
            each = "point" if self.typical_points == 1 else "points"
            lines.append(
                f"{_plural(self.persons, 'person')}: {self.typical_points:g} {each} each by the "
                f"median, {self.most_points:,} at most{without}."
            )
        for axis in self.axes:
            lines.extend(axis.lines())
        return lines

    def __str__(self) -> str:
        problems = [f"! {sentence}" for sentence in self.problems] or ["No problem was found."]
        plan = [] if self.plan is None else ["", f"Plan: {self.plan}"]
        drawn = [*self._drawn(), ""] if self.picture.any() else []
        return "\n".join([PRIVATE, "", *self.lines(), "", *drawn, *problems, *plan])

    def _drawn(self) -> list[str]:
        """The picture in letters, north above; one letter is about twice as high as wide."""
        rows, columns = (
            np.linspace(0, len(self.picture), pieces + 1).astype(int)[:-1]
            for pieces in (_HEIGHT, _WIDTH)
        )
        count, allowed = (
            np.add.reduceat(np.add.reduceat(of, rows, axis=0), columns, axis=1)
            for of in (self.picture, self._finer(self.allowed))
        )
        shade = _shades(count, len(_SHADES))
        drawn = []
        for some, open_ in zip(shade[::-1], allowed[::-1]):
            drawn.append(
                "".join(
                    _SHADES[s - 1] if s else "·" if a > 0 else " " for s, a in zip(some, open_)
                ).rstrip()
            )
        return drawn

    def _finer(self, allowed: Array) -> Array:
        times = len(self.picture) // len(allowed)
        return np.kron(allowed, np.ones((times, times)))

    def _repr_html_(self) -> str:
        side = len(self.picture)
        allowed = self._finer(self.allowed)
        shade = _shades(self.picture, 9)
        squares = [
            f'<rect x="{x}" y="{side - 1 - y}" width="1.02" height="1.02" '
            + (f'opacity="{0.1 + shade[y, x] / 10:.1f}"/>' if shade[y, x] else 'opacity="0.06"/>')
            for y, x in np.argwhere((shade > 0) | (allowed > 0)).tolist()
        ]
        picture = (
            f'<svg viewBox="0 0 {side} {side}" width="256" height="256" role="img" '
            f'aria-label="where the points are" fill="#25637d">{"".join(squares)}</svg>'
        )
        items = "".join(f"<li>{escape(line)}</li>" for line in self.lines())
        problems = "".join(
            f'<li style="color:#a3330f">{escape(sentence)}</li>' for sentence in self.problems
        )
        plan = "" if self.plan is None else self.plan._repr_html_()
        return (
            f'<div style="max-width:52em"><p><b>{escape(PRIVATE)}</b></p>'
            f'<div style="display:flex;gap:1.5em;flex-wrap:wrap"><figure style="margin:0">{picture}'
            f'</figure><ul style="flex:1;min-width:20em">{items}{problems}</ul></div>{plan}</div>'
        )


def _shades(count: Array, steps: int) -> Array:
    """0 where there is nothing, else 1 to ``steps`` by the logarithm of the number."""
    most = max(int(count.max()), 1)
    share = np.log1p(count) / np.log1p(most)
    return np.where(count > 0, np.clip(np.ceil(share * steps), 1, steps), 0).astype(int)


def _plural(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _list_some(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_LISTED:,} more" if len(names) > _MOST_LISTED else ""
    return ", ".join(names[:_MOST_LISTED]) + more
