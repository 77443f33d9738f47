"""The privacy statement that travels with every file made from a release."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Dict, Sequence

from . import __version__

if TYPE_CHECKING:
    from .release import Release

NO_LEDGER = "No ledger was debited: nobody adds this release up with others of the same data."
_SOFTWARE = re.compile(r"dpsort-geo [\w.+-]{1,40}")


def make_statement(release: Release) -> Dict[str, Any]:
    """What a release promises, as plain values."""
    return {
        "summary": _summary(release),
        "private": release.private,
        "epsilon": release.epsilon,
        "protects": unit_words(release)[len("one ") :],
        "neighbours": release.neighbours,
        "mechanism": release.kind,
        "n": release.n,
        "software": f"dpsort-geo {__version__}",
    }


def full_statement(release: Release) -> Dict[str, Any]:
    """The same, and whether a ledger was debited, which files say in a field of their own."""
    said = make_statement(release)
    if not release.ledger and release.private:
        said["summary"] += f" {NO_LEDGER}"
    return {**said, "ledger": release.ledger}


def unit_words(release: Release) -> str:
    """What one epsilon protects, exactly."""
    if release.unit == "point":
        return "one point"
    if release.person:
        return f"one combination of {join_names(release.person)}"
    return "one person"


def counted_words(release: Release, count: int = 2) -> str:
    """What n counts; one of it, or several."""
    end = "" if count == 1 else "s"
    if release.unit == "point" or release.max_points is not None:
        return f"point{end}"
    return f"combination{end} of {join_names(release.person)}" if release.person else f"person{end}"


def join_names(names: Sequence[str]) -> str:
    """Names of columns, as a sentence has them."""
    return f"{', '.join(names[:-1])} and {names[-1]}"


def is_statement_of(claimed: Dict[str, Any], release: Release) -> bool:
    """Whether a file's statement is what its fields say; another version may have written it."""
    by = claimed["software"]
    return claimed == {**make_statement(release), "software": by} and bool(_SOFTWARE.fullmatch(by))


def _summary(release: Release) -> str:
    if not release.private:
        return "NOT PRIVATE: drawn with a seed, for tests and research. Do not publish."
    person = release.unit == "person"
    whom = unit_words(release)
    if person:
        whose = "its" if release.person else "that person's"
        whom += f", with all of {whose} points,"
    elsewhere = " or different" if release.axes else ""  # another category, another date
    change = {
        "replace": f"if {whom} had been somewhere else{elsewhere}",
        "add-remove": f"if {whom} had not been there at all",
    }[release.neighbours]
    return (
        f"Differentially private with epsilon = {release.epsilon}: {change}, any result would have "
        f"been at most exp({release.epsilon}) times as likely or unlikely."
        + ("" if person else " One point is protected, not all points of one person.")
        + _not_all(release)
        + _scope(release)
    )


def _not_all(release: Release) -> str:
    if not release.person:
        return ""
    return f" One such combination is protected, not all points of one {release.person[0]}."


def _scope(release: Release) -> str:
    """What else is said, only where it is so."""
    said = ""
    if release.max_points is not None:
        whose = f"combination of {join_names(release.person)}" if release.person else "person"
        said += f" Up to {release.max_points} points of each {whose} are counted, chosen at random."
    if release.window is not None:
        said += f" It holds points from {release.window[0]} until {release.window[1]}"
        said += (
            "; their number is public, and whether a point lies in that time is not protected."
            if release.neighbours == "replace"
            else " only."
        )
    if release.outside == "drop":
        said += " Points outside of the area were left out."
    return said
