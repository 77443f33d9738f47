"""The label of a release, for people who decide, and its records for registries and portals."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Optional

import click

from ..core.errors import BadInputError
from .files import read_release, refuse_to_overwrite
from .ledger import find_ledger
from .options import json_option, release_argument
from .words import drop_control, list_examples, say, say_written


@click.command(
    epilog=list_examples(
        "dpsort-geo label calls.release.json",
        'dpsort-geo label calls.release.json label.html --title "Night calls 2026"',
        "dpsort-geo label calls.release.json label.html --dataset calls",
        "dpsort-geo label calls.release.json --registry record.yaml --dcat dataset.jsonld",
    )
)
@release_argument
@click.argument("out", type=click.Path(allow_dash=True, dir_okay=False), required=False)
@click.option("--title", metavar="TEXT", help="Heading of the page, and name in the records.")
@click.option("--dataset", metavar="NAME", help="Say what was spent on this data set in total.")
@click.option("--ledger", "path", type=click.Path(), metavar="FILE", help="The ledger to ask.")
@click.option(
    "--registry",
    type=click.Path(allow_dash=True),
    metavar="FILE",
    help="Write the YAML record of the public registry of deployments, with blanks to fill in.",
)
@click.option(
    "--dcat", type=click.Path(allow_dash=True), metavar="FILE",
    help="Write DCAT (GeoDCAT-AP) as JSON-LD, for open-data portals.",
)  # fmt: skip
@json_option
def label(
    release: str, out: Optional[str], title: Optional[str], dataset: Optional[str],
    path: Optional[str], registry: Optional[str], dcat: Optional[str], as_json: bool,
) -> None:  # fmt: skip
    """Say on one page what RELEASE protects, from whom, how strongly, and what it does not.

    OUT ends in .html or .txt; without it the text is printed, unless a record is asked for.
    """
    read, book = read_release(release), _ledger(path, dataset)
    texts = {}
    if out is None and registry is None and dcat is None:
        out = "-"
    if out is not None:
        page = read.label(ledger=book, dataset=dataset, title=title)
        texts[out] = page.html if _is_page(out) else page.text
    if registry is not None:
        texts[registry] = read.registry_record(ledger=book, dataset=dataset, title=title)
    if dcat is not None:
        texts[dcat] = read.dcat(title)
    for name in texts:
        _refuse(name, release)
    for name, text in texts.items():
        _write(name, text, as_json)


def _ledger(path: Optional[str], dataset: Optional[str]) -> Any:
    from ..core.private.ledger import Ledger

    if dataset is None:
        if path is not None:
            raise BadInputError("--ledger needs --dataset NAME: whose total the label should say.")
        return None
    found = find_ledger(path)
    if not found.is_file():
        raise BadInputError(f"There is no ledger {found}.")
    return Ledger(found)


def _is_page(out: str) -> bool:
    ending = Path(out).suffix.lower()
    if out != "-" and ending not in (".html", ".htm", ".txt"):
        raise BadInputError(f"{out} should end in .html or .txt.")
    return ending in (".html", ".htm")


def _refuse(out: str, release: str) -> None:
    mine = (".html", ".htm", ".txt", ".yaml", ".yml", ".json", ".jsonld")
    refuse_to_overwrite(out, release, silent=mine)


def _write(out: str, text: str, as_json: bool) -> None:
    from ..core.atomic import write_text

    if out != "-":
        write_text(out, text)
        say_written(as_json, out, "what the release protects, and what not")
    elif as_json:
        say(as_json, {"text": text}, "")
    else:
        click.echo(drop_control(text), nl=False)
