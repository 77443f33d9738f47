"""Commands of anybody who has a release: read it, draw it, check it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Dict, Optional, Tuple

import click

from ..core.errors import BadInputError
from .arguments import Count, read_size
from .files import (
    check_ending,
    read_frame,
    read_view,
    refuse_to_overwrite,
)
from .options import (
    confidence_option,
    json_option,
    out_argument,
    release_argument,
    view_options,
    writes,
    zones_layer_option,
)
from .words import count_words, list_examples, say, say_table

_by = click.option(
    "--by", metavar="AXES", help="A row for each slice: names of axes, such as type,time."
)


@click.command(
    epilog=list_examples(
        "dpsort-geo points calls.release.json calls.public.geojson",
        "dpsort-geo points calls.release.json calls.public.parquet",
        "dpsort-geo points calls.release.json calls.public.gpkg --no-diffuse",
        "dpsort-geo points calls.release.json postgresql://me@localhost/city --table calls_public",
        "dpsort-geo points calls.release.json calls.small.geojson --max-size 5MB",
        "dpsort-geo points calls.release.json out.gpkg --select type=theft --select time=2026-03",
        "dpsort-geo points calls.release.json - | head -c 300",
    )
)
@release_argument
@out_argument
@click.option("--no-diffuse", is_flag=True, help="Repeated points, as the paper publishes them.")
@click.option("--repeated", is_flag=True, hidden=True, help="The old name of --no-diffuse.")
@click.option(
    "--most", type=Count(), metavar="N", help="Write up to N points  [default: 50,000,000]"
)
@click.option(
    "--max-size", metavar="SIZE", help="Thin GeoJSON evenly to this size, such as 5MB or 500kB."
)
@click.option("--table", metavar="NAME", help="New table, if OUT is postgresql://...")
@click.option("--overwrite", is_flag=True, help="Replace that table if dpsort-geo wrote it.")
@view_options
@writes("writing")
def points(
    release: str, out: str, no_diffuse: bool, repeated: bool, most: Optional[int],
    max_size: Optional[str], table: Optional[str], overwrite: bool, within: Optional[str],
    select: Tuple[str, ...], as_json: bool,
) -> Optional[str]:  # fmt: skip
    """Write the published points of RELEASE to OUT: GeoJSON, GeoParquet, GeoPackage or PMTiles.

    The ending of OUT decides: .geojson, .parquet, .gpkg, .pmtiles; - writes GeoJSON to standard
    output; postgresql://user@host/name with --table writes a table of that database. The points
    come in a fixed order of which every part is a sample of the whole map.
    """
    from ..geo.database import is_url

    if is_url(out) != (table is not None):
        raise BadInputError("A database needs both: OUT as postgresql://..., and --table NAME.")
    limit = None if max_size is None else read_size(max_size)
    read, diffuse = read_view(release, within, select), not (no_diffuse or repeated)
    if out == "-":
        text = read.geojson(diffuse=diffuse, most=most, most_bytes=limit)
        sys.stdout.buffer.writelines(text)
        return None
    if table is not None:
        read.to_postgis(out, table, overwrite, diffuse, most)
        what = count_words(read.decoded.n, "point")
        say(as_json, {"written": table, "what": what}, f"Wrote table {table}: {what}.")
        return None
    writers = {
        ".geojson": read.to_geojson, ".json": read.to_geojson, ".parquet": read.to_geoparquet,
        ".geoparquet": read.to_geoparquet, ".gpkg": read.to_gpkg, ".pmtiles": read.to_pmtiles,
    }  # fmt: skip
    write = _choose_writer(writers, out)
    if write == read.to_pmtiles:
        if limit is not None or not diffuse or most is not None:
            raise BadInputError("Tiles are thinned by themselves: leave the other options out.")
        refuse_to_overwrite(out, release, silent=(".pmtiles",))
        write(out)
        return "tiles"
    refuse_to_overwrite(out, release)
    what = count_words(read.decoded.n, "point")
    if limit is None:
        write(out, diffuse=diffuse, most=most)
    elif write == read.to_geojson:
        write(out, diffuse=diffuse, most=most, most_bytes=limit)
        return f"of {what} as many as fit, an even sample of the map"
    else:
        raise BadInputError("--max-size is for GeoJSON: give OUT the ending .geojson.")
    return what


@click.command(
    epilog=list_examples(
        "dpsort-geo density calls.release.json density.tif --cell 250",
        "dpsort-geo density calls.release.json density.gpkg --cell 500",
        "dpsort-geo density calls.release.json thefts.tif --select type=theft,other",
    )
)
@release_argument
@out_argument
@click.option("--cell", type=float, metavar="METRES", help="Side of a cell  [default: by size]")
@view_options
@writes("drawing")
def density(
    release: str, out: str, cell: Optional[float], within: Optional[str], select: Tuple[str, ...]
) -> str:
    """Write the density of RELEASE to OUT: GeoTIFF, or cells as GeoPackage, GeoJSON, GeoParquet."""
    from ..core.public.picture import picture
    from ..geo.density import write_raster
    from ..geo.tables import write_frame

    check_ending(
        out, ".tif", ".tiff", ".gpkg", ".geojson", ".json", ".parquet", ".geoparquet", ".csv"
    )
    read = read_view(release, within, select)
    refuse_to_overwrite(out, release)
    if Path(out).suffix.lower() in (".tif", ".tiff"):
        shown = picture(read.decoded, read.domain, cell)
        write_raster(out, shown, read.domain, read.statement())
        return f"density in cells of {shown.cell:,.4g} m"
    frame = read.density(cell)
    if Path(out).suffix.lower() == ".csv":  # a table without places would be of no use
        west, south, east, north = frame.bounds.to_numpy().T
        frame.insert(0, "x", (west + east) / 2)
        frame.insert(1, "y", (south + north) / 2)
    write_frame(out, frame, read.statement())
    return f"density in {count_words(len(frame), 'cell')}"


@click.command(
    epilog=list_examples(
        "dpsort-geo count calls.release.json districts.gpkg counts.csv",
        "dpsort-geo count calls.release.json districts.gpkg counts.gpkg --confidence 0.95",
        "dpsort-geo count calls.release.json districts.geojson - --json",
        "dpsort-geo count calls.release.json districts.gpkg counts.csv --by type,time",
        "dpsort-geo count calls.release.json districts.gpkg - --select type=theft",
        "dpsort-geo count calls.release.json districts.gpkg - --within land.gpkg --per population",
    )
)
@release_argument
@click.argument("zones", type=click.Path())
@out_argument
@confidence_option
@_by
@click.option("--per", metavar="COLUMN", help="Rates too: points for each of this column.")
@click.option(
    "--reliable",
    type=float,
    default=0.2,
    show_default=True,
    metavar="SHARE",
    help="An estimate is reliable when half of its interval is at most this share of it.",
)
@view_options
@zones_layer_option
@writes("counting")
def count(
    release: str, zones: str, out: str, confidence: float, by: Optional[str],
    per: Optional[str], reliable: float, within: Optional[str], select: Tuple[str, ...],
    zones_layer: Optional[str], as_json: bool,
) -> Optional[str]:  # fmt: skip
    """Estimate how many points lie in each polygon of ZONES, with intervals, into OUT.

    OUT is GeoPackage, GeoJSON, GeoParquet or CSV; - prints a table for people, or JSON.
    """
    from ..geo.tables import write_frame

    read = read_view(release, within, select)
    slices = by.split(",") if by else None
    frame = read_frame(zones, zones_layer)
    counted = read.count_within(frame, confidence=confidence, by=slices, per=per, reliable=reliable)
    if out == "-":
        say_table(as_json, counted, per)
        return None
    refuse_to_overwrite(out, release, zones)
    write_frame(out, counted, read.statement())
    return count_words(len(counted), "row") + f" with intervals at {confidence:g}"


@click.command(
    epilog=list_examples(
        "dpsort-geo hexes calls.release.json hexes.gpkg --resolution 8",
        "dpsort-geo hexes calls.release.json hexes.csv --resolution 7 --by type,time",
        "dpsort-geo hexes calls.release.json march.gpkg --resolution 8 --select time=2026-03",
    )
)
@release_argument
@out_argument
@click.option(
    "--resolution", type=int, required=True, metavar="0..15",
    help="Resolution of H3: at 8 a hexagon is about 1 km wide, at 9 400 m.",
)  # fmt: skip
@confidence_option
@_by
@view_options
@writes("counting")
def hexes(
    release: str, out: str, resolution: int, confidence: float, by: Optional[str],
    within: Optional[str], select: Tuple[str, ...],
) -> str:  # fmt: skip
    """Estimate how many points of RELEASE lie in each H3 hexagon, with intervals, into OUT.

    OUT is GeoPackage, GeoJSON, GeoParquet or CSV; the hexagons are those that meet the domain.
    """
    from ..geo.tables import write_frame

    read = read_view(release, within, select)
    if Path(out).suffix.lower() == ".pmtiles":
        raise BadInputError("Hexagons as PMTiles are in the folder of 'dpsort-geo site'.")
    refuse_to_overwrite(out, release)
    counted = read.hexes(resolution, confidence=confidence, by=by.split(",") if by else None)
    write_frame(out, counted, read.statement())
    return count_words(len(counted), "row") + f" with intervals at {confidence:g}"


@click.command(
    epilog=list_examples(
        "dpsort-geo quantiles calls.release.json 0.25 0.5 0.75",
        "dpsort-geo quantiles calls.release.json 0.5 --json",
        "dpsort-geo quantiles calls.release.json 0.5 --select type=theft",
    )
)
@release_argument
@click.argument("shares", type=float, nargs=-1, required=True)
@view_options
@json_option
def quantiles(
    release: str, shares: Tuple[float, ...], within: Optional[str], select: Tuple[str, ...],
    as_json: bool,
) -> None:  # fmt: skip
    """Print where along the curve the given SHARES of all points have been passed."""
    frame = read_view(release, within, select).quantiles(list(shares))
    rows = [
        {"share": float(share), "x": float(point.x), "y": float(point.y)}
        for share, point in zip(frame["share"], frame.geometry)
    ]
    text = "\n".join(f"{row['share']:g}\t{row['x']:.7g}\t{row['y']:.7g}" for row in rows)
    say(as_json, {"quantiles": rows}, text)


def _choose_writer(writers: Dict[str, Any], out: str) -> Any:
    ending = Path(out).suffix.lower()
    if ending not in writers:
        raise BadInputError(f"{out} should end in one of {', '.join(sorted(writers))}.")
    return writers[ending]
