"""The contest of mechanisms, on data that is public or made up."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any, List, Optional

import click

from ..core.errors import BadInputError
from ..core.rules.budget import exact_epsilon
from .arguments import make_domain
from .options import area_options, epsilon_option, json_option
from .words import list_examples, say

#: mechanisms are compared on 256 x 256 cells
_ORDER = 8
_WARNING = (
    "NOT PRIVATE: this command reads the points as they are and prints exact errors. "
    "Use it on public or synthetic data only."
)


@click.command(
    epilog=list_examples(
        "dpsort-geo compare stops.gpkg --epsilon 1 --bounds -0.6 51.2 0.4 51.8 --crs EPSG:4326",
        "dpsort-geo compare stops.gpkg -e 0.5 --polygon city.geojson --plot errors.png",
    )
)
@click.argument("points", metavar="IN", type=click.Path())
@epsilon_option()
@area_options
@click.option("--order", type=int, hidden=True)
@click.option("--repeats", type=click.IntRange(1, 100), default=3, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the experiment's noise.")
@click.option("--plot", type=click.Path(), metavar="PNG", help="Draw the table (matplotlib).")
@json_option
def compare(
    points: str, epsilon: str, repeats: int, seed: int, plot: Optional[str], as_json: bool,
    order: Optional[int], **domain: Any,
) -> None:  # fmt: skip
    """Run our mechanisms and others on PUBLIC or SYNTHETIC points and print their errors.

    All of them get the same 256 x 256 cells.
    """
    import numpy as np

    from ..compare.contest import contest
    from ..core.curve.hilbert import decode
    from ..geo.private.count import count_cells

    click.secho(_WARNING, err=True, bold=True)
    if order not in (None, _ORDER):
        raise BadInputError(f"Mechanisms are compared at order {_ORDER}; leave --order out.")
    made = make_domain(order=_ORDER, **domain)
    cells = count_cells(points, made)
    counts = np.zeros((2**_ORDER, 2**_ORDER))
    column, row = decode(cells.index, _ORDER)
    counts[row, column] = cells.count
    found = contest(counts, float(exact_epsilon(epsilon)), seed, repeats)
    found = [replace(result, emd=result.emd * made.side) for result in found]
    if plot is not None:
        _draw(plot, found, epsilon)
    facts = {"warning": _WARNING, "results": [asdict(result) for result in found]}
    say(as_json, facts, _format_table(found))


def _format_table(found: List[Any]) -> str:
    lines = [
        f"{'mechanism':24}{'moved by (m)':>14}{'squares':>10}{'around data':>13}{'L1':>8}{'L2':>9}"
    ]
    for result in found:
        lines.append(
            f"{result.mechanism:24}{result.emd:14,.1f}{result.squares:10.4%}"
            f"{result.rectangles:13.4%}{result.l1:8.3f}{result.l2:9.4f}"
        )
    lines += [
        "",
        "moved by: mean distance to the truth (sliced earth mover's distance); squares, around",
        "data: mean error of counts in ranges, of all points; L1, L2: of the density.",
    ]
    return "\n".join(lines)


def _draw(path: str, found: List[Any], epsilon: str) -> None:
    from ..core.atomic import replacing
    from ..geo._optional import need

    need("matplotlib", "The plot").use("Agg")
    plt = need("matplotlib.pyplot", "The plot")
    figure, axes = plt.subplots(figsize=(8, 0.4 * len(found) + 1.2), layout="constrained")
    names = [result.mechanism for result in found][::-1]
    colours = ["#1f6f8b" if name.startswith("ours") else "#b8b8b8" for name in names]
    axes.barh(names, [result.emd for result in found][::-1], color=colours)
    axes.set(xscale="log", xlabel="how far a point has to move, on average (m)")
    axes.set_title(f"NOT PRIVATE: comparison on public data, epsilon = {epsilon}")
    axes.spines[["top", "right"]].set_visible(False)
    with replacing(path) as temporary:
        figure.savefig(temporary, format="png", dpi=150)
    plt.close(figure)
