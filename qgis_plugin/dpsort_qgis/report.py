"""The report of a release: one HTML page, nothing in it but public things."""

import base64
import html

import numpy as np
from qgis.PyQt.QtCore import QBuffer, QByteArray, QIODevice
from qgis.PyQt.QtGui import QImage

from ._vendor.dpsort_geo.atomic import write_text
from ._vendor.dpsort_geo.errors import NotVerified
from .i18n import tr
from .releases import crs_pair, density_picture, metres_of, statement_text
from .style import RAMP

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
"""


def write_report(release, target, plan=None):
    """Write the report of a release; ``plan`` adds what error to expect."""
    title = tr("Private points: report")
    sections = [
        f"<h1>{html.escape(title)}</h1>",
        f'<p class="lead">{html.escape(tr("What was published, and what it promises."))}</p>',
        _statement(release),
        _expected(plan) if plan else "",
        _settings(release),
        _picture(release),
        _checks(release),
        _what_next(),
    ]
    _write(target, title, "\n".join(sections))


def write_plan(target, sentence, rows, table):
    """Write the page of a plan: a sentence, its settings, and a table of other choices."""
    title = tr("Private points: plan")
    head = f"<tr><td>epsilon</td><td>{html.escape(tr('Typical error'))}</td></tr>"
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


def length(metres):
    """A length for people.

    Two digits: an expected error is not known better than that.
    """
    if not np.isfinite(metres):
        return "-"
    digits = 1 - int(np.floor(np.log10(metres))) if metres > 0 else 0
    rounded = round(metres, digits)
    if rounded >= 1000:
        return f"{rounded / 1000:g}\u00a0km"
    return f"{rounded:g}\u00a0m"


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
    words = tr("typical error of a published point, expected beforehand ({low} to {high})").format(
        low=length(plan.low), high=length(plan.high)
    )
    figure = html.escape(length(plan.expected_error))
    return f'<p><span class="figure">≈ {figure}</span><br>{html.escape(words)}</p>'


def _settings(release):
    crs, _ = crs_pair(release)
    metres = metres_of(release)
    hidden = release.neighbours == "add-remove"
    whose = tr("one person with all their points") if release.unit == "person" else tr("one point")
    count = tr("{n} (noisy: the true number is hidden)") if hidden else "{n}"
    rows = [
        (tr("Privacy budget"), f"epsilon = {release.epsilon}"),
        (tr("Protected"), whose),
        (tr("Neighbour relation"), release.neighbours),
        (tr("Number of points or persons"), count.format(n=f"{release.n:,}")),
        (tr("Method"), release.kind),
        (tr("Side of the area's grid"), length(release.grid.side * metres)),
        (tr("Size of a cell"), length(release.grid.cell * metres)),
        (tr("Coordinate reference system"), crs.authid() or crs.description() or release.crs),
        (tr("Written to a ledger"), tr("yes") if release.ledger else tr("no")),
    ]
    return f"<h2>{html.escape(tr('Settings'))}</h2>" + _table(rows)


def _table(rows):
    cells = "".join(
        f"<tr><td>{html.escape(name)}</td><td>{html.escape(str(value))}</td></tr>"
        for name, value in rows
    )
    return f"<table>{cells}</table>"


def _picture(release):
    values = density_picture(release, min(8, release.grid.order))
    image = base64.b64encode(_png(values)).decode("ascii")
    words = html.escape(tr("The released density, light to dark; north is up."))
    return (
        f"<h2>{html.escape(tr('Density'))}</h2>"
        f'<img alt="{words}" width="512" src="data:image/png;base64,{image}"><p>{words}</p>'
    )


def _png(values):
    some = values[values > 0]
    top = float(np.quantile(some, 0.995)) if some.size else 1.0
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
    except NotVerified as error:
        words = tr("This file does not pass its own checks: {why}").format(why=error)
        return f'<p class="alarm">{html.escape(words)}</p>'
    items = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in shown)
    return f"<h2>{html.escape(tr('What the file proves'))}</h2><ul>{items}</ul>"


def _what_next():
    words = tr(
        "From the release file anybody can rebuild the points, a density or counts in polygons, in "
        "QGIS (Vector > Private points > Open a release) or with the Python package dpsort-geo. "
        "None of this costs further privacy."
    )
    return f"<h2>{html.escape(tr('What to do with it'))}</h2><p>{html.escape(words)}</p>"
