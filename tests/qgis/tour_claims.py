"""What the tour of ``tour.py`` must have found; tried by ``test_desktop.py`` and ``newer.py``."""

from __future__ import annotations

import re
from typing import Any

PICTURES = (
    "menu", "dialog_empty", "refused", "drawing", "drawn", "dialog", "confirmation", "running",
    "result", "cancel", "open_release", "density", "plan", "toolbox", "algorithm", "ledger", "dark",
    "what_and_when", "played", "counts", "print", "points_on_dark", "unloaded", "reloaded",
)  # fmt: skip


def test_the_menu_opens_the_dialog_with_keys_alone(found: dict[str, Any]) -> None:
    assert found["plugin loaded"]
    assert found["boundary chosen with a key"]
    assert found["epsilon typed"] == 0.5


def test_an_empty_extent_is_empty_and_waits(found: dict[str, Any]) -> None:
    extent = found["extent"]
    assert found["run waits for an area"] and extent["waits"]
    assert not any(extent["empty"] + extent["empty when chosen"])


def test_the_private_layer_s_extent_is_right_and_refused(found: dict[str, Any]) -> None:
    shown, true = found["extent"]["own extent"]
    assert shown == true
    enabled, hint = found["extent"]["own extent is refused"]
    assert not enabled and "outermost person" in hint


def test_a_box_is_drawn_with_the_dialog_out_of_the_way_and_a_boundary_suggested(
    found: dict[str, Any],
) -> None:
    extent = found["extent"]
    assert extent["hidden while drawing"] and extent["holds the points"]
    assert extent["still the private layer"]
    enabled, notes = extent["goes on"]
    assert enabled and "a boundary layer" in notes


def test_the_expected_error_follows_epsilon(found: dict[str, Any]) -> None:
    assert found["error falls with epsilon"]
    assert re.fullmatch(r"≈ [\d.]+\s(m|km)", found["plan"])


def test_an_epsilon_is_read_as_it_is_typed_with_a_point_or_a_comma(found: dict[str, Any]) -> None:
    assert found["typed in German"] == [[0.5, "0,500"], [0.5, "0,500"], [1, "1,000"]]


def test_return_pays_neither_in_a_field_nor_in_the_question(found: dict[str, Any]) -> None:
    assert not found["return in a field asks"]
    assert not found["return in the question pays"]


def test_the_question_names_layer_rows_area_epsilon_total_and_files(found: dict[str, Any]) -> None:
    for words in ("calls", "all rows", "city boundary", "epsilon 1: Strong", "calls.release.json"):
        assert words in found["question"]


def test_publishing_adds_a_named_layer_in_a_group_and_tells_where_the_release_is(
    found: dict[str, Any],
) -> None:
    assert re.fullmatch(r"calls_eps1_\d{4}-\d\d-\d\d\.release\.json", found["suggested"])
    assert found["layers made"] == ["calls, published (eps 1)"]
    assert found["groups"] == ["calls, published"]
    assert "epsilon = 1" in found["abstract"]
    assert found["message bar"] and found["report written"]
    assert found["buttons"] == ["Open the report", "Open folder"]
    assert "epsilon 1" in found["spent shown"]


def test_published_layers_are_not_offered_as_private_ones(found: dict[str, Any]) -> None:
    assert found["offered as private"] == ["calls"]


def test_the_card_follows_the_layer_its_filter_and_its_selection(found: dict[str, Any]) -> None:
    card = found["card"]
    assert card["all"]["count"] == 6000
    assert 0 < card["filter"]["count"] < 6000 and "filter" in card["filter"]["notes"]
    assert card["selection"]["count"] == 10 and "selected" in card["selection"]["notes"]
    assert card["edit"]["count"] == 5000 and card["edit"]["figure"] != card["all"]["figure"]
    assert "give its data set a name" in card["memory"]["spent"] and not card["memory"]["can run"]
    query = card["query"]
    assert query["count"] == 6000 and "is a query" in query["notes"] and not query["can run"]
    assert "The ledger knows these points" in query["spent"]
    assert card["removed"] == {"count": 0, "figure": "–", "notes": "", "spent": ""}


def test_the_active_layer_is_preselected_with_its_fields_and_its_name(
    found: dict[str, Any],
) -> None:
    assert found["preselected"] and found["chosen at once"]
    assert found["fields of the person"] == ["", "fid", "who"]
    assert found["remembered name"] == "thefts 2026"


def test_doubts_are_read_before_paying_and_the_message_is_about_what_was_paid(
    found: dict[str, Any],
) -> None:
    question, said = found["question about a filter"], " ".join(found["said after paying"])
    assert "The layer has a filter" in question and "The layer has a filter" not in said
    assert "points.gpkg, in place of the file that is there" in question
    assert "Published as what_and_when.release.json, epsilon 1, off by about" in said
    assert found["next file for points"] == "points_2.gpkg"


def test_declared_zones_have_their_price_on_the_card_and_stand_in_the_question(
    found: dict[str, Any],
) -> None:
    without, figure, words = found["price of zones"]
    assert figure != without and "declared zones take their part" in words
    assert "city boundary (1)" in found["question about a filter"]


def test_everything_that_can_be_filled_in_has_a_tip(found: dict[str, Any]) -> None:
    assert found["without a tip"] == {"plan": [], "publish": [], "release": []}


def test_counting_is_in_the_menu(found: dict[str, Any]) -> None:
    assert found["count chosen in the menu"] == ["Counts in"]


def test_the_temporal_controller_plays_what_was_published(found: dict[str, Any]) -> None:
    assert found["months"] == 6
    assert 0 < found["shown in a month"] < found["shown in all"] / 3
    ends = [f"2026-0{month}-01 00:00" for month in (1, 2, 3)]
    assert found["frames played"] == [ends[:2], ends[1:]]


def test_what_was_planned_is_handed_on_to_publishing(found: dict[str, Any]) -> None:
    handed = found["handed on"]
    assert handed["wanted"] == "≈ 300\u00a0m"
    planned, taken = handed["epsilon"]
    assert planned == taken != 1
    assert handed["area"] == "city boundary"
    assert handed["values"] == "burglary, theft, other"
    assert "field that holds the category" in handed["hint"]


def test_windows_are_not_cut_off_and_every_letter_leads_to_one_place(found: dict[str, Any]) -> None:
    assert not any(found["cut off"])
    assert len(found["letters"]) == 6  # two windows in English, four in German
    for letters in found["letters"].values():
        assert len(letters) > 2 and len(set(letters)) == len(letters), found["letters"]


def test_legends_are_printed_with_units_and_few_classes(found: dict[str, Any]) -> None:
    assert found["printed"]["done"]
    counts, points, density = found["printed"]["texts"]
    classes = [text for text in counts if "per km²" in text]
    assert 2 <= len(classes) <= 5
    assert counts[len(classes) :] == ["outside of the public area", "not reliable: wide limits"]
    assert points == ["burglary", "theft", "other"]
    assert found["legend of the density"] == "points per km²"
    assert density[:2] == ["points per km²", "0"] and all(
        text.endswith(" per km²") for text in density[2:]
    )
    assert len(density) == 8


def test_cancel_ends_the_task_and_leaves_no_layer(found: dict[str, Any]) -> None:
    assert found["cancelled"] and found["cancel leaves no layer"]
    print(f"cancelled after {found['cancel seconds']:.1f} s; a second is what we want")


def test_a_release_opens_as_points_and_density_and_can_be_dropped(found: dict[str, Any]) -> None:
    assert found["opened"] == ["calls, density per km²", "calls, published (eps 1)"]
    assert found["dropped"].endswith("calls.release.json")


def test_the_ledger_lists_what_was_spent(found: dict[str, Any]) -> None:
    (row,) = found["ledger rows"]
    assert row[0].endswith("calls.gpkg") and row[1:4] == ["1", "1", "none"]
    assert found["ledger releases"][0].endswith("calls.release.json")


def test_nothing_goes_wrong_in_python_and_the_card_is_dark_in_a_dark_theme(
    found: dict[str, Any],
) -> None:
    assert found.get("python errors", []) == []
    assert found["dark card"]


def test_the_processing_form_does_not_scroll_sideways(found: dict[str, Any]) -> None:
    assert found["form scrolls sideways"] == 0


def test_unload_takes_everything_back_and_reload_brings_it_again(found: dict[str, Any]) -> None:
    assert found["unloaded"] and found["menu gone"] and found["reloaded"]
    assert found["open dialogs"] == []


def test_every_picture_was_taken(found: dict[str, Any]) -> None:
    for name in PICTURES:
        assert found["pictures"][name] > 5000


#: by name
CLAIMS = {name: claim for name, claim in list(globals().items()) if name.startswith("test_")}
