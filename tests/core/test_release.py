"""The artefact: what is written is what is read, and what was edited does not verify."""

import base64
import dataclasses
import decimal
import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpsort_geo
from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.errors import BadInputError, NotVerifiedError
from dpsort_geo.core.private.adaptive import publish as publish_adaptive
from dpsort_geo.core.private.cells import count_cells
from dpsort_geo.core.private.hybrid import publish as publish_hybrid
from dpsort_geo.core.private.sort import publish as publish_sorted
from dpsort_geo.core.public.decode import decode
from dpsort_geo.core.release import Release
from dpsort_geo.core.release_json import MOST_BYTES, digest
from dpsort_geo.core.rules.adaptive import MOST_NODES, AdaptiveCounts
from dpsort_geo.core.rules.budget import epsilon_text, exact_epsilon
from dpsort_geo.core.rules.sort import MOST_GROUPS, SortSums, group_count, sum_scale

MASKED = Grid(-10.0, 3.5, 0.25, 6, np.array([[0, 1000], [1500, 4000]]))


def cells(n=500, grid=MASKED):
    rng = np.random.default_rng(n)
    return count_cells(grid, rng.normal(-2, 2, n), rng.normal(11, 2, n))


RELEASES = {
    "adaptive": lambda: publish_adaptive(cells(), "0.7"),
    "adaptive add-remove": lambda: publish_adaptive(cells(), "0.7", neighbours="add-remove"),
    "sort": lambda: publish_sorted(cells(), 1),
    "sort add-remove": lambda: publish_sorted(cells(), 1, neighbours="add-remove"),
    "sort paper": lambda: publish_sorted(cells(2000), 1, group_size="paper"),
    "sort persons": lambda: publish_sorted(cells(400), 2, unit="person"),
    "hybrid": lambda: publish_hybrid(cells(), 1),
}


@pytest.mark.parametrize("name", RELEASES)
def test_a_release_survives_its_json_and_verifies(name):
    release = RELEASES[name]()
    again = Release.from_json(release.to_json())
    assert again.to_json() == release.to_json()
    assert again.grid == release.grid and again.epsilon == release.epsilon
    for key, values in release.measured.arrays().items():
        assert np.array_equal(again.measured.arrays()[key], values)
    assert again.private and len(again.verify()) >= 3


def test_integers_beyond_64_bits_stay_exact():
    big = np.array([2**80, -(3**70)], object)
    grid = Grid(0, 0, 1, 31)
    release = Release(grid, "1", "replace", "point", 2, SortSums(big, 2, 1, 15, 1))
    assert Release.from_json(release.to_json()).measured.arrays()["sums"].tolist() == big.tolist()


@pytest.mark.parametrize(
    "given_, text",
    [(0.1, "0.1"), ("0.10", "0.1"), (1, "1"), (np.float64(0.3), "0.3"), ("1e-3", "0.001")],
)
def test_epsilon_is_the_decimal_that_was_written(given_, text):
    assert epsilon_text(given_) == text
    assert exact_epsilon(given_) == exact_epsilon(text)


@pytest.mark.parametrize(
    "bad",
    [
        0,
        -1,
        "abc",
        float("nan"),
        float("inf"),
        None,
        True,
        "",
        "1/3",
        1e-30,
        1e9,
        [1],
        "1_0",
        np.True_,
        np.complex128(1 + 2j),
    ],
)
def test_an_epsilon_that_is_not_a_usable_number_is_refused(bad):
    with pytest.raises(BadInputError):
        exact_epsilon(bad)


def edited(release, measurements=None, settings=None, **changes):
    measured = release.measured
    if measurements is not None:
        changes["measured"] = type(measured).from_parts(measurements, measured.settings())
    if settings is not None:
        changes["measured"] = dataclasses.replace(measured, **settings)
    return dataclasses.replace(release, **changes)


def with_value(release, name, place, change):
    values = release.measured.arrays()[name].copy()
    values[place] += change
    return edited(release, measurements={**release.measured.arrays(), name: values})


@pytest.mark.parametrize("name", ["adaptive", "adaptive add-remove"])
def test_an_adaptive_release_whose_nodes_rates_or_settings_were_edited_does_not_verify(name):
    release = RELEASES[name]()
    last = release.measured.arrays()["level"].size - 1
    other = Grid(-10.0, 3.5, 0.25, 6, np.array([[0, 1000]]))
    cut = {key: values[:-1] for key, values in release.measured.arrays().items()}
    more = {key: np.append(values, values[-1]) for key, values in release.measured.arrays().items()}
    for broken in (
        edited(release, epsilon="70"),
        edited(release, n=release.n * 400),
        edited(release, grid=other),
        edited(release, measurements=cut),
        edited(release, measurements=more),
        with_value(release, "rate", last, 1),
        with_value(release, "rate", 0, -1),
        with_value(release, "index", last, 1),
        with_value(release, "level", last, -1),
    ):
        with pytest.raises(NotVerifiedError):
            broken.verify()


@pytest.mark.parametrize("name", ["sort", "sort add-remove", "sort persons"])
def test_a_sort_release_whose_sizes_or_scale_were_edited_does_not_verify(name):
    release = RELEASES[name]()
    for broken in (
        edited(release, epsilon="1.4"),
        edited(release, grid=Grid(-10.0, 3.5, 0.25, 6)),
        edited(release, unit="person" if release.unit == "point" else "point"),
        edited(
            release,
            settings={
                **release.measured.settings(),
                "groups": release.measured.settings()["groups"] + 1,
            },
        ),
        edited(release, settings={**release.measured.settings(), "scale_numerator": 1}),
        edited(release, measurements={"sums": release.measured.arrays()["sums"][:-1]}),
        edited(release, neighbours="replace" if release.neighbours != "replace" else "add-remove"),
    ):
        with pytest.raises(NotVerifiedError):
            broken.verify()


DOCUMENT = json.loads(publish_adaptive(cells(60), 1).to_json())


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_a_broken_file_is_refused_in_one_sentence_and_never_crashes(data):
    document = json.loads(json.dumps(DOCUMENT))
    spot = document
    while True:
        key = data.draw(st.sampled_from(sorted(spot)))
        if isinstance(spot[key], dict) and spot[key] and data.draw(st.booleans()):
            spot = spot[key]
            continue
        break
    junk = st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=9),
        st.lists(st.integers(), max_size=3), st.dictionaries(st.text(max_size=3), st.integers()),
    )  # fmt: skip
    if data.draw(st.booleans()):
        del spot[key]
    else:
        spot[key] = data.draw(junk)
    document.pop("digest", None)
    document["digest"] = digest(document)
    try:
        Release.from_json(json.dumps(document)).verify()
    except BadInputError as refused:
        assert "\n" not in str(refused)


@pytest.mark.parametrize(
    "text, word",
    [
        ("", "JSON"), ("{", "JSON"), ("[" * 2000, "JSON"), ("[]", "not a dpsort-geo release"),
        ("[" * 100_000, "more parts"),
        ("{}", "not a dpsort-geo release"),
        (json.dumps({"format": "dpsort-geo release", "version": 99}), "update dpsort-geo"),
        (json.dumps({"format": "dpsort-geo release", "version": 1}), "not a complete"),
    ],
)  # fmt: skip
def test_what_is_no_release_gets_one_clear_sentence(text, word):
    with pytest.raises(BadInputError, match=word):
        Release.from_json(text)


@pytest.mark.parametrize("key", ["epsilon", "n", "private", "neighbours", "unit", "crs", "ledger"])
def test_a_file_edited_after_it_was_made_is_not_read(key):
    document = json.loads(json.dumps(DOCUMENT))
    changed = {"epsilon": "2", "n": 61, "private": False, "neighbours": "add-remove"}
    document[key] = changed.get(key, "person" if key == "unit" else True)
    with pytest.raises(BadInputError, match="changed after it was made"):
        Release.from_json(json.dumps(document))


def signed(document):
    document.pop("digest", None)
    return json.dumps({**document, "digest": digest(document)})


def test_a_release_that_would_unpack_to_more_than_it_says_is_refused():
    document = json.loads(json.dumps(DOCUMENT))
    document["measurements"]["value"]["count"] = 5
    with pytest.raises(BadInputError, match="complete"):
        Release.from_json(signed(document))
    document["measurements"]["value"]["count"] = 10**12
    with pytest.raises(BadInputError, match="more values"):
        Release.from_json(signed(document))


def test_a_release_drawn_with_a_seed_says_that_it_is_not_private(seeded):
    for release in (publish_adaptive(cells(), 1, noise=seeded(1)),
                    publish_sorted(cells(), 1, noise=seeded(1))):  # fmt: skip
        assert not release.private
        assert release.statement()["summary"].startswith("NOT PRIVATE")
        assert json.loads(release.to_json())["private"] is False


def test_the_statement_says_whether_a_point_or_a_person_is_protected():
    assert "One point is protected, not all points" in RELEASES["sort"]().statement()["summary"]
    assert "one person" in RELEASES["sort persons"]().statement()["summary"]


@pytest.mark.parametrize("name", RELEASES)
def test_every_release_follows_the_json_schema_in_the_package(name):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(
        (Path(dpsort_geo.__file__).parent / "core" / "release.schema.json").read_text()
    )
    jsonschema.Draft202012Validator.check_schema(schema)
    document = json.loads(RELEASES[name]().to_json())
    jsonschema.validate(document, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**document, "seed": 1}, schema)


OTHER_PARTS = {
    "points": lambda document: document.update(points=[[1.5, 2.5]]),
    "in the grid": lambda document: document["grid"].update(name="secret"),
    "in the measurements": lambda document: document["measurements"].update(more=[1]),
    "in an array": lambda document: document["measurements"]["value"].update(more="secret"),
    "another epsilon": lambda document: document["statement"].update(epsilon="0.01"),
    "another summary": lambda document: document["statement"].update(summary="epsilon = 0.01"),
    "other software": lambda document: document["statement"].update(software="secret " * 9),
}


@pytest.mark.parametrize("name", OTHER_PARTS)
def test_a_release_that_carries_anything_besides_is_not_read(name):
    document = json.loads(RELEASES["adaptive"]().to_json())
    Release.from_json(signed(document))
    OTHER_PARTS[name](document)
    with pytest.raises(BadInputError):
        Release.from_json(signed(document))


def test_a_member_that_comes_twice_is_not_read():
    text = RELEASES["sort"]().to_json()
    with pytest.raises(BadInputError, match="not valid JSON"):
        Release.from_json(text.replace('"kind"', '"crs": "secret",\n "kind"', 1))


def test_data_behind_the_compressed_numbers_are_not_read():
    document = json.loads(RELEASES["sort"]().to_json())
    packed = document["measurements"]["sums"]
    packed["int64"] = base64.b64encode(base64.b64decode(packed["int64"]) + b"secret").decode()
    with pytest.raises(BadInputError):
        Release.from_json(signed(document))


@pytest.mark.parametrize("depth", [100, 900, 990, 3000, 100_000])
def test_deep_nesting_is_refused_in_a_sentence(depth):
    text = RELEASES["sort"]().to_json().rstrip()[:-1]
    with pytest.raises(BadInputError):
        Release.from_json(text + ', "z": ' + "[" * depth + "]" * depth + "}")


def test_a_decimal_of_a_million_digits_is_refused_at_once():
    for text in ("1." + "0" * 10**6, "0" * 10**6 + "1"):
        with pytest.raises(BadInputError, match="Epsilon"):
            exact_epsilon(text)


def test_the_text_of_epsilon_does_not_depend_on_the_callers_decimal_context():
    with decimal.localcontext() as context:
        context.prec = 2
        assert epsilon_text("1.04") == "1.04"


@pytest.mark.parametrize("per_person", [2, 10, 10**30])
def test_a_person_release_must_protect_all_the_points_that_a_person_has(per_person):
    release = RELEASES["sort persons"]()
    scale = sum_scale(release.grid.n_cells, release.exact_epsilon, "replace", per_person)
    settings_ = {
        **release.measured.settings(),
        "points_per_person": per_person,
        "scale_numerator": scale.numerator,
        "scale_denominator": scale.denominator,
    }
    with pytest.raises(NotVerifiedError, match="points per person"):
        edited(release, settings=settings_).verify()


@pytest.mark.parametrize("bad", [{"groups": 0}, {"groups": -1}, {"groups": 10**30}])
def test_a_release_that_does_not_follow_its_rule_is_not_decoded(bad):
    release = RELEASES["sort"]()
    with pytest.raises(NotVerifiedError):
        decode(edited(release, settings=bad))


def test_a_file_with_settings_that_its_mechanism_does_not_have_is_not_read():
    for name, more in (("adaptive", {"seed": 1}), ("sort", {"seed": 1}), ("hybrid", {"seed": 1})):
        release = RELEASES[name]()
        parts = release.measured.arrays(), {**release.measured.settings(), **more}
        with pytest.raises(NotVerifiedError, match="settings"):
            type(release.measured).from_parts(*parts)


BOMBS = {
    "objects": '{"a":[' + "{}," * 3_000_000 + "{}]}",
    "lists": "[" + "[]," * 3_000_000 + "[]]",
    "numbers": "[" + "0," * 3_000_000 + "0]",
    "texts": "[" + '"",' * 3_000_000 + '""]',
    "wide characters": '"' + "\\ud83d\\ude00" * 100_000 + '"',
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_text_that_would_take_far_more_room_than_it_has_is_refused_before_it_is_parsed(name):
    tracemalloc.start()
    try:
        with pytest.raises(BadInputError, match="more parts than any publisher writes"):
            Release.from_json(BOMBS[name])
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_the_largest_honest_releases_can_be_read():
    grid, rng = Grid(0, 0, 1, 31), np.random.default_rng(1)
    most = [int(value) << 20 for value in rng.integers(2**61, 2**62, MOST_GROUPS)]
    sums = SortSums(np.array(most, object), MOST_GROUPS, 1, 1, 1)
    long = Release(grid, "1", "replace", "point", 2**30, sums)
    text = long.to_json()
    assert len(text) <= MOST_BYTES and Release.from_json(text).measured.sums[-1] == most[-1]
    values = rng.integers(-(2**63), 2**63 - 1, (4, MOST_NODES))
    wild = Release(grid, "1", "replace", "point", 9, AdaptiveCounts(*values))
    assert len(wild.to_json()) <= MOST_BYTES


def test_a_release_never_has_more_groups_than_a_reader_reads():
    assert group_count(10**10, exact_epsilon(1), 1) == MOST_GROUPS
    assert group_count(MOST_GROUPS, exact_epsilon(1), 1) == MOST_GROUPS
