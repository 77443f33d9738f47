"""Whatever comes in: an answer or one sentence. No crash, no hang, none of the input quoted."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import re
import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest
import shapely
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

import dpsort_geo
from dpsort_geo.core.curve.cover import cover
from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.errors import BadInputError, NotVerifiedError
from dpsort_geo.core.private.adaptive import publish as publish_adaptive
from dpsort_geo.core.private.cells import count_cells
from dpsort_geo.core.private.hybrid import publish as publish_hybrid
from dpsort_geo.core.private.sort import publish as publish_sorted
from dpsort_geo.core.public.decode import decode
from dpsort_geo.core.release import Release
from dpsort_geo.core.release_json import digest, pack, unpack
from dpsort_geo.core.rules.budget import exact_epsilon
from dpsort_geo.geo.private import arrow, coordinates, files
from dpsort_geo.geo.release import Release as GeoRelease
from tests.persons import count_person_points, count_persons

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
#: the tests try the same inputs every time; the audit tries more, and others each time
MORE = int(os.environ.get("DPSORT_GEO_FUZZ", "0"))


def patient(test, examples=MORE or 100):
    options = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}
    return settings(max_examples=examples, derandomize=not MORE, **options)(test)


MASK = Grid(0.0, 0.0, 1.0, 6, np.array([[5, 900], [1000, 1003], [2000, 4000]]))
RNG = np.random.default_rng(1)
CELLS = [count_cells(grid, *RNG.normal(30, 8, (2, 2000))) for grid in (Grid(0, 0, 1.0, 6), MASK)]
RELEASES = {
    f"{name}, {place}": publish(cells)
    for cells, place in zip(CELLS, ("whole grid", "mask"))
    for name, publish in {
        "adaptive": lambda cells: publish_adaptive(cells, 1),
        "adaptive, n private": lambda cells: publish_adaptive(cells, 1, neighbours="add-remove"),
        "sort": lambda cells: publish_sorted(cells, 1),
        "width-depth": lambda cells: publish_hybrid(cells, 8, variant="width-depth"),
        "depth-width": lambda cells: publish_hybrid(cells, 8, variant="depth-width"),
    }.items()
}
NAMES = st.sampled_from(sorted(RELEASES))

WHOLE = st.integers() | st.sampled_from([0, 2**31, 2**62, 2**63, -(2**63), 10**30, 10**400])
PLAIN = st.none() | st.booleans() | WHOLE | st.floats() | st.text(max_size=20)
ANYTHING = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


def document_of(name):
    document = json.loads(RELEASES[name].to_json())
    del document["digest"]
    return document


def signed(document):
    return json.dumps({**document, "digest": digest(document)})


def places(document, path=()):
    """Every place in a document at which something can be changed."""
    if path:
        yield path
    if isinstance(document, dict):
        for key, value in document.items():
            yield from places(value, (*path, key))


def changed(document, path, value):
    document = copy.deepcopy(document)
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return document


def use(text):
    """Read, verify and decode, as far as it goes; only `BadInputError` may stop it."""
    try:
        release = Release.from_json(text)
        release.verify()
        if release.size < 10**6:
            decode(release)
    except BadInputError as error:
        return str(error)
    return ""


@patient
@given(st.text() | ANYTHING.map(json.dumps))
@example("[" * 100_000)
@example('{"format": "dpsort-geo release", "version": 1, "digest": ' + '{"a":' * 100_000)
@example("1" * 100_000)
@example('{"format": "dpsort-geo release", "version": 1, "digest": NaN}')
def test_a_text_that_is_no_release_is_refused_in_one_sentence(text):
    assert use(text).endswith(".")


@pytest.mark.parametrize("depth", [100, 500, 900, 960, 980, 990, 1000, 5000])
def test_deep_nesting_is_refused_or_read(depth):
    document = document_of("sort, mask")
    text = json.dumps({**document, "digest": "0" * 64, "more": 0})
    use(text.replace('"more": 0', '"more": ' + "[" * depth + "]" * depth))


@patient
@given(NAMES, st.data())
def test_a_release_with_anything_in_any_place_is_refused_or_read(name, data):
    document = document_of(name)
    path = data.draw(st.sampled_from(sorted(places(document), key=str)))
    use(signed(changed(document, path, data.draw(ANYTHING))))


@patient
@given(NAMES, st.data())
def test_a_release_with_wild_numbers_is_refused_or_read(name, data):
    document = document_of(name)
    part = data.draw(st.sampled_from(sorted(document["measurements"])))
    values = unpack(document["measurements"][part]).tolist()
    for _ in range(data.draw(st.integers(1, 5))):
        values[data.draw(st.integers(0, len(values) - 1))] = data.draw(WHOLE)
    use(signed(changed(document, ("measurements", part), values)))


@pytest.mark.parametrize("name", sorted(RELEASES))
@pytest.mark.parametrize(
    "n", [2**40, 2**62, 10**30, 10**400], ids=lambda n: f"{len(str(n))} digits"
)
def test_an_absurd_number_of_points_is_refused(name, n):
    document = changed(document_of(name), ("n",), n)
    try:
        release = Release.from_json(signed(document))
        release.verify()
        decode(release)
    except BadInputError:
        pass


@pytest.mark.parametrize("name", sorted(RELEASES))
@pytest.mark.parametrize(
    "order, runs", [(24, [0, 2]), (24, [5, 6, 4**23, 4**23 + 9]), (12, [7, 9])]
)
def test_a_small_mask_in_a_deep_grid_takes_little_room(name, order, runs):
    document = changed(document_of(name), ("grid", "order"), order)
    use(signed(changed(document, ("grid", "mask"), pack(np.array(runs, np.int64)))))


@pytest.mark.parametrize(
    "path, value",
    [(("grid", "cell"), 1e308), (("grid", "cell"), 5e-324), (("grid", "cell"), 1e7),
     (("grid", "x0"), 1e308), (("grid", "x0"), -1e9), (("crs",), ""), (("crs",), "EPSG:4978"),
     (("crs",), "x" * 1000), (("working_crs",), "EPSG:4978"), (("working_crs",), "+proj=none")],
)  # fmt: skip
def test_a_release_that_lies_nowhere_is_refused_or_read(path, value):
    place = {"crs": "EPSG:4326", "working_crs": "+proj=laea +lat_0=40 +lon_0=-74 +datum=WGS84"}
    document = {**document_of("sort, mask"), **place}
    assert GeoRelease.from_json(signed(document)).n == RELEASES["sort, mask"].n
    with contextlib.suppress(BadInputError):
        GeoRelease.from_json(signed(changed(document, path, value)))


def adaptive_edits(values):
    """Changes to nodes, rates and sizes after which no rule could have made the release."""
    level, index, rate, value = (values[name] for name in ("level", "index", "rate", "value"))
    last = level.size - 1
    for at in (0, last // 2, last):
        for name, part in (("rate", rate), ("index", index), ("level", level)):
            for step in (-1, 1):
                other = part.copy()
                other[at] += step
                yield {**values, name: other}
        yield {name: np.delete(part, at) for name, part in values.items()}
        yield {name: np.insert(part, at, part[at]) for name, part in values.items()}
    yield {**values, "rate": rate * 2}
    yield {**values, "value": value[:-1]}
    yield {name: part[::-1] for name, part in values.items()}
    yield {name: part[:0] for name, part in values.items()}


@pytest.mark.parametrize("name", [name for name in RELEASES if name.startswith("adaptive")])
def test_an_adaptive_release_with_other_nodes_or_rates_never_verifies(name):
    document = document_of(name)
    for values in adaptive_edits(RELEASES[name].measured.arrays()):
        parts = {part: pack(numbers) for part, numbers in values.items()}
        text = signed({**document, "measurements": parts})
        with pytest.raises(BadInputError):
            Release.from_json(text).verify()


@pytest.mark.parametrize("name", [name for name in RELEASES if not name.startswith("adaptive")])
def test_a_release_with_more_or_fewer_sums_or_counts_never_verifies(name):
    document, values = document_of(name), RELEASES[name].measured.arrays()
    for part, numbers in values.items():
        for other in (numbers[:-1], np.append(numbers, 1), numbers[:0]):
            if other.size != numbers.size:
                text = signed(changed(document, ("measurements", part), pack(other)))
                with pytest.raises(NotVerifiedError):
                    Release.from_json(text).verify()


@pytest.mark.parametrize("name", sorted(RELEASES))
def test_a_release_with_other_settings_never_verifies(name):
    document = document_of(name)
    for key, value in document["settings"].items():
        for other in (value + 1, value - 1, 2 * value + 7, -value - 1):
            if key == "group_size" and other >= 0:
                continue  # any group size is as good as another, where the groups are the same
            with pytest.raises(NotVerifiedError):
                Release.from_json(signed(changed(document, ("settings", key), other))).verify()
    with pytest.raises(NotVerifiedError):
        Release.from_json(signed(changed(document, ("settings", "more"), 1))).verify()


@pytest.mark.parametrize("name", ["sort, whole grid", "sort, mask"])
def test_a_sort_release_with_another_epsilon_relation_unit_or_mask_never_verifies(name):
    document = document_of(name)
    smaller = pack(np.array([5, 900, 1000, 1003, 2000, 3999], np.int64))
    for path, other in (
        (("epsilon",), "0.999"), (("epsilon",), "2"), (("neighbours",), "add-remove"),
        (("unit",), "person"), (("grid", "mask"), smaller), (("grid", "order"), 7 if "whole" in name
        else 5), (("n",), 0), (("n",), -1), (("n",), 3),
    ):  # fmt: skip
        with pytest.raises(BadInputError):
            Release.from_json(signed(changed(document, path, other))).verify()


@pytest.mark.parametrize("name", ["adaptive, whole grid", "adaptive, mask"])
def test_an_adaptive_release_with_another_epsilon_relation_or_mask_never_verifies(name):
    document = document_of(name)
    without = pack(np.array([2000, 4000], np.int64))
    for path, other in (
        (("epsilon",), "0.01"), (("epsilon",), "20"), (("neighbours",), "add-remove"),
        (("grid", "mask"), without), (("n",), 0), (("n",), -1), (("n",), 10**6),
        (("grid", "order"), 2),
    ):  # fmt: skip
        with pytest.raises(BadInputError):
            Release.from_json(signed(changed(document, path, other))).verify()


def test_any_edit_without_a_new_digest_is_seen():
    text = RELEASES["sort, mask"].to_json()
    with pytest.raises(BadInputError, match="changed after it was made"):
        Release.from_json(text.replace('"epsilon": "1"', '"epsilon": "2"'))


HOSTILE = """
import resource, sys, json
import numpy as np
from dpsort_geo.core.release_json import digest, pack
from dpsort_geo.core.release import Release
from dpsort_geo.core.errors import BadInputError
document = json.loads(open(sys.argv[2]).read())
del document["digest"]
size = int(sys.argv[3])
if sys.argv[1] == "nodes":
    for name in document["measurements"]:
        document["measurements"][name] = pack(np.arange(size))
    document["digest"] = digest(document)
    text = json.dumps(document)
elif sys.argv[1] == "list":
    text = json.dumps({**document, "digest": "0", "more": [1]})
    text = text.replace("[1]", "[" + "12345678," * (size // 9) + "1]")
elif sys.argv[1] == "words":
    text = "{" + " " * size
else:
    text = "[" * size
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
try:
    Release.from_json(text).verify()
except BadInputError as error:
    print("refused:", error)
else:
    print("read")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS is a Linux matter")
@pytest.mark.parametrize(
    "kind, size",
    [("nodes", 10**7), ("nodes", 2**24 + 1), ("list", 100 << 20), ("words", 100 << 20),
     ("words", 257 << 20), ("nesting", 10**7)],
)  # fmt: skip
def test_a_huge_release_is_refused_or_read_within_three_gigabytes(kind, size, tmp_path):
    small = tmp_path / "small.json"
    small.write_text(RELEASES["adaptive, whole grid"].to_json())
    command = [sys.executable, "-c", HOSTILE, kind, str(small), str(size)]
    root = Path(dpsort_geo.__file__).parents[1]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=root)
    assert done.returncode == 0, done.stderr[-500:]
    assert done.stdout.startswith(("refused:", "read"))


#: a number whose digits are easy to find in a message
SECRET = 8642.13579
NUMBERS = st.floats() | st.sampled_from([0.0, SECRET, -SECRET, 1e308, 5e-324, float("nan")])


def quiet(call, *arguments, **more):
    """Call it: it may refuse with `BadInputError`, whose chain must not tell the secret."""
    try:
        return call(*arguments, **more)
    except BadInputError as error:
        said = "".join(traceback.format_exception_only(type(error), error))
        told = [error.__cause__, None if error.__suppress_context__ else error.__context__]
        assert not re.search("8642|13579", said + "".join(map(str, told)))
        return None


@patient
@given(NUMBERS, NUMBERS, NUMBERS, WHOLE | NUMBERS, st.lists(NUMBERS, max_size=6))
def test_any_grid_takes_any_points_or_refuses(x0, y0, cell, order, values):
    assume(not isinstance(order, int) or order < 10**6)
    grid = quiet(Grid, x0, y0, cell, order)
    if grid is not None:
        cells = quiet(count_cells, grid, np.array(values), np.array(values[::-1]))
        assert cells is None or (cells.n == len(values) and np.all(cells.index < 4**grid.order))


@patient
@given(st.lists(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=6), max_size=3), st.integers(1, 12))
def test_any_polygon_becomes_a_mask_or_is_refused(rings, order):
    grid = Grid(0.0, 0.0, 1.0, order)
    shapes = [np.array(ring, float).reshape(-1, 2) for ring in rings]
    runs = quiet(cover, shapes, grid)
    if runs is not None:
        quiet(Grid, 0.0, 0.0, 1.0, order, runs)


@patient
@given(st.lists(st.lists(WHOLE, max_size=3), max_size=4), st.integers(1, 31))
def test_any_list_of_runs_is_a_mask_or_is_refused(runs, order):
    try:
        array = np.array(runs, object).astype(np.int64)
    except (ValueError, OverflowError, TypeError):
        return
    grid = quiet(Grid, 0.0, 0.0, 1.0, order, array)
    if grid is not None:
        assert grid.n_cells == int((array[:, 1] - array[:, 0]).sum())


@patient
@given(PLAIN)
def test_any_epsilon_is_exact_or_refused(epsilon):
    exact = quiet(exact_epsilon, epsilon)
    assert exact is None or 0 < exact <= 1000


@patient
@given(
    st.lists(st.tuples(NUMBERS, NUMBERS, PLAIN), max_size=8),
    st.sampled_from(["0.1", "1", "1e-9", "1000", SECRET]),
    st.sampled_from(["replace", "add-remove", "both"]),
    st.none() | st.integers(-1, 9) | st.just("paper"),
)
def test_any_points_are_published_or_refused(points, epsilon, neighbours, size):
    x, y = (np.array([point[axis] for point in points], float) for axis in (0, 1))
    grid = Grid(0.0, 0.0, 2000.0, 3)
    tables = [(quiet(count_cells, grid, x, y), "point", 1)]
    persons = [point[2] for point in points]
    tables.append((quiet(count_persons, grid, x, y, persons), "person", 20))
    for cells, unit, _ in tables:
        if cells is not None:
            quiet(publish_adaptive, cells, epsilon, neighbours=neighbours, unit=unit)
    tables[1] = (quiet(count_person_points, grid, x, y, persons), "person", 20)
    for cells, unit, _ in tables:
        if cells is not None:
            more = {"group_size": size, "neighbours": neighbours, "unit": unit}
            quiet(publish_sorted, cells, epsilon, **more)
            for variant in ("width-depth", "depth-width"):
                quiet(publish_hybrid, cells, epsilon, variant=variant, **more)


POINT = shapely.to_wkb(shapely.Point(SECRET, SECRET))
KNOWN = [
    POINT, shapely.to_wkb(shapely.Point(1, SECRET, 3), output_dimension=3),
    shapely.to_wkb(shapely.Point(1, SECRET), byte_order=0),
    shapely.to_wkb(shapely.set_srid(shapely.Point(1, SECRET), 4326), include_srid=True),
    shapely.to_wkb(shapely.Point()), shapely.to_wkb(shapely.MultiPoint([(1, SECRET)])),
    shapely.to_wkb(shapely.LineString([(0, 0), (1, SECRET)])), b"", None,
]  # fmt: skip


def damaged(data):
    """Well-known binary with some of its bytes cut off or changed."""
    block = data.draw(st.sampled_from(KNOWN) | st.binary(max_size=60))
    if block and data.draw(st.booleans()):
        at = data.draw(st.integers(0, len(block) - 1))
        block = block[:at] + data.draw(st.binary(max_size=4)) + block[at + 1 :]
    return block


@patient
@given(st.data())
def test_any_well_known_binary_is_read_or_refused(data):
    import pyarrow as pa

    blocks = [damaged(data) for _ in range(data.draw(st.integers(0, 4)))]
    for read in (
        lambda: coordinates.from_objects(blocks),
        lambda: arrow.from_arrow(pa.array(blocks, pa.binary())),
        lambda: arrow.from_arrow(pa.array(blocks, pa.large_binary())),
        lambda: list(files.arrow_batches(pa.table({"geometry": pa.array(blocks, pa.binary())}))),
    ):
        quiet(read)


GEOMETRY = st.fixed_dictionaries(
    {"type": st.sampled_from(["Point", "MultiPoint", "Feature", "FeatureCollection", "Polygon"])},
    optional={
        "coordinates": ANYTHING | st.lists(NUMBERS, max_size=3),
        "geometry": ANYTHING,
        "features": ANYTHING,
        "geometries": ANYTHING,
        "properties": ANYTHING,
    },
)


@patient
@given(GEOMETRY | ANYTHING)
@example({"type": "FeatureCollection", "features": None})
@example({"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]}, "properties": 7})
@example({"type": "Point", "coordinates": [10**400, SECRET]})
@example({"type": "Point", "coordinates": {"0": SECRET}})
def test_any_feature_is_read_or_refused(feature):
    quiet(lambda: list(files.geo_interface_batches(feature)))
    quiet(lambda: list(files.geo_interface_batches(feature, "who")))


def test_features_nested_without_end_are_refused():
    inner = {"type": "Point", "coordinates": [1.0, SECRET]}
    for _ in range(5000):
        inner = {"type": "GeometryCollection", "geometries": [inner]}
    quiet(lambda: list(files.geo_interface_batches(inner)))


@patient
@given(st.sampled_from([".csv", ".geojson", ".parquet", ".gpkg", ".shp", ".fgb"]), st.data())
def test_any_file_is_read_or_refused(tmp_path_factory, ending, data):
    path = tmp_path_factory.mktemp("fuzz") / f"points{ending}"
    head = data.draw(
        st.sampled_from([b"", b"x,y\n", b"lon,lat\n8642.13579,", b'{"type":', b"PAR1"])
    )
    path.write_bytes(head + data.draw(st.binary(max_size=200)))
    quiet(lambda: list(files.batches(path)))
