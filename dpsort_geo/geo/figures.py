"""The paper's figures, drawn from the demonstration's residents and their sort release."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Dict, List, Tuple

import numpy as np

from ..atomic import replacing
from ..grouping import balanced_sizes
from ..publisher.cells import count_cells
from ..publisher.sort import publish_sorted
from ..reader.decode import decode
from ._optional import need
from .release import GeoRelease

Array = np.ndarray

_INK, _NOISE, _FIT = "#14405f", "#c9a227", "#c2410c"
#: displacement is compared on this many points: sums of single points do not need more
_FEW = 20_000


def draw(folder: Path, points: Array, paper: GeoRelease) -> List[str]:
    """Draw every figure to ``folder`` and give the names of the files."""
    matplotlib = need("matplotlib", "Drawing figures")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    x, y = paper.domain.project(points[:, 0], points[:, 1])
    order = np.argsort(paper.grid.positions(x, y), kind="stable")
    x, y = x[order], y[order]
    figures: Dict[str, Callable[[Any], None]] = {
        "original": lambda ax: _map(ax, paper, x, y, "The original points"),
        "sorted": lambda ax: _sequence(ax, paper, x, y, noisy=False, fitted=False),
        "noisy": lambda ax: _sequence(ax, paper, x, y, noisy=True, fitted=False),
        "reconstruction": lambda ax: _sequence(ax, paper, x, y, noisy=True, fitted=True),
        "displacement": lambda ax: _displacement(ax, paper, x, y),
        "inverse-mapped": lambda ax: _map(
            ax, paper, *paper.coordinates(diffuse=False), "Published: repeated points"
        ),
        "diffused": lambda ax: _map(ax, paper, *paper.coordinates(), "Published: diffused points"),
        "zoom": lambda ax: _zoom(ax, paper, x, y),
    }
    names = []
    for number, (name, paint) in enumerate(figures.items(), 1):
        figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
        paint(axes)
        names.append(f"figure-{number}-{name}.png")
        with replacing(Path(folder) / names[-1]) as part:
            figure.savefig(part, dpi=150)
        plt.close(figure)
    return names


def _map(ax: Any, paper: GeoRelease, x: Array, y: Array, title: str) -> None:
    km = paper.domain.metres / 1000
    outline = paper.domain.outline()
    for part in getattr(outline, "geoms", [outline]):
        ax.plot(*(np.array(part.exterior.coords).T * km), color="0.6", linewidth=0.5)
    places, count = np.unique(np.column_stack([x, y]), axis=0, return_counts=True)
    size = np.where(count > 20, 60 * count / count.max(), 0.15)
    ax.scatter(*(places.T * km), s=size, color=_INK, alpha=0.35, lw=0)
    ax.set(title=f"{title} (n = {x.size:,})", xlabel="km east", ylabel="km north", aspect="equal")


def _sequence(ax: Any, paper: GeoRelease, x: Array, y: Array, noisy: bool, fitted: bool) -> None:
    """Positions on the curve, as shares of it, against rank."""
    cells = paper.grid.n_cells
    rank = np.arange(x.size)
    ax.plot(rank, paper.grid.positions(x, y) / cells, color=_INK, label="sorted positions", lw=1.2)
    title = "The sorted sequence"
    if noisy:
        sizes = balanced_sizes(x.size, paper.settings["groups"])
        middle = np.cumsum(sizes) - sizes / 2
        means = paper.measurements["sums"].astype(float) / sizes / cells
        ax.plot(middle, means, ".", ms=3, color=_NOISE, label="published: noisy group means")
        title = "What is published"
    if fitted:
        curve = paper.decoded.cumulative
        ax.plot(curve.mass, curve.place / cells, color=_FIT, lw=1.2, label="isotonic regression")
        title = "Reconstruction"
    ax.set(title=title, xlabel="rank", ylabel="position on the curve")
    ax.legend(frameon=False)


def _displacement(ax: Any, paper: GeoRelease, x: Array, y: Array) -> None:
    """How far each point of the sequence is from its reconstruction, with groups and without."""
    kept = np.linspace(0, x.size - 1, min(x.size, _FEW)).astype(np.int64)
    cells = count_cells(paper.grid, x[kept], y[kept])
    true = np.sort(paper.grid.positions(x[kept], y[kept]))
    mass = np.arange(kept.size) + 0.5
    looks: Tuple[Tuple[Any, str, str], ...] = (
        (1, _NOISE, "groups of 1"),
        (None, _FIT, "groups of the default size"),
    )
    for size, colour, label in looks:
        fit = decode(publish_sorted(cells, paper.epsilon, group_size=size)).cumulative
        off = np.abs(fit.at(mass) - true) / paper.grid.n_cells
        ax.plot(mass, off, color=colour, lw=0.8, label=f"{label}: mean {off.mean():.2%}")
    ax.set(title=f"Displacement on the curve (n = {kept.size:,})", xlabel="rank", ylabel="off by")
    ax.legend(frameon=False)


def _zoom(ax: Any, paper: GeoRelease, x: Array, y: Array) -> None:
    """The densest tenth of the domain, original and published points on top of each other."""
    side = paper.grid.side / 10
    count, east, north = np.histogram2d(x, y, bins=40)
    i, j = np.unravel_index(int(count.argmax()), count.shape)
    left, low = east[i] - side / 2, north[j] - side / 2
    for px, py, colour, label in (
        (x, y, _INK, "original"),
        (*paper.coordinates(), _FIT, "diffused"),
    ):
        near = (np.abs(px - left - side / 2) < side / 2) & (np.abs(py - low - side / 2) < side / 2)
        km = paper.domain.metres / 1000
        ax.scatter(px[near] * km, py[near] * km, s=1, color=colour, alpha=0.4, lw=0, label=label)
    ax.set(title="Zoom", xlabel="km east", ylabel="km north", aspect="equal")
    ax.legend(frameon=False, markerscale=5)
