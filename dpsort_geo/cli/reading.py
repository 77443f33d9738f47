"""Commands of anybody who has a release: read it, draw it, check it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Dict, Optional, Tuple

import click

from ..errors import BadInput
from .options import (
    examples,
    json_option,
    keep_what_is_not_ours,
    read_frame,
    read_release,
    release_argument,
    say,
)

_out = click.argument("out", type=click.Path(allow_dash=True, dir_okay=False))


@click.command(
    epilog=examples(
        "dpsort-geo points calls.release.json calls.public.geojson",
        "dpsort-geo points calls.release.json calls.public.parquet",
        "dpsort-geo points calls.release.json calls.public.gpkg --repeated",
        "dpsort-geo points calls.release.json - | head -c 300",
    )
)
@release_argument
@_out
@click.option("--repeated", is_flag=True, help="The paper's repeated points, not spread out.")
def points(release: str, out: str, repeated: bool) -> None:
    """Write the published points of RELEASE to OUT: GeoJSON, GeoParquet or GeoPackage.

    The ending of OUT decides: .geojson, .parquet, .gpkg; - writes GeoJSON to standard output.
    """
    read = read_release(release)
    if out == "-":
        sys.stdout.buffer.writelines(read.geojson(diffuse=not repeated))
        return
    writers = {
        ".geojson": read.to_geojson, ".json": read.to_geojson, ".parquet": read.to_geoparquet,
        ".geoparquet": read.to_geoparquet, ".gpkg": read.to_gpkg,
    }  # fmt: skip
    write = _by_ending(writers, out)
    keep_what_is_not_ours(out, release)
    write(out, diffuse=not repeated)


@click.command(
    epilog=examples(
        "dpsort-geo density calls.release.json density.tif --cell 250",
        "dpsort-geo density calls.release.json density.gpkg --cell 500",
    )
)
@release_argument
@_out
@click.option("--cell", type=float, metavar="METRES", help="Side of a cell  [default: by size]")
def density(release: str, out: str, cell: Optional[float]) -> None:
    """Write the density of RELEASE to OUT: GeoTIFF, or cells as GeoPackage, GeoJSON, GeoParquet."""
    from ..geo.density import picture, write_raster
    from ..geo.frames import write_frame

    read = read_release(release)
    keep_what_is_not_ours(out, release)
    if Path(out).suffix.lower() in (".tif", ".tiff"):
        shown = picture(read.decoded, read.domain, cell)
        return write_raster(out, shown, read.domain, read.statement())
    frame = read.density(cell)
    if Path(out).suffix.lower() == ".csv":  # a table without places would be of no use
        west, south, east, north = frame.bounds.to_numpy().T
        frame.insert(0, "x", (west + east) / 2)
        frame.insert(1, "y", (south + north) / 2)
    return write_frame(out, frame, read.statement())


@click.command(
    epilog=examples(
        "dpsort-geo count calls.release.json districts.gpkg counts.csv",
        "dpsort-geo count calls.release.json districts.geojson - --json",
    )
)
@release_argument
@click.argument("zones", type=click.Path())
@_out
@json_option
def count(release: str, zones: str, out: str, as_json: bool) -> None:
    """Estimate how many points lie in each polygon of ZONES, with 90 % intervals, into OUT.

    OUT is GeoPackage, GeoJSON, GeoParquet or CSV; - prints a table.
    """
    from ..geo.frames import write_frame

    read = read_release(release)
    counted = read.count_within(read_frame(zones))
    if out == "-":
        table = counted.drop(columns=counted.geometry.name)
        rows = json.loads(table.to_json(orient="records"))
        return say(as_json, {"zones": rows}, table.to_csv(index=False).rstrip())
    keep_what_is_not_ours(out, release, zones)
    return write_frame(out, counted, read.statement())


@click.command(
    epilog=examples(
        "dpsort-geo quantiles calls.release.json 0.25 0.5 0.75",
        "dpsort-geo quantiles calls.release.json 0.5 --json",
    )
)
@release_argument
@click.argument("shares", type=float, nargs=-1, required=True)
@json_option
def quantiles(release: str, shares: Tuple[float, ...], as_json: bool) -> None:
    """Print where along the curve the given SHARES of all points have been passed."""
    frame = read_release(release).quantiles(list(shares))
    rows = [
        {"share": float(share), "x": float(point.x), "y": float(point.y)}
        for share, point in zip(frame["share"], frame.geometry)
    ]
    text = "\n".join(f"{row['share']:g}\t{row['x']:.7g}\t{row['y']:.7g}" for row in rows)
    say(as_json, {"quantiles": rows}, text)


@click.command(
    "map",
    epilog=examples(
        "dpsort-geo map calls.release.json calls.html",
        'dpsort-geo map calls.release.json calls.html --title "Night calls" --tiles',
    ),
)
@release_argument
@_out
@click.option("--title", metavar="TEXT", help="Heading of the page.")
@click.option(
    "--tiles", is_flag=True, help="Add OpenStreetMap below; the page then asks for tiles."
)
def map_page(release: str, out: str, title: Optional[str], tiles: bool) -> None:
    """Write a map of RELEASE to OUT: one HTML page that needs no network."""
    page = read_release(release)
    if out == "-":
        return click.echo(page.map_page(title, tiles or None).html(), nl=False)
    keep_what_is_not_ours(out, release)
    page.to_map(out, title=title, tiles=tiles or None)
    return None


@click.command(
    epilog=examples(
        "dpsort-geo inspect calls.release.json",
        "dpsort-geo inspect calls.public.parquet --json",
    )
)
@click.argument("file", type=click.Path(allow_dash=True))
@json_option
def inspect(file: str, as_json: bool) -> None:
    """Print the privacy statement of FILE: a release, or points written from one."""
    facts = _facts(file)
    text = "\n".join(f"{key + ':':<12} {value}" for key, value in facts.items())
    say(as_json, facts, text)


@click.command(
    epilog=examples(
        "dpsort-geo verify calls.release.json",
        "dpsort-geo verify calls.release.json --json",
    )
)
@release_argument
@json_option
def verify(release: str, as_json: bool) -> None:
    """Check everything that RELEASE can prove about itself; exit code 2 if it does not hold.

    This cannot show that the noise was drawn honestly.
    """
    checks = read_release(release).verify()
    say(as_json, {"verified": True, "checks": checks}, "\n".join(f"ok  {line}" for line in checks))


def _facts(file: str) -> Dict[str, Any]:
    from ..geo.write import read_statement

    if file == "-" or file.endswith(".json"):
        try:
            release = read_release(file)
        except BadInput:
            if file == "-":
                raise
            return read_statement(file)
        return {
            **release.statement(),
            "domain": str(release.domain),
            "measurements": sum(len(values) for values in release.measurements.values()),
            "ledger": "debited" if release.ledger else "not debited",
        }
    return read_statement(file)


def _by_ending(writers: Dict[str, Any], out: str) -> Any:
    ending = Path(out).suffix.lower()
    if ending not in writers:
        raise BadInput(f"{out} should end in one of {', '.join(sorted(writers))}.")
    return writers[ending]
