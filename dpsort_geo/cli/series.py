"""Series in the shell: publish a window, count in all of them, compare two, draw them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Optional, Tuple

import click

from .arguments import make_domain, make_rows
from .files import read_frame, refuse_to_overwrite
from .ledger import choose_ledger
from .options import (
    confidence_option,
    database_options,
    domain_options,
    epsilon_option,
    json_option,
    ledger_options,
    out_argument,
    reading_options,
    writes,
)
from .progress import Progress
from .publish import open_points, stopping
from .words import count_words, list_examples, say, say_table, say_written, show_warnings

_folder = click.argument("folder", type=click.Path(file_okay=False))
_alone = click.option("--alone", is_flag=True, help="Read each release by itself.")


@click.group(
    epilog=list_examples(
        "dpsort-geo series append calls calls.parquet 2026-03 -e 0.5 --date when \\",
        "    --bounds -74.3 40.5 -73.7 40.95 --crs EPSG:4326",
        "dpsort-geo series count calls districts.gpkg counts.csv",
    )
)
def series() -> None:
    """Releases of one data set, month after month, in one folder."""


@series.command(
    epilog=list_examples(
        "dpsort-geo series append calls calls.parquet 2026-03 -e 0.5 --date when \\",
        "    --polygon city.gpkg",
        "dpsort-geo series append calls calls.csv 2026-03-02 -e 0.1 --date day --every '1 week' \\",
        "    --polygon city.gpkg --columns lon lat",
    )
)
@_folder
@click.argument("points", metavar="IN", type=click.Path())
@click.argument("when", metavar="WHEN")
@epsilon_option()
@click.option("--date", required=True, metavar="COLUMN", help="The column of dates.")
@click.option(
    "--every", default="1 month", show_default=True, metavar="STEP", help="How long a window is."
)
@domain_options
@click.option("--person", multiple=True, metavar="COLUMN", help="Protect all points of one person.")
@click.option("--max-points", type=int, metavar="M", help="With --person: up to M points of each.")
@click.option(
    "--outside",
    type=click.Choice(["nearest", "drop"]),
    default="nearest",
    show_default=True,
    help="Points outside of the domain: move them in, or leave them out.",
)
@reading_options
@database_options
@ledger_options("FOLDER's name")
@click.option("--again", is_flag=True, help="Spend once more: the file of this window was lost.")
@json_option
def append(
    folder: str, points: str, when: str, epsilon: str, date: str, every: str,
    person: Tuple[str, ...], max_points: Optional[int], outside: str,
    columns: Optional[Tuple[str, str]], points_crs: Optional[str], layer: Optional[str],
    decimal: str, table: Optional[str], sql: Optional[str], dataset: Optional[str],
    ledger: Optional[str], no_ledger: bool, population: Optional[str], another_name: bool,
    again: bool, as_json: bool, **domain: Any,
) -> None:  # fmt: skip
    """Publish the points of file IN that lie in the window WHEN, such as 2026-03, into FOLDER.

    A window that was published is refused before anything is spent. The number of points is
    protected too.
    """
    from ..geo.series import Series

    book = choose_ledger(ledger, no_ledger, population)
    made = Series(
        folder, make_domain(**domain), every=every, epsilon=epsilon, date=date, dataset=dataset,
        ledger=book,
    )  # fmt: skip
    who = make_rows(person, None, max_points=max_points, outside=outside)
    del who["window"]  # which is WHEN
    source, progress = open_points(points, table, sql), Progress()
    with show_warnings(), stopping(progress, book is not None), progress:
        release = made.append(
            source, when, again=again, columns=columns or None, points_crs=points_crs,
            layer=layer, decimal=decimal, population=population, another_name=another_name,
            progress=progress, **who,
        )  # fmt: skip
    facts = {"folder": folder, **release.statement()}
    say(as_json, facts, f"{made!r}\nAdded {when}: {release}")


@series.command(
    epilog=list_examples(
        "dpsort-geo series count calls districts.gpkg counts.csv",
        "dpsort-geo series count calls districts.gpkg - --json",
    )
)
@_folder
@click.argument("zones", type=click.Path())
@out_argument
@confidence_option
@_alone
@json_option
def count(folder: str, zones: str, out: str, confidence: float, alone: bool, as_json: bool) -> None:
    """Estimate how many points lie in each polygon of ZONES in each window, into OUT."""
    made = _read(folder, alone)
    _put(made, made.count_within(read_frame(zones), confidence), zones, out, as_json)


@series.command(
    epilog=list_examples("dpsort-geo series change calls districts.gpkg 2026-02 2026-03 -")
)
@_folder
@click.argument("zones", type=click.Path())
@click.argument("before")
@click.argument("after")
@out_argument
@confidence_option
@json_option
def change(
    folder: str, zones: str, before: str, after: str, out: str, confidence: float, as_json: bool
) -> None:
    """How many more points each polygon has in the window AFTER than BEFORE, with limits."""
    made = _read(folder, True)
    _put(made, made.change(read_frame(zones), before, after, confidence), zones, out, as_json)


@series.command("map", epilog=list_examples("dpsort-geo series map calls calls.html"))
@_folder
@click.argument("out", type=click.Path(dir_okay=False))
@click.option("--title", metavar="TEXT", help="Heading of the page.")
@_alone
@writes("drawing")
def map_(folder: str, out: str, title: Optional[str], alone: bool) -> str:
    """Write a page with a slider over the windows to OUT; it needs no network."""
    made = _read(folder, alone)
    refuse_to_overwrite(out)
    made.to_map(out, title=title)
    return "a map with a slider over the windows"


def _read(folder: str, alone: bool) -> Any:
    from ..geo.series import read_series

    return read_series(folder, chained=not alone)


def _put(made: Any, counted: Any, zones: str, out: str, as_json: bool) -> None:
    from ..geo.tables import write_frame

    if out == "-":
        return say_table(as_json, counted)
    refuse_to_overwrite(out, zones)
    last = next(reversed(made.releases.values()))
    write_frame(Path(out), counted, last.statement())
    return say_written(as_json, out, count_words(len(counted), "row"))
