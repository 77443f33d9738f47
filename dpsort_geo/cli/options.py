"""Options that several commands share, and how they speak."""

from __future__ import annotations

import inspect
from functools import wraps
from pathlib import Path
from typing import Any, Callable

import click

from .progress import Progress
from .words import say_written

Command = Callable[..., Any]


def domain_options(command: Command) -> Command:
    """Where points may lie: a box or a polygon, public knowledge."""
    for option in (
        click.option("--order", type=int, metavar="N", help="2^N cells a side  [default: by size]"),
        click.option(
            "--resolution",
            type=float,
            metavar="METRES",
            help="Smallest detail that readers will ask for.",
        ),
        click.option(
            "--crs", metavar="CRS", help="CRS of --bounds, such as EPSG:4326; required with them."
        ),
        click.option(
            "--polygon-layer", metavar="NAME", help="Layer of --polygon, if it has several."
        ),
        click.option(
            "--polygon", type=click.Path(), metavar="FILE", help="File of polygons: the domain."
        ),
        click.option(
            "--bounds", type=float, nargs=4, metavar="W S E N", help="Box: the domain, in --crs."
        ),
    ):
        command = option(command)
    return command


def epsilon_option(required: bool = True) -> Callable[[Command], Command]:
    """The privacy budget, exact decimal text."""
    return click.option(
        "-e",
        "--epsilon",
        required=required,
        metavar="EPS",
        help="Privacy budget, such as 1 or 0.5.",
    )


def mechanism_options(command: Command) -> Command:
    """Which mechanism measures."""
    method = click.Choice(["adaptive", "sort", "hybrid"])
    return click.option(
        "--method", type=method, default="adaptive", show_default=True, help="The mechanism."
    )(command)


def reading_options(command: Command) -> Command:
    """What a file of points does not say itself."""
    for option in (
        click.option(
            "--decimal", type=click.Choice([".", ","]), default=".", help="Decimal sign in CSV."
        ),
        click.option("--layer", metavar="NAME", help="Layer of IN, if it has several."),
        click.option(
            "--points-crs", metavar="CRS", help="CRS of coordinates that name none, as in CSV."
        ),
        click.option(
            "--columns", nargs=2, metavar="X Y", help="Columns of the coordinates in a table."
        ),
    ):
        command = option(command)
    return command


def database_options(command: Command) -> Command:
    """Which rows of a database."""
    for option in (
        click.option("--sql", metavar="QUERY", help="Query of a database instead of --table."),
        click.option("--table", metavar="NAME", help="Table of a database, if IN is postgresql://"),
    ):
        command = option(command)
    return command


within_option = click.option(
    "--within", type=click.Path(), metavar="FILE", help="Public polygons that hold all points."
)
confidence_option = click.option(
    "--confidence", type=float, default=0.9, show_default=True, metavar="SHARE",
    help="How often low and high hold the truth between them.",
)  # fmt: skip
out_argument = click.argument("out", type=click.Path(allow_dash=True, dir_okay=False))
zones_layer_option = click.option(
    "--zones-layer", metavar="NAME", help="Layer of the zones, if their file has several."
)


def axes_options(command: Command) -> Command:
    """What and when: public lists of categories, and a range of time."""
    for option in (
        click.option(
            "--time", metavar="COLUMN:START:STOP:EVERY",
            help="Dates, such as when:2026-01-01:2027-01-01:1month, or when:week:1hour.",
        ),
        click.option(
            "--by", multiple=True, metavar="COLUMN=A,B,other",
            help="Categories: a column and its public values; 'other' takes the rest.",
        ),
    ):  # fmt: skip
        command = option(command)
    return command


def rows_options(command: Command) -> Command:
    """Which rows are published, and what is protected."""
    for option in (
        click.option("--date", metavar="COLUMN", help="Column of dates that --window is about."),
        click.option(
            "--window", nargs=2, metavar="START STOP",
            help="Publish only points from START until STOP, such as 2026-03-01 2026-04-01.",
        ),
        click.option(
            "--outside", type=click.Choice(["nearest", "drop"]), default="nearest",
            show_default=True, help="Points outside of the domain: move them in, or leave them out "
            "(with --neighbours add-remove).",
        ),
        click.option(
            "--max-points", type=int, metavar="M",
            help="With --person: up to M points of each person count, chosen at random.",
        ),
        click.option(
            "--person", multiple=True, metavar="COLUMN",
            help="Protect all points of one person together; two columns (rider,date) protect a "
            "person's day.",
        ),
        neighbours_option,
    ):  # fmt: skip
        command = option(command)
    return command


def neighbours_option(command: Command) -> Command:
    """Which data sets cannot be told apart."""
    return click.option(
        "--neighbours",
        type=click.Choice(["replace", "add-remove"]),
        default="replace",
        show_default=True,
        help="add-remove hides the number of points too.",
    )(command)


def json_option(command: Command) -> Command:
    """Print for machines."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def writes(word: str) -> Callable[[Command], Command]:
    """A command that writes OUT: shows a word while it works, and says what it wrote.

    The command returns what that is, in words. Below all options of the command.
    """

    def wrap(command: Command) -> Command:
        knows_json = "as_json" in inspect.signature(command).parameters

        @wraps(command)
        def run(as_json: bool, **given: Any) -> None:
            if knows_json:
                given["as_json"] = as_json
            with Progress(word):
                what = command(**given)
            if what is not None and Path(given["out"]).is_file():
                say_written(as_json, given["out"], what)

        return json_option(run)

    return wrap


def release_argument(command: Command) -> Command:
    """The release to read; - is standard input."""
    return click.argument("release", type=click.Path(allow_dash=True))(command)
