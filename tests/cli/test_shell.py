"""The shell as a new user meets it: a dry run, files that stay, words for what was done."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

from dpsort_geo.cli import cli, completion, demo
from dpsort_geo.cli.arguments import Count
from dpsort_geo.cli.progress import Progress, StoppedError
from dpsort_geo.cli.publish import stopping
from dpsort_geo.cli.words import count_words, fit
from dpsort_geo.core.atomic import TakenError, write_text
from tests.cli.test_command import BOX, one_line, own_ledger, run

__all__ = ["own_ledger"]
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("shell")
    xy = np.random.default_rng(2).normal((-73.95, 40.72), 0.04, (500, 2))
    table = pd.DataFrame({"lon": xy[:, 0], "lat": xy[:, 1], "who": np.arange(500) // 5})
    table.to_csv(made / "calls.csv", index=False)
    utm = gpd.GeoSeries(shapely.points(xy), crs=4326).to_crs(32618).get_coordinates()
    utm.to_csv(made / "utm.csv", index=False, sep=";", decimal=",")
    city = gpd.GeoDataFrame(geometry=[shapely.box(-74.3, 40.5, -73.7, 40.95)], crs=4326)
    squares = [shapely.box(x, 40.65, x + 0.1, 40.8) for x in (-74.1, -74.0, -73.9)]
    zones = gpd.GeoDataFrame({"zone": list("abc")}, geometry=squares, crs=4326)
    for name, frame in (("city", city), ("zones", zones)):
        frame.to_file(made / "public.gpkg", layer=name)
    city.to_file(made / "city.gpkg")
    run("publish", made / "calls.csv", made / "r.json", "-e", 1, *BOX, "--no-ledger")
    return made


# the dry run --------------------------------------------------------------------------------------


def test_check_says_first_that_it_is_private_and_then_what_it_found(folder):
    done = run("check", folder / "calls.csv", "--polygon", folder / "city.gpkg", "--person", "who")
    lines = done.stdout.decode().splitlines()
    assert lines[0].startswith("PRIVATE")
    text = "\n".join(lines)
    assert "500 rows: 500 in the domain" in text and "100 persons" in text
    assert "No problem was found." in text and "Plan: 100 persons" in text and "█" in text


def test_check_finds_the_crs_and_then_all_is_well(folder):
    words = ["check", folder / "utm.csv", "--polygon", folder / "city.gpkg", "--decimal", ","]
    assert b"read in EPSG:32618" in run(*words).stdout
    facts = json.loads(run(*words, "--points-crs", "EPSG:32618", "--json").stdout)
    assert facts["problems"] == [] and facts["outside"] == 0 and facts["rows"] == 500


def test_check_guesses_a_decimal_comma_where_no_row_has_a_place(folder):
    found = run("check", folder / "utm.csv", *BOX).stdout.decode()
    assert "No row has a place" in found and "--decimal ," in found and "--columns X Y" in found
    assert "····" not in found  # an empty picture shows nothing


def test_check_writes_nothing_and_debits_nothing(folder, tmp_path):
    """Every file that is opened for writing, by strace: none but the null device and pipes."""
    log = tmp_path / "trace"
    book = tmp_path / "ledger.sqlite"
    command = [
        "strace", "-f", "-e", "trace=openat,open,creat,rename,renameat2,mkdir", "-o", str(log),
        sys.executable, "-m", "dpsort_geo", "check", str(folder / "calls.csv"), *BOX,
    ]  # fmt: skip
    if subprocess.run(["which", "strace"], capture_output=True).returncode:
        pytest.skip("strace is not installed")
    environment = {**os.environ, "DPSORT_GEO_LEDGER": str(book), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, capture_output=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr.decode()
    written = [
        line
        for line in log.read_text().splitlines()
        if ("O_WRONLY" in line or "O_RDWR" in line or "O_CREAT" in line or "rename" in line)
        and "/dev/" not in line
        and " = -1 " not in line
    ]
    assert written == []
    assert not book.exists()


# files that are what they say, and stay -----------------------------------------------------------


@pytest.mark.parametrize("name", ["out.geojson", "out.csv", "out.gpkg", "out"])
def test_a_release_is_json_and_nothing_else(folder, tmp_path, name):
    book = tmp_path / "ledger.sqlite"
    done = run("publish", folder / "calls.csv", tmp_path / name, "-e", 1, *BOX, "--ledger", book,
               code=2)  # fmt: skip
    assert "should end in .json" in one_line(done)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["x.pdf", "x.png", "x"])
def test_a_map_is_a_page_and_nothing_else(folder, tmp_path, name):
    assert ".html or .htm" in one_line(run("map", folder / "r.json", tmp_path / name, code=2))
    assert os.listdir(tmp_path) == []


def test_a_release_is_overwritten_only_when_asked_for(folder, tmp_path):
    out, book = tmp_path / "r.json", tmp_path / "ledger.sqlite"
    words = ["publish", folder / "calls.csv", out, "-e", 1, *BOX, "--ledger", book]
    run(*words)
    first = out.read_bytes()
    assert "--overwrite" in one_line(run(*words, code=2))
    for other in (["points", folder / "r.json", out], ["count", folder / "r.json",
                  f"{folder / 'public.gpkg'}|layername=zones", out]):  # fmt: skip
        assert "is a release" in one_line(run(*other, code=2))
    assert out.read_bytes() == first
    spent = json.loads(run("ledger", "show", "--ledger", book, "--json").stdout)
    assert spent["datasets"][0]["spent"] == "1"
    run(*words, "--overwrite")
    assert out.read_bytes() != first
    private = tmp_path / "private.json"
    private.write_text('{"type": "FeatureCollection", "features": []}')
    done = run("publish", folder / "calls.csv", private, "-e", 1, *BOX, "--overwrite", code=2)
    assert "not written by dpsort-geo" in one_line(done)


def test_a_file_that_came_meanwhile_is_never_replaced(tmp_path, monkeypatch):
    for linked in (True, False):
        if not linked:
            monkeypatch.delattr(os, "link")
            monkeypatch.setattr(os, "link", _no_links, raising=False)
        path = tmp_path / f"{linked}.json"
        write_text(path, "first", overwrite=False)
        with pytest.raises(TakenError):
            write_text(path, "second", overwrite=False)
        assert path.read_text() == "first"
        assert (
            os.listdir(tmp_path).count(path.name) == 1 == len(os.listdir(tmp_path)) - (not linked)
        )


def _no_links(*_):
    raise PermissionError("no links here")


def test_what_was_paid_for_is_saved_beside_a_file_that_came_meanwhile(tmp_path, monkeypatch):
    import dpsort_geo as dp
    from dpsort_geo.geo.private import publish

    def meanwhile(*arguments):
        (tmp_path / "r.json").write_text("somebody else's")
        return measure(*arguments)

    measure = publish.measure
    monkeypatch.setattr(publish, "measure", meanwhile)
    domain = dp.Domain.from_bounds((0, 0, 1000, 1000), crs="EPSG:3857")
    points = np.random.default_rng(1).uniform(0, 1000, (5000, 2))
    with pytest.raises(dp.BadInputError, match="r-2.json"):
        dp.publish(points, 1, domain, save=tmp_path / "r.json")
    assert (tmp_path / "r.json").read_text() == "somebody else's"
    assert dp.read_release(tmp_path / "r-2.json").n == 5000


# layers and CRS -----------------------------------------------------------------------------------


def test_layers_are_named_for_points_polygons_and_zones(folder, tmp_path):
    both = folder / "public.gpkg"
    words = ["publish", folder / "utm.csv", tmp_path / "r.json", "-e", 1, "--no-ledger",
             "--points-crs", "EPSG:32618", "--decimal", ","]  # fmt: skip
    refused = one_line(run(*words, "--polygon", both, code=2))
    assert "'city', 'zones'" in refused
    run(*words, "--polygon", both, "--polygon-layer", "city")
    run(*words, "--polygon", f"{both}|layername=city", "--overwrite")
    count = ["count", tmp_path / "r.json", both]
    assert "'city', 'zones'" in one_line(run(*count, "-", code=2))
    rows = json.loads(run(*count, "-", "--zones-layer", "zones", "--json").stdout)["zones"]
    assert [row["zone"] for row in rows] == ["a", "b", "c"]
    plan = ["plan", "--n", "5e4", "-e", 1, *BOX, "--zones", both]
    assert "'city', 'zones'" in one_line(run(*plan, code=2))
    assert b"half_width" in run(*plan, "--zones-layer", "zones").stdout
    page = ["map", tmp_path / "r.json", tmp_path / "m.html", "--zones", both]
    refused = one_line(run(*page, code=2))
    assert "|layername=city'" in refused and "--layer" not in refused  # which is for points
    run(*page, "--zones-layer", "zones")


# words --------------------------------------------------------------------------------------------


def test_every_command_that_writes_says_what_it_wrote(folder, tmp_path):
    zones = f"{folder / 'public.gpkg'}|layername=zones"
    for words, what in (
        (["points", folder / "r.json", tmp_path / "p.gpkg"], "500 points"),
        (["density", folder / "r.json", tmp_path / "d.gpkg", "--cell", 2000], "density in"),
        (["count", folder / "r.json", zones, tmp_path / "c.csv"], "3 rows"),
        (["map", folder / "r.json", tmp_path / "m.html"], "a map of 500 points"),
    ):
        said = run(*words).stdout.decode()
        assert said.startswith(f"Wrote {tmp_path}") and what in said and "B)." in said
        facts = json.loads(run(*words, "--json").stdout)
        assert what in facts["what"] and facts["bytes"] == os.path.getsize(facts["written"])


def test_refusals_name_the_options_of_the_shell(folder, tmp_path):
    calls = gpd.GeoDataFrame(geometry=shapely.points([[583_000.0, 4_507_000.0]] * 5))
    calls.to_file(tmp_path / "calls.shp")
    words = ["publish", tmp_path / "calls.shp", tmp_path / "o.json", "-e", 1, *BOX, "--no-ledger"]
    refused = one_line(run(*words, code=2))
    assert "with --points-crs EPSG:4326" in refused and "set_crs" not in refused
    assert ".tif" in one_line(run("density", folder / "r.json", tmp_path / "d.png", code=2))
    facts = json.loads(run("check", folder / "utm.csv", *BOX, "--decimal", ",", "--json").stdout)
    said = json.dumps(facts)
    assert "points_crs=" not in said and "neighbours=" not in said and "--points-crs" in said


def test_no_command_replaces_a_release_or_a_table_that_is_not_its_own(folder, tmp_path):
    release, calls = tmp_path / "other.json", tmp_path / "calls.csv"
    release.write_bytes((folder / "r.json").read_bytes())
    calls.write_bytes((folder / "calls.csv").read_bytes())
    zones = f"{folder / 'public.gpkg'}|layername=zones"
    for words in (
        ["label", folder / "r.json", "--dcat", release],
        ["points", folder / "r.json", release],
        ["count", folder / "r.json", zones, calls],
        ["density", folder / "r.json", calls, "--cell", 5000],
    ):
        assert "give another name" in one_line(run(*words, code=2))
    assert release.read_bytes() == (folder / "r.json").read_bytes()
    assert calls.read_bytes() == (folder / "calls.csv").read_bytes()
    for _ in range(2):
        run("count", folder / "r.json", zones, tmp_path / "counts.csv")


def test_the_help_lists_every_command_in_the_order_of_the_work():
    lines = run("--help").stdout.decode().partition("Commands:")[2].splitlines()
    assert [line.split()[0] for line in lines if line.strip()][: len(cli.commands)] == list(
        cli.commands
    )
    assert not any(line.endswith("...") for line in lines)


@pytest.mark.parametrize(
    "words",
    [
        ["plan", "--n", "many", "-e", "1", *BOX],
        ["verify", "no.json"],
        ["map", "no.json", "x.pdf"],
        ["publish", "no.csv", "out.json", "-e", "1", *BOX],
        ["check", "no.csv", *BOX],
        ["points", "no.json"],
    ],
)
def test_errors_are_json_under_json(words, tmp_path):
    done = run(*words, "--json", code=2, cwd=tmp_path)
    error = json.loads(done.stderr)
    assert done.stdout == b"" and error["code"] == 2 and error["error"]


def test_a_password_in_a_path_is_never_echoed(tmp_path):
    for path in ("postgresql://ann:s3cret@host/db", "https://h/a.csv?token=s3cret"):
        for words in (
            [
                "publish",
                path,
                tmp_path / "o.json",
                "-e",
                1,
                *BOX,
                "--ledger",
                tmp_path / "l.sqlite",
            ],
            ["check", path, *BOX],
            ["plan", "--n", 9, "-e", 1, "--polygon", path],
            ["points", path, tmp_path / "o.gpkg"],
            ["ledger", "show", "--ledger", path],
        ):
            done = run(*words, *(["--json"] if "token" in path else []), code=2)
            assert b"s3cret" not in done.stdout + done.stderr


def test_a_folder_that_is_called_like_an_address_is_not_echoed_either(folder, tmp_path):
    """What was meant for a server may have been written beside it: https:/ann:s3cret@host/."""
    place = tmp_path / "https:" / "ann:s3cret@host"
    place.mkdir(parents=True)
    book, calls = tmp_path / "ledger.sqlite", "https://ann:s3cret@host/calls.csv"
    (place / "calls.csv").write_bytes((folder / "calls.csv").read_bytes())
    for words, code in (
        (["check", calls, *BOX], 0),
        (["publish", calls, f"{calls[:-9]}r.json", "-e", 1, *BOX, "--ledger", book], 0),
        (["publish", calls, f"{calls[:-9]}r.json", "-e", 1, *BOX, "--ledger", book], 2),
        (["publish", calls, "https://ann:s3cret@no/r.json", "-e", 1, *BOX, "--ledger", book], 2),
        (["points", f"{calls[:-9]}r.json", f"{calls[:-9]}p.parquet"], 0),
        (["points", f"{calls[:-9]}r.json", "https://ann:s3cret@no/p.parquet"], 2),
        (["ledger", "show", "--ledger", book], 0),
    ):
        done = run(*words, code=code, cwd=tmp_path)
        assert b"s3cret" not in done.stdout + done.stderr
        assert code or b"***@" in done.stdout or words[0] == "check"


def test_a_plan_for_machines_speaks_the_language_of_the_shell():
    text = run("plan", "--n", "5e4", "-e", 1, *BOX, "--json").stdout.decode()
    assert "--neighbours add-remove" in text and "neighbours='" not in text


def test_whole_numbers_are_read_as_people_write_them():
    assert [Count().convert(text, None, None) for text in ("5e4", "50,000", "7")] == [
        50_000,
        50_000,
        7,
    ]
    assert (count_words(1, "point"), count_words(0, "point")) == ("1 point", "0 points")
    assert "not a whole number" in one_line(run("plan", "--n", "1.5", "-e", 1, *BOX, code=2))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_what_the_shell_needs(shell):
    assert b"_DPSORT_GEO_COMPLETE" in run("completion", shell).stdout


def test_a_shell_that_asks_gets_the_commands():
    asked = {
        "_DPSORT_GEO_COMPLETE": "bash_complete",
        "COMP_WORDS": "dpsort-geo pu",
        "COMP_CWORD": "1",
    }
    environment = {**os.environ, **asked}
    done = subprocess.run(
        [sys.executable, "-m", "dpsort_geo"], capture_output=True, env=environment, timeout=60
    )
    assert done.stdout.decode().strip() == "plain,publish"


def test_every_command_is_found_in_the_module_that_writes_it():
    assert all(cli.commands[name].name == name for name in cli.commands)
    assert cli.commands["demo"] is demo.demo
    assert cli.commands["completion"] is completion.completion


def all_commands(group=cli, above=()):
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from all_commands(command, (*above, name))
        else:
            yield (*above, name), command


def test_every_command_speaks_json_but_the_one_that_speaks_shell():
    silent = [
        " ".join(words)
        for words, command in all_commands()
        if not any("--json" in option.opts for option in command.params)
    ]
    assert silent == ["completion"]


def test_what_the_smaller_commands_did_is_json_too(folder, tmp_path):
    book, release = ("--ledger", tmp_path / "l.sqlite", "--json"), folder / "r.json"
    found = [
        json.loads(run(*words).stdout)
        for words in (
            ("ledger", "limit", "calls", 2, *book),
            ("ledger", "path", *book),
            ("ledger", "verify", *book),
            ("ledger", "export", tmp_path / "l.json", *book),
            ("label", release, "--json"),
            ("label", release, tmp_path / "label.html", "--json"),
        )
    ]
    assert found[0] == {"dataset": "calls", "spent": "0", "limit": "2", "left": "2"}
    assert found[1]["ledger"] == str(tmp_path / "l.sqlite") and found[2]["verified"]
    assert found[3]["written"] == str(tmp_path / "l.json") and "epsilon" in found[4]["text"]
    assert found[5]["bytes"] == (tmp_path / "label.html").stat().st_size


LOADED = """
import sys
before = {name.split(".")[0] for name in sys.modules}
from dpsort_geo.cli import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    assert not end.code
after = {name.split(".")[0] for name in sys.modules} - before - {"dpsort_geo"}
print(*sorted(name for name in after if name not in sys.stdlib_module_names), file=sys.stderr)
"""
MAPS = {"click", "numpy", "pyproj", "cython_runtime", "shapely", "certifi"}


@pytest.mark.parametrize(
    ("words", "may_load"),
    [
        ("plan --n 5e4 -e 1 --bounds -74.3 40.5 -73.7 40.95 --crs EPSG:4326", MAPS),
        ("plan --n 5e4 -e 1 --polygon area.geojson", MAPS),
        ("plan --n 5e4 -e 1 --polygon area.gpkg", MAPS),
        ("inspect r.json", MAPS),
        ("inspect points.gpkg", MAPS),
        ("verify r.json", {"click", "numpy"}),
        ("ledger show", {"click", "numpy"}),
        ("--version", {"click"}),
    ],
)
def test_commands_that_need_no_table_load_nothing_that_reads_one(folder, tmp_path, words, may_load):
    (tmp_path / "r.json").write_bytes((folder / "r.json").read_bytes())
    area = gpd.GeoSeries([shapely.box(-74.3, 40.5, -73.7, 40.95)], crs="EPSG:4326")
    for name in ("area.geojson", "area.gpkg"):
        area.to_file(tmp_path / name)
    run("points", folder / "r.json", tmp_path / "points.gpkg")
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *words.split()], capture_output=True, text=True,
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    loaded = {name for name in done.stderr.splitlines()[-1].split() if not name.startswith("_")}
    assert loaded <= may_load


# a terminal ---------------------------------------------------------------------------------------


def on_a_terminal(*words, wait_for: str = "", then=None) -> str:
    """What a command writes to a terminal, and what happens there."""
    process, terminal = pty.fork()
    if process == 0:
        os.execv(sys.executable, [sys.executable, *map(str, words)])
    seen = b""
    while True:
        try:
            more = os.read(terminal, 4096)
        except OSError:
            break
        if not more:
            break
        seen += more
        if then is not None and wait_for.encode() in seen:
            then(process)
            then = None
    os.waitpid(process, 0)
    os.close(terminal)
    return seen.decode()


SLOW = """
import time
from pathlib import Path
from dpsort_geo.cli.progress import Progress, StoppedError
from dpsort_geo.cli.publish import stopping
with Progress("reading") as progress:
    progress(500, 1000)
    time.sleep(2.6)
    progress.phase("noise")
    time.sleep(0.8)
    progress.phase("writing")
    time.sleep(0.8)
print("done")
"""


def test_every_phase_has_a_word_on_a_terminal():
    seen = on_a_terminal("-c", SLOW)
    assert "reading [##############..............]  50%  500 rows" in seen
    assert "noise ..." in seen and "writing ..." in seen
    assert seen.rstrip().endswith("done")


def test_sentences_break_between_words_on_a_terminal_and_nowhere_else():
    words = ["plan", "--n", "5e4", "-e", 1, *BOX]
    lines = on_a_terminal("-m", "dpsort_geo", *words).splitlines()
    piped = run(*words).stdout.decode()
    assert len(lines) > 5 and max(map(len, lines)) <= 80
    assert piped.count("\n") == 1 and " ".join(lines).split() == piped.split()
    refused = on_a_terminal("-m", "dpsort_geo", "plan", "--n", "a" * 60, "-e", 1, *BOX)
    assert max(map(len, refused.splitlines())) <= 80


def test_columns_of_a_table_stay_where_they_are_on_a_terminal(monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    table = "a" + " " * 50 + "b" * 60 + "\n  " + "c " * 60
    assert fit(table) == table and "\n" in fit("word " * 60)


def test_off_a_terminal_nothing_is_shown(capsys):
    with Progress("reading") as progress:
        progress(1, 2)
        time.sleep(0.3)
    assert capsys.readouterr().err == ""


def test_rows_in_all_are_known_of_csv_by_the_bytes_that_were_read(tmp_path):
    from dpsort_geo.geo.private import files

    rows = 300_000
    path = tmp_path / "a.csv"
    path.write_text("lon,lat\n" + "-73.95123,40.71234\n" * rows)
    stream, done, expected = files.batches(path), 0, []
    for x, _, _ in stream:
        done += x.size
        expected.append(stream.expect(done))
    assert len(expected) > 1 and expected[-1] >= rows
    assert all(total is not None and 0.9 * rows < total < 1.1 * rows for total in expected)


def test_stopping_speaks_of_debits_only_where_there_was_one(tmp_path):
    for word, ledger, debited in (
        ("reading", True, False), ("noise", True, True), ("noise", False, False),
    ):  # fmt: skip
        with pytest.raises(StoppedError) as stopped, stopping(Progress(word), ledger):
            raise KeyboardInterrupt
        assert ("debited" in str(stopped.value)) == debited
    command = ["publish", "-", tmp_path / "o.json", "-e", "1", *BOX, "--no-ledger"]
    process = subprocess.Popen(
        [sys.executable, "-m", "dpsort_geo", *map(str, command)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    time.sleep(4)  # it waits for points that never come
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.decode().strip().startswith("dpsort-geo: Stopped") and b"debited" not in said
    assert os.listdir(tmp_path) == []
