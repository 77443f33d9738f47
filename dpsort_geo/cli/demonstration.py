"""The demonstration: made-up residents, published twice, with a map to look at."""

from __future__ import annotations

import click

from .options import examples, json_option, say


@click.command(epilog=examples("dpsort-geo demo", "dpsort-geo demo pictures --figures"))
@click.argument("folder", type=click.Path(file_okay=False), default="dpsort-demo")
@click.option("--figures", is_flag=True, help="Draw the paper's figures too (needs matplotlib).")
@json_option
def demo(folder: str, figures: bool, as_json: bool) -> None:
    """Publish invented residents of North American cities and write all results to FOLDER."""
    from ..geo.demo import run

    result = run(folder, figures=figures)
    lines = [f"Wrote {name}" for name in result.files]
    lines += ["", *result.sentences]
    facts = {"files": result.files, "sentences": result.sentences, "error_metres": result.errors}
    say(as_json, facts, "\n".join(lines))
