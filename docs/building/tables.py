"""Tables of the site with numbers that the library computes when the site is built."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

import click
import geopandas as gpd
import numpy as np
import shapely

import dpsort_geo as dp
from dpsort_geo.cli import cli
from dpsort_geo.core.label import right_guesses

EPSILONS = ("0.1", "0.3", "1", "3")
NUMBERS = (1_000, 10_000, 100_000)
#: a city of 20 km x 20 km in 25 wards
SIDE, WARDS = 20_000, 5
CRS = "EPSG:32632"
#: signs in a line of text as it is
WIDTH = 88


def city() -> dp.Domain:
    """The city of the tables."""
    return dp.Domain.from_bounds((0, 0, SIDE, SIDE), crs=CRS)


def wards() -> gpd.GeoDataFrame:
    """Its wards, all of one size."""
    step = SIDE / WARDS
    corners = [(x * step, y * step) for y in range(WARDS) for x in range(WARDS)]
    boxes = [shapely.box(x, y, x + step, y + step) for x, y in corners]
    return gpd.GeoDataFrame(geometry=boxes, crs=CRS)


def two_digits(number: float) -> str:
    """Two digits that count: more would promise too much.

    >>> two_digits(1234.5), two_digits(0.123)
    ('1,200', '0.12')
    """
    rounded = float(f"{number:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


def as_markdown(head: list[str], rows: list[list[str]]) -> str:
    """A table as Markdown, numbers to the right."""
    lines = [head, ["---"] + ["--:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def metres() -> str:
    """How far off a point is on average, by epsilon and number of points."""
    rows = []
    for epsilon in EPSILONS:
        plans = [dp.plan(n=n, epsilon=epsilon, domain=city()) for n in NUMBERS]
        rows.append([epsilon, *map(off_words, plans)])
    return as_markdown(["epsilon"] + [f"{n:,} points" for n in NUMBERS], rows)


def off_words(plan: dp.Plan) -> str:
    """The error of a plan, and its range."""
    error, low, high = map(two_digits, (plan.expected_error, plan.low, plan.high))
    return f"{error} m ({low} to {high})"


def per_ward() -> str:
    """Half of the interval of a ward's count: the middle one of all wards."""
    rows = []
    for epsilon in EPSILONS:
        row = [epsilon]
        for n in NUMBERS:
            zones = dp.plan(n=n, epsilon=epsilon, domain=city(), zones=wards()).zones
            middle = zones[["expected", "half_width"]].median()
            share = middle["half_width"] / middle["expected"]
            row.append(f"± {two_digits(middle['half_width'])} ({share:.0%})")
        rows.append(row)
    return as_markdown(["epsilon"] + [f"{n:,} points" for n in NUMBERS], rows)


def guesses() -> str:
    """Right guesses of 100 about one person, of who would have been right 50 times."""
    rows = [[epsilon, f"{right_guesses(float(epsilon), 50):g} of 100"] for epsilon in EPSILONS]
    return as_markdown(["epsilon", "right at most"], rows)


def label() -> str:
    """The label of a release of invented points, as text."""
    people = np.random.default_rng(1)
    points = people.normal(SIDE / 2, SIDE / 10, (2_000, 2))
    release = dp.publish(points, "1", city(), neighbours="add-remove")
    text = release.label(title="Night calls 2026").text
    lines = [textwrap.fill(line, WIDTH, subsequent_indent="    ") for line in text.splitlines()]
    return "\n".join(["```text", *lines, "```"])


def command() -> str:
    """The help of the command and of all its parts, with their examples, as the shell prints it."""
    parts = describe(
        cli,
        click.Context(cli, info_name="dpsort-geo", terminal_width=WIDTH, **cli.context_settings),
    )
    return "\n\n".join(
        f"{'#' * depth} {name}\n\n```text\n{text}\n```" for depth, name, text in parts
    )


def describe(part: click.Command, context: click.Context) -> Iterator[tuple[int, str, str]]:
    """How deep a command lies, its whole name and its help; then those of its own commands."""
    path = context.command_path
    yield min(2 + path.count(" "), 3), path, part.get_help(context)
    for name, inner in sorted(getattr(part, "commands", {}).items()):
        yield from describe(inner, click.Context(inner, info_name=name, parent=context))


#: by the names that pages ask for them
TABLES = {
    "guesses": guesses, "metres": metres, "wards": per_ward, "label": label, "command": command,
}  # fmt: skip
