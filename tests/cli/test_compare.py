"""The contest of mechanisms, through the real command."""

import json
import subprocess
import sys

import numpy as np
import pytest


@pytest.fixture(scope="module")
def public_points(tmp_path_factory):
    rng = np.random.default_rng(5)
    path = tmp_path_factory.mktemp("public") / "stops.csv"
    xy = np.r_[rng.normal(500, 20, (4000, 2)), rng.uniform(0, 1000, (1000, 2))]
    np.savetxt(path, xy, delimiter=",", header="x,y", comments="")
    return path


def compare(*arguments):
    command = [sys.executable, "-m", "dpsort_geo", "compare", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


BOX = ["--bounds", 0, 0, 1000, 1000, "--crs", "EPSG:3857"]


def test_compare_runs_all_mechanisms_and_says_loudly_that_it_is_not_private(
    public_points, tmp_path
):
    pytest.importorskip("matplotlib")
    plot = tmp_path / "errors.png"
    done = compare(public_points, "-e", 1, *BOX, "--repeats", 1, "--plot", plot, "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("NOT PRIVATE")
    facts = json.loads(done.stdout)
    assert facts["warning"].startswith("NOT PRIVATE")
    names = [result["mechanism"] for result in facts["results"]]
    peers = {"Privelet", "PrivTree", "DAWA", "HTF", "HDPView", "kd-tree"}
    assert {"ours: adaptive", "ours: sort", "ours: hybrid"} | peers <= set(names)
    errors = [result["emd"] for result in facts["results"]]
    assert errors == sorted(errors) and errors[0] > 0
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_the_same_seed_gives_the_same_table(public_points):
    first, second = (
        compare(public_points, "-e", 1, *BOX, "--repeats", 1, "--seed", 3).stdout for _ in range(2)
    )
    assert first == second and "ours: adaptive" in first


def test_bad_input_ends_with_code_two_and_one_line(public_points):
    done = compare(public_points, "-e", -1, *BOX)
    assert done.returncode == 2
    assert done.stderr.count("dpsort-geo:") == 1


def test_cells_are_not_offered_as_a_choice_that_is_then_refused():
    help_ = compare("--help").stdout
    assert "--resolution" not in help_ and "--order" not in help_ and "256 x 256" in help_
