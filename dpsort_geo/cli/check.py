"""The dry run in the shell: what a publisher should see before epsilon is spent."""

from __future__ import annotations

from typing import Any, Optional, Tuple

import click

from .arguments import make_axes, make_domain, make_rows
from .options import (
    axes_options,
    database_options,
    domain_options,
    epsilon_option,
    json_option,
    mechanism_option,
    reading_options,
)
from .progress import Progress
from .words import list_examples, say, speak_shell


@click.command(
    epilog=list_examples(
        "dpsort-geo check calls.csv --polygon city.gpkg",
        "dpsort-geo check calls.csv --polygon city.gpkg --points-crs EPSG:25832 --decimal ,",
        "dpsort-geo check trips.parquet --polygon city.gpkg --person rider \\",
        "    --by type=burglary,theft,other --time when:2026-01-01:2027-01-01:1month",
        "dpsort-geo check postgresql://me@localhost/city --table calls --polygon city.gpkg",
    )
)
@click.argument("points", metavar="IN", type=click.Path(allow_dash=True))
@epsilon_option(required=False)
@domain_options
@mechanism_option
@click.option(
    "--person", multiple=True, metavar="COLUMN", help="Column that says whose point it is."
)
@axes_options
@reading_options
@database_options
@json_option
def check(
    points: str, epsilon: Optional[str], method: str, person: Tuple[str, ...],
    columns: Optional[Tuple[str, str]], points_crs: Optional[str], layer: Optional[str],
    decimal: str, table: Optional[str], sql: Optional[str], by: Tuple[str, ...],
    time: Tuple[str, ...], as_json: bool, **domain: Any,
) -> None:  # fmt: skip
    """Look at the points of IN before anything is spent. The output is PRIVATE.

    Prints which columns and CRS were understood, rows without a place, points outside of the
    domain and on which side, persons, categories and dates, a small picture, and the plan for
    that many points. Nothing is written and nothing is debited.
    """
    from ..geo.private.check import check as look
    from .publish import open_points

    made = make_domain(**domain)
    with Progress() as progress:
        found = look(
            open_points(points, table, sql), made, "1" if epsilon is None else epsilon,
            method=method, person=make_rows(person, ())["person"], columns=columns or None,
            points_crs=points_crs, layer=layer, decimal=decimal, progress=progress,
            **make_axes(by, time),
        )  # fmt: skip
    facts = found.facts()
    facts["read"] = speak_shell(facts["read"])
    facts["problems"] = [speak_shell(problem) for problem in facts["problems"]]
    facts["plan"] = None if facts["plan"] is None else speak_shell(facts["plan"])
    say(as_json, facts, speak_shell(str(found)))
