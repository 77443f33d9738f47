"""Commands of the person who holds private points: plan, publish, ledger."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any, Optional, Tuple

import click

from ..errors import BadInput
from .options import (
    RowProgress,
    domain_from,
    domain_options,
    epsilon_option,
    examples,
    json_option,
    keep_what_is_not_ours,
    mechanism_options,
    say,
    warnings_as_lines,
)


@click.command(
    epilog=examples(
        "dpsort-geo plan --n 50000 --epsilon 1 --bounds -74.3 40.5 -73.7 40.95 --crs EPSG:4326",
        "dpsort-geo plan --n 50000 --target-error 250 --polygon boroughs.gpkg",
    )
)
@click.option("--n", type=int, required=True, metavar="N", help="About how many points.")
@epsilon_option(required=False)
@click.option("--target-error", type=float, metavar="METRES", help="Find epsilon for this error.")
@domain_options
@mechanism_options
@json_option
def plan(
    n: int, epsilon: Optional[str], target_error: Optional[float], method: str, as_json: bool,
    **area: Any,
) -> None:  # fmt: skip
    """Say how far off published points will be, before any data is touched."""
    from dataclasses import asdict

    from ..geo.publish import plan as make_plan

    if (epsilon is None) == (target_error is None):
        raise BadInput("Give either --epsilon or --target-error.")
    made = make_plan(n, epsilon, domain_from(**area), target_error=target_error, method=method)
    say(as_json, {key: _plain(value) for key, value in asdict(made).items()}, str(made))


@click.command(
    epilog=examples(
        "dpsort-geo publish calls.gpkg calls.release.json --epsilon 1 \\",
        "    --bounds -74.3 40.5 -73.7 40.95 --crs EPSG:4326",
        "dpsort-geo publish trips.parquet trips.release.json -e 0.5 --polygon city.geojson \\",
        "    --person rider_id --neighbours add-remove",
        "cat calls.geojson | dpsort-geo publish - - -e 1 --polygon city.geojson --dataset calls \\",
        "    | dpsort-geo points - calls.public.parquet",
    )
)
@click.argument("points", metavar="IN", type=click.Path(allow_dash=True))
@click.argument("out", metavar="OUT", type=click.Path(allow_dash=True, dir_okay=False))
@epsilon_option()
@domain_options
@mechanism_options
@click.option("--group-size", metavar="K", help="Points a group, for --method sort; or 'paper'.")
@click.option(
    "--neighbours", type=click.Choice(["replace", "add-remove"]), default="replace",
    show_default=True, help="add-remove hides the number of points too.",
)  # fmt: skip
@click.option("--person", metavar="COLUMN", help="Protect all points of one person together.")
@click.option("--columns", nargs=2, metavar="X Y", help="Columns of the coordinates in a table.")
@click.option("--dataset", metavar="NAME", help="Name in the ledger  [default: IN's file name]")
@click.option("--ledger", type=click.Path(), metavar="FILE", help="Ledger  [default: your own]")
@click.option("--no-ledger", is_flag=True, help="Debit no ledger; the release says so.")
@json_option
def publish(
    points: str, out: str, epsilon: str, method: str, group_size: Optional[str], neighbours: str,
    person: Optional[str], columns: Optional[Tuple[str, str]], dataset: Optional[str],
    ledger: Optional[str], no_ledger: bool, as_json: bool, **area: Any,
) -> None:  # fmt: skip
    """Publish the points of file IN as release OUT (- for a pipe).

    IN is GeoParquet, GeoPackage, GeoJSON, Shapefile or CSV with lon and lat. Only geometry is
    used. The debit is written to the ledger before any noise is drawn.
    """
    from ..geo.publish import publish as make_release
    from ..geo.publish import second_thought
    from ..publisher.ledger import default_path

    if no_ledger and ledger:
        raise BadInput("Give either --ledger or --no-ledger.")
    book = _ledger_path(ledger)
    domain = domain_from(**area)
    _check_target(points, out)
    source = _standard_input() if points == "-" else points
    if points == "-" and dataset is None and not no_ledger:
        raise BadInput("Points from a pipe need --dataset NAME for the ledger, or --no-ledger.")
    progress = RowProgress()
    with warnings_as_lines():
        try:
            release = make_release(
                source, epsilon, domain, method=method, group_size=_group_size(group_size),
                neighbours=neighbours, person=person, columns=columns or None, dataset=dataset,
                ledger=None if no_ledger else book or default_path(), progress=progress,
            )  # fmt: skip
        finally:
            progress.close()
        if out == "-":
            click.echo(release.to_json(), nl=False)
        else:
            release.save(out)
        doubt = second_thought(release)
        if doubt is not None:
            warnings.warn(doubt, stacklevel=1)
    if out != "-":
        say(as_json, {"release": out, **release.statement()}, f"Wrote {out}: {release}")


@click.group(
    epilog=examples(
        "dpsort-geo ledger show",
        "dpsort-geo ledger limit calls 2",
    )
)
def ledger() -> None:
    """What has been spent on each data set, and its limit."""


_ledger_file = click.option(
    "--ledger", "path", type=click.Path(), metavar="FILE", help="The ledger."
)


@ledger.command(epilog=examples("dpsort-geo ledger show", "dpsort-geo ledger show calls --json"))
@click.argument("dataset", required=False)
@_ledger_file
@json_option
def show(dataset: Optional[str], path: Optional[str], as_json: bool) -> None:
    """Print every release of DATASET, or of all, with the running total."""
    from ..publisher.ledger import Ledger, composed, default_path, total_text

    book = Ledger(_ledger_path(path) or default_path())
    entries, limits = book.entries(dataset), book.limits()
    names = sorted({entry.dataset for entry in entries} | ({dataset} if dataset else set(limits)))
    facts, lines = [], []
    for name in names:
        rows = [entry for entry in entries if entry.dataset == name]
        spent, limit = total_text(composed(rows)), limits.get(name)
        cap = None if limit is None else total_text(limit)
        lines.append(f"{name}: spent {spent}" + (f" of {cap}" if cap else ", no limit"))
        for i, row in enumerate(rows):
            so_far = total_text(composed(rows[: i + 1]))
            eps = total_text(row.epsilon)
            lines.append(
                f"  {row.time}  epsilon {eps:<8} total {so_far:<8} {row.method}, one {row.unit}, "
                f"{row.neighbours}, {row.domain}"
            )
        facts.append(
            {
                "dataset": name, "spent": spent, "limit": cap,
                "releases": [{**vars(row), "epsilon": total_text(row.epsilon)} for row in rows],
            }
        )  # fmt: skip
    say(as_json, {"datasets": facts}, "\n".join(lines) or "The ledger is empty.")


@ledger.command(
    epilog=examples("dpsort-geo ledger limit calls 2", "dpsort-geo ledger limit calls none")
)
@click.argument("dataset")
@click.argument("epsilon")
@_ledger_file
def limit(dataset: str, epsilon: str, path: Optional[str]) -> None:
    """Refuse releases of DATASET beyond EPSILON in total; 'none' takes the limit away."""
    from ..publisher.ledger import Ledger, default_path, total_text

    book = Ledger(_ledger_path(path) or default_path())
    book.limit(dataset, None if epsilon == "none" else epsilon)
    words = "no limit" if epsilon == "none" else f"limit {epsilon}"
    click.echo(f"{dataset}: {words}, {total_text(book.spent(dataset))} spent")


def _plain(value: Any) -> Any:
    return value if isinstance(value, (int, float, str, bool, type(None))) else str(value)


def _group_size(text: Optional[str]) -> Any:
    if text is None or text == "paper":
        return text
    try:
        return int(text)
    except ValueError:
        raise BadInput("--group-size is a whole number or 'paper'.") from None


def _ledger_path(given: Optional[str]) -> Optional[Path]:
    """A ledger that was named; in a folder that is not there it would be a slip of the pen."""
    if given and not Path(given).absolute().parent.is_dir():
        raise BadInput(f"There is no folder {Path(given).absolute().parent} for the ledger.")
    return Path(given) if given else None


def _check_target(points: str, out: str) -> None:
    """Refuse a target that cannot be written before epsilon is spent on it."""
    import tempfile

    if out == "-":
        return
    folder = Path(out).resolve().parent
    if not folder.is_dir():
        raise BadInput(f"There is no folder {folder} to write to.")
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        raise BadInput(f"The folder {folder} cannot be written to.") from None
    keep_what_is_not_ours(out, points, silent=())


def _standard_input() -> Any:
    """Points on standard input, GeoJSON or CSV, kept in memory: private data makes no files."""
    raw = sys.stdin.buffer.read()
    if not raw.strip():
        raise BadInput("There is nothing on standard input; expected GeoJSON or CSV.")
    if raw.startswith((b"PAR1", b"SQLite", b"PK", b"fgb")):
        raise BadInput("A pipe takes GeoJSON or CSV; give the path of any other file.")
    if raw.lstrip()[:1] not in (b"{", b"["):
        return raw
    try:
        return json.loads(raw)
    except RecursionError:
        raise BadInput("Standard input is not valid GeoJSON.") from None
    except ValueError:
        pass
    try:  # a feature a line
        features = [json.loads(line) for line in raw.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        raise BadInput("Standard input is not valid GeoJSON.") from None
    return {"type": "FeatureCollection", "features": features}
