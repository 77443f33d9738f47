"""Commands of the person who holds private points: plan and publish."""

from __future__ import annotations

import contextlib
import json
import sys
from typing import Any, Callable, Iterator, Optional, Tuple

import click

from ..core.atomic import check_release_name, check_target
from ..core.errors import AnotherNameError, BadInputError, hide_secrets
from .arguments import Count, make_axes, make_domain, make_rows
from .files import read_frame, refuse_to_overwrite
from .ledger import choose_ledger
from .options import (
    axes_options,
    database_options,
    domain_options,
    epsilon_option,
    json_option,
    ledger_options,
    mechanism_option,
    neighbours_option,
    reading_options,
    rows_options,
    zones_layer_option,
)
from .progress import NOTHING, Progress, StoppedError
from .words import drop_fractions, fit, list_examples, say, show_warnings, speak_shell

#: said once, after the release is safe: it is advice, not a warning
_BOX = (
    "The area is a box. If it has water or other empty land in it, publish with --polygon FILE "
    "instead, or read with --within FILE: counts along the edge come out nearer to the truth."
)


@click.command(
    epilog=list_examples(
        "dpsort-geo plan --n 50000 --epsilon 1 --bounds -74.3 40.5 -73.7 40.95 --crs EPSG:4326",
        "dpsort-geo plan --n 50000 --target-error 250 --polygon boroughs.gpkg",
        "dpsort-geo plan --n 50000 -e 1 --polygon city.gpkg --resolution 100 --zones wards.gpkg",
        "dpsort-geo plan --n 50000 -e 1 --polygon city.gpkg --persons 9000 --max-points 4",
    )
)
@click.option("--n", type=Count(), required=True, metavar="N", help="About how many points.")
@epsilon_option(required=False)
@click.option(
    "--persons", type=Count(), metavar="N", help="How many persons these points belong to."
)
@click.option("--person-days", type=Count(), metavar="N", help="How many days of persons they are.")
@click.option("--max-points", type=int, metavar="M", help="Compare: up to M points a person.")
@neighbours_option
@click.option("--target-error", type=float, metavar="METRES", help="Find epsilon for this error.")
@domain_options
@mechanism_option
@axes_options
@click.option(
    "--zones", type=click.Path(), metavar="FILE", help="Polygons: how wide will intervals be?"
)
@zones_layer_option
@json_option
def plan(
    n: int, epsilon: Optional[str], target_error: Optional[float], method: str, neighbours: str,
    persons: Optional[int], person_days: Optional[int], max_points: Optional[int],
    resolution: Optional[float], zones: Optional[str], zones_layer: Optional[str], as_json: bool,
    by: Tuple[str, ...], time: Tuple[str, ...], **domain: Any,
) -> None:  # fmt: skip
    """Say how far off published points will be, before any data is touched."""
    from ..geo.private.plan import plan as make_plan

    if (epsilon is None) == (target_error is None):
        raise BadInputError("Give either --epsilon or --target-error.")
    if resolution is not None and domain["order"] is not None:
        raise BadInputError("Give either --order or --resolution.")
    made = make_plan(
        n, epsilon, make_domain(**domain), target_error=target_error, method=method,
        resolution=resolution, zones=None if zones is None else read_frame(zones, zones_layer),
        neighbours=neighbours, persons=persons, person_days=person_days, max_points=max_points,
        **make_axes(by, time),
    )  # fmt: skip
    facts = {
        key: _make_plain(value)
        for key, value in vars(made).items()
        if key not in ("zones", "choices")
    }
    facts["choices"] = [vars(choice) for choice in made.choices]
    text = speak_shell(str(made))
    if made.zones is not None:
        table = made.zones.drop(columns=made.zones.geometry.name)
        facts["zones"] = json.loads(table.to_json(orient="records"))
        shown = drop_fractions(table)
        for name in ("expected", "half_width"):
            shown[name] = ["" if x != x else f"{x:,.0f}" for x in table[name]]
        text += f"\n\n{shown.to_string(index=False)}"
    say(as_json, facts, text)


@click.command(
    epilog=list_examples(
        "dpsort-geo publish calls.gpkg calls.release.json --epsilon 1 \\",
        "    --bounds -74.3 40.5 -73.7 40.95 --crs EPSG:4326",
        "dpsort-geo publish trips.parquet trips.release.json -e 0.5 --polygon city.geojson \\",
        "    --person rider_id --max-points 4 --neighbours add-remove",
        "dpsort-geo publish calls.parquet march.release.json -e 0.5 --polygon city.gpkg \\",
        "    --date when --window 2026-03-01 2026-04-01 --neighbours add-remove",
        "dpsort-geo publish calls.parquet calls.release.json -e 1 --polygon city.gpkg \\",
        "    --by type=burglary,theft,other --time when:2026-01-01:2027-01-01:1month",
        "dpsort-geo publish postgresql://me@localhost/city calls.release.json -e 1 \\",
        "    --polygon city.gpkg --sql 'select geom, kind, seen_at from calls'",
        "cat calls.geojson | dpsort-geo publish - - -e 1 --polygon city.geojson --dataset calls \\",
        "    | dpsort-geo points - calls.public.parquet",
    )
)
@click.argument("points", metavar="IN", type=click.Path(allow_dash=True))
@click.argument("out", metavar="OUT", type=click.Path(allow_dash=True, dir_okay=False))
@epsilon_option()
@domain_options
@mechanism_option
@click.option(
    "--group-size",
    metavar="K",
    help="Points a group, for --method sort and hybrid; for sort also 'paper'.",
)
@rows_options
@axes_options
@click.option(
    "--zones",
    type=click.Path(),
    metavar="FILE",
    help="With --by or --time: public polygons that get a table of their own, a third of epsilon.",
)
@zones_layer_option
@reading_options
@database_options
@ledger_options("IN's file name")
@click.option("--overwrite", is_flag=True, help="Replace OUT if it is a release already.")
@json_option
def publish(
    points: str, out: str, epsilon: str, method: str, group_size: Optional[str], neighbours: str,
    person: Tuple[str, ...], max_points: Optional[int], outside: str, window: Tuple[str, ...],
    date: Optional[str], columns: Optional[Tuple[str, str]], points_crs: Optional[str],
    layer: Optional[str], decimal: str, table: Optional[str], sql: Optional[str], overwrite: bool,
    dataset: Optional[str], ledger: Optional[str], no_ledger: bool, population: Optional[str],
    another_name: bool, zones: Optional[str], zones_layer: Optional[str],
    as_json: bool, by: Tuple[str, ...], time: Tuple[str, ...], **domain: Any,
) -> None:  # fmt: skip
    """Publish the points of file IN as release OUT (- for a pipe).

    IN is GeoParquet, GeoPackage, GeoJSON, Shapefile, FlatGeobuf, KML, Arrow or CSV with lon and
    lat, file.gpkg|layername=x for a layer; or the address of a database,
    postgresql://user@host/name (the password in PGPASSWORD or ~/.pgpass). Only the places are used,
    and the columns of --by and --time. The debit is written to the ledger before any noise is
    drawn. Look at IN with dpsort-geo check first.
    """
    from ..geo.private.publish import publish as make_release

    book = choose_ledger(ledger, no_ledger, population)
    made, what_and_when = make_domain(**domain), make_axes(by, time)
    _check_target(points, out, overwrite)
    declared = None if zones is None else read_frame(zones, zones_layer)
    source = open_points(points, table, sql)
    if points == "-" and dataset is None and not no_ledger:
        raise BadInputError(
            "Points from a pipe need --dataset NAME for the ledger, or --no-ledger."
        )
    asked = make_rows(person, window, max_points=max_points, outside=outside, date=date)
    progress = Progress()

    def attempt(another: bool) -> Any:
        return make_release(
            source, epsilon, made, method=method, group_size=_parse_group_size(group_size),
            neighbours=neighbours, columns=columns or None, points_crs=points_crs, layer=layer,
            decimal=decimal, overwrite=overwrite, dataset=dataset, ledger=book,
            population=population, another_name=another, save=None if out == "-" else out,
            progress=progress, zones=declared, **asked, **what_and_when,
        )  # fmt: skip

    with show_warnings(), stopping(progress, book is not None):
        release = _ask_about_name(attempt, another_name, progress)
        if out == "-":
            click.echo(release.to_json(), nl=False)
    notes = release.notes()
    for note in notes:
        click.echo(fit(f"Note: {speak_shell(note)}", err=True), err=True)
    if out != "-":
        facts = {"release": out, **release.statement(), "notes": notes}
        hint = f"\n{_BOX}" if domain["bounds"] else ""
        say(as_json, facts, f"Wrote {hide_secrets(out)}: {release}{hint}")


@contextlib.contextmanager
def stopping(progress: Progress, ledger: bool) -> Iterator[None]:
    """Say of a publication that was stopped whether something was debited, where that can be."""
    try:
        yield
    except KeyboardInterrupt:
        debited = ledger and progress.word != "reading"
        after = "what was debited from the ledger stays debited" if debited else NOTHING
        raise StoppedError(f"Stopped; {after}.") from None


def _ask_about_name(attempt: Callable[[bool], Any], another_name: bool, progress: Progress) -> Any:
    """Publish; where the ledger knows the file under another name, a person at a terminal says."""
    try:
        with progress:
            return attempt(another_name)
    except AnotherNameError as refused:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise
        click.echo(fit(speak_shell(str(refused)), err=True), err=True)
    if not click.confirm("Is it other data, to be debited by itself?", err=True):
        raise BadInputError("Nothing was published.")
    return attempt(True)


def _make_plain(value: Any) -> Any:
    plain = isinstance(value, (int, float, bool, type(None)))
    return value if plain else speak_shell(str(value))


def _parse_group_size(text: Optional[str]) -> Any:
    if text is None or text == "paper":
        return text
    try:
        return int(text)
    except ValueError:
        raise BadInputError("--group-size is a whole number or 'paper'.") from None


def _check_target(points: str, out: str, overwrite: bool) -> None:
    """Refuse a target that cannot be written before epsilon is spent on it."""
    if out == "-":
        return
    check_release_name(out)
    check_target(out)
    refuse_to_overwrite(out, points, silent=(), overwrite=overwrite)


def open_points(points: str, table: Optional[str] = None, sql: Optional[str] = None) -> Any:
    """What IN stands for: a path, the points on standard input, or rows of a database."""
    from ..geo.database import PostGIS, is_url

    if is_url(points):
        return PostGIS(points, table=table, sql=sql)
    if table is not None or sql is not None:
        raise BadInputError("--table and --sql are for a database: IN is postgresql://...")
    return _read_standard_input() if points == "-" else points


def _read_standard_input() -> Any:
    """Points on standard input, GeoJSON or CSV, kept in memory: private data makes no files."""
    raw = sys.stdin.buffer.read()
    if not raw.strip():
        raise BadInputError("There is nothing on standard input; expected GeoJSON or CSV.")
    if raw.startswith((b"PAR1", b"SQLite", b"PK", b"fgb")):
        raise BadInputError("A pipe takes GeoJSON or CSV; give the path of any other file.")
    if raw.lstrip()[:1] not in (b"{", b"["):
        return raw
    for found in (_document, _document_a_line):
        # not raised where it is caught: the error would remember the whole input
        with contextlib.suppress(ValueError, RecursionError):
            return found(raw)
    raise BadInputError("Standard input is not valid GeoJSON.")


def _document(raw: bytes) -> Any:
    return json.loads(raw)


def _document_a_line(raw: bytes) -> Any:
    features = [json.loads(line) for line in raw.splitlines() if line.strip()]
    return {"type": "FeatureCollection", "features": features}
