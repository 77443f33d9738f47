"""Commands that draw a release: a page, or a folder with tiles."""

from __future__ import annotations

from typing import Any, Optional, Tuple

import click

from ..core.atomic import write_text
from .files import (
    check_ending,
    read_frame,
    read_view,
    refuse_to_overwrite,
)
from .options import (
    json_option,
    out_argument,
    release_argument,
    view_options,
    writes,
    zones_layer_option,
)
from .progress import Progress
from .words import count_words, list_examples, say

_label_option = click.option(
    "--label", metavar="COLUMN", help="Column of the zones with their names."
)


def _title_options(command: Any) -> Any:
    """What stands above a map."""
    for option, text in (
        ("--source", "Who says so."),
        ("--when", "When it was."),
        ("--what", "What one point is, below the heading."),
        ("--title", "Heading of the page."),
    ):
        command = click.option(option, metavar="TEXT", help=text)(command)
    return command


@click.command(
    "map",
    epilog=list_examples(
        "dpsort-geo map calls.release.json calls.html",
        'dpsort-geo map calls.release.json calls.html --title "Night calls" --source "City of X"',
        "dpsort-geo map calls.release.json thefts.html --select type=theft",
        "dpsort-geo map calls.release.json wards.html --zones wards.gpkg --label name",
        "dpsort-geo map calls.release.json wards.html --zones wards.gpkg --per population",
    ),
)
@release_argument
@out_argument
@view_options
@_title_options
@click.option("--zones", type=click.Path(), metavar="FILE", help="Polygons: a number for each.")
@zones_layer_option
@_label_option
@click.option("--per", metavar="COLUMN", help="Rates: points for each of this column.")
@click.option(
    "--tiles", is_flag=True, help="Add OpenStreetMap below; the page then asks for tiles."
)
@writes("drawing")
def map_page(
    release: str, out: str, within: Optional[str], select: Tuple[str, ...], tiles: bool,
    zones: Optional[str], zones_layer: Optional[str], **options: Optional[str],
) -> Optional[str]:  # fmt: skip
    """Write a map of RELEASE to OUT: one HTML page that needs no network."""
    check_ending(out, ".html", ".htm")
    read = read_view(release, within, select)
    frame = None if zones is None else read_frame(zones, zones_layer)
    if out != "-":
        refuse_to_overwrite(out, release, *([zones] if zones else []))
    text = read.map_page(tiles=tiles or None, zones=frame, **options).html()
    if out == "-":
        click.echo(text, nl=False)
        return None
    write_text(out, text)
    return f"a map of {count_words(read.decoded.n, 'point')}"


@click.command(
    epilog=list_examples(
        "dpsort-geo site calls.release.json calls-map",
        'dpsort-geo site calls.release.json calls-map --title "Night calls" --source "City of X"',
        "dpsort-geo site calls.release.json calls-map --zones wards.gpkg --label name",
        "dpsort-geo site calls.release.json march-map --select time=2026-03",
    ),
)
@release_argument
@click.argument("folder", type=click.Path(file_okay=False))
@view_options
@_title_options
@click.option("--zones", type=click.Path(), metavar="FILE", help="Polygons to draw and name.")
@zones_layer_option
@_label_option
@json_option
def site(
    release: str, folder: str, within: Optional[str], select: Tuple[str, ...],
    zones: Optional[str], zones_layer: Optional[str], as_json: bool, **options: Optional[str],
) -> None:  # fmt: skip
    """Write a map of RELEASE as tiles into FOLDER: it opens from disk or from any web server."""
    read = read_view(release, within, select)
    frame = None if zones is None else read_frame(zones, zones_layer)
    with Progress("drawing"):
        read.to_site(folder, zones=frame, **options)
    what = f"a map of {count_words(read.decoded.n, 'point')} as tiles"
    say(as_json, {"written": folder, "what": what}, f"Wrote {folder}: {what}.")
