"""The ledger in the shell: what has been spent on each data set, and its limit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Optional

import click

from ..core.errors import BadInputError, hide_secrets
from .files import refuse_to_overwrite
from .options import json_option
from .words import list_examples, say, say_written

if TYPE_CHECKING:
    from ..core.private.ledger import Entry, Ledger


def find_ledger(given: Optional[str]) -> Path:
    """The ledger that was named, or the user's own."""
    from ..core.private.ledger_file import default_path

    if not given:
        return default_path()
    folder = Path(given).absolute().parent
    if not folder.is_dir():  # to make it would hide a slip of the pen
        # as it was given: made absolute, what is secret in it would not be found
        raise BadInputError(f"There is no folder for the ledger {given}.")
    return Path(given)


def choose_ledger(
    given: Optional[str], no_ledger: bool, population: Optional[str]
) -> Optional[Path]:
    """The ledger that a command debits, none with --no-ledger."""
    if no_ledger and given:
        raise BadInputError("Give either --ledger or --no-ledger.")
    if no_ledger and population:
        raise BadInputError("--population is a name in the ledger; leave --no-ledger out.")
    return None if no_ledger else find_ledger(given)


@click.group(
    epilog=list_examples(
        "dpsort-geo ledger show",
        "dpsort-geo ledger limit calls 2",
        "dpsort-geo ledger export ledger.json",
    )
)
def ledger() -> None:
    """What has been spent on each data set, and its limit."""


_ledger_file = click.option(
    "--ledger", "path", type=click.Path(), metavar="FILE", help="The ledger."
)


@ledger.command(
    epilog=list_examples("dpsort-geo ledger show", "dpsort-geo ledger show calls --json")
)
@click.argument("dataset", required=False)
@_ledger_file
@json_option
def show(dataset: Optional[str], path: Optional[str], as_json: bool) -> None:
    """Print what was spent on DATASET, or on all: in total, by year, and each release."""
    from ..core.private.ledger import Ledger
    from ..core.private.ledger_names import same_name

    book = Ledger(find_ledger(path))
    entries = book.entries(dataset)
    names: List[str] = []
    for name in [*(entry.dataset for entry in entries), *([dataset] if dataset else book.limits())]:
        if not any(same_name(name, known) for known in names):
            names.append(name)
    found = [_facts_of(book, name) for name in sorted(names, key=str.casefold)]
    people = [] if dataset else _populations(book, entries)
    lines = [line for facts in found for line in _lines(facts)]
    lines += [f"population {one['population']}: {_sum_words(one)}" for one in people]
    say(
        as_json,
        {"datasets": found, "populations": people},
        "\n".join(lines) or "The ledger is empty.",
    )


@ledger.command(
    epilog=list_examples(
        "dpsort-geo ledger limit calls 2",
        "dpsort-geo ledger limit calls none",
        "dpsort-geo ledger limit residents 5 --population",
    )
)
@click.argument("name")
@click.argument("epsilon")
@click.option("--population", is_flag=True, help="NAME is a population, not a data set.")
@_ledger_file
@json_option
def limit(name: str, epsilon: str, population: bool, path: Optional[str], as_json: bool) -> None:
    """Refuse releases of NAME beyond EPSILON in total; 'none' takes the limit away."""
    from ..core.private.ledger import Ledger, total_text

    book = Ledger(find_ledger(path))
    book.limit(name, None if epsilon == "none" else epsilon, population=population)
    words = "no limit" if epsilon == "none" else f"limit {epsilon}"
    spent = total_text(book.spent(name, population=population))
    facts = {"population" if population else "dataset": name, **_sums(book, name, population)}
    say(as_json, facts, f"{'population ' if population else ''}{name}: {words}, {spent} spent")


@ledger.command(epilog=list_examples("dpsort-geo ledger path"))
@_ledger_file
@json_option
def path(path: Optional[str], as_json: bool) -> None:
    """Print where the ledger is that shell, QGIS and Python share."""
    found = str(find_ledger(path))
    say(as_json, {"ledger": found}, found)


@ledger.command(
    epilog=list_examples("dpsort-geo ledger export ledger.json", "dpsort-geo ledger export -")
)
@click.argument("out", type=click.Path(allow_dash=True, dir_okay=False))
@_ledger_file
@json_option
def export(out: str, path: Optional[str], as_json: bool) -> None:
    """Write every entry and every change of a limit to OUT as JSON (- for a pipe)."""
    from ..core.atomic import write_text
    from ..core.private.ledger import Ledger

    text = Ledger(find_ledger(path)).export()
    if out == "-":
        click.echo(text, nl=False)
        return
    refuse_to_overwrite(out, silent=())
    write_text(out, text)
    say_written(as_json, out, "the ledger")


@ledger.command(epilog=list_examples("dpsort-geo ledger verify"))
@_ledger_file
@json_option
def verify(path: Optional[str], as_json: bool) -> None:
    """Check that nothing was changed in the ledger or taken out of it."""
    from ..core.private.ledger import Ledger

    found = Ledger(find_ledger(path)).verify()
    say(as_json, {"verified": list(found)}, "\n".join(found))


def _facts_of(book: Ledger, name: str) -> Dict[str, Any]:
    from ..core.private.account import composed, composed_by_year, explain, total_text

    rows = book.entries(name)
    facts = _sums(book, name, population=False)
    facts["by_year"] = {year: total_text(total) for year, total in composed_by_year(rows).items()}
    facts["notes"] = explain(rows)
    facts["releases"] = [
        {**_plain(row), "total": total_text(composed(rows[: i + 1]))} for i, row in enumerate(rows)
    ]
    return {"dataset": name, **facts}


def _plain(row: Entry) -> Dict[str, Any]:
    from ..core.private.account import total_text

    sources = [path for path, _ in row.sources]
    return {**vars(row), "epsilon": total_text(row.epsilon), "sources": sources}


def _sums(book: Ledger, name: str, population: bool) -> Dict[str, Any]:
    from ..core.private.ledger import total_text
    from ..core.private.ledger_names import same_name

    limits = book.limits(population=population)
    limit = next((eps for known, eps in limits.items() if same_name(known, name)), None)
    left = book.left(name, population=population)
    return {
        "spent": total_text(book.spent(name, population=population)),
        "limit": None if limit is None else total_text(limit),
        "left": None if left is None else total_text(left),
    }


def _populations(book: Ledger, entries: List[Entry]) -> List[Dict[str, Any]]:
    from ..core.private.ledger_names import same_name

    found: List[str] = []
    for name in [*(row.population for row in entries), *book.limits(population=True)]:
        if name and not any(same_name(name, known) for known in found):
            found.append(name)
    return [{"population": name, **_sums(book, name, population=True)} for name in sorted(found)]


def _sum_words(facts: Dict[str, Any]) -> str:
    if facts["limit"] is None:
        return f"spent {facts['spent']}, no limit"
    return f"spent {facts['spent']} of {facts['limit']}, {facts['left']} left"


def _lines(facts: Dict[str, Any]) -> List[str]:
    years = ", ".join(f"{year} {spent}" for year, spent in facts["by_year"].items())
    lines = [f"{facts['dataset']}: {_sum_words(facts)}"]
    lines += [f"  by year: {years}"] if years else []
    lines += [f"  {note}" for note in facts["notes"]]
    for row in facts["releases"]:
        when = "" if row["window"] is None else f"{row['window'][0]} until {row['window'][1]}, "
        where = f"{row['domain']}, of {row['population']}" if row["population"] else row["domain"]
        lines.append(
            f"  {row['time']}  epsilon {row['epsilon']:<8} total {row['total']:<8} "
            f"{row['method']}, one {row['unit']}, {row['neighbours']}, {when}{where}"
        )
        if row["release"]:
            lines.append(f"    went to {hide_secrets(row['release'])}")
    return lines
