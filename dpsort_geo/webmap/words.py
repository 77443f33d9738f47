"""What a page says to people who know nothing of epsilon, and what it says to those who ask how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List

import numpy as np

CREDIT = "Place names: GeoNames, CC BY 4.0. Coastlines: Natural Earth."


@dataclass(frozen=True)
class Promise:
    """One plain sentence, and the numbers behind it."""

    head: str
    sentence: str
    how: List[str]


def promise_words(statement: Dict[str, Any]) -> Promise:
    """The privacy statement in plain sentences.

    >>> statement = {"private": True, "epsilon": "1", "protects": "person", "neighbours": "replace"}
    >>> promise_words(statement).head
    'No dot is a real place'
    """
    if not statement["private"]:
        return Promise("NOT PRIVATE", str(statement["summary"]), [])
    epsilon = float(statement["epsilon"])
    whom = statement["protects"]
    moved = {
        "replace": f"one {whom} had been somewhere else",
        "add-remove": f"one {whom} had not been there",
    }[statement["neighbours"]]
    odds = np.exp(epsilon)
    factor = f"{odds:.3g}" if odds < 1000 else f"e^{epsilon:g}"
    how = [
        f"If {moved}, this map would have been at most {factor} times as likely, or unlikely: "
        f"differential privacy with ε = {statement['epsilon']}.",
        "So nobody who reads it, whatever else they know, learns much about any one of them.",
    ]
    if whom == "point":
        how.append("One point is protected, not all points of one person together.")
    sentence = (
        "Everything here was rebuilt from numbers with random noise in them, so that nobody can "
        f"tell where any one {whom} really was."
    )
    return Promise("No dot is a real place", sentence, how)
