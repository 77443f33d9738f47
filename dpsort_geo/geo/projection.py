"""The projection that private points take: Lambert's azimuthal equal-area map, from degrees.

PROJ knows the way everywhere, but takes longer for it than all the rest of counting. For the one
map that a domain in degrees chooses for itself there is a closed form (Snyder 1987, p. 76 and 187)
by the authalic latitude b, of which we need only

    sin b = s P(s^2),    cos b = cos(phi) Q(s^2),    s = sin(phi),

with P and Q smooth and nearly constant: power series in e^2 s^2, of which six terms leave less
than a micrometre. (cos b from sin b alone would lose half the digits near the poles, and does so
in PROJ: within about a kilometre of them this is the more exact of the two.) The projection is then
a rotation of the sphere and one square root. The way back is PROJ's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import factorial
from typing import Optional

import numpy as np
import pyproj

from .host import HOST

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
class Azimuthal:
    """The map of an ellipsoid around a centre in degrees."""

    a: float
    e2: float
    lon0: float
    lat0: float
    east: float = 0.0
    north: float = 0.0

    def forward(self, lon: Array, lat: Array) -> Pair:
        """Degrees to metres; infinite where a place has no image, as with pyproj."""
        lon, lat = np.asarray(lon, np.float64), np.asarray(lat, np.float64)
        x, y = np.empty(lon.size), np.empty(lat.size)
        for start in range(0, lon.size, _CHUNK):
            here = slice(start, start + _CHUNK)
            x[here], y[here] = self._forward(lon.reshape(-1)[here], lat.reshape(-1)[here])
        return x.reshape(lon.shape), y.reshape(lat.shape)

    @cached_property
    def _series(self) -> tuple[float, Array, Array]:
        """Radius of the authalic sphere, and the coefficients of P and Q, lowest first."""
        k = np.arange(_TERMS + 4)
        q = (1 - self.e2) * self.e2**k * (1 + 1 / (2 * k + 1.0))
        e = np.sqrt(self.e2)
        q_pole = 1 + (1 - self.e2) * np.arctanh(e) / e if e else 2.0
        sine = q / q_pole
        # 1 - sin^2 b has the factor cos^2 phi = 1 - t exactly: divide it out, then take the root
        square = -np.convolve(sine, sine)[: k.size - 1]
        ratio = np.cumsum(np.concatenate([[1.0], square]))
        cosine = np.zeros(k.size)
        cosine[0] = np.sqrt(ratio[0])
        for n in range(1, k.size):
            cross = np.dot(cosine[1:n], cosine[n - 1 : 0 : -1])
            cosine[n] = (ratio[n] - cross) / (2 * cosine[0])
        return float(self.a * np.sqrt(q_pole / 2)), sine[:_TERMS], cosine[:_TERMS]

    @cached_property
    def _centre(self) -> tuple[float, float, float]:
        """Sine and cosine of the centre's authalic latitude; stretch that makes it conformal."""
        radius, p, q = self._series
        s, c = np.sin(np.radians(self.lat0)), np.cos(np.radians(self.lat0))
        t = np.array([s * s])
        sine, cosine = s * _horner(p, t)[0], _horner(q, t)[0]
        stretch = self.a / (np.sqrt(1 - self.e2 * s * s) * radius * cosine)
        return float(sine), float(c * cosine), float(stretch)

    def _forward(self, lon: Array, lat: Array) -> Pair:
        radius, p, q = self._series
        sine0, cosine0, stretch = self._centre
        sine, cosine = _sin_cos_of_double(lat * (np.pi / 360))
        t = sine * sine
        sine *= _horner(p, t)
        cosine *= _horner(q, t)
        half = _sin_cos_of_double(_wrap(lon - self.lon0) * (np.pi / 720))
        across = 2 * cosine * half[0] * half[1]
        toward = cosine * (1 - 2 * half[0] * half[0])
        depth = sine0 * sine
        depth += cosine0 * toward
        depth += 1
        # the point opposite to the centre is a circle on the map: PROJ refuses it too
        lost = (depth < 1e-10) | ~(np.abs(lat) <= 90 + 1e-10)
        np.copyto(depth, np.nan, where=lost)
        k = np.sqrt(2 / depth)
        x = across * k
        x *= radius * stretch
        x += self.east
        sine *= cosine0
        toward *= sine0
        sine -= toward
        y = np.multiply(sine, k, out=sine)
        y *= radius / stretch
        y += self.north
        np.copyto(x, np.inf, where=lost)
        np.copyto(y, np.inf, where=lost)
        return x, y


@lru_cache(maxsize=64)
def closed_form(source: pyproj.CRS, target: pyproj.CRS) -> Optional[Azimuthal]:
    """The closed form, if the target is such a map of exactly the source's datum.

    >>> closed_form(pyproj.CRS(4258), pyproj.CRS(3035)).lat0
    52.0
    >>> closed_form(pyproj.CRS(4326), pyproj.CRS(27700))
    """
    base, operation = target.geodetic_crs, target.coordinate_operation
    if base is None or operation is None or not target.is_projected or not source.is_geographic:
        return None
    if operation.method_name != "Lambert Azimuthal Equal Area" or not _same_datum(source, base):
        return None
    units = {axis.unit_name for axis in target.axis_info}
    degrees = {axis.unit_name for axis in source.axis_info}
    if units != {"metre"} or degrees != {"degree"}:
        return None
    body = base.ellipsoid
    f = 1 / body.inverse_flattening if body.inverse_flattening else 0.0
    value = {p.name: p.value * p.unit_conversion_factor for p in operation.params}
    lon, lat = (value[f"{name} of natural origin"] for name in ("Longitude", "Latitude"))
    # rounded, because a degree that went through radians is off in its last digit
    centre = round(float(np.degrees(lon)), 12), round(float(np.degrees(lat)), 12)
    shift = value.get("False easting", 0.0), value.get("False northing", 0.0)
    found = Azimuthal(body.semi_major_metre, f * (2 - f), *centre, *shift)
    return found if _agrees_with_proj(found, source, target) else None


def _same_datum(a: pyproj.CRS, b: pyproj.CRS) -> bool:
    if any(crs.prime_meridian is None or crs.prime_meridian.longitude != 0 for crs in (a, b)):
        return False
    # the name of WGS 84 comes with and without its ensemble of realisations
    wgs84 = all("World Geodetic System 1984" in crs.datum.name for crs in (a, b))
    return a.datum == b.datum or (wgs84 and a.ellipsoid == b.ellipsoid)


def _agrees_with_proj(closed: Azimuthal, source: pyproj.CRS, target: pyproj.CRS) -> bool:
    """Whether it agrees with PROJ to a millimetre all over the globe."""
    lon, lat = (part.reshape(-1) for part in np.meshgrid(_PROBE * 179, _PROBE * 89))
    x, y = HOST.transform(lon, lat, source, target)
    # near the point opposite to the centre a rounding error is metres on the map
    near = np.hypot(x - closed.east, y - closed.north) < 1.9 * closed.a
    x2, y2 = closed.forward(lon[near], lat[near])
    return bool(near.any() and np.hypot(x[near] - x2, y[near] - y2).max() < 1e-3)


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


def _wrap(lon: Array) -> Array:
    """Longitudes between -180 and 180; those that are, untouched."""
    if lon.size == 0 or (lon.min() >= -180 and lon.max() <= 180):
        return lon
    return np.where(np.abs(lon) > 180, (lon + 180) % 360 - 180, lon)
