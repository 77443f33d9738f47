"""The report of a release: one HTML page, nothing in it but public things."""

import base64
import datetime
import html
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
from qgis.PyQt.QtCore import QBuffer, QByteArray, QIODevice
from qgis.PyQt.QtGui import QImage

from ._vendor.dpsort_geo.atomic import write_text
from ._vendor.dpsort_geo.curve.blocks import pixel_area
from ._vendor.dpsort_geo.errors import NotVerifiedError
from ._vendor.dpsort_geo.frame.area import wrap_box
from ._vendor.dpsort_geo.frame.host import LONLAT
from ._vendor.dpsort_geo.frame.rings import box_ring
from ._vendor.dpsort_geo.public.picture import RAMP, picture
from .axis_fields import slice_words
from .classes import log_steps
from .host import crs_name, crs_of
from .i18n import count_text, exact_text, length, number_text, said, tr
from .promise import statement_text
from .proofs import proof_text
from .releases import method_name

_STYLE = """
body { font: 15px/1.5 system-ui, 'Segoe UI', sans-serif; color: #1f2933; background: #f4f6f8;
       margin: 0; }
main { max-width: 760px; margin: 24px auto; background: #fff; padding: 28px 36px;
       border: 1px solid #dde3e9; }
h1 { font-size: 24px; margin: 0 0 4px; color: #1f4e79; }
h2 { font-size: 17px; margin: 28px 0 8px; color: #1f4e79; }
.lead { color: #52606d; margin: 0 0 20px; }
.statement { background: #eef5fb; border-left: 4px solid #1f4e79; padding: 12px 16px; }
.alarm { background: #fdecea; border-left: 4px solid #b3261e; padding: 12px 16px; }
.figure { font-size: 26px; color: #1f4e79; font-weight: 600; }
table { border-collapse: collapse; width: 100%; }
td { padding: 6px 8px; border-bottom: 1px solid #e4e9ee; vertical-align: top; }
td:first-child { color: #52606d; width: 42%; }
img { border: 1px solid #dde3e9; background: #fff; }
li { margin: 3px 0; }
.legend span { display: inline-block; margin-right: 14px; white-space: nowrap; }
.legend i { display: inline-block; width: 22px; height: 12px; margin-right: 5px;
            border: 1px solid #dde3e9; }
"""


@dataclass(frozen=True)
class Told:
    """What a report tells besides the release: names, what was spent in all, what to expect."""

    title: str
    path: str
    #: decimal text; None where only the release is known
    total: Optional[str] = None
    plan: Any = None


def write_report(reading, target, told):
    """Write the report of a release; gives its path."""
    release = reading.release
    title = tr("{layer}: what was published").format(layer=told.title)
    day = datetime.date.today().isoformat()
    words = tr("Report of {day} about the release {file}.").format(
        day=day, file=told.path.replace("\\", "/").split("/")[-1]
    )
    sections = [
        f"<h1>{html.escape(title)}</h1>",
        f'<p class="lead">{html.escape(words)}</p>',
        _statement(release),
        _expected(told.plan) if told.plan else "",
        _settings(reading, told),
        _picture(reading),
        _checks(release),
        _what_next(),
    ]
    _write(target, title, "\n".join(sections))
    return target


def write_plan(target, sentence, rows, table):
    """Write the page of a plan: a sentence, its settings, and a table of other choices."""
    title = tr("Private points: plan")
    head = (
        f"<tr><td>{html.escape(tr('Epsilon'))}</td><td>{html.escape(tr('Typical error'))}</td></tr>"
    )
    body = "".join(f"<tr><td>{a}</td><td>{b}</td></tr>" for a, b in table)
    sections = [
        f"<h1>{html.escape(title)}</h1>",
        f'<p class="lead">{html.escape(tr("Computed without looking at any data."))}</p>',
        f'<p class="statement">{html.escape(sentence)}</p>',
        _table(rows),
        f"<h2>{html.escape(tr('Other choices of epsilon'))}</h2>",
        f"<table>{head}{body}</table>",
    ]
    _write(target, title, "\n".join(sections))


def _write(target, title, body):
    page = (
        '<!DOCTYPE html><html><head><meta charset="utf-8">'
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head>"
        f"<body><main>{body}</main></body></html>\n"
    )
    write_text(target, page)


def _statement(release):
    kind = "statement" if release.private else "alarm"
    return f'<p class="{kind}">{html.escape(statement_text(release))}</p>'


def _expected(plan):
    words = tr(
        "So far a point has to move on average to turn the published map into the true one, "
        "expected beforehand ({low} to {high}). No published point is anybody's."
    ).format(low=length(plan.low), high=length(plan.high))
    figure = html.escape(length(plan.expected_error))
    return f'<p><span class="figure">≈ {figure}</span><br>{html.escape(words)}</p>'


def _settings(reading, told):
    release, frame = reading.release, reading.frame
    hidden = release.neighbours == "add-remove"
    whose = tr("one person with all their points") if release.unit == "person" else tr("one point")
    count = tr("{n} (noisy: the true number is hidden)") if hidden else tr("{n} (exact)")
    relation = tr("whether a person is there at all") if hidden else tr("where a person is")
    rows = [
        (tr("Privacy budget"), tr("epsilon {epsilon}").format(epsilon=exact_text(release.epsilon))),
        (tr("Protected"), whose),
        (tr("Hidden"), relation),
        (tr("Number of points or persons"), count.format(n=count_text(release.n))),
        (tr("Method"), method_name(release.kind)),
        (tr("Public area"), _area(frame)),
        (tr("Side of the area's grid"), length(frame.side)),
        (tr("Size of a cell"), length(release.grid.cell * frame.metres)),
        (tr("Coordinate reference system"), crs_name(frame.crs)),
        (tr("Release file"), told.path),
        (tr("Written to a ledger"), tr("yes") if release.ledger else tr("no")),
    ]
    rows += [(axis.name, slice_words(axis)) for axis in release.axes]
    if release.zones is not None:
        rows.append((tr("Declared zones"), count_text(release.zones.size)))
    if told.total is not None:
        words = tr("epsilon {total}, with this release")
        rows.append((tr("Spent on the data set"), words.format(total=exact_text(told.total))))
    return f"<h2>{html.escape(tr('Settings'))}</h2>" + _table(rows)


def _area(frame):
    """The box around the allowed cells in degrees."""
    grid = frame.grid
    level = min(8, grid.order)
    rows, columns = np.nonzero(pixel_area(grid, level))
    pixel = grid.side / 2**level
    west, south = grid.x0 + columns.min() * pixel, grid.y0 + rows.min() * pixel
    width, height = ((np.ptp(at) + 1) * pixel for at in (columns, rows))
    ring = box_ring(west, south, west + width, south + height)
    lon, lat = frame.unproject(ring[:, 0], ring[:, 1], crs_of(LONLAT))
    known = np.isfinite(lon) & np.isfinite(lat)
    if not known.any():
        return "-"
    lon, lat = lon[known], lat[known]
    box = wrap_box((float(lon.min()), float(lat.min()), float(lon.max()), float(lat.max())))
    west, south, east, north = (number_text(f"{edge:.4f}") for edge in box)
    return tr("{west}° to {east}° east, {south}° to {north}° north").format(
        west=west, south=south, east=east, north=north
    )


def _table(rows):
    cells = "".join(
        f"<tr><td>{html.escape(name)}</td><td>{html.escape(str(value))}</td></tr>"
        for name, value in rows
    )
    return f"<table>{cells}</table>"


def _picture(reading):
    values = picture(reading.decoded, reading.frame).per_km2(reading.frame)[::-1]
    some = values[values > 0]
    top = float(np.quantile(some, 0.995)) if some.size else 1.0
    image = base64.b64encode(_png(values, top)).decode("ascii")
    words = html.escape(tr("The published density; north is up."))
    swatches = "".join(
        f'<span><i style="background:rgb{colour}"></i>{html.escape(number_text(value))}</span>'
        for value, colour in [(0, (255, 255, 255)), *zip(log_steps(top, len(RAMP)), RAMP)]
    )
    unit = html.escape(tr("points per km²"))
    return (
        f"<h2>{html.escape(tr('Density'))}</h2>"
        f'<img alt="{words}" width="512" src="data:image/png;base64,{image}">'
        f'<p class="legend">{swatches}{unit}</p><p>{words}</p>'
    )


def _png(values, top):
    share = np.clip(1 + np.log10(np.maximum(values, top * 1e-9) / top) / 3, 0, 1)
    steps = np.linspace(0, 1, len(RAMP))
    pixels = np.empty((*values.shape, 4), np.uint8)
    for band in range(3):
        colour = np.interp(share, steps, [shade[band] for shade in RAMP])
        pixels[..., band] = np.where(values > 0, colour, 255)
    pixels[..., 3] = 255
    height, width = values.shape
    raw = pixels.tobytes()
    image = QImage(raw, width, height, 4 * width, QImage.Format.Format_RGBA8888)
    packed = QByteArray()
    buffer = QBuffer(packed)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    return bytes(packed)


def _checks(release):
    try:
        shown = release.verify()
    except NotVerifiedError as error:
        words = tr("This file does not pass its own checks: {why}").format(why=said(error))
        return f'<p class="alarm">{html.escape(words)}</p>'
    items = "".join(f"<li>{html.escape(proof_text(sentence))}</li>" for sentence in shown)
    return f"<h2>{html.escape(tr('What the file proves'))}</h2><ul>{items}</ul>"


def _what_next():
    words = tr(
        "From the release file anybody can rebuild the points, a density or counts in polygons, in "
        "QGIS (Vector > Private points > Open a release) or with the Python package dpsort-geo. "
        "None of this costs further privacy."
    )
    return f"<h2>{html.escape(tr('What to do with it'))}</h2><p>{html.escape(words)}</p>"
