"""A new measure, test, selector, format, criterion or figure changes two files besides its own.

The toys are put into a copy of the package, with the changes that CONTRIBUTING.md names. They are
then where a user looks for them: in catalogues, in the help of commands, among the figures.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from duramen import _kernel

TOYS = Path(__file__).parent / "toys"
MOST_FILES = 2


@dataclass(frozen=True)
class Toy:
    """A toy in the place of a real one, and the lines that it adds to other files.

    Lines are added before the first line that begins with a text.
    """

    file: str
    folder: str
    lines: dict[str, list[tuple[str, str]]]


CATALOGUE = "catalogue = Catalogue("
TOY_OF = {
    "measure": Toy(
        "toy_measure.py",
        "src/duramen/importances/measures",
        {
            "src/duramen/importances/__init__.py": [
                (CATALOGUE, "from duramen.importances.measures.toy_measure import TOY"),
                ("        MDI,", "TOY,"),
            ]
        },
    ),
    "significance test": Toy(
        "toy_significance.py",
        "src/duramen/significance",
        {
            "src/duramen/significance/__init__.py": [
                (CATALOGUE, "from duramen.significance.toy_significance import TOY"),
                ("        MAX_T,", "TOY,"),
            ]
        },
    ),
    "selector": Toy(
        "toy_selector.py",
        "src/duramen/selection",
        {
            "src/duramen/selection/__init__.py": [
                (CATALOGUE, "from duramen.selection.toy_selector import TOY"),
                ("        Selector(", "TOY,"),
            ]
        },
    ),
    "file format": Toy(
        "toy_format.py",
        "src/duramen/io/formats",
        {
            "src/duramen/io/formats/__init__.py": [
                (CATALOGUE, "from duramen.io.formats.toy_format import TOY"),
                ("        *(CSV, ", "        TOY,"),
            ]
        },
    ),
    "criterion": Toy(
        "toy_criterion/toy.hpp",
        "cpp/grow/criteria",
        {
            # The lines of the kernel are those of test_toy_criterion.py, which compiles them.
            "cpp/grow/criteria/criteria.hpp": [],
            "src/duramen/forests/criteria.py": [
                (
                    '    Criterion("log_rank"',
                    "Criterion('toy', '', '', 'classification', ('toy',)),",
                )
            ],
        },
    ),
    "figure": Toy(
        "toy_figure.py",
        "src/duramen/plots",
        {
            "src/duramen/plots/__init__.py": [
                ("__all__", "from duramen.plots.toy_figure import toy_points")
            ]
        },
    ),
}

# Where a user looks for what is new. An installation for development finds the package by a hook.
PROGRAM = """
import json, sys
from pathlib import Path
sys.meta_path = [finder for finder in sys.meta_path if "Redirecting" not in type(finder).__name__]
sys.path.insert(0, sys.argv[1])
import duramen as dm
from duramen.cli.app import application
from duramen.forests.criteria import aliases_for
def help_of(command):
    options = application()[command].assemble_argument_collection()
    return "".join(f"{option.parameter.help} {option.get_choices()}" for option in options)
Path("t.toy").write_text("a b\\n1 2\\n")
print(json.dumps({
    "home": dm.__file__,
    "measure": "toy_correlation" in dm.importances.catalogue,
    "significance test": "toy_ranks" in dm.significance.catalogue,
    "selector": dm.selection.catalogue["toy_selector"].kind.__name__ == "ToySelector",
    "file format": dm.io.read_table("t.toy").column_names == ["a", "b"],
    "criterion": "toy" in aliases_for("classification"),
    "figure": bool(dm.Importances(("a",), [1.0], "mdi", "bits").plot("toy_points")),
    "rank": help_of("rank"),
    "select": help_of("select"),
}))
"""


def with_line(text: str, beginning: str, line: str) -> str:
    """Add a line before the first one that begins with a text."""
    place = f"\n{text}".index(f"\n{beginning}")
    return f"{text[:place]}{line}\n{text[place:]}"


@pytest.mark.slow
def test_toys_in_their_places_are_found(root: Path, tmp_path: Path) -> None:
    shutil.copytree(root / "src" / "duramen", tmp_path / "src" / "duramen")
    shutil.copy(compiled(), tmp_path / "src" / "duramen")
    for toy in TOY_OF.values():
        if toy.folder.startswith("src"):
            shutil.copy(TOYS / toy.file, tmp_path / toy.folder)
        for file, lines in toy.lines.items():
            path = tmp_path / file
            for beginning, line in lines:
                path.write_text(with_line(path.read_text("utf-8"), beginning, line), "utf-8")
    # A file of a package takes what the package exports from the file that holds it.
    format_ = tmp_path / "src/duramen/io/formats/toy_format.py"
    source = format_.read_text("utf-8")
    format_.write_text(source.replace("duramen.io import", "duramen.io.formats.format import"))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "src")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert shown.pop("home").startswith(str(tmp_path))
    assert {"toy-correlation", "toy-ranks"} <= set(re.findall(r"[\w-]+", shown.pop("rank")))
    assert "toy-selector" in re.findall(r"[\w-]+", shown.pop("select"))
    assert shown == dict.fromkeys(TOY_OF, True)


def compiled() -> Path:
    """Return the compiled module that the package uses."""
    return Path(sys.modules[_kernel.grow.__module__].__file__ or "")


def test_a_toy_changes_at_most_two_files_besides_its_own() -> None:
    assert all((TOYS / toy.file).is_file() for toy in TOY_OF.values())
    assert {
        kind: len(toy.lines) for kind, toy in TOY_OF.items() if len(toy.lines) > MOST_FILES
    } == {}


def test_contributing_names_these_files(root: Path) -> None:
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?:\[(.*?)\]\S*|(\w+)) \| `(\S+)/` \| (.*) \|$", text, re.MULTILINE)
    described = {linked or plain: (folder, files) for linked, plain, folder, files in rows}
    for kind, toy in TOY_OF.items():
        folder, files = described[kind]
        assert toy.folder.startswith(folder)
        names = re.findall(r"`([\w/]+\.\w+)`", files)
        assert len(names) == len(toy.lines)
        for name, file in zip(names, toy.lines, strict=True):
            assert file.endswith(f"/{name}")
