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
Decorator = Callable[[Command], Command]


def join(*options: Decorator) -> Decorator:
    """Several options as one decorator, in the order of the help."""

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
#: the release to read; - is standard input
release_argument = click.argument("release", type=click.Path(allow_dash=True))
out_argument = click.argument("out", type=click.Path(allow_dash=True, dir_okay=False))
#: what of a release is read: all of it, or what lies within a boundary, in some slices
view_options = join(
    click.option(
        "--within", type=click.Path(), metavar="FILE", help="Public polygons that hold all points."
    ),
    click.option(
        "--select", multiple=True, metavar="AXIS=A,B",
        help="Only these slices, such as type=theft,other or time=2026-03; again for a further "
        "axis.",
    ),
)  # fmt: skip
confidence_option = click.option(
    "--confidence", type=float, default=0.9, show_default=True, metavar="SHARE",
    help="How often low and high hold the truth between them.",
)  # fmt: skip
zones_layer_option = click.option(
    "--zones-layer", metavar="NAME", help="Layer of the zones, if their file has several."
)
mechanism_option = click.option(
    "--method", type=click.Choice(["adaptive", "sort", "hybrid"]), default="adaptive",
    show_default=True, help="The mechanism.",
)  # fmt: skip
#: which data sets cannot be told apart
neighbours_option = click.option(
    "--neighbours", type=click.Choice(["replace", "add-remove"]), default="replace",
    show_default=True, help="add-remove hides the number of points too.",
)  # fmt: skip

#: where points may lie: a box or a polygon, public knowledge
area_options = join(
    click.option(
        "--bounds", type=float, nargs=4, metavar="W S E N", help="Box: the domain, in --crs."
    ),
    click.option(
        "--polygon", type=click.Path(), metavar="FILE", help="File of polygons: the domain."
    ),
    click.option("--polygon-layer", metavar="NAME", help="Layer of --polygon, if it has several."),
    click.option(
        "--crs", metavar="CRS", help="CRS of --bounds, such as EPSG:4326; required with them."
    ),
)
#: the same, and how finely it is cut
domain_options = join(
    area_options,
    click.option(
        "--resolution", type=float, metavar="METRES",
        help="Smallest detail that readers will ask for.",
    ),
    click.option("--order", type=int, metavar="N", help="2^N cells a side  [default: by size]"),
)  # fmt: skip
#: what a file of points does not say itself
reading_options = join(
    click.option(
        "--columns", nargs=2, metavar="X Y", help="Columns of the coordinates in a table."
    ),
    click.option(
        "--points-crs", metavar="CRS", help="CRS of coordinates that name none, as in CSV."
    ),
    click.option("--layer", metavar="NAME", help="Layer of IN, if it has several."),
    click.option(
        "--decimal", type=click.Choice([".", ","]), default=".", help="Decimal sign in CSV."
    ),
)
#: which rows of a database
database_options = join(
    click.option("--table", metavar="NAME", help="Table of a database, if IN is postgresql://"),
    click.option("--sql", metavar="QUERY", help="Query of a database instead of --table."),
)
#: what and when: public lists of categories, and a range of time
axes_options = join(
    click.option(
        "--by", multiple=True, metavar="COLUMN=A,B,other",
        help="Categories: a column and its public values; 'other' takes the rest.",
    ),
    click.option(
        "--time", multiple=True, metavar="COLUMN:START:STOP:EVERY",
        help="Dates, such as when:2026-01-01:2027-01-01:1month, or when:week:1hour; with :other "
        "behind it, missing dates have a bin of their own.",
    ),
)  # fmt: skip
#: which rows are published, and what is protected
rows_options = join(
    neighbours_option,
    click.option(
        "--person", multiple=True, metavar="COLUMN",
        help="Protect all points of one person together; two columns (rider,date) protect a "
        "person's day.",
    ),
    click.option(
        "--max-points", type=int, metavar="M",
        help="With --person: up to M points of each person count, chosen at random.",
    ),
    click.option(
        "--outside", type=click.Choice(["nearest", "drop"]), default="nearest",
        show_default=True, help="Points outside of the domain: move them in, or leave them out "
        "(with --neighbours add-remove).",
    ),
    click.option(
        "--window", nargs=2, metavar="START STOP",
        help="Publish only points from START until STOP, such as 2026-03-01 2026-04-01.",
    ),
    click.option("--date", metavar="COLUMN", help="Column of dates that --window is about."),
)  # fmt: skip


def epsilon_option(required: bool = True) -> Decorator:
    """The privacy budget, exact decimal text."""
    return click.option(
        "-e", "--epsilon", required=required, metavar="EPS",
        help="Privacy budget, such as 1 or 0.5.",
    )  # fmt: skip


def ledger_options(dataset: str) -> Decorator:
    """What is debited, and where; ``dataset`` says which name the ledger takes by itself."""
    return join(
        click.option("--dataset", metavar="NAME", help=f"Name in the ledger  [default: {dataset}]"),
        click.option(
            "--ledger", type=click.Path(), metavar="FILE", help="Ledger  [default: your own]"
        ),
        click.option("--no-ledger", is_flag=True, help="Debit no ledger; the release says so."),
        click.option("--population", metavar="NAME", help="The people behind several data sets."),
        click.option(
            "--another-name", is_flag=True, help="Go on if the ledger knows IN under another name."
        ),
    )


def writes(word: str) -> Decorator:
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
