"""Catalogues keep their order, refuse what is there, and are listed whole by the guide.

That a record of its own file is found wherever there is a choice is what CONTRIBUTING.md runs.
"""

import re
from pathlib import Path

import pytest

import duramen as dm


def test_catalogues_are_ordered_and_refuse_what_is_there() -> None:
    catalogue = dm.importances.catalogue
    mdi = next(iter(catalogue))
    assert mdi.name == "mdi"
    assert "mdi" in catalogue
    assert catalogue["holdout_mda"].option == "holdout-mda"
    with pytest.raises(ValueError, match="name must be new, but there is a measure named 'mdi'"):
        catalogue.register(mdi)
    assert catalogue.register(mdi, replace=True) is mdi
    assert next(iter(catalogue)) is mdi
    with pytest.raises(KeyError, match="no measure named 'gain'; known: mdi, mdi_oob, mda"):
        catalogue["gain"]
    wrong = dm.importances.Measure("Gain!", lambda inputs: inputs, "gain")
    with pytest.raises(ValueError, match="lower-case words joined by underscores, got 'Gain!'"):
        catalogue.register(wrong)


@pytest.mark.parametrize("package", ["importances", "significance"])
def test_guide_and_api_have_all_records(package: str, root: Path) -> None:
    page = {"importances": "rank-measures.md", "significance": "rank-tests.md"}[package]
    guide = (root / "docs" / "how-to" / "ranking" / page).read_text(encoding="utf-8")
    api = (root / "docs" / "api.md").read_text(encoding="utf-8")
    for entry in getattr(dm, package).catalogue:
        assert f"\n| `{entry.option}` |" in guide
        if hasattr(getattr(dm, package), entry.name):
            assert f"dm.{package}.{entry.name}(" in api


def test_the_guide_lists_all_formats(root: Path) -> None:
    text = (root / "docs" / "how-to" / "data" / "file-formats.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+?) \| ([^|]*) \| (\w*) *\| (\w*) *\| (\w*) *\|", text, re.M)
    listed = [
        (title, tuple(re.findall(r"`(\.\w+)`", suffixes)), *map(bool, can))
        for title, suffixes, *can in rows
    ]
    expected = [
        (entry.title, entry.suffixes, bool(entry.read), bool(entry.groups), bool(entry.columns))
        for entry in dm.io.catalogue
    ]
    assert [row for row in listed if row[1]] == expected
