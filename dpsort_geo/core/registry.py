"""The record of a release for the public registry of differential privacy deployments, as YAML.

The fields and tiers are those of the registry's schema. What a release knows is filled in; what
only the publisher knows is left blank and marked.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, List, Optional

from .statement import counted_words, unit_words

if TYPE_CHECKING:
    from .label import Spent
    from .release import Release

_FILL = "  # to fill in"


def registry_record(release: Release, title: str = "", spent: Optional[Spent] = None) -> str:
    """The record as YAML text; blanks are marked with "to fill in"."""
    place = "the place" + (" and " + _axes(release) if release.axes else "")
    exact = release.neighbours == "replace"
    windows = release.window is not None
    composition = (
        "Within the release: on every path of the quadtree the rates add up to epsilon (sequential "
        "composition), paths of different cells share no point (parallel composition)."
    )
    if spent is not None:
        composition += (
            f" Over {spent.releases} releases of this data set the total is epsilon = "
            f"{float(spent.epsilon):g}, kept in a ledger that is debited before noise is drawn."
        )
    elif release.ledger:
        composition += " A ledger was debited before noise was drawn."
    record = {
        "url_slug": "",
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": {
                "name": title,
                "data_curators": [""],
                "intended_use": "",
                "data_product_type": "Synthetic data",
                "data_product_region": "",
                "description": f"A release of {'' if exact else 'about '}{release.size:,} "
                f"{counted_words(release)} on a map, from which points, densities and counts with "
                "intervals are read.",
                "publication_date": "",
                "data_product_sector": "",
            },
            "dp_variant": {
                "variant_name": "Pure DP",
                "data_domain": f"All tables of points in the public area; of each point {place} "
                "is used.",
                "unprotected_quantities": (
                    f"The number of {counted_words(release)}, {release.size:,}. " if exact else ""
                )
                + "The public area, its grid"
                + (", the lists of categories and times." if release.axes else "."),
            },
            "privacy_loss": {
                "privacy_unit": unit_words(release)[len("one ") :],
                "privacy_unit_details": release.statement()["summary"],
                "privacy_parameters": {"epsilon": float(release.exact_epsilon)},
                "privacy_parameters_details": f"Exactly {release.epsilon}, for the whole release.",
            },
            "deployment_model": {
                "model_name": "Central",
                "model_name_details": "The publisher holds the points and publishes the release.",
                "actors": "The publisher, trusted with the points; the public, not trusted.",
                "release_type": "Many releases" if windows else "One release",
                "release_type_details": (
                    f"This one is of {release.window[0]} until {release.window[1]}."
                    if release.window is not None
                    else ""
                ),
                "data_source_type": "Dynamic" if windows else "Static",
                "access_type": "Non-interactive",
                "access_type_details": "A file that anybody may read.",
            },
            "accounting": {
                "post_processing": "Least squares and isotonic regression of the noisy numbers; "
                "points are laid out along a Hilbert curve in proportion to the result.",
                "composition": composition,
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": "Points outside of the public area were "
                + ("left out." if release.outside == "drop" else "moved to it.")
                + " The software sets nothing by looking at the points without noise.",
                "mechanisms": f"{release.measured.WORDS} Exact discrete Laplace noise in whole "
                "numbers from the operating system's entropy, no floating point; "
                f"{release.statement()['software']}.",
                "justification": "",
            },
            "administrative": {
                "sources": "",
                "notes": "",
                "registry_authors": [""],
            },
        },
    }
    return "\n".join(_lines(record, 0)) + "\n"


def _axes(release: Release) -> str:
    return " and ".join(axis.name for axis in release.axes)


def _lines(node: Any, depth: int) -> List[str]:
    """YAML of nested dictionaries: texts are written as JSON has them, which YAML reads."""
    found: List[str] = []
    for name, value in node.items():
        head = "  " * depth + f"{name}:"
        if isinstance(value, dict):
            found += [head, *_lines(value, depth + 1)]
        elif isinstance(value, list):
            found.append(head)
            found += ["  " * (depth + 1) + "- " + _scalar(item) for item in value]
        else:
            found.append(f"{head} {_scalar(value)}")
    return found


def _scalar(value: Any) -> str:
    return "''" + _FILL if value == "" else json.dumps(value, ensure_ascii=False)
