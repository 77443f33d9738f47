"""Projections: closed forms where they are exact and fast, PROJ for all the rest.

Both equal-area projections that a domain may choose for itself factor through the authalic
sphere (Snyder 1987, p. 76 and 187). Of the authalic latitude b we need only

    sin b = s P(s^2),    cos b = cos(phi) Q(s^2),    s = sin(phi),

with P and Q smooth and nearly constant: power series in e^2 s^2, of which six terms leave less
than a micrometre. (cos b from sin b alone would lose half the digits near the poles, and does so
in PROJ: within about a kilometre of them this is the more exact of the two.) The azimuthal
projection is then a rotation of the sphere and one square root, in all aspects alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import factorial
from typing import Any, Optional, Union

import numpy as np
import pyproj

from ..errors import BadInput

Array = np.ndarray
Pair = tuple[Array, Array]

#: points worked on at a time, so that the half dozen arrays between stay in the cache
_CHUNK = 15 << 10
#: e^2 is below 0.007 on every ellipsoid in use: the next term would be below 1e-13
_TERMS = 6
#: sin(q) / q as a series in q^2, below 1e-16 off for |q| <= pi/4
_SINE = np.array([1 / factorial(2 * k + 1) * (-1) ** k for k in range(8)])

_PROBE = np.linspace(-1, 1, 13)


@dataclass(frozen=True)
class Ellipsoid:
    """An ellipsoid of revolution and its way to the authalic sphere."""

    a: float
    e2: float
    radius: float = field(init=False)
    sine: Array = field(init=False, compare=False, repr=False)
    cosine: Array = field(init=False, compare=False, repr=False)
    back: Array = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        q_pole, sine, cosine = _series(self.e2)
        object.__setattr__(self, "radius", self.a * np.sqrt(q_pole / 2))
        object.__setattr__(self, "sine", sine)
        object.__setattr__(self, "cosine", cosine)
        object.__setattr__(self, "back", _inverse_series(sine, cosine))


def _series(e2: float) -> tuple[float, Array, Array]:
    """q at the pole, and the coefficients of P and Q, lowest first."""
    k = np.arange(_TERMS + 4)
    q = (1 - e2) * e2**k * (1 + 1 / (2 * k + 1.0))
    e = np.sqrt(e2)
    q_pole = 1 + (1 - e2) * np.arctanh(e) / e if e else 2.0
    sine = q / q_pole
    # 1 - sin^2 b has the factor cos^2 phi = 1 - t exactly: divide it out, then take the root
    square = -np.convolve(sine, sine)[: k.size - 1]
    ratio = np.cumsum(np.concatenate([[1.0], square]))
    cosine = np.zeros(k.size)
    cosine[0] = np.sqrt(ratio[0])
    for n in range(1, k.size):
        cross = np.dot(cosine[1:n], cosine[n - 1 : 0 : -1])
        cosine[n] = (ratio[n] - cross) / (2 * cosine[0])
    return float(q_pole), sine[:_TERMS], cosine[:_TERMS]


def _inverse_series(sine: Array, cosine: Array) -> Array:
    """Coefficients of R with tan(phi) = tan(b) R(sin^2 b), fitted to full precision."""
    phi = np.pi / 4 * (1 - np.cos(np.pi * (np.arange(64) + 0.5) / 64))
    t = np.sin(phi) ** 2
    p, q = _horner(sine, t), _horner(cosine, t)
    return np.polynomial.polynomial.polyfit(t * p * p, q / p, _TERMS - 1)


def _horner(coefficients: Array, t: Array) -> Array:
    value = np.full_like(t, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        value *= t
        value += coefficient
    return value


def _sin_cos_of_double(q: Array) -> Pair:
    """Sine and cosine of 2q for |q| <= pi/4, at a third of the cost of calling both."""
    square = q * q
    sine = _horner(_SINE, square)
    sine *= q
    np.multiply(sine, sine, out=square)
    cosine = 1 - square
    np.sqrt(cosine, out=cosine)
    sine *= cosine
    sine += sine
    return sine, 1 - 2 * square


@dataclass(frozen=True)
class Cylindrical:
    """Lambert's equal-area cylinder (EPSG:6933 and its kin), from and to degrees."""

    ellipsoid: Ellipsoid
    lon0: float
    lat_ts: float
    east: float = 0.0
    north: float = 0.0

    @cached_property
    def _scale(self) -> float:
        s = np.sin(np.radians(self.lat_ts))
        return float(np.cos(np.radians(self.lat_ts)) / np.sqrt(1 - self.ellipsoid.e2 * s * s))

    @cached_property
    def edges(self) -> tuple[float, float, float, float]:
        """West, south, east and north edge of the map of the whole globe."""
        half = np.pi * self.ellipsoid.a * self._scale * (1 - 1e-12)
        pole = self.ellipsoid.radius**2 / (self.ellipsoid.a * self._scale)
        return self.east - half, self.north - pole, self.east + half, self.north + pole

    def forward(self, lon: Array, lat: Array) -> Pair:
        """Degrees to metres."""
        return _in_chunks(self._forward, lon, lat)

    def inverse(self, x: Array, y: Array) -> Pair:
        """Metres to degrees."""
        return _in_chunks(self._inverse, x, y)

    def _forward(self, lon: Array, lat: Array) -> Pair:
        body, k = self.ellipsoid, self._scale
        x = _wrapped(lon - self.lon0) if self.lon0 else _wrapped(lon)
        x = x * (np.pi / 180 * body.a * k) + self.east
        s, _ = _sin_cos_of_double(lat * (np.pi / 360))
        y = s * _horner(body.sine, s * s)
        y *= body.radius * body.radius / (body.a * k)
        y += self.north
        return _off_the_globe(lat, x, y)

    def _inverse(self, x: Array, y: Array) -> Pair:
        body, k = self.ellipsoid, self._scale
        sine = (y - self.north) * (body.a * k / (body.radius * body.radius))
        cosine = np.sqrt(np.maximum((1 - sine) * (1 + sine), 0))
        lat = np.degrees(np.arctan2(sine * _horner(body.back, sine * sine), cosine))
        lon = _wrapped((x - self.east) * (180 / np.pi / (body.a * k)) + self.lon0)
        return _beyond_the_pole(sine, lon, lat)


@dataclass(frozen=True)
class Azimuthal:
    """Lambert's azimuthal equal-area projection in any aspect, from and to degrees."""

    ellipsoid: Ellipsoid
    lon0: float
    lat0: float
    east: float = 0.0
    north: float = 0.0

    @cached_property
    def _centre(self) -> tuple[float, float, float]:
        """Sine and cosine of the centre's authalic latitude; stretch that makes it conformal."""
        body = self.ellipsoid
        s, c = np.sin(np.radians(self.lat0)), np.cos(np.radians(self.lat0))
        t = np.array([s * s])
        sine, cosine = s * _horner(body.sine, t)[0], _horner(body.cosine, t)[0]
        stretch = body.a / (np.sqrt(1 - body.e2 * s * s) * body.radius * cosine)
        return float(sine), float(c * cosine), float(stretch)

    def forward(self, lon: Array, lat: Array) -> Pair:
        """Degrees to metres."""
        return _in_chunks(self._forward, lon, lat)

    def inverse(self, x: Array, y: Array) -> Pair:
        """Metres to degrees."""
        return _in_chunks(self._inverse, x, y)

    def _forward(self, lon: Array, lat: Array) -> Pair:
        body = self.ellipsoid
        sine0, cosine0, stretch = self._centre
        sine, cosine = _sin_cos_of_double(lat * (np.pi / 360))
        t = sine * sine
        sine *= _horner(body.sine, t)
        cosine *= _horner(body.cosine, t)
        half = _sin_cos_of_double(_wrapped(lon - self.lon0) * (np.pi / 720))
        across = 2 * cosine * half[0] * half[1]
        toward = cosine * (1 - 2 * half[0] * half[0])
        depth = sine0 * sine
        depth += cosine0 * toward
        depth += 1
        # the point opposite to the centre is a circle on the map: PROJ refuses it too
        opposite = depth < 1e-10
        np.copyto(depth, np.nan, where=opposite)
        k = np.sqrt(2 / depth)
        x = across * k
        x *= body.radius * stretch
        x += self.east
        sine *= cosine0
        toward *= sine0
        sine -= toward
        y = np.multiply(sine, k, out=sine)
        y *= body.radius / stretch
        y += self.north
        np.copyto(x, np.inf, where=opposite)
        np.copyto(y, np.inf, where=opposite)
        return _off_the_globe(lat, x, y)

    def _inverse(self, x: Array, y: Array) -> Pair:
        body = self.ellipsoid
        sine0, cosine0, stretch = self._centre
        u = (x - self.east) / (body.radius * stretch)
        v = (y - self.north) * (stretch / body.radius)
        rho = u * u + v * v
        k = np.sqrt(np.maximum(1 - rho / 4, 0))
        u *= k
        v *= k
        depth = 1 - rho / 2
        sine = cosine0 * v + sine0 * depth
        toward = cosine0 * depth - sine0 * v
        cosine = np.sqrt(u * u + toward * toward)
        lon = _wrapped(np.degrees(np.arctan2(u, toward)) + self.lon0)
        lat = np.degrees(np.arctan2(sine * _horner(body.back, sine * sine), cosine))
        return _beyond_the_pole(rho / 4, lon, lat)


@dataclass(frozen=True)
class ByProj:
    """Any two reference systems, through PROJ; x is east or longitude, always."""

    source: pyproj.CRS
    target: pyproj.CRS

    def forward(self, x: Array, y: Array) -> Pair:
        """From source to target."""
        return self._run(x, y, "FORWARD")

    def inverse(self, x: Array, y: Array) -> Pair:
        """From target to source."""
        return self._run(x, y, "INVERSE")

    def _run(self, x: Array, y: Array, direction: str) -> Pair:
        run = _proj(self.source, self.target)
        x, y = run.transform(
            np.asarray(x, np.float64), np.asarray(y, np.float64), direction=direction
        )
        return np.asarray(x), np.asarray(y)


Projection = Union[Cylindrical, Azimuthal, ByProj]


@lru_cache(maxsize=64)
def transformer(source: Any, target: Any) -> Projection:
    """The quickest exact way between two reference systems, with ``forward`` and ``inverse``.

    Coordinates that have no image become infinite, as with pyproj. The result can be pickled.

    Examples
    --------
    >>> there = transformer("EPSG:4326", "EPSG:6933")
    >>> x, y = there.forward([-74.0], [40.7])
    >>> [float(value.round(3)[0]) for value in (x, y)]
    [-7139984.739, 4775524.168]
    >>> type(there).__name__, type(transformer("EPSG:4326", "EPSG:27700")).__name__
    ('Cylindrical', 'ByProj')
    """
    try:
        source, target = pyproj.CRS.from_user_input(source), pyproj.CRS.from_user_input(target)
        return _closed_form(source, target) or ByProj(source, target)
    except pyproj.exceptions.CRSError:
        raise BadInput("A coordinate reference system is not known to PROJ.") from None


@lru_cache(maxsize=64)
def _proj(source: pyproj.CRS, target: pyproj.CRS) -> pyproj.Transformer:
    try:
        return pyproj.Transformer.from_crs(source, target, always_xy=True)
    except pyproj.exceptions.ProjError:
        raise BadInput("PROJ knows no way between the two reference systems.") from None


def _closed_form(source: pyproj.CRS, target: pyproj.CRS) -> Optional[Projection]:
    """A closed form, if the target is an equal-area map of exactly the source's datum."""
    base = target.geodetic_crs
    operation = target.coordinate_operation
    if base is None or operation is None or not target.is_projected or not source.is_geographic:
        return None
    units = {axis.unit_name for axis in target.axis_info}
    degrees = {axis.unit_name for axis in source.axis_info}
    if units != {"metre"} or degrees != {"degree"}:
        return None
    if not _same_datum(source, base):
        return None
    shape = base.ellipsoid
    f = 1 / shape.inverse_flattening if shape.inverse_flattening else 0.0
    body = Ellipsoid(shape.semi_major_metre, f * (2 - f))
    value = {p.name: p.value * p.unit_conversion_factor for p in operation.params}
    found = _from_parameters(operation.method_name, value, body)
    return found if found is not None and _agrees(found, ByProj(source, target)) else None


def _same_datum(a: pyproj.CRS, b: pyproj.CRS) -> bool:
    if any(crs.prime_meridian is None or crs.prime_meridian.longitude != 0 for crs in (a, b)):
        return False
    # the name of WGS 84 comes with and without its ensemble of realisations
    wgs84 = all("World Geodetic System 1984" in crs.datum.name for crs in (a, b))
    return a.datum == b.datum or (wgs84 and a.ellipsoid == b.ellipsoid)


def _agrees(closed: Projection, proj: ByProj) -> bool:
    """Whether two projections agree to a millimetre all over the globe."""
    lon, lat = (part.reshape(-1) for part in np.meshgrid(_PROBE * 179, _PROBE * 89))
    x, y = proj.forward(lon, lat)
    near = np.isfinite(x)
    if isinstance(closed, Azimuthal):
        # near the point opposite to the centre a rounding error is metres on the map
        near &= np.hypot(x - closed.east, y - closed.north) < 1.9 * closed.ellipsoid.a
    x2, y2 = closed.forward(lon[near], lat[near])
    return bool(near.any() and np.hypot(x[near] - x2, y[near] - y2).max() < 1e-3)


def _from_parameters(method: str, value: dict[str, float], body: Ellipsoid) -> Optional[Projection]:
    """``value`` in radians and metres."""
    shift = value.get("False easting", 0.0), value.get("False northing", 0.0)
    if method == "Lambert Cylindrical Equal Area":
        lon = np.degrees(value["Longitude of natural origin"])
        lat = np.degrees(value["Latitude of 1st standard parallel"])
        return Cylindrical(body, float(lon), float(lat), *shift)
    if method == "Lambert Azimuthal Equal Area":
        lon = np.degrees(value["Longitude of natural origin"])
        lat = np.degrees(value["Latitude of natural origin"])
        return Azimuthal(body, float(lon), float(lat), *shift)
    return None


def _in_chunks(run: Callable[[Array, Array], Pair], a: Any, b: Any) -> Pair:
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    first, second = np.empty(a.shape), np.empty(b.shape)
    flat = a.reshape(-1), b.reshape(-1), first.reshape(-1), second.reshape(-1)
    for start in range(0, a.size, _CHUNK):
        here = slice(start, start + _CHUNK)
        flat[2][here], flat[3][here] = run(flat[0][here], flat[1][here])
    return first, second


def _wrapped(lon: Array) -> Array:
    """Longitudes between -180 and 180; those that are, untouched."""
    if lon.size == 0 or (lon.min() >= -180 and lon.max() <= 180):
        return lon
    return np.where(np.abs(lon) > 180, (lon + 180) % 360 - 180, lon)


def _off_the_globe(lat: Array, x: Array, y: Array) -> Pair:
    """Latitudes beyond a pole have no image."""
    if lat.size and not (lat.min() >= -90 and lat.max() <= 90):
        lost = ~(np.abs(lat) <= 90 + 1e-10)
        x, y = np.where(lost, np.inf, x), np.where(lost, np.inf, y)
    return x, y


def _beyond_the_pole(sine: Array, lon: Array, lat: Array) -> Pair:
    """Places outside of the map of the globe have no longitude and latitude."""
    lost = ~(np.abs(sine) <= 1 + 1e-10)
    if lost.any():
        lon, lat = np.where(lost, np.inf, lon), np.where(lost, np.inf, lat)
    return lon, lat
