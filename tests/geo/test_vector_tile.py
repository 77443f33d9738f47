"""Our tiles, read by somebody else's decoder."""

import mapbox_vector_tile
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from dpsort_geo.geo.vector_tile import EXTENT, encode_rings, point_tile, polygon_tile, varints

places = arrays.arrays(
    np.int64, st.tuples(st.integers(1, 40), st.just(2)), elements=st.integers(-300, 5000)
)


def read(tile):
    return mapbox_vector_tile.decode(tile, default_options={"y_coord_down": True})


@given(st.lists(st.integers(0, 2**62), min_size=1, max_size=30))
def test_varints_are_those_of_protocol_buffers(values):
    text, sizes = varints(np.array(values))
    found, at = [], 0
    for size in sizes.tolist():
        piece, at = text[at : at + size], at + size
        assert all(byte & 128 for byte in piece[:-1]) and not piece[-1] & 128
        found.append(sum((byte & 127) << 7 * k for k, byte in enumerate(piece)))
    assert found == values and at == len(text)


@settings(deadline=None)
@given(places)
def test_points_come_back_in_their_order(at):
    layer = read(point_tile("points", at))["points"]
    (feature,) = layer["features"]
    assert layer["extent"] == EXTENT
    assert np.atleast_2d(feature["geometry"]["coordinates"]).tolist() == at.tolist()


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(3, 9), st.booleans()), min_size=1, max_size=12), st.data())
def test_polygons_come_back_with_their_properties_and_turn_as_the_standard_asks(kinds, data):
    rings = []
    for corners, is_mirrored in kinds:
        turn = 2 * np.pi * np.arange(corners) / corners * (-1 if is_mirrored else 1)
        middle = data.draw(st.tuples(st.integers(-100, 4200), st.integers(-100, 4200)))
        ring = np.column_stack([np.cos(turn), np.sin(turn)]) * 200 + middle
        rings.append(np.rint(ring).astype(np.int64))
    sizes = np.array([len(ring) for ring in rings])
    columns = {
        "h3": [f"cell {k}" for k in range(len(rings))],
        "estimate": [k / 10 for k in range(len(rings))],
        "reliable": [k % 2 == 0 for k in range(len(rings))],
    }
    tile = polygon_tile("hexes", encode_rings(np.concatenate(rings), sizes), columns)
    features = read(tile)["hexes"]["features"]
    assert len(features) == len(rings)
    for number, (feature, ring) in enumerate(zip(features, rings)):
        assert feature["properties"] == {name: own[number] for name, own in columns.items()}
        (outline,) = feature["geometry"]["coordinates"]
        assert {tuple(corner) for corner in outline} == {tuple(corner) for corner in ring.tolist()}
        x, y = np.array(outline).T
        assert x[:-1] @ y[1:] - x[1:] @ y[:-1] > 0  # clockwise where y goes down
