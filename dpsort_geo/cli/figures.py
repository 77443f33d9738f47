"""The demonstration's pictures: before and after, and the paper's figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Dict, List, Tuple, cast

import numpy as np

from ..core.atomic import replacing
from ..core.private.cells import count_cells
from ..core.private.sort import publish as publish_sorted
from ..core.public.decode import decode
from ..core.rules.sort import SortSums, balanced_sizes
from ..geo._optional import need
from ..geo.domain import Domain
from ..geo.release import Release
from ..webmap.multiples import ramp

Array = np.ndarray

_INK, _NOISE, _FIT = "#14405f", "#c9a227", "#c2410c"
_LAND, _SEA = "#fdfcf9", "#dfe6ec"
#: displacement is compared on this many points: sums of single points do not need more
_FEW = 20_000
#: of a panel of the before-and-after picture, as wide as the grid
_PIXELS = 720


def draw_before_after(path: Path, domain: Domain, results: Dict[str, Tuple[Array, Array]]) -> None:
    """Draw four sets of points side by side, one dot a point, darker where there are more."""
    need("matplotlib", "Drawing figures")
    from matplotlib.colors import ListedColormap, LogNorm
    from matplotlib.figure import Figure

    grid, land = domain.grid, domain.mask(9)
    top = float(np.flatnonzero(land.any(axis=1)).max() + 1) / len(land)
    figure = Figure(figsize=(_PIXELS / 50, _PIXELS / 50 * top), dpi=100)
    whole: Any = {"extent": (0, 1, 0, 1), "origin": "lower"}
    edges: Any = {"left": 0, "right": 1, "bottom": 0, "top": 1, "wspace": 0.01, "hspace": 0.01}
    dark = ListedColormap(ramp(np.linspace(0.2, 1, 256)) / 255)
    for axes, (name, (x, y)) in zip(figure.subplots(2, 2, gridspec_kw=edges).flat, results.items()):
        unit = (y - grid.y0) / grid.side, (x - grid.x0) / grid.side
        count, _, _ = np.histogram2d(*unit, bins=_PIXELS, range=((0, 1), (0, 1)))
        axes.imshow(land, cmap=ListedColormap([_SEA, _LAND]), **whole)
        axes.imshow(np.ma.masked_equal(count, 0), cmap=dark, norm=LogNorm(1, 64), **whole)
        places, times = np.unique(np.column_stack(unit), axis=0, return_counts=True)
        if times.max() > 64:  # many points in one place: its circle tells how many
            axes.scatter(places[:, 1], places[:, 0], s=times / 30, color=_FIT, alpha=0.7, lw=0)
        axes.set(xlim=(0, 1), ylim=(0, top), aspect="auto")
        axes.set_axis_off()
        axes.text(0.02, 0.97, name.capitalize(), transform=axes.transAxes, va="top", size=15)
    _save(figure, path)


def draw(folder: Path, points: Array, paper: Release) -> List[str]:
    """Draw every figure to ``folder`` and give the names of the files."""
    need("matplotlib", "Drawing figures")
    from matplotlib.figure import Figure

    x, y = paper.domain.project(points[:, 0], points[:, 1])
    order = np.argsort(paper.grid.positions(x, y), kind="stable")
    x, y = x[order], y[order]
    figures: Dict[str, Callable[[Any], None]] = {
        "original": lambda ax: _draw_map(ax, paper, x, y, "The original points"),
        "sorted": lambda ax: _draw_sequence(ax, paper, x, y, noisy=False, fitted=False),
        "noisy": lambda ax: _draw_sequence(ax, paper, x, y, noisy=True, fitted=False),
        "reconstruction": lambda ax: _draw_sequence(ax, paper, x, y, noisy=True, fitted=True),
        "displacement": lambda ax: _draw_displacement(ax, paper, x, y),
        "inverse-mapped": lambda ax: _draw_map(
            ax, paper, *paper.coordinates(diffuse=False), "Published: repeated points"
        ),
        "diffused": lambda ax: _draw_map(
            ax, paper, *paper.coordinates(), "Published: diffused points"
        ),
        "zoom": lambda ax: _draw_zoom(ax, paper, x, y),
    }
    names = []
    for number, (name, paint) in enumerate(figures.items(), 1):
        figure = Figure(figsize=(7, 5), dpi=150, layout="constrained")
        paint(figure.subplots())
        names.append(f"figure-{number}-{name}.png")
        _save(figure, folder / names[-1])
    return names


def _save(figure: Any, path: Path) -> None:
    with replacing(path) as part:
        figure.savefig(part, format="png")


def _draw_map(ax: Any, paper: Release, x: Array, y: Array, title: str) -> None:
    km = paper.domain.metres / 1000
    outline = paper.domain.outline()
    for part in getattr(outline, "geoms", [outline]):
        ax.plot(*(np.array(part.exterior.coords).T * km), color="0.6", linewidth=0.5)
    places, count = np.unique(np.column_stack([x, y]), axis=0, return_counts=True)
    size = np.where(count > 20, 60 * count / count.max(), 0.15)
    ax.scatter(*(places.T * km), s=size, color=_INK, alpha=0.35, lw=0)
    ax.set(title=f"{title} (n = {x.size:,})", xlabel="km east", ylabel="km north", aspect="equal")


def _draw_sequence(ax: Any, paper: Release, x: Array, y: Array, noisy: bool, fitted: bool) -> None:
    """Positions on the curve, as shares of it, against rank."""
    cells = paper.grid.n_cells
    rank = np.arange(x.size)
    ax.plot(rank, paper.grid.positions(x, y) / cells, color=_INK, label="sorted positions", lw=1.2)
    title = "The sorted sequence"
    if noisy:
        sizes = balanced_sizes(x.size, _sums(paper).groups)
        middle = np.cumsum(sizes) - sizes / 2
        means = _sums(paper).sums.astype(float) / sizes / cells
        ax.plot(middle, means, ".", ms=3, color=_NOISE, label="published: noisy group means")
        title = "What is published"
    if fitted:
        curve = paper.decoded.cumulative
        ax.plot(curve.mass, curve.place / cells, color=_FIT, lw=1.2, label="isotonic regression")
        title = "Reconstruction"
    ax.set(title=title, xlabel="rank", ylabel="position on the curve")
    ax.legend(frameon=False)


def _draw_displacement(ax: Any, paper: Release, x: Array, y: Array) -> None:
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


def _draw_zoom(ax: Any, paper: Release, x: Array, y: Array) -> None:
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


def _sums(paper: Any) -> SortSums:
    return cast(SortSums, paper.measured)
