"""A series: releases of windows of time that follow each other, in one folder.

The folder is the series. Each file in it is a release that says its own window, so that a copy of
the folder is the same series. Reading one, each release is read against those before it, which
costs nothing (`Release.against`). Not to be confused with ``release.series(zones)``: the counts
over time of one release with a time axis.
"""

from __future__ import annotations

import os
import warnings
from functools import cached_property
from pathlib import Path
from typing import Any, Dict, List, Optional, Union

import geopandas as gpd
import numpy as np
import pandas as pd

from ..core.atomic import write_text
from ..core.errors import BadInputError, PrivacyWarning
from ..core.public.compare import subtract
from ..core.rules.budget import EpsilonLike, exact_epsilon
from ..core.rules.steps import name_window, read_step, share_time, unit_of, window_at
from ..core.rules.windows import Window
from .domain import Domain
from .release import Release, read_release
from .zones import Zones

PathLike = Union[str, "os.PathLike[str]"]

ENDING = ".release.json"
#: so many earlier releases a release is read against; those before them would hardly count
EARLIER = 6

_UNPROTECTED = (
    "Under neighbours='replace' the number of points of each window is public and exact: in which "
    "window a point lies is not protected. Leave neighbours= out to protect it."
)


class Series:
    """Releases of one data set, window after window.

    Parameters
    ----------
    folder
        Where the release files are; its last part is the name of the data set in the ledger, unless
        ``dataset`` says another one. Made by the first `append`.
    domain, epsilon
        Where points may lie, and the budget of each window; for `append` only.
    every
        How long a window is: "1 month", "1 week", "1 day", "1 year" or so.
    date
        The column of dates that decides which rows lie in a window; others are not read.
    ledger, dataset
        The ledger to debit; windows that share no instant do not add up for a point.
    neighbours
        "add-remove" unless said otherwise. With "replace" each window's number of points is public,
        and in which window a point lies is not protected.
    chained
        False reads each release by itself.
    options
        Anything else that `publish` takes, such as ``person`` or ``resolution``.

    Examples
    --------
    >>> import tempfile
    >>> square = Domain.from_bounds((0, 0, 1000, 1000), crs="EPSG:3857")
    >>> calls = Series(Path(tempfile.mkdtemp(), "calls"), square, epsilon="0.5", date="when")
    >>> at = np.random.default_rng(1).uniform(0, 1000, (5000, 2))
    >>> for month in ("2026-02", "2026-03"):
    ...     release = calls.append(at, month, values={"when": np.full(5000, f"{month}-14")})
    >>> calls
    <Series 'calls': 2 releases, 2026-02 to 2026-03>
    """

    def __init__(
        self,
        folder: PathLike,
        domain: Optional[Domain] = None,
        *,
        every: str = "1 month",
        epsilon: Optional[EpsilonLike] = None,
        date: Optional[str] = None,
        ledger: Any = None,
        dataset: Optional[str] = None,
        neighbours: str = "add-remove",
        chained: bool = True,
        **options: Any,
    ) -> None:
        read_step(every)
        if epsilon is not None:
            exact_epsilon(epsilon)
        self.folder = Path(folder)
        self.dataset = dataset or self.folder.absolute().name
        self.domain, self.every, self.epsilon, self.date = domain, every, epsilon, date
        self.ledger, self.neighbours, self.chained = ledger, neighbours, chained
        self.options = options

    def append(self, points: Any, when: Any, *, again: bool = False, **options: Any) -> Release:
        """Publish the points of one window, and keep the release in the folder.

        A window that shares time with one that is in the folder, or that the ledger knows, is
        refused before anything is spent. No file is ever overwritten.

        Parameters
        ----------
        points
            Whatever `publish` takes; rows outside of the window are not read.
        when
            The begin of the window, such as "2026-03".
        again
            True spends on a window that the ledger knows once more, because its file was lost.
        """
        from .private.publish import publish

        if self.domain is None or self.epsilon is None or self.date is None:
            raise BadInputError(
                "To publish, a series needs its domain, epsilon and date='column of dates'; "
                "read_series is for reading."
            )
        window = window_at(when, self.every)
        options = {**self.options, **options}
        path = self.folder / f"{name_window(window).replace(':', '')}{ENDING}"
        self._refuse_twice(window, again)
        if self.neighbours == "replace":
            warnings.warn(_UNPROTECTED, PrivacyWarning, stacklevel=2)
        _claim(path)
        try:
            release = publish(
                points, self.epsilon, self.domain, neighbours=self.neighbours,
                ledger=self.ledger, dataset=None if self.ledger is None else self.dataset,
                window=window, date=self.date, save=path, overwrite=True, **options,
            )  # fmt: skip
        finally:
            if path.exists() and not path.stat().st_size:
                path.unlink()  # nothing came of it
        self.__dict__.pop("_alone", None)
        self.__dict__.pop("releases", None)
        return release

    def _refuse_twice(self, window: Window, again: bool) -> None:
        """Refuse a window that was published, by its file or by the ledger."""
        for label, release in self._read().items():
            if share_time(window, _window_of(release)):
                raise BadInputError(
                    f"{name_window(window)} shares time with {label}, which is in the folder "
                    "already; a window is published once."
                )
        if self.ledger is None or again:
            return
        for debited in _windows_in(self.ledger, self.dataset):
            if debited is None or share_time(window, debited):
                what = "all of the data" if debited is None else name_window(debited)
                raise BadInputError(
                    f"The ledger has a release of {self.dataset!r} for {what}, which is not in "
                    f"the folder: find its file, or spend once more with again=True."
                )

    @cached_property
    def _alone(self) -> Dict[str, Release]:
        return self._read()

    def _read(self) -> Dict[str, Release]:
        """The releases of the folder by their windows, each by itself."""
        found: List[Release] = []
        for path in sorted(self.folder.glob(f"*{ENDING}")):
            if not path.stat().st_size:
                continue  # somebody is publishing it now
            release = read_release(path)
            if release.release.window is None:
                raise BadInputError(
                    f"{path.name} says no window of time, so it belongs to no series: put it "
                    "into another folder."
                )
            found.append(release)
        found.sort(key=lambda release: _window_of(release))
        for before, after in zip(found, found[1:]):
            if share_time(_window_of(before), _window_of(after)):
                raise BadInputError(
                    f"Two releases of the folder share time, {name_window(_window_of(before))} "
                    f"and {name_window(_window_of(after))}: a series has one for each window."
                )
        return {name_window(_window_of(release)): release for release in found}

    @cached_property
    def releases(self) -> Dict[str, Release]:
        """The releases by their windows, in time; each is read against those before it.

        The last one counts most, each before it half as much as the one after it.
        """
        found: Dict[str, Release] = {}
        for label, release in self._alone.items():
            before = [each for each in found.values() if each.size > 0][-EARLIER:]
            if self.chained and before and release.measured.COUNTS_PLACES:
                release = release.against(before)
            found[label] = release
        return found

    @property
    def unit(self) -> str:
        """What the windows are, and the name of their column: "month", "day", "year", "window"."""
        units = {unit_of(_window_of(release)) for release in self._alone.values()}
        return units.pop() if len(units) == 1 else "window"

    def points(self, diffuse: bool = True) -> gpd.GeoDataFrame:
        """The published points of all windows, with a column that says which."""
        return self._stack({k: r.points(diffuse) for k, r in self._all_releases().items()})

    def count_within(self, zones: Zones, confidence: float = 0.9) -> gpd.GeoDataFrame:
        """A row for each zone and window: estimate, low, high, reliable and covered."""
        releases = self._all_releases()
        table = self._stack({k: r.count_within(zones, confidence) for k, r in releases.items()})
        # a zone's windows follow each other
        number = np.tile(np.arange(len(table) // len(releases)), len(releases))
        return table.iloc[np.argsort(number, kind="stable")]

    def change(
        self, zones: Zones, before: str, after: str, confidence: float = 0.9
    ) -> gpd.GeoDataFrame:
        """How many more points each zone has in one window than in an earlier one, with limits.

        Both releases are read by themselves here: read against those before it, a window would
        look more like that one than it is, and changes smaller. Their noise is independent.
        """
        counted = [
            self._release_of(when).count_within(zones, confidence) for when in (before, after)
        ]
        parts: List[Any] = [
            [one[name].to_numpy() for one in reversed(counted)]
            for name in ("estimate", "low", "high")
        ]
        estimate, low, high = subtract(parts[0], parts[1], parts[2], 0.0)
        own = counted[1].drop(columns=["reliable"])
        return own.assign(estimate=estimate, low=low, high=high)

    def to_map(self, path: PathLike, title: Optional[str] = None) -> None:
        """Write one page with a slider over the windows; it needs no network.

        Play, step, or all windows together; pointing at a place tells the density there in the
        window that is shown, with its limits.
        """
        from ..webmap.windows import make_series_page

        page = make_series_page(self._all_releases(), self._alone, self.unit, title or self.dataset)
        write_text(path, page.html())

    def _release_of(self, when: str) -> Release:
        if when not in self._alone:
            have = ", ".join(self._alone) or "none"
            raise BadInputError(f"The series has no release of {when!r}; it has {have}.")
        return self._alone[when]

    def _all_releases(self) -> Dict[str, Release]:
        if not self.releases:
            raise BadInputError(f"There are no releases in {self.folder} yet.")
        return self.releases

    def _stack(self, frames: Dict[str, gpd.GeoDataFrame]) -> gpd.GeoDataFrame:
        column, first = self.unit, next(iter(frames.values()))
        if column in first.columns:
            raise BadInputError(f"The zones have a column {column!r} already: rename it.")
        found = []
        for label, frame in frames.items():
            frame = frame.to_crs(first.crs) if frame.crs != first.crs else frame
            frame.insert(len(frame.columns) if column != "month" else 0, column, label)
            found.append(frame)
        return gpd.GeoDataFrame(pd.concat(found), crs=first.crs)

    def __len__(self) -> int:
        return len(self._alone)

    def __repr__(self) -> str:
        labels = list(self._alone)
        if len(labels) == 1:
            return f"<Series {self.folder.name!r}: 1 release, {labels[0]}>"
        span = f", {labels[0]} to {labels[-1]}" if labels else ""
        return f"<Series {self.folder.name!r}: {len(labels)} releases{span}>"


def read_series(folder: PathLike, chained: bool = True) -> Series:
    """The series in a folder of release files, for anybody; ``chained=False``: each by itself."""
    if not Path(folder).is_dir():
        raise BadInputError(f"There is no folder {os.fspath(folder)} with a series in it.")
    return Series(folder, chained=chained)


def _window_of(release: Release) -> Window:
    window = release.release.window
    assert window is not None
    return window


def _windows_in(ledger: Any, dataset: str) -> List[Optional[Window]]:
    from ..core.private.ledger import Ledger
    from ..core.private.ledger_file import default_path

    place = default_path() if ledger is True else ledger
    book = place if isinstance(place, Ledger) else Ledger(Path(place))
    return [entry.window for entry in book.entries(dataset)] if book.path.exists() else []


def _claim(path: Path) -> None:
    """Take the name of a file for ourselves, before anything is spent; others are refused."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
    except FileExistsError:
        raise BadInputError(
            f"{path} is there already: somebody is publishing it now, or was stopped while doing "
            "so; if it is empty and nobody is, remove it."
        ) from None
    except OSError as error:
        reason = error.strerror or "the disk or the folder refused it"
        raise BadInputError(f"{path} cannot be written: {reason}.") from None
