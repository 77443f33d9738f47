"""The command, run as a real process."""

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import geopandas as gpd
import numpy as np
import pyproj
import pytest
import shapely

import dpsort_geo
from dpsort_geo.core.release import load

BOX = ["--bounds", "-74.3", "40.5", "-73.7", "40.95", "--crs", "EPSG:4326"]


def run(*words, code=0, **more):
    # also from another folder the process must find the package that is under test
    environment = {**os.environ, "PYTHONPATH": str(Path(dpsort_geo.__file__).parents[1])}
    command = [sys.executable, "-m", "dpsort_geo", *map(str, words)]
    done = subprocess.run(command, capture_output=True, timeout=120, env=environment, **more)
    assert done.returncode == code, done.stderr.decode()
    return done


def one_line(done):
    text = done.stderr.decode()
    assert text.startswith("dpsort-geo: ") and text.count("\n") == 1, text
    return text


@pytest.fixture(scope="module", autouse=True)
def own_ledger(tmp_path_factory):
    before = os.environ.get("DPSORT_GEO_LEDGER")
    os.environ["DPSORT_GEO_LEDGER"] = str(tmp_path_factory.mktemp("ledger") / "ledger.sqlite")
    yield
    if before is None:
        del os.environ["DPSORT_GEO_LEDGER"]
    else:
        os.environ["DPSORT_GEO_LEDGER"] = before


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("calls")
    rng = np.random.default_rng(2)
    points = gpd.points_from_xy(rng.normal(-73.95, 0.04, 5000), rng.normal(40.72, 0.04, 5000))
    frame = gpd.GeoDataFrame({"rider": np.arange(5000) // 5}, geometry=points, crs="EPSG:4326")
    frame.to_file(made / "calls.gpkg")
    frame.to_file(made / "calls.geojson")
    squares = [shapely.box(x, 40.65, x + 0.1, 40.8) for x in (-74.1, -74.0, -73.9)]
    gpd.GeoDataFrame({"zone": list("abc")}, geometry=squares, crs="EPSG:4326").to_file(
        made / "zones.geojson"
    )
    gpd.GeoDataFrame(geometry=[shapely.box(-74.3, 40.5, -73.7, 40.95)], crs="EPSG:4326").to_file(
        made / "city.gpkg"
    )
    return made


@pytest.fixture(scope="module")
def release(folder):
    path = folder / "calls.release.json"
    done = run("publish", folder / "calls.gpkg", path, "--epsilon", "1", *BOX)
    assert b"adaptive release of exactly 5,000 points" in done.stdout
    assert done.stderr == b""  # nothing here is unusual
    return path


COMMANDS = [
    "plan",
    "publish",
    "points",
    "density",
    "count",
    "quantiles",
    "map",
    "inspect",
    "verify",
]


@pytest.mark.parametrize(
    "command",
    [
        *COMMANDS,
        "demo",
        "ledger",
        "ledger show",
        "ledger limit",
        "ledger path",
        "ledger export",
        "ledger verify",
    ],
)
def test_every_help_has_examples(command):
    text = run(*command.split(), "--help").stdout.decode()
    assert "Examples:" in text and f"dpsort-geo {command}" in text


def test_help_does_not_load_geopandas():
    code = "import sys, dpsort_geo.cli; print('geopandas' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.split()[0] == b"False"


def test_plan_says_it_in_metres_and_in_json(folder):
    words = ["plan", "--n", 50_000, "--epsilon", 1]
    assert b"on average a point has to move" in run(*words, *BOX).stdout
    facts = json.loads(run(*words, "--polygon", folder / "city.gpkg", "--json").stdout)
    assert facts["low"] < facts["expected_error"] < facts["high"]
    inverse = json.loads(run("plan", "--n", 50_000, "--target-error", 250, *BOX, "--json").stdout)
    assert 0 < inverse["epsilon"] < 1


def test_every_method_can_be_planned_and_adaptive_is_the_most_accurate():
    words = ["plan", "--n", 50_000, "--epsilon", 1, *BOX, "--json"]
    error = {
        method: json.loads(run(*words, "--method", method).stdout)["expected_error"]
        for method in ("adaptive", "hybrid", "sort")
    }
    assert error["adaptive"] < error["hybrid"] < error["sort"]


def test_names_in_a_release_do_not_steer_the_terminal(release, tmp_path):
    core = load(release)
    crs = pyproj.CRS("+proj=laea +lat_0=40.7 +lon_0=-74").to_wkt()
    crs = crs.replace("unknown", "\x1b]0;taken\x07", 1)
    dataclasses.replace(core, crs=crs).save(tmp_path / "r.json")
    shown = run("inspect", tmp_path / "r.json").stdout
    assert b"taken" in shown and b"\x1b" not in shown and b"\x07" not in shown


def test_publish_prints_the_statement_as_json(folder, tmp_path):
    how = ["--neighbours", "add-remove", "--method", "sort", "--group-size", 50, "--json"]
    done = run("publish", folder / "calls.geojson", tmp_path / "r.json", "-e", "0.5", *BOX, *how)
    facts = json.loads(done.stdout)
    assert facts["epsilon"] == "0.5" and facts["mechanism"] == "sort"
    assert facts["neighbours"] == "add-remove"


def test_persons_are_protected_together(folder, tmp_path):
    run("publish", folder / "calls.gpkg", tmp_path / "r.json", "-e", 1, *BOX, "--person", "rider")
    facts = json.loads(run("inspect", tmp_path / "r.json", "--json").stdout)
    assert facts["protects"] == "person" and facts["n"] == 1000


@pytest.mark.parametrize("name", ["p.geojson", "p.parquet", "p.gpkg"])
def test_points_go_to_every_format_and_carry_their_statement(release, tmp_path, name):
    run("points", release, tmp_path / name)
    read = gpd.read_parquet if name.endswith("parquet") else gpd.read_file
    assert len(read(tmp_path / name)) == 5000
    facts = json.loads(run("inspect", tmp_path / name, "--json").stdout)
    assert facts["epsilon"] == "1" and facts["protects"] == "point"
    assert "epsilon = 1" in run("inspect", tmp_path / name).stdout.decode()


def test_repeated_points_are_fewer_places(release, tmp_path):
    run("points", release, tmp_path / "p.parquet", "--no-diffuse")
    run("points", release, tmp_path / "old.parquet", "--repeated")
    assert (tmp_path / "p.parquet").read_bytes() == (tmp_path / "old.parquet").read_bytes()
    assert b"--repeated" not in run("points", "--help").stdout
    points = gpd.read_parquet(tmp_path / "p.parquet")
    assert len(points) == 5000 and points.geometry.to_wkb().nunique() < 4000


@pytest.mark.parametrize("name", ["d.gpkg", "d.geojson", "d.parquet", "d.tif"])
def test_density_is_written(release, tmp_path, name):
    run("density", release, tmp_path / name, "--cell", 1000)
    if name == "d.tif":
        assert (tmp_path / name).read_bytes()[:2] == b"II"
        return
    read = gpd.read_parquet if name.endswith("parquet") else gpd.read_file
    assert read(tmp_path / name)["count"].sum() == pytest.approx(5000)


def test_counts_have_limits(release, folder, tmp_path):
    rows = json.loads(run("count", release, folder / "zones.geojson", "-", "--json").stdout)[
        "zones"
    ]
    assert [row["zone"] for row in rows] == ["a", "b", "c"]
    assert all(row["low"] <= row["estimate"] <= row["high"] for row in rows)
    sure = run("count", release, folder / "zones.geojson", "-", "--json", "--confidence", 0.99)
    for row, wide in zip(rows, json.loads(sure.stdout)["zones"]):
        assert wide["low"] < row["low"] <= row["high"] < wide["high"]
    for name in ("c.csv", "c.gpkg", "c.parquet", "c.geojson"):
        run("count", release, folder / "zones.geojson", tmp_path / name)
        assert (tmp_path / name).stat().st_size > 0


def test_quantiles_are_printed(release):
    lines = run("quantiles", release, 0.25, 0.5, 0.75).stdout.decode().splitlines()
    rows = [[float(cell) for cell in line.split("\t")] for line in lines]
    assert [row[0] for row in rows] == [0.25, 0.5, 0.75] and {len(row) for row in rows} == {3}
    (row,) = json.loads(run("quantiles", release, 0.5, "--json").stdout)["quantiles"]
    assert -74.3 < row["x"] < -73.7


def test_a_map_is_written(release, tmp_path):
    run("map", release, tmp_path / "m.html", "--title", "Night calls")
    assert "<title>Night calls</title>" in (tmp_path / "m.html").read_text()


def test_verify_says_what_holds_and_refuses_an_edited_release(release, tmp_path):
    assert run("verify", release).stdout.startswith(b"ok ")
    assert json.loads(run("verify", release, "--json").stdout)["verified"]
    edited = json.loads(release.read_text())
    edited["epsilon"] = "0.5"
    (tmp_path / "edited.json").write_text(json.dumps(edited))
    one_line(run("verify", tmp_path / "edited.json", code=2))


def test_a_pipe_from_points_to_points(folder, tmp_path):
    raw = (folder / "calls.geojson").read_bytes()
    piped = run("publish", "-", "-", "-e", 1, *BOX, "--no-ledger", input=raw)
    written = run("points", "-", "-", input=piped.stdout)
    document = json.loads(written.stdout)
    assert len(document["features"]) == 5000
    assert (
        json.loads(run("inspect", "-", "--json", input=piped.stdout).stdout)["ledger"]
        == "not debited"
    )
    table = b"lon,lat\n" + b"\n".join(b"-73.9,40.7" for _ in range(50))
    assert (
        json.loads(run("publish", "-", "-", "-e", 1, *BOX, "--no-ledger", input=table).stdout)["n"]
        == 50
    )


def test_the_ledger_is_debited_by_default_and_its_limit_holds(folder, tmp_path):
    book = ["--ledger", tmp_path / "book.sqlite"]
    words = ["publish", folder / "calls.gpkg", tmp_path / "r.json", "-e", "0.4", *BOX, *book]
    run("ledger", "limit", "calls", "1", *book)
    run(*words)
    run(*words, "--overwrite")
    (tmp_path / "r.json").unlink()
    text = one_line(run(*words, code=2))
    assert "0.2 is left" in text and not (tmp_path / "r.json").exists()
    shown = run("ledger", "show", *book).stdout.decode()
    assert "calls: spent 0.8 of 1" in shown
    (facts,) = json.loads(run("ledger", "show", "calls", "--json", *book).stdout)["datasets"]
    assert len(facts["releases"]) == 2 and facts["spent"] == "0.8"
    run("ledger", "limit", "calls", "none", *book)
    run(*words)


BAD = {
    "no domain": ["publish", "{calls}", "{out}", "-e", "1"],
    "two domains": ["publish", "{calls}", "{out}", "-e", "1", *BOX, "--polygon", "{zones}"],
    "no crs": ["publish", "{calls}", "{out}", "-e", "1", *BOX[:5]],
    "no epsilon": ["publish", "{calls}", "{out}", *BOX],
    "epsilon 0": ["publish", "{calls}", "{out}", "-e", "0", *BOX],
    "epsilon text": ["publish", "{calls}", "{out}", "-e", "high", *BOX],
    "no such file": ["publish", "nothing.gpkg", "{out}", "-e", "1", *BOX],
    "no such folder": ["publish", "{calls}", "nowhere/r.json", "-e", "1", *BOX],
    "no such person": ["publish", "{calls}", "{out}", "-e", "1", *BOX, "--person", "nobody"],
    "polygons as points": ["publish", "{zones}", "{out}", "-e", "1", *BOX],
    "inverted box": [
        "plan",
        "--n",
        "5",
        "-e",
        "1",
        "--bounds",
        "1",
        "0",
        "0",
        "1",
        "--crs",
        "EPSG:3857",
    ],
    "epsilon and error": ["plan", "--n", "5", "-e", "1", "--target-error", "5", *BOX],
    "no release": ["points", "{zones}", "out.geojson"],
    "unknown ending": ["points", "{release}", "out.xyz"],
    "unknown option": ["publish", "--fast"],
    "unknown command": ["publsh"],
    "pipe without a name": ["publish", "-", "-", "-e", "1", *BOX],
    "zones that are not": ["count", "{release}", "{release}", "out.csv"],
    "no statement": ["inspect", "{zones}"],
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_ends_with_code_2_and_one_line(case, folder, release, tmp_path):
    names = {
        "calls": folder / "calls.gpkg", "zones": folder / "zones.geojson", "release": release,
        "out": tmp_path / "out.json",
    }  # fmt: skip
    text = one_line(run(*(word.format(**names) for word in BAD[case]), code=2, cwd=tmp_path))
    assert "Traceback" not in text
    assert list(tmp_path.iterdir()) == []


def test_no_progress_bar_when_not_on_a_terminal(folder, tmp_path):
    done = run("publish", folder / "calls.gpkg", tmp_path / "r.json", "-e", 1, *BOX, "--no-ledger")
    assert b"rows/s" not in done.stderr and b"\r" not in done.stderr


def test_the_progress_line_has_a_word_the_share_and_the_rate(monkeypatch):
    from dpsort_geo.cli import progress

    clock = iter([0.0, 2.0, 3.0, 3.0, 7.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    bar = progress.Progress("reading")
    bar(210, 1000)
    shown = bar.line()
    assert shown.startswith("reading [") and "105 rows/s" in shown and "21%" in shown
    bar(300, None)
    assert bar.line() == "reading 300 rows, 100 rows/s"
    bar.phase("noise")
    assert bar.line() == "noise ... 4 s"


def test_the_demo_writes_everything_and_ends_with_two_lines(tmp_path):
    done = run("demo", tmp_path / "demo")
    lines = done.stdout.decode().rstrip().splitlines()
    assert lines[-2].startswith("Protected: ") and lines[-1].startswith("Off by: ")
    made = {path.name for path in (tmp_path / "demo").iterdir()}
    assert made == {
        "adaptive.release.json", "sort.release.json", "adaptive.geojson", "adaptive.parquet",
        "before-after.png", "map.html", "moves.release.json", "moves.html",
    }  # fmt: skip
    page = (tmp_path / "demo" / "map.html").read_text()
    for layer in (
        "Original points",
        "The paper's repeated points",
        "The paper's points, diffused",
        "Density",
    ):
        assert layer in page
    moves = (tmp_path / "demo" / "moves.html").read_text()
    assert "student home" in moves and "January to December 2025" in moves
    assert run("verify", tmp_path / "demo" / "sort.release.json").stdout.startswith(b"ok ")


def test_the_demo_draws_the_papers_figures(tmp_path):
    pytest.importorskip("matplotlib")
    facts = json.loads(run("demo", tmp_path, "--figures", "--json").stdout)
    names = [os.path.basename(name) for name in facts["files"]]
    assert len([name for name in names if name.startswith("figure-")]) >= 8
    assert all(os.path.getsize(name) > 1000 for name in facts["files"])
    assert facts["error_metres"]["adaptive"] < 0.2 * facts["error_metres"]["paper, diffused"]


# what the command does not do -------------------------------------------------------------------


def test_the_command_alone_shows_its_help():
    for words in ([], ["ledger"]):
        done = run(*words)
        assert b"Commands:" in done.stdout and done.stdout.count(b"\n") > 5 and not done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["points", "{release}", "{copy}"],
        ["density", "{release}", "{copy}"],
        ["count", "{release}", "{zones}", "{copy}"],
    ],
    ids=lambda words: words[0],
)
def test_a_file_that_the_command_did_not_write_is_kept(folder, release, tmp_path, words):
    copy = tmp_path / "private.gpkg"
    copy.write_bytes((folder / "calls.gpkg").read_bytes())
    names = {"calls": folder / "calls.gpkg", "copy": copy, "release": release}
    names["zones"] = folder / "zones.geojson"
    words = [word.format(**names) if isinstance(word, str) else word for word in words]
    assert "was not written by dpsort-geo" in one_line(run(*words, code=2))
    assert copy.read_bytes() == (folder / "calls.gpkg").read_bytes()


def test_what_the_command_wrote_it_may_replace(release, tmp_path):
    for name in ("a.geojson", "a.gpkg", "a.parquet"):
        for _ in range(2):
            run("points", release, tmp_path / name)


UTM = ["--bounds", 560_000, 4_480_000, 610_000, 4_530_000, "--crs", "EPSG:32618"]


def test_geojson_on_a_pipe_is_in_degrees_whatever_the_domain(folder, tmp_path):
    raw = (folder / "calls.geojson").read_bytes()
    lines = b"\n".join(json.dumps(one).encode() for one in json.loads(raw)["features"])
    for text in (raw, lines):
        piped = run("publish", "-", "-", "-e", 100, *UTM, "--no-ledger", input=text).stdout
        (tmp_path / "r.json").write_bytes(piped)
        at = dpsort_geo.read_release(tmp_path / "r.json").points().to_crs("EPSG:4326").geometry
        assert at.x.mean() == pytest.approx(-73.95, abs=0.01)
        assert at.y.mean() == pytest.approx(40.72, abs=0.01)


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_a_table_on_a_pipe_reads_like_a_file(mark):
    rows = ["X,Y,name", *["-73.9,40.7,a"] * 30]
    text = "\n".join(rows).replace(",", mark).encode()
    done = run("publish", "-", "-", "-e", 1, *BOX, "--no-ledger", input=text)
    assert json.loads(done.stdout)["n"] == 30


def test_swapped_coordinates_are_noticed_in_what_is_published(tmp_path):
    right, swapped = tmp_path / "right.csv", tmp_path / "swapped.csv"
    rng = np.random.default_rng(4)
    places = np.column_stack([rng.normal(-73.95, 0.05, 2000), rng.normal(40.72, 0.05, 2000)])
    for file, order in ((right, [0, 1]), (swapped, [1, 0])):
        np.savetxt(file, places[:, order], delimiter=",", header="lon,lat", comments="")
    for file, said in ((right, False), (swapped, True)):
        out = file.with_suffix(".release.json")
        done = run("publish", file, out, "-e", 1, *BOX, "--no-ledger", "--json")
        assert (b"lie at the edge of the domain" in done.stderr) is said
        assert bool(json.loads(done.stdout)["notes"]) is said


def test_refusals_speak_the_language_of_the_shell(folder, tmp_path):
    words = ["publish", folder / "calls.gpkg", tmp_path / "r.json", "-e", 1, *BOX, "--no-ledger"]
    said = one_line(run(*words, "--group-size", 5, code=2))
    assert "--group-size belongs to --method sort" in said and "method=" not in said


def test_a_ledger_that_cannot_be_meant_is_refused(folder, tmp_path):
    words = ["publish", folder / "calls.gpkg", tmp_path / "r.json", "-e", 1, *BOX, "--ledger"]
    one_line(run(*words, tmp_path / "not" / "there.sqlite", code=2))
    one_line(run(*words, tmp_path / "a.sqlite", "--no-ledger", code=2))
    assert not (tmp_path / "not").exists()


def test_a_table_of_the_density_says_where_its_cells_are(release, tmp_path):
    run("density", release, tmp_path / "d.csv", "--cell", 5000)
    head = (tmp_path / "d.csv").read_text().splitlines()[0]
    assert head == "x,y,count,per_km2"


def test_a_file_that_is_read_is_not_written_to(folder, release, tmp_path):
    table, own = tmp_path / "calls.csv", tmp_path / "own.json"
    table.write_text("lon,lat\n" + "-73.9,40.7\n" * 30)
    own.write_bytes(release.read_bytes())
    zones = folder / "zones.geojson"
    for words in (
        ["publish", table, table, "-e", 1, *BOX, "--no-ledger"],
        ["publish", zones, zones, "-e", 1, *BOX, "--no-ledger"],
        ["points", own, own],
        ["count", own, zones, zones],
        ["map", own, own],
    ):
        before = {path: path.read_bytes() for path in (table, own, zones)}
        said = one_line(run(*words, code=2))
        assert "another name" in said or "should end in" in said
        assert before == {path: path.read_bytes() for path in before}


def test_a_release_does_not_replace_a_table(tmp_path, folder):
    table = tmp_path / "mine.csv"
    table.write_text("private")
    words = ["publish", folder / "calls.gpkg", table, "-e", 1, *BOX, "--no-ledger"]
    one_line(run(*words, code=2))
    assert table.read_text() == "private"


def test_a_binary_file_on_a_pipe_is_told_what_a_pipe_takes(folder):
    raw = (folder / "calls.gpkg").read_bytes()
    done = run("publish", "-", "-", "-e", 1, *BOX, "--no-ledger", input=raw, code=2)
    assert "A pipe takes GeoJSON or CSV" in one_line(done)


@pytest.mark.parametrize("text", [b"[" * 200_000, b'{"crs": {"properties": {"name": "secret-7"}}}'])
def test_geojson_that_cannot_be_meant_is_refused_and_not_quoted(text):
    done = run("publish", "-", "-", "-e", 1, *BOX, "--no-ledger", input=text, code=2)
    assert "secret" not in one_line(done)
